"""Products as an unknown function with some known laws.

Z3 multiplies bit by bit, and cannot prove in an hour that two long products are equal. A statement that holds for every
function with these laws also holds for the product. Otherwise the statement may still hold: then the bits must decide.
"""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import z3

FITTING = (
    (0xFFFFFFFF, 0xFFFF),
    (32, 0xFFFF),
    (32, 8 * 0xFFFF),
    (256, 0xFFFF),
    (256, 32 * 0xFFFF),
    (256, 32 * 8 * 0xFFFF),
)
"""Largest factors of the products in the rules: ranks and sizes, window and room, K and size, 256 - K and q B."""
Factors = tuple[Any, Any, Any]
"""Two factors and their product."""


class Products:
    """The products of some terms."""

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._laws: dict[int, list[Any]] = {}
        self._factors: list[Factors] = []

    def __bool__(self) -> bool:
        """True if the terms have products."""
        return bool(self._factors)

    def without(self, term: Any) -> Any:
        """The term with a function in place of each product of two variables."""
        if not z3.is_app(term):
            # a renaming has no products
            return term
        number = term.get_id()
        if number in self._done:
            return self._done[number]
        parts = [self.without(part) for part in term.children()]
        if term.decl().kind() == z3.Z3_OP_BMUL and not any(z3.is_bv_value(part) for part in parts):
            made = parts[0]
            for part in parts[1:]:
                made = self._product(made, part)
        elif parts and any(one.get_id() != other.get_id() for one, other in zip(parts, term.children(), strict=True)):
            made = z3.substitute(term, *zip(term.children(), parts, strict=True))
        else:
            made = term
        self._done[number] = made
        # keeps the term alive: the id of a freed term may be used again
        self._kept += [term, made]
        return made

    def bounds(self) -> list[Any]:
        """Upper bounds of the products."""
        return [law for laws in self._laws.values() for law in laws]

    def laws(self) -> list[Any]:
        """All known laws of the functions."""
        laws = self.bounds()
        for one, other in permutations(self._factors, 2):
            if one[2].size() == other[2].size():
                laws += self._order(one, other)
        return laws

    def _order(self, left: Factors, right: Factors) -> Iterator[Any]:
        """A smaller factor does not give a larger product, unless a product wraps around."""
        for first, second in ((0, 1), (1, 0)):
            for most, rest in FITTING:
                if most * rest < 1 << right[2].size():
                    fits = z3.And(z3.ULE(right[first], most), z3.ULE(right[second], rest))
                    smaller = z3.And(z3.ULE(left[first], right[first]), z3.ULE(left[second], right[second]))
                    yield z3.Implies(z3.And(fits, smaller), z3.ULE(left[2], right[2]))

    def _product(self, left: Any, right: Any) -> Any:
        bits = left.size()
        sort = z3.BitVecSort(bits)
        function = z3.Function(f"times_{bits}", sort, sort, sort)
        made = function(left, right)
        if made.get_id() in self._laws:
            return made
        laws = [made == function(right, left)]
        for one, other in (*FITTING, *(pair[::-1] for pair in FITTING)):
            if one * other < 1 << bits:
                laws.append(z3.Implies(z3.And(z3.ULE(left, one), z3.ULE(right, other)), z3.ULE(made, one * other)))
        for factor, other in ((left, right), (right, left)):
            laws.append(z3.Implies(factor == 1, made == other))
        self._laws[made.get_id()] = laws
        self._factors.append((left, right, made))
        return made
