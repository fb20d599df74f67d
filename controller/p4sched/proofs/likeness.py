"""Two builds of a program that differ in one part: do they decide alike, and keep the same state?

Both get the same packet after the parser, with any content of its headers, the same registers, and the same answers of
tables. The packet has a route to a port. What both compute before the part becomes a variable, so the solvers see the
part alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from p4sched.proofs import bitwuzla_terms
from p4sched.proofs.cells import Before, Cells
from p4sched.proofs.distributing import distributed
from p4sched.proofs.exact import PRODUCTS, Int, Truth
from p4sched.proofs.merging import merge
from p4sched.proofs.program import LONGEST_FRAME, Program, UnmodelledError
from p4sched.proofs.solver import Answer, ask
from p4sched.proofs.step import LENGTH, TIMESTAMP, Step, World, run_from

ROUTES = "forwarding.ipv4_routes"
META = "scalars.userMetadata."
INPUTS = (
    TIMESTAMP,
    *(f"standard_metadata.{name}" for name in ("ingress_port", "instance_type", "checksum_error")),
    *(f"ig_intr_md_from_prsr.{name}" for name in ("global_tstamp", "parser_err")),
)
"""Fields that are neither of a header nor of the program, and that the packet brings."""
FIRST = 8.0
"""Seconds for the first question about a claim."""


@dataclass(frozen=True)
class Renaming:
    """Other numbers of the cells of some registers in the second program."""

    registers: tuple[str, ...] = ()
    """Ends of their names."""
    there: Callable[[Int], Int] = lambda index: index
    """The second program's number of a cell, by the first one's."""
    back: Callable[[Int], Int] = lambda index: index

    def of(self, register: str, index: Int) -> Int:
        """The second program's number of a cell."""
        return self.there(index) if register.endswith(self.registers) else index


SAME = Renaming()


@dataclass(frozen=True)
class Part:
    """What is known of the first program's step, and what must be equal."""

    facts: Sequence[Truth]
    """The possible packets, and the possible states of a port."""
    claims: Callable[[Step, Step, Renaming], Iterator[Truth]]
    """Statements about both steps."""
    lemmas: Sequence[Truth] = ()
    """Facts about the values of `cuts`. They are proved."""
    cuts: Sequence[Int] = ()
    """Values of the first program from before the part."""
    results: Sequence[str] = ()
    """Fields that the part computes. If they are equal, the rest is simple."""


class _Renamed(Before):
    """A register of the first program, with the second one's numbers of the cells."""

    def __init__(self, of: Before, renaming: Renaming) -> None:
        super().__init__(of.name, of.bits)
        self._of, self._renaming = of, renaming

    def cell(self, index: Int) -> Int:
        return self._of.cell(self._renaming.back(index))


