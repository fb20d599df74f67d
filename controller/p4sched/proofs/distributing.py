"""Comparisons of products in one form: `q C (256 - K) <= W (C - c) 256` and the same without subtraction mean the same.

Solvers multiply bit by bit, and do not see that a product of sums is a sum of products. Here each comparison with a
product becomes `D >= 0`, where D is a polynomial with its monomials in one order. What means the same is then one
variable. Two with the same coefficients are equal if the variables of D are equal; perhaps they are so for the packets
of one path only.

A sum to which a path adds, `c ? x : x + y`, is `x + (c ? 0 : y)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd
from typing import Any

import z3

from p4sched.proofs.exact import PRODUCTS, Truth, every, implies, parts

WIDE = 192
"""Bits of a polynomial, with a sign. Larger ones are left out."""
Monomial = tuple[int, ...]
"""Numbers of its atoms, in order."""
TIMES = "times"
UNSIGNED = {z3.Z3_OP_ULT: (False, 1), z3.Z3_OP_ULEQ: (False, 0), z3.Z3_OP_UGT: (True, 1), z3.Z3_OP_UGEQ: (True, 0)}
SIGNED = {z3.Z3_OP_SLT: (False, 1), z3.Z3_OP_SLEQ: (False, 0), z3.Z3_OP_SGT: (True, 1), z3.Z3_OP_SGEQ: (True, 0)}
"""Each comparison: are the sides swapped? And how much larger must the right side be?"""


@dataclass(frozen=True)
class _Sum:
    """A polynomial and its bounds. It is the value of a term if the guards hold; else equal modulo 2^bits."""

    of: dict[Monomial, int]
    low: int
    high: int
    guards: tuple[Any, ...] = ()

    def plus(self, other: _Sum, factor: int = 1) -> _Sum:
        made = dict(self.of)
        for monomial, count in other.of.items():
            made[monomial] = made.get(monomial, 0) + factor * count
        ends = sorted((factor * other.low, factor * other.high))
        kept = {monomial: count for monomial, count in made.items() if count}
        return _Sum(kept, self.low + ends[0], self.high + ends[1], _once(*self.guards, *other.guards))

    def times(self, other: _Sum) -> _Sum:
        made: dict[Monomial, int] = {}
        for one, count in self.of.items():
            for two, more in other.of.items():
                monomial = tuple(sorted((*one, *two)))
                made[monomial] = made.get(monomial, 0) + count * more
        ends = [one * two for one in (self.low, self.high) for two in (other.low, other.high)]
        return _Sum(made, min(ends), max(ends), _once(*self.guards, *other.guards))


def _once(*guards: Any) -> tuple[Any, ...]:
    """Each guard once."""
    return tuple({guard.get_id(): guard for guard in guards}.values())


def _number(value: int) -> _Sum:
    return _Sum({(): value} if value else {}, value, value)


def distributed(terms: Sequence[Truth]) -> list[Truth]:
    """Laws about the comparisons of products in these terms."""
    return list(_Distributing().laws(terms))


class _Distributing:
    def __init__(self) -> None:
        self._atoms: dict[int, Any] = {}
        self._sums: dict[int, _Sum] = {}
        self._shapes: dict[tuple[tuple[Monomial, int], ...], dict[Monomial, Any]] = {}
        """Atoms of the polynomials, by their coefficients. And the condition that each is not negative."""

    def laws(self, terms: Sequence[Truth]) -> Iterator[Truth]:
        for part in parts(terms):
            kind = part.decl().kind() if z3.is_bool(part) else None
            is_signed = kind in SIGNED
            swapped, more = {**SIGNED, **UNSIGNED}.get(kind, (False, -1))
            if more < 0 or not any(one.decl().name() == TIMES for one in parts([part])):
                continue
            left, right = (self._exact(child, signed=is_signed) for child in part.children())
            if swapped:
                left, right = right, left
            difference = right.plus(left, -1).plus(_number(more), -1)
            if max(abs(difference.low), abs(difference.high)) < 1 << (WIDE - 2):
                yield implies(every(*difference.guards), part == self._is_positive(difference.of))
        yield from self._same_shape()

    def _is_positive(self, of: dict[Monomial, int]) -> Any:
        """A variable that is true if the polynomial is not negative: the same one for what means the same."""
        first = min((monomial for monomial in of if monomial), default=())
        if of.get(first, 0) < 0:
            opposite = {monomial: -count for monomial, count in of.items()}
            opposite[()] = opposite.get((), 0) - 1
            return z3.Not(self._is_positive(opposite)) if first else z3.BoolVal(False)
        common = gcd(*(count for monomial, count in of.items() if monomial))
        if not common:
            return z3.BoolVal(True)
        # D >= 0 if and only if the integer part of D / common >= 0
        terms = sorted((monomial, count // common) for monomial, count in of.items())
        positive = z3.Bool(f"{terms} >= 0")
        atoms = sorted({atom for monomial in of for atom in monomial})
        place = {atom: number for number, atom in enumerate(atoms)}
        shape = tuple(sorted((tuple(place[atom] for atom in monomial), count) for monomial, count in terms))
        self._shapes.setdefault(shape, {})[tuple(atoms)] = positive
        return positive

    def _same_shape(self) -> Iterator[Truth]:
        """Polynomials with the same coefficients are equal if their variables are."""
        for found in self._shapes.values():
            for (atoms, one), (others, two) in combinations(found.items(), 2):
                pairs = [pair for pair in zip(atoms, others, strict=True) if pair[0] != pair[1]]
                same = (self._atoms[left] == self._atoms[right] for left, right in pairs)
                yield implies(every(*same), one == two)

    def _linear(self, of: dict[Monomial, int]) -> Any:
        """A polynomial without products, as a term."""
        terms = [count * self._atoms[monomial[0]] for monomial, count in of.items() if monomial]
        return sum(terms, z3.BitVecVal(of.get((), 0), WIDE))

    def _exact(self, term: Any, *, signed: bool) -> _Sum:
        """The value of a term; the guards say when it is the polynomial."""
        found, bits = self._sum(term), term.size()
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if low <= found.low and found.high <= high:
            return found
        has_products = any(len(monomial) > 1 for monomial in found.of)
        if has_products or max(abs(found.low), abs(found.high), high) >= 1 << (WIDE - 2):
            return self._atom(term, signed=signed)
        value = self._linear(found.of)
        guards = (*found.guards, value >= z3.BitVecVal(low, WIDE), value <= z3.BitVecVal(high, WIDE))
        return _Sum(found.of, max(low, found.low), min(high, found.high), guards)

    def _sum(self, term: Any) -> _Sum:
        """A polynomial that is equal to the term modulo 2^bits."""
        key = term.get_id()
        if key not in self._sums:
            self._sums[key] = self._expanded(term)
        return self._sums[key]

    def _expanded(self, term: Any) -> _Sum:  # noqa: PLR0911 one for each kind
        children = term.children()
        match term.decl().kind():
            case z3.Z3_OP_BNUM:
                return _number(term.as_long())
            case z3.Z3_OP_BADD:
                return self._sum(children[0]).plus(self._sum(children[1]))
            case z3.Z3_OP_BSUB:
                return self._sum(children[0]).plus(self._sum(children[1]), -1)
            case z3.Z3_OP_BMUL:
                return self._sum(children[0]).times(self._sum(children[1]))
            case z3.Z3_OP_ZERO_EXT:
                return self._exact(children[0], signed=False)
            case z3.Z3_OP_SIGN_EXT:
                return self._exact(children[0], signed=True)
            case z3.Z3_OP_EXTRACT if term.params()[1] == 0:
                return self._sum(children[0])
            case z3.Z3_OP_ITE:
                return self._choice(children[0], self._sum(children[1]), self._sum(children[2])) or self._atom(
                    term, signed=False
                )
            case z3.Z3_OP_CONCAT if z3.is_bv_value(children[1]) and children[1].as_long() == 0 and len(children) == 2:
                return self._sum(children[0]).times(_number(1 << children[1].size()))
        if term.decl().name() == TIMES:
            one, two = (self._exact(child, signed=True) for child in children)
            return one.times(two)
        return self._atom(term, signed=False)

    def _choice(self, condition: Any, then: _Sum, other: _Sum) -> _Sum | None:
        """One of two sums, as the one and a choice between 0 and what the other adds. None if this is not simpler."""
        if then.of.keys() <= other.of.keys():
            base, more, holds = then, other.plus(then, -1), z3.Not(condition)
        elif other.of.keys() <= then.of.keys():
            base, more, holds = other, then.plus(other, -1), condition
        else:
            return None
        if (
            not base.of
            or any(len(monomial) > 1 for monomial in more.of)
            or max(-more.low, more.high) >= 1 << (WIDE - 2)
        ):
            return None
        added = z3.If(holds, self._linear(more.of), z3.BitVecVal(0, WIDE))
        key = 2 * added.get_id() + 1
        self._atoms[key] = added
        known = {guard.get_id() for guard in base.guards}
        guards = _once(*base.guards, *(implies(holds, guard) for guard in more.guards if guard.get_id() not in known))
        return base.plus(_Sum({(key,): 1}, min(0, more.low), max(0, more.high), guards))

    def _atom(self, term: Any, *, signed: bool) -> _Sum:
        bits, key = term.size(), 2 * term.get_id() + signed
        self._atoms[key] = z3.SignExt(WIDE - bits, term) if signed else z3.ZeroExt(WIDE - bits, term)
        if signed:
            return _Sum({(key,): 1}, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        return _Sum({(key,): 1}, 0, PRODUCTS.largest(term))
