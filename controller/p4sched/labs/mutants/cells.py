"""Registers without arrays: a variable for each cell that a term reads.

Z3 is slow with long chains of writes in arrays. Without arrays, the question has only numbers of some bits.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import z3


class Cells:
    """The cells that some terms read."""

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._read: dict[tuple[int, int], Any] = {}
        self._kept: list[Any] = []
        self._cells: dict[str, list[tuple[Any, Any]]] = {}
        """Index and variable of each cell, by array."""

    def without(self, term: Any) -> Any:
        """The term with a variable in place of each cell of an array."""
        number = term.get_id()
        if number not in self._done:
            # keeps the term alive: the id of a freed term may be used again
            self._kept.append(term)
            self._done[number] = self._without(term)
        return self._done[number]

    def laws(self) -> list[Any]:
        """Cells with equal indices are equal."""
        found = []
        for cells in self._cells.values():
            for (at, one), (other_at, other) in combinations(cells, 2):
                same = z3.simplify(at == other_at)
                if not z3.is_false(same):
                    found.append(z3.Implies(same, one == other))
        return found

    def named(self, model: Any) -> Iterator[tuple[str, Any]]:
        """The cells with their indices in an example."""
        for name, cells in self._cells.items():
            for at, variable in cells:
                yield f"{name}[{model.eval(at)}]", variable

    def _without(self, term: Any) -> Any:
        if z3.is_select(term):
            array, at = term.children()
            return self._of(array, z3.simplify(self.without(at)))
        if z3.is_array(term) or not z3.is_app(term) or term.num_args() == 0:
            return term
        parts = [self.without(part) for part in term.children()]
        if all(one.get_id() == other.get_id() for one, other in zip(parts, term.children(), strict=True)):
            return term
        return term.decl()(*parts)

    def _of(self, array: Any, at: Any) -> Any:
        """Content of an array at an index."""
        key = array.get_id(), at.get_id()
        if key not in self._read:
            self._kept += [array, at]
            self._read[key] = self._content(array, at)
        return self._read[key]

    def _content(self, array: Any, at: Any) -> Any:
        if z3.is_quantifier(array):
            return self.without(z3.substitute_vars(array.body(), at))
        if z3.is_store(array):
            before, written_at, value = array.children()
            here = z3.simplify(self.without(written_at) == at)
            if z3.is_true(here):
                return self.without(value)
            older = self._of(before, at)
            return older if z3.is_false(here) else z3.If(here, self.without(value), older)
        if z3.is_app_of(array, z3.Z3_OP_ITE):
            condition, one, other = array.children()
            one, other = self._of(one, at), self._of(other, at)
            return one if one.eq(other) else z3.If(self.without(condition), one, other)
        if z3.is_K(array):
            return array.children()[0]
        return self._variable(array, at)

    def _variable(self, array: Any, at: Any) -> Any:
        cells = self._cells.setdefault(array.decl().name(), [])
        variable = z3.BitVec(f"*{array.decl().name()}_{len(cells)}", array.range().size())
        cells.append((at, variable))
        return variable