@dataclass
class Pair:
    """Two programs. `about`: of the first one's step. `seconds`: of the processor, for all questions together."""

    one: Program
    two: Program
    about: Callable[[Step], Part]
    seconds: float
    end: float = field(init=False)
    first: Step | None = field(init=False, default=None)
    """The first program's step."""
    _wrong: tuple[Sequence[Truth], Truth] | None = field(init=False, default=None)
    """Premises and the false claim, without variables for what comes before the part."""

    def __post_init__(self) -> None:
        """Starts the clock."""
        self.end = time.process_time() + self.seconds

    def is_alike(self, renaming: Renaming = SAME) -> bool | None:
        """True if all claims are proved; False if one is false for a packet and a state, which may be out of reach.

        None if the solvers gave up.
        """
        first = _parsed(self.one)
        known = run_from(self.one, World("", first), first)
        world = World("", first, {}, dict(known.world.lookups), [_has_route(known)])
        left = self.first = run_from(self.one, world, first)
        part = self.about(left)
        other = World("", first, _OfSecond(world, renaming), dict(known.world.lookups), world.assumed)
        right = run_from(self.two, other, first)
        claims = [claim for claim in part.claims(left, right, renaming) if claim is not True]
        assumed = [*world.assumed, *part.facts]
        for lemma in part.lemmas:
            premises = [*assumed, *world.laws([*assumed, lemma])]
            if self._answer(premises, lemma).proved:
                assumed.append(lemma)
        results = [(left.field(name), right.field(name)) for name in part.results]
        results = [(one, two) for one, two in results if not one.is_number and not two.is_number]
        claims = [*(one.equals(two) for one, two in results), *claims]
        sides = [side.term for pair in results for side in pair]
        terms = [*claims, *assumed]
        terms += [*world.laws(terms), *sides]
        plain = list(terms)
        for place, value in enumerate(part.cuts):
            terms = _cut(terms, f"cut {place}", value)
        for place, (one, two) in enumerate(results):
            count = len(terms) - len(sides)
            if self._answer(terms[len(claims) : count], terms[place]).proved:
                new = Int.variable(f"result {place}", max(one.bits, two.bits))
                pair = terms[count + 2 * place : count + 2 * place + 2]
                terms = PRODUCTS.replaced(
                    terms, {side.get_id(): new.at(side.size()) for side in pair if side.num_args()}
                )
        asked = slice(len(results), len(claims))
        found, wrong = self._are_true(terms[asked], terms[len(claims) : len(terms) - len(sides)])
        if found is False:
            self._wrong = plain[len(claims) : len(plain) - len(sides)], plain[asked][wrong]
        return found

    def model(self) -> Any:
        """Values for which the claim is false that `is_alike` found. None: there are none, or the solver gave up.

        A variable in place of what comes before the part may have had a value that it never has.
        """
        return None if self._wrong is None else ask(*self._wrong, min(FIRST, max(self._left, 1.0))).model

    def _are_true(self, claims: Sequence[Truth], premises: Sequence[Truth]) -> tuple[bool | None, int]:
        """Whether all claims are true, and the place of the first one that is false."""
        whole: bool | None = True
        for place, claim in enumerate(claims):
            proved = True if claim is True else self._answer(premises, claim).proved
            if proved is False:
                return False, place
            whole = whole and proved
        return whole, 0

    def _answer(self, premises: Sequence[Truth], claim: Truth) -> Answer:
        """Asks first about the claim as it is, then with equal parts merged."""
        if self._left <= 0:
            return Answer(None, 0.0)
        premises = [*premises, *distributed([claim])]
        answer = ask(premises, claim, min(FIRST, self._left))
        if answer.proved is None and self._left > 0:
            (merged,) = merge(premises, [claim], self._left / 2)
            answer = ask(premises, merged, max(self._left, 1.0), bitwuzla_terms.solved)
        return answer

    @property
    def _left(self) -> float:
        return self.end - time.process_time()


def _cut(terms: list[Truth], name: str, value: Int) -> list[Truth]:
    """A variable in place of a value: what is true for all its values is true for this one."""
    if value.is_number or not value.term.num_args():
        return terms
    variable = Int.variable(name, value.high.bit_length(), value.high)
    return PRODUCTS.replaced(terms, {value.term.get_id(): variable.at(value.bits)})


class _OfSecond(dict[str, Before]):
    """The arrays of the second program: those of the first one with the same names, as far as it has them."""

    def __init__(self, world: World, renaming: Renaming) -> None:
        super().__init__()
        self._world, self._renaming = world, renaming

    def setdefault(self, name: str, default: Before) -> Before:
        if name not in self:
            of = self._world.before.setdefault(name, default)
            self[name] = _Renamed(of, self._renaming) if name.endswith(self._renaming.registers) else of
        return self[name]


def _parsed(program: Program) -> dict[str, Int]:
    """Any packet after the parser: its headers, the program's metadata, and what the switch says of it."""
    names = [part for header, parts in program.headers.items() for part in (f"{header}.$valid$", *parts)]
    names += [name for name in program.fields if name.startswith(META) or name in INPUTS]
    found = {name: Int.variable(name, program.fields[name]) for name in names}
    if LENGTH in program.fields:
        found[LENGTH] = Int.variable(LENGTH, program.fields[LENGTH], LONGEST_FRAME)
    return found


def table(step: Step, name: str, action: str) -> Mapping[str, Int]:
    """The parameters of an action in the answer of a table. `name`: its end."""
    _, answer = step.world.lookups[table_name(step, name)]
    (of,) = (
        one for one in step.program.actions.values() if one["name"] in answer.data and _last(one["name"]) == action
    )
    return dict(zip([one["name"] for one in of["runtime_data"]], answer.data[of["name"]], strict=True))


def table_name(step: Step, name: str) -> str:
    """The full name of a table that the step has asked."""
    for full in step.world.lookups:
        if full.endswith(f".{name}"):
            return full
    raise UnmodelledError(f"{step.program.name}: no table '{name}'")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _has_route(step: Step) -> Truth:
    """A route to a port. A group of paths only chooses another port, which the part cannot see."""
    _, answer = step.world.lookups[table_name(step, ROUTES)]
    place = next(place for place, name in enumerate(answer.data) if _last(name) == "forward")
    return answer.action.equals(place)


def cells(step: Step, name: str) -> Cells | None:
    """A register or a counter after the packet; None if the program has none of this name."""
    found = step.state.get(name)
    return found if isinstance(found, Cells) else None
