"""Mutants of a program: a test of the encoding. Each one must be refuted, or be proved to decide as the rule, too.

A mutant has another operator, a constant that is larger or smaller by 1, or two statements in the other order, in a
condition or an action of ingress. The conditions within actions are a kind of their own, with a sample of their own.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from p4sched.errors import P4schedError
from p4sched.proofs.comparison import Comparison
from p4sched.proofs.program import Json

OPERATORS = {
    **{"+": "-", "-": "+", "*": "+", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<"},
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or", "or": "and"},
}
SOON = 5.0
"""Seconds for a first question about all claims."""
Path = tuple[str | int, ...]
"""Keys on the way from the whole JSON to a part."""


@dataclass(frozen=True)
class Change:
    """A change of a program."""

    where: Path
    name: str
    new: Any


@dataclass(frozen=True)
class Fate:
    """Fate of a mutant."""

    name: str
    refuted: bool | None
    """False: it is proved; None: the solvers gave up, or it is no program."""
    reason: str = ""
    """What refutes it, or the claim that is open, or why it is no program."""


def sample(found: Iterable[Change], most: int, seed: int) -> list[Change]:
    """As many changes as `most`, chosen at random."""
    every = list(found)
    return random.Random(seed).sample(every, min(most, len(every)))


def fates(of: Comparison, chosen: Iterable[Change], seconds: float) -> Iterator[Fate]:
    """The fate of each mutant."""
    for change in chosen:
        yield _fate(of, change, seconds)


def _fate(of: Comparison, change: Change, seconds: float) -> Fate:
    still_open = ""
    try:
        program = of.of_tree(changed(of.tree, change))
        for case in of.theorem(program):
            # a wrong program has a counterexample that is found soon; a proof would first look at hints
            if false := case.false_claim(min(SOON, seconds)):
                return Fate(change.name, refuted=True, reason=false)
            for claim, answer in case.answers(seconds):
                if answer.proved is False:
                    return Fate(change.name, refuted=True, reason=claim.name)
                if answer.proved is None and not still_open:
                    still_open = claim.name
                    if of.has_trace(program, seconds):
                        return Fate(change.name, refuted=True, reason="a trace from the reset state")
    except (P4schedError, ValueError) as error:
        return Fate(change.name, None, str(error))
    return Fate(change.name, None if still_open else False, still_open)


def changes(tree: Json) -> Iterator[Change]:
    """All changes of the conditions and actions of ingress, but for conditions within actions."""
    for place, node in enumerate(tree["pipelines"][0]["conditionals"]):
        path = ("pipelines", 0, "conditionals", place, "expression")
        yield from _in_expression(node["name"], path, node["expression"])
    for name, body_path, body in _actions(tree):
        yield from _in_action(name, body_path, body)


def changes_within_actions(tree: Json) -> Iterator[Change]:
    """All changes of the conditions within actions of ingress. The statements behind a condition stay the same."""
    for name, path, body in _actions(tree):
        for place, one in enumerate(body):
            if one["op"] == "_jump_if_zero":
                condition = one["parameters"][:1]
                yield from _in_expression(f"{name}[{place}]", (*path, place, "parameters"), condition)


def _actions(tree: Json) -> Iterator[tuple[str, Path, Sequence[Json]]]:
    """Name, place and body of each action of ingress."""
    used = {number for table in tree["pipelines"][0]["tables"] for number in table["action_ids"]}
    for place, action in enumerate(tree["actions"]):
        if action["id"] in used:
            yield action["name"], ("actions", place, "primitives"), action["primitives"]


def changed(tree: Json, change: Change) -> Json:
    """A copy of a program with a change."""
    made: Any = copy.deepcopy(tree)
    part = made
    for key in change.where[:-1]:
        part = part[key]
    part[change.where[-1]] = change.new
    return dict(made)


def _in_action(name: str, path: Path, body: Sequence[Json]) -> Iterator[Change]:
    for place, one in enumerate(body):
        if one["op"].startswith("_jump"):
            continue
        yield from _in_expression(f"{name}[{place}]", (*path, place, "parameters"), one["parameters"])
        following = body[place + 1] if place + 1 < len(body) else one
        if following != one and not following["op"].startswith("_jump"):
            swapped = [*body[:place], following, one, *body[place + 2 :]]
            yield Change(path, f"{name}: statements {place} and {place + 1} in the other order", swapped)


def _in_expression(name: str, path: Path, part: Any) -> Iterator[Change]:
    if isinstance(part, list):
        for place, one in enumerate(part):
            yield from _in_expression(name, (*path, place), one)
    elif isinstance(part, Mapping):
        sign = part.get("op")
        if sign in OPERATORS and part.get("left") is not None:
            yield Change((*path, "op"), f"{name}: {OPERATORS[sign]} in place of {sign}", OPERATORS[sign])
        if part.get("type") == "hexstr":
            value = int(part["value"], 16)
            for other in (value + 1, value - 1) if value else (1,):
                yield Change((*path, "value"), f"{name}: {other} in place of {value}", hex(other))
        for key, one in part.items():
            yield from _in_expression(name, (*path, key), one)
