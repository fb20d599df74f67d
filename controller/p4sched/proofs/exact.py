"""Integers without overflow, as terms of a solver.

An `Int` knows its smallest and its largest possible value, and its term has just enough bits for them. So sums,
differences and products are those of mathematics, as in an expression of BMv2's JSON, which has integers of any size.
An `Int` with only one possible value is a Python number: a step with such inputs is an execution, without a solver.

A product of two variables is an unknown function `times`, because solvers multiply bit by bit and are slow at it. What
holds for every such function within the bounds of the product also holds for the product. `PRODUCTS.multiplied`
replaces the function by the multiplication, for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import add, lshift, rshift, sub
from typing import Any

import z3

FEW_PRODUCTS = 6
FACTOR_BITS = 80
"""Bits of a factor of `times`, with a sign."""

Truth = Any
"""A condition: a Python bool, or a term."""


def _bits(low: int, high: int) -> int:
    """Bits of all numbers from `low` to `high`; with a sign if one is negative."""
    if low >= 0:
        return max(1, high.bit_length())
    return max((~low).bit_length(), high.bit_length() if high >= 0 else 0) + 1


@dataclass(frozen=True, eq=False)
class Int:
    """An integer from `low` to `high`. `term`: bits of it; with a sign if `low` is negative."""

    low: int
    high: int
    term: Any = None

    @staticmethod
    def of(value: int) -> Int:
        """A number."""
        return Int(value, value)

    @staticmethod
    def variable(name: str, bits: int, high: int | None = None) -> Int:
        """Any number of some bits; `high` is its largest value."""
        limit = (1 << bits) - 1 if high is None else high
        width = _bits(0, limit)
        found = Int(0, limit, z3.BitVec(name, width))
        PRODUCTS.limit(found)
        return found

    @property
    def is_number(self) -> bool:
        """True if it has only one possible value."""
        return self.low == self.high

    @property
    def bits(self) -> int:
        """Bits of the term."""
        return _bits(self.low, self.high)

    def same(self, other: Int) -> bool:
        """True if both are the same term, or the same number."""
        if self.is_number or other.is_number:
            return (self.low, self.high) == (other.low, other.high)
        return bool(self.term.eq(other.term))

    def at(self, width: int) -> Any:
        """The term with more bits."""
        if self.is_number:
            return z3.BitVecVal(self.low, width)
        more = width - self.bits
        if more == 0:
            return self.term
        return z3.ZeroExt(more, self.term) if self.low >= 0 else z3.SignExt(more, self.term)

    def __add__(self, other: Int | int) -> Int:
        right = exact(other)
        return _operation(self.low + right.low, self.high + right.high, lambda w: self.at(w) + right.at(w), self, right)

    def __sub__(self, other: Int | int) -> Int:
        right = exact(other)
        return _operation(self.low - right.high, self.high - right.low, lambda w: self.at(w) - right.at(w), self, right)

    def __rsub__(self, other: int) -> Int:
        return exact(other) - self

    def __mul__(self, other: Int | int) -> Int:
        right = exact(other)
        corners = [one * two for one in (self.low, self.high) for two in (right.low, right.high)]
        low, high = min(corners), max(corners)
        if self.is_number or right.is_number:
            return _operation(low, high, lambda w: self.at(w) * right.at(w), self, right)
        return PRODUCTS.product(self, right, low, high)

    def __invert__(self) -> Int:
        return Int.of(-1) - self

    def __rshift__(self, places: Int | int) -> Int:
        """The number over 2^places, rounded down."""
        if isinstance(places, Int):
            return _shifted(self, places, rshift)
        low, high = self.low >> places, self.high >> places
        if low == high:
            return Int.of(low)
        width = places + _bits(low, high)
        return Int(low, high, z3.Extract(width - 1, places, self.at(max(width, self.bits))))

    def __lshift__(self, places: Int | int) -> Int:
        if isinstance(places, Int):
            return _shifted(self, places, lshift)
        if self.is_number or self.low < 0 or places == 0:
            return self * (1 << places)
        shifted = z3.Concat(self.term, z3.BitVecVal(0, places))
        return Int(self.low << places, self.high << places, shifted)

    def __mod__(self, divisor: int) -> Int:
        """The remainder of a number that is not negative."""
        if self.low < 0 or divisor < 1:
            raise ValueError("a remainder of a negative number, or with a divisor below 1")
        if divisor & (divisor - 1) == 0:
            return self.lowest(divisor.bit_length() - 1)
        if self.is_number or self.high < divisor:
            return Int.of(self.low % divisor) if self.is_number else self
        return _trimmed(0, divisor - 1, z3.URem(self.term, z3.BitVecVal(divisor, self.bits)))

    def __and__(self, other: Int) -> Int:
        if self.is_number and other.is_number:
            return Int.of(self.low & other.low)
        mask, value = (self, other) if self.is_number else (other, self)
        if mask.is_number and mask.low >= 0:
            kept = value.lowest(mask.low.bit_length())
            if mask.low & (mask.low + 1) == 0 or kept.is_number:
                return Int.of(kept.low & mask.low) if kept.is_number else kept
            width = mask.bits
            return _trimmed(0, min(mask.low, kept.high), kept.at(width) & mask.at(width))
        if self.low < 0 or other.low < 0:
            return self._joined(other, 0, lambda one, two: one & two)
        width = max(self.bits, other.bits)
        return _trimmed(0, min(self.high, other.high), self.at(width) & other.at(width))

    def __or__(self, other: Int) -> Int:
        return self._joined(other, max(self.low, other.low), lambda one, two: one | two)

    def __xor__(self, other: Int) -> Int:
        return self._joined(other, 0, lambda one, two: one ^ two)

    def _joined(self, other: Int, low: int, join: Any) -> Int:
        if self.is_number and other.is_number:
            return Int.of(join(self.low, other.low))
        if self.low < 0 or other.low < 0:
            # a negative number has infinitely many ones in front, as in Python
            width = _bits(min(self.low, other.low), max(self.high, other.high))
            half = 1 << (width - 1)
            return Int(-half, half - 1, join(self.at(width), other.at(width)))
        width = max(self.bits, other.bits)
        return Int(low, (1 << width) - 1, join(self.at(width), other.at(width)))

    def lowest(self, bits: int) -> Int:
        """The number modulo 2^bits."""
        if self.is_number:
            return Int.of(self.low % (1 << bits))
        if bits == 0:
            return Int.of(0)
        if self.low >= 0 and self.high < 1 << bits:
            return self
        return Int(0, (1 << bits) - 1, _lowest(self.at(max(bits, self.bits)), bits))

    def __lt__(self, other: Int | int) -> Truth:
        right = exact(other)
        if self.high < right.low:
            return True
        if self.low >= right.high:
            return False
        width = _bits(min(self.low, right.low), max(self.high, right.high))
        less = z3.ULT if self.low >= 0 and right.low >= 0 else lambda one, two: one < two
        return less(self.at(width), right.at(width))

    def __gt__(self, other: Int | int) -> Truth:
        return exact(other) < self

    def __le__(self, other: Int | int) -> Truth:
        return negated(exact(other) < self)

    def __ge__(self, other: Int | int) -> Truth:
        return negated(self < other)

    def equals(self, other: Int | int) -> Truth:
        """True if both have the same value."""
        right = exact(other)
        if self.high < right.low or right.high < self.low:
            return False
        if self.is_number and right.is_number:
            return self.low == right.low
        width = _bits(min(self.low, right.low), max(self.high, right.high))
        left, right_term = self.at(width), right.at(width)
        return True if left.eq(right_term) else left == right_term

    def differs(self, other: Int | int) -> Truth:
        """True if they have two values."""
        return negated(self.equals(other))


def _shifted(value: Int, places: Int, shift: Callable[[Int, int], Int]) -> Int:
    """A shift by 1, 2, 4, ... places, for each bit of `places` that is set."""
    if places.is_number:
        return shift(value, places.low)
    for bit in range(places.bits):
        is_set = places.lowest(bit + 1) >= 1 << bit
        value = choose(is_set, shift(value, 1 << bit), value)
    return value


def _operation(low: int, high: int, make: Any, one: Int, two: Int) -> Int:
    if low == high:
        return Int.of(low)
    width = max(_bits(low, high), one.bits, two.bits)
    return _trimmed(low, high, make(width))


def _trimmed(low: int, high: int, term: Any) -> Int:
    if low == high:
        return Int.of(low)
    width = _bits(low, high)
    return Int(low, high, term if term.size() == width else z3.Extract(width - 1, 0, term))


def exact(value: Int | int) -> Int:
    """A number as an Int."""
    return value if isinstance(value, Int) else Int.of(value)


def _lowest(term: Any, bits: int) -> Any:
    """The lowest bits of a term. Those of a sum are the sum of the lowest bits."""
    kind, parts = term.decl().kind(), term.children()
    if kind in SUMS:
        return reduce(SUMS[kind], (_lowest(part, bits) for part in parts))
    if kind in {z3.Z3_OP_ZERO_EXT, z3.Z3_OP_SIGN_EXT} and parts[0].size() >= bits:
        return _lowest(parts[0], bits)
    if kind == z3.Z3_OP_BNUM:
        return z3.BitVecVal(term.as_long(), bits)
    return term if term.size() == bits else z3.Extract(bits - 1, 0, term)


SUMS = {z3.Z3_OP_BADD: add, z3.Z3_OP_BSUB: sub}


# conditions


def negated(condition: Truth) -> Truth:
    """Not."""
    return not condition if isinstance(condition, bool) else z3.Not(condition)


def every(*conditions: Truth) -> Truth:
    """And."""
    if any(one is False for one in conditions):
        return False
    left = [one for one in conditions if one is not True]
    return True if not left else left[0] if len(left) == 1 else z3.And(*left)


def conjuncts(condition: Truth) -> list[Truth]:
    """Conditions that hold together if this one holds."""
    return [condition] if isinstance(condition, bool) or not z3.is_and(condition) else list(condition.children())


def some(*conditions: Truth) -> Truth:
    """Or."""
    if any(one is True for one in conditions):
        return True
    left = [one for one in conditions if one is not False]
    return False if not left else left[0] if len(left) == 1 else z3.Or(*left)


def implies(condition: Truth, then: Truth) -> Truth:
    """If `condition`, then `then`."""
    return some(negated(condition), then)


def choose(condition: Truth, then: Int | int, other: Int | int) -> Int:
    """`then` if the condition holds, else `other`."""
    one, two = exact(then), exact(other)
    if isinstance(condition, bool):
        return one if condition else two
    low, high = min(one.low, two.low), max(one.high, two.high)
    if low == high:
        return one
    width = _bits(low, high)
    left, right = one.at(width), two.at(width)
    if left.eq(right):
        return one if one.high - one.low <= two.high - two.low else two
    return Int(low, high, z3.If(condition, left, right))


def number(condition: Truth) -> Int:
    """1 if the condition holds, else 0."""
    return choose(condition, 1, 0)


def remainder(value: Int, divisor: Int) -> Int:
    """The remainder of a number that is not negative. `divisor`: at least 1."""
    if divisor.is_number:
        return value % divisor.low
    if value.low < 0 or divisor.low < 1:
        raise ValueError("a remainder of a negative number, or with a divisor below 1")
    width = max(value.bits, divisor.bits)
    return _trimmed(0, min(value.high, divisor.high - 1), z3.URem(value.at(width), divisor.at(width)))


def smallest(one: Int | int, two: Int | int) -> Int:
    """The smaller one."""
    left, right = exact(one), exact(two)
    return _within(choose(left < right, left, right), min(left.low, right.low), min(left.high, right.high))


def largest(one: Int | int, two: Int | int) -> Int:
    """The larger one."""
    left, right = exact(one), exact(two)
    return _within(choose(left < right, right, left), max(left.low, right.low), max(left.high, right.high))


def _within(value: Int, low: int, high: int) -> Int:
    """A value whose bounds are known to be closer."""
    return value if value.is_number else _trimmed(low, high, value.term)


@dataclass(frozen=True)
class _Fact:
    """Properties of a product: its bounds, and the bits that it and its factors need."""

    made: Any
    bounds: tuple[tuple[int, int], ...]
    width: int

    def laws(self, times: Any) -> list[Any]:
        left, right = self.made.children()
        within = [z3.And(self.made >= low, self.made <= high) for low, high in self.bounds]
        signs = [
            z3.Implies(z3.And(left >= 0, right >= 0), self.made >= 0),
            z3.Implies(z3.And(left >= 0, right <= 0), self.made <= 0),
            z3.Implies(z3.And(left <= 0, right >= 0), self.made <= 0),
        ]
        return [*within, *signs, self.made == times(right, left)]

    def multiplied(self, pairs: list[tuple[Any, Any]]) -> Any:
        left, right = (
            _resized(z3.substitute(factor, *pairs) if pairs else factor, self.width) for factor in self.made.children()
        )
        return z3.SignExt(2 * FACTOR_BITS - self.width, left * right)


def _resized(factor: Any, width: int) -> Any:
    return z3.Extract(width - 1, 0, factor) if width <= FACTOR_BITS else z3.SignExt(width - FACTOR_BITS, factor)


class Products:
    """All products of two variables, and the limits of variables that do not take all values of their bits."""

    def __init__(self) -> None:
        sort = z3.BitVecSort(FACTOR_BITS)
        self._times = z3.Function("times", sort, sort, z3.BitVecSort(2 * FACTOR_BITS))
        self._facts: dict[int, _Fact] = {}
        self._limits: dict[int, tuple[Any, int]] = {}

    def product(self, one: Int, two: Int, low: int, high: int) -> Int:
        """The product of two variables."""
        width = max(_bits(min(low, -1), high), one.bits + 1, two.bits + 1)
        if max(one.bits, two.bits) >= FACTOR_BITS:
            raise ValueError(f"a product of numbers with {max(one.bits, two.bits)} bits is not supported")
        left, right = sorted((one.at(FACTOR_BITS), two.at(FACTOR_BITS)), key=lambda term: int(term.get_id()))
        made = self._times(left, right)
        known = self._facts.get(made.get_id(), _Fact(made, (), width))
        bounds = known.bounds if (low, high) in known.bounds else (*known.bounds, (low, high))
        self._facts[made.get_id()] = _Fact(made, bounds, max(width, known.width))
        return _trimmed(low, high, made)

    def limit(self, variable: Int) -> None:
        """Remembers the largest value of a variable."""
        if variable.high != (1 << variable.bits) - 1:
            self._limits[variable.term.get_id()] = variable.term, variable.high

    def largest(self, term: Any) -> int:
        """The largest value of a term without a sign, as far as it is known."""
        _, known = self._limits.get(term.get_id(), (term, (1 << int(term.size())) - 1))
        return known

    def like(self, old: Any, new: Any) -> None:
        """If `old` is a product, `new` is equal to it."""
        fact = self._facts.get(old.get_id())
        if fact is not None:
            known = self._facts.get(new.get_id(), _Fact(new, (), fact.width))
            bounds = tuple(dict.fromkeys((*known.bounds, *fact.bounds)))
            self._facts[new.get_id()] = _Fact(new, bounds, max(fact.width, known.width))

    def orders(self, terms: Iterable[Any]) -> list[Any]:
        """Larger factors, none of them negative, have a larger product: for each two products with a common factor, and
        for all if they are few."""
        made = [part for part in parts(terms) if part.get_id() in self._facts]
        laws: list[Any] = []
        for one, other in permutations(made, 2):
            common = {child.get_id() for child in one.children()} & {child.get_id() for child in other.children()}
            if common or len(made) <= FEW_PRODUCTS:
                laws += _orders(one, other)
        return laws

    def laws(self, terms: Iterable[Any], *, multiplied: bool) -> list[Any]:
        """Known laws of the products and variables in these terms."""
        laws: list[Any] = []
        for part in parts(terms):
            key = part.get_id()
            if key in self._limits:
                laws.append(z3.ULE(part, self._limits[key][1]))
            if not multiplied and key in self._facts:
                laws += self._facts[key].laws(self._times)
        return laws

    def multiplied(self, terms: list[Any]) -> list[Any]:
        """The terms with multiplications in place of `times`."""
        pairs: list[tuple[Any, Any]] = []
        for part in parts(terms):
            if part.get_id() in self._facts:
                pairs.append((part, self._facts[part.get_id()].multiplied(pairs)))
        return [z3.substitute(term, *pairs) if pairs else term for term in terms]

    def replaced(self, terms: Sequence[Truth], new: Mapping[int, Any]) -> list[Truth]:
        """The terms with other parts in place of some, by the number of a part; the others must be equal to them."""
        made = dict(new)
        for part in parts(terms):
            if part.get_id() not in made:
                made[part.get_id()] = rebuilt(part, made)
                self.like(part, made[part.get_id()])
        return [term if isinstance(term, bool) else made.get(term.get_id(), term) for term in terms]


def _orders(one: Any, other: Any) -> list[Any]:
    left, right = one.children()
    return [
        z3.Implies(z3.And(left >= 0, right >= 0, left <= large, right <= larger), one <= other)
        for large, larger in (other.children(), reversed(other.children()))
    ]


def unknown(values: Sequence[Int | Truth]) -> dict[int, Any]:
    """A variable in place of each value or condition, by the number of its term."""
    terms = [value.term if isinstance(value, Int) else value for value in values]
    return {
        term.get_id(): z3.Const(f"any {place}", term.sort())
        for place, term in enumerate(terms)
        if term is not None and not isinstance(term, bool)
    }


def rebuilt(part: Any, new: Mapping[int, Any]) -> Any:
    """A term with new parts."""
    old = part.children()
    changed = [new.get(child.get_id(), child) for child in old]
    if all(one.eq(other) for one, other in zip(old, changed, strict=True)):
        return part
    return part.decl()(*changed)


def variables(terms: Iterable[Truth]) -> list[Any]:
    """The variables in terms."""
    return list(_union(terms, _variables).values())


def parts(terms: Iterable[Truth]) -> list[Any]:
    """All parts of terms that are no numbers, each once, after its own parts."""
    return list(_union(terms, _parts).values())


_PARTS: dict[int, dict[int, Any]] = {}
_VARIABLES: dict[int, dict[int, Any]] = {}


def _union(terms: Iterable[Truth], of: Callable[[Any], dict[int, Any]]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for term in terms:
        if not isinstance(term, bool):
            found |= of(term)
    return found


def _variables(term: Any) -> dict[int, Any]:
    if term.get_id() not in _VARIABLES:
        found = {key: part for key, part in _parts(term).items() if part.num_args() == 0}
        _VARIABLES[term.get_id()] = found
    return _VARIABLES[term.get_id()]


def _parts(term: Any) -> dict[int, Any]:
    """Parts by number. They are kept, so no number is used again."""
    if term.get_id() in _PARTS:
        return _PARTS[term.get_id()]
    done: dict[int, Any] = {}
    waiting = [(term, False)]
    while waiting:
        part, has_parts = waiting.pop()
        key = part.get_id()
        if has_parts:
            done[key] = part
        elif key not in done and part.decl().kind() not in NUMBERS:
            waiting.append((part, True))
            waiting += [(child, False) for child in part.children()]
    done.setdefault(term.get_id(), term)
    _PARTS[term.get_id()] = done
    return done


NUMBERS = {z3.Z3_OP_BNUM, z3.Z3_OP_TRUE, z3.Z3_OP_FALSE}

PRODUCTS = Products()
