"""Arrays of cells: registers and counters, before and after a packet.

An array is what was written into it, in order, above its content before the packet. A cell before the packet is one
variable for each index that is read: the solver has no arrays. `Before.laws` says that equal indices have equal cells.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import z3

from p4sched.proofs.exact import Int, Truth, choose, implies


class Before:
    """Content before the packet. `known`: numbers of a given state, in place of variables; other cells are 0."""

    def __init__(self, name: str, bits: int, known: Mapping[int, int] | None = None) -> None:
        self.name, self.bits, self.known = name, bits, known
        self.read: dict[int, tuple[Int, Int]] = {}
        """Index and cell, by the number of the index's term."""
        self._kept: list[object] = []

    def cell(self, index: Int) -> Int:
        """Content of a cell."""
        if self.known is not None:
            if self.known and not index.is_number:
                raise ValueError("a given state is read at given indices")
            return Int.of(self.known.get(index.low, 0))
        simple = z3.simplify(index.at(index.bits))
        key = int(simple.get_id())
        if key not in self.read:
            # keeps the term alive: its id may be used again
            self._kept.append(simple)
            self.read[key] = index, Int.variable(f"{self.name}[{len(self.read)}]", self.bits)
        return self.read[key][1]

    def cells(self, names: Container[str]) -> list[tuple[Int, Int]]:
        """Index and cell of those that have such names."""
        return [pair for pair in self.read.values() if str(pair[1].term) in names]


def is_cell(variable: str) -> bool:
    """True if a variable is a cell."""
    return variable.endswith("]")


def equal_cells(cells: Sequence[tuple[Int, Int]]) -> list[Truth]:
    """Equal indices have equal cells."""
    laws = []
    for (one, first), (other, second) in combinations(cells, 2):
        same = _same(one, other)
        if same is not False:
            laws.append(implies(same, first.equals(second)))
    return laws


@dataclass(frozen=True, eq=False)
class Cells:
    """Content of an array."""

    before: Before

    def cell(self, index: Int) -> Int:
        """Content of a cell."""
        return self.before.cell(index)

    def with_cell(self, index: Int, value: Int) -> Cells:
        """The array after one write."""
        return Written(self.before, self, index, value)


@dataclass(frozen=True, eq=False)
class Written(Cells):
    """An array after a write."""

    older: Cells
    index: Int
    value: Int

    def cell(self, index: Int) -> Int:
        here = _same(self.index, index)
        return self.value if here is True else choose(here, self.value, self.older.cell(index))


@dataclass(frozen=True, eq=False)
class Joined(Cells):
    """The array of one path or of another one."""

    condition: Truth
    one: Cells
    other: Cells
    read: dict[int, tuple[Int, Int]] = field(default_factory=dict)

    def cell(self, index: Int) -> Int:
        key = id(index)
        if key not in self.read:
            # keeps the index alive: its id may be used again
            self.read[key] = index, choose(self.condition, self.one.cell(index), self.other.cell(index))
        return self.read[key][1]


def joined(condition: Truth, one: Cells, other: Cells) -> Cells:
    """The first array if the condition holds, else the second."""
    if isinstance(condition, bool):
        return one if condition else other
    return one if one is other else Joined(one.before, condition, one, other)


def _same(one: Int, other: Int) -> Truth:
    same = one.equals(other)
    if isinstance(same, bool):
        return same
    simple = z3.simplify(same)
    return True if z3.is_true(simple) else False if z3.is_false(simple) else same
