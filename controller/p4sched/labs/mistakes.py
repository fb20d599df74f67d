"""The known mistakes of a lab in P4: edits of the solution, listed in its wrong.toml."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError

LISTED = "wrong.toml"
Edits = Sequence[tuple[str, str]]
"""Text of the solution, and its replacement."""


@dataclass(frozen=True)
class Mistake:
    """A typical mistake and its message."""

    name: str
    says: str
    """Sentences for the student; they do not give the solution away."""
    marker: str
    """The comment above the mistake, if it differs from that of the task."""
    text: str
    """The program with the mistake. Several programs may have the same name."""


def mistakes(folder: Path, file: str) -> list[Mistake]:
    """The mistakes of a lab that have a message. `file`: the student's file."""
    listed = tomllib.loads((folder / LISTED).read_text(encoding="utf-8"))
    solution = (folder / "solution" / file).read_text(encoding="utf-8")
    start = (folder / "start" / file).read_text(encoding="utf-8")
    says: dict[str, Mapping[str, Any]] = {}
    result = []
    for entry in listed["wrong"]:
        first = says.setdefault(entry["mistake"], entry)
        spoken = entry if "says" in entry else first
        if "says" in spoken:
            variants = variants_of(entry, listed.get("unfinished", []))
            result += [
                Mistake(
                    name, spoken["says"], spoken.get("marker", ""), apply_edits(solution, edits) if edits else start
                )
                for name, edits in variants
            ]
    return result


def apply_edits(text: str, edits: Edits) -> str:
    """The text after these edits, in order.

    Raises:
        P4schedError: the text lacks a part that an edit replaces.
    """
    for before, after in edits:
        if before not in text:
            raise P4schedError(f"{LISTED}: the solution has no '{before}'; the lab is wrong")
        text = text.replace(before, after)
    return text


def variants_of(entry: Mapping[str, Any], unfinished: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Edits]]:
    """Names and edits of an entry of wrong.toml. No edits: the first file of the lab."""
    name, edits = entry["mistake"], entry.get("edits", [])
    if "places" not in entry:
        yield name, edits
    # in one of the places, or in several
    places = entry.get("places", [])
    for count in range(1, len(places) + 1):
        for chosen in combinations(places, count):
            yield name, [*edits, *(edit for place in chosen for edit in place)]
    for task in unfinished:
        if task["mistake"] in entry.get("unfinished", ()):
            yield f"{name}, {task['mistake']}", [*edits, *task["edits"]]
