"""Numbers that a control law computes with, as variables: the law itself is executed, for all samples at once.

A `Number` takes the place of an int or a float in the law's own function. Ints are exact. A result of floats is a new
variable, of which the solver knows what holds for every rounded result:

- its bounds. Rounding keeps the order of numbers, so the results at the corners of the operands' ranges bound it;
- its order among other results of the same operation with a common operand;
- a product with a factor below 1 is below its other factor, and a quotient of a whole number and a larger one below
  2^53 is below 1.

So what is true for all such variables is true for floats. A condition that may be true or false is both: `Paths` runs
the function again for each. What is false for some of these variables may still be true for floats; then only a run
with the numbers of the solver tells (`p4sched.proofs.laws`).
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import z3

from p4sched.errors import P4schedError, UsageError

EXACT = 2**53
"""All whole numbers up to this one are floats."""
SMALLEST = 1e-300
"""Floats from here on have all their bits."""
QUESTION_MS = 10_000


class Condition:
    """A comparison. `bool()` of it is a choice between two paths."""

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        return Paths.current.choose(self.term)


class Number:
    """A number from `low` to `high`. `whole`: an int; else a float."""

    def __init__(self, term: Any, low: Any, high: Any, whole: bool) -> None:
        self.term, self.low, self.high, self.whole = term, low, high, whole
        self.least = max(low, 1) if whole else max(low, 0.0)
        """No value between 0 and this one is possible."""

    @staticmethod
    def of(value: Any) -> Number:
        """A number as a Number."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Condition):
            return Number(z3.If(value.term, z3.IntVal(1), z3.IntVal(0)), 0, 1, True)
        if isinstance(value, int):
            return Number(z3.IntVal(int(value)), int(value), int(value), True)
        exact = Fraction(value)
        return Number(z3.RealVal(f"{exact.numerator}/{exact.denominator}"), value, value, False)

    @property
    def real(self) -> Any:
        """The term as a real number."""
        return z3.ToReal(self.term) if self.whole else self.term

    def __add__(self, other: Any) -> Number:
        return _computed("+", self, Number.of(other))

    def __radd__(self, other: Any) -> Number:
        return _computed("+", Number.of(other), self)

    def __sub__(self, other: Any) -> Number:
        return _computed("-", self, Number.of(other))

    def __rsub__(self, other: Any) -> Number:
        return _computed("-", Number.of(other), self)

    def __mul__(self, other: Any) -> Number:
        return _computed("*", self, Number.of(other))

    def __rmul__(self, other: Any) -> Number:
        return _computed("*", Number.of(other), self)

    def __truediv__(self, other: Any) -> Number:
        return _quotient(self, Number.of(other))

    def __rtruediv__(self, other: Any) -> Number:
        return _quotient(Number.of(other), self)

    def __floordiv__(self, other: int) -> Number:
        found = Number(self.term / z3.IntVal(other), self.low // other, self.high // other, True)
        return Paths.current.named(found)

    def __mod__(self, other: int) -> Number:
        return self - self // other * other

    def __round__(self) -> Number:
        half = z3.RealVal("1/2")
        return _whole(self, round, lambda found, value: z3.And(found - value <= half, value - found <= half))

    def __ceil__(self) -> Number:
        return _whole(self, math.ceil, lambda found, value: z3.And(found >= value, found < value + 1))

    def truncated(self) -> Number:
        """`int()` of it; it is not negative."""
        return _whole(self, int, lambda found, value: z3.And(found <= value, value < found + 1))

    def is_integer(self) -> bool:
        """As of a float; pinned values are ints."""
        return self.whole

    def __abs__(self) -> Any:
        return larger(self, 0 - self)

    def __lt__(self, other: Any) -> Condition:
        return Condition(self.real < Number.of(other).real)

    def __le__(self, other: Any) -> Condition:
        return Condition(self.real <= Number.of(other).real)

    def __gt__(self, other: Any) -> Condition:
        return Condition(self.real > Number.of(other).real)

    def __ge__(self, other: Any) -> Condition:
        return Condition(self.real >= Number.of(other).real)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override] # a condition takes the place of a bool
        return Condition(self.real == Number.of(other).real)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self.real != Number.of(other).real)

    __hash__ = object.__hash__

    def __deepcopy__(self, _memory: Any) -> Number:
        return self

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __format__(self, _form: str) -> str:
        return "a number"


def _whole(value: Number, of: Callable[[Any], int], law: Callable[[Any, Any], Any]) -> Number:
    """A whole number near a float."""
    if value.whole:
        return value
    found = Paths.current.result(of.__name__, value, Number.of(0), of(value.low), of(value.high), whole=True)
    Paths.current.know(law(found.real, value.real))
    return found


def _quotient(one: Number, two: Number) -> Number:
    if two.low <= 0 <= two.high and two == 0:
        raise ZeroDivisionError("division by zero")
    return _computed("/", one, two)


OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, two: one + two,
    "-": lambda one, two: one - two,
    "*": lambda one, two: one * two,
    "/": lambda one, two: one / two,
}


def _computed(sign: str, one: Number, two: Number) -> Number:
    compute = OPERATIONS[sign]
    exact = one.whole and two.whole and sign != "/"
    lowest = two.low if sign != "/" or two.low > 0 else two.least or math.ulp(0.0)
    corners = [compute(a, b) for a in (one.low, one.high) for b in (lowest, two.high)]
    low, high = min(corners), max(corners)
    if math.isinf(low) or math.isinf(high) or math.isnan(low + high):
        raise OverflowError("a float may be infinite")
    if exact and (sign != "*" or one.low == one.high or two.low == two.high):
        return Number(compute(one.term, two.term), low, high, True)
    return Paths.current.result(sign, one, two, low, high, whole=exact)


def smaller(*values: Any, **default: Any) -> Any:
    """`min`, without a choice between paths."""
    return _first(values, lambda one, two: one <= two, min, default)


def larger(*values: Any, **default: Any) -> Any:
    """`max`, without a choice between paths."""
    return _first(values, lambda one, two: one >= two, max, default)


def _first(
    arguments: Sequence[Any],
    before: Callable[[Any, Any], Any],
    bound: Callable[..., Any],
    default: Mapping[str, Any],
) -> Any:
    values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
    if not values:
        return bound(values, **default)
    found = values[0]
    for value in values[1:]:
        if not isinstance(found, Number) and not isinstance(value, Number):
            found = bound(found, value)
            continue
        one, two = Number.of(found), Number.of(value)
        whole = one.whole and two.whole
        terms = (one.term, two.term) if whole else (one.real, two.real)
        chosen = z3.If(before(one.real, two.real), *terms)
        found = Paths.current.named(Number(chosen, bound(one.low, two.low), bound(one.high, two.high), whole))
    return found


def square_root(value: Any) -> Any:
    """`math.sqrt`."""
    if not isinstance(value, Number):
        return math.sqrt(value)
    if value.low < 0 and value < 0:
        raise ValueError("math domain error")
    return Paths.current.new(math.sqrt(max(0, value.low)), math.sqrt(max(0, value.high)), whole=False)


def between(values: Iterable[Any]) -> Any:
    """Any number from the smallest to the largest one of some."""
    known = list(values)
    if not any(isinstance(value, Number) for value in known):
        return statistics.median(known)
    low, high = Number.of(smaller(known)), Number.of(larger(known))
    found = Paths.current.new(low.low, high.high, whole=False)
    found.least = min(Number.of(value).least for value in known)
    Paths.current.know(z3.And(found.real >= low.real, found.real <= high.real))
    return found


def in_order(values: Iterable[Any]) -> list[Any]:
    """In place of `sorted`: as many numbers, of which only the limits are known."""
    known = list(values)
    return [between(known) for _ in known] if any(isinstance(value, Number) for value in known) else sorted(known)


NAMES: Mapping[str, Any] = {
    "min": smaller,
    "max": larger,
    "int": lambda value: value.truncated() if isinstance(value, Number) else int(value),
    "float": lambda value: value if isinstance(value, Number) else float(value),
    "sorted": in_order,
    "statistics": SimpleNamespace(median=between),
    "math": SimpleNamespace(sqrt=square_root, ceil=math.ceil, pi=math.pi),
}
"""What a law's module calls, for Numbers, too."""


@dataclass
class Paths:
    """All paths of a function."""

    variables: dict[str, Number] = field(default_factory=dict)
    """Inputs."""
    _choices: list[tuple[bool, bool]] = field(default_factory=list)
    """Choices of the path: the value, and whether the other one is still to be looked at."""
    _next: int = 0
    _results: list[tuple[str, Number, Number, Number]] = field(default_factory=list)
    _solver: Any = None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    current: ClassVar[Paths]
    """Paths of the function that runs."""

    def explore(self, function: Callable[[], Any]) -> Iterator[tuple[Any, Exception | None]]:
        """The result of each path, or the exception that ends it. `values` and `possible` are about the last one."""
        Paths.current = self
        while True:
            self._begin()
            try:
                yield function(), None
            except (ArithmeticError, ValueError, UsageError) as error:
                yield None, error
            while self._choices and not self._choices[-1][1]:
                self._choices.pop()
            if not self._choices:
                return
            self._choices[-1] = (not self._choices[-1][0], False)

    def _begin(self) -> None:
        self._next = 0
        self._results, self._numbers, self.variables = [], itertools.count(), {}
        self._solver = z3.Solver()
        self._solver.set("timeout", QUESTION_MS)

    def choose(self, term: Any) -> bool:
        """Whether a condition holds on this path. The path where it does comes first."""
        if self._next == len(self._choices):
            then, other = (self._solver.check(one) != z3.unsat for one in (term, z3.Not(term)))
            self._choices.append((then, then and other))
        choice = self._choices[self._next][0]
        self._next += 1
        self.know(term if choice else z3.Not(term))
        return choice

    def know(self, fact: Any) -> None:
        """A fact on this path."""
        self._solver.add(fact)

    def variable(self, name: str, low: Any, high: Any) -> Number:
        """An input, an int if its bounds are."""
        whole = isinstance(low, int)
        found = Number((z3.Int if whole else z3.Real)(name), low, high, whole)
        self.variables[name] = found
        return self._within(found)

    def new(self, low: Any, high: Any, *, whole: bool) -> Number:
        """A number of which only the bounds are known."""
        name = f"number {next(self._numbers)}"
        return self._within(Number((z3.Int if whole else z3.Real)(name), low, high, whole))

    def named(self, value: Number) -> Number:
        """The number, as a variable."""
        found = self.new(value.low, value.high, whole=value.whole)
        self.know(found.term == value.term)
        return found

    def result(self, sign: str, one: Number, two: Number, low: Any, high: Any, *, whole: bool) -> Number:
        """A rounded result of an operation; or the product of two variables. `sign`: the operation, or its name."""
        found = self.new(low, high, whole=whole)
        if sign in "*/" and one.low >= 0 and two.low >= 0:
            self._positive(sign, one, two, found)
        if sign == "*":
            for factor, other in ((one, two), (two, one)):
                if other.low >= SMALLEST and other.high <= (EXACT if other.whole else math.inf) and factor.low >= 0:
                    self.know(z3.Implies(factor.real < 1, found.real < other.real))
                    self.know(z3.Implies(factor.real <= 1, found.real <= other.real))
        if sign == "/" and one.whole and two.whole and 0 < two.low <= two.high <= EXACT and one.low >= 0:
            self.know(z3.Implies(one.real < two.real, found.real < 1))
        for before, first, second, value in self._results:
            if before == sign:
                self._ordered(sign, (first, second, value), (one, two, found))
        self._results.append((sign, one, two, found))
        return found

    def _positive(self, sign: str, one: Number, two: Number, found: Number) -> None:
        """A result of numbers above 0 is not below that of the least ones."""
        found.least = OPERATIONS[sign](one.least, two.high if sign == "/" else two.least)
        positive = z3.And(one.real > 0, two.real > 0)
        self.know(z3.Implies(positive, found.real >= Number.of(found.least).real))
        self.know(z3.Implies(one.real == 0, found.real == 0))

    def _ordered(self, sign: str, old: Sequence[Number], new: Sequence[Number]) -> None:
        """The larger operand has the larger result, if the other operand is the same."""
        pairs = [(0, 1), (1, 0)] if sign in "+-*" else [(0, 1)]
        swapped = [(0, 1, 1, 0), (1, 0, 0, 1)] if sign in "+*" else []
        for mine, same, other_mine, other_same in [(a, b, a, b) for a, b in pairs] + swapped:
            one, other = old[same], new[other_same]
            if not one.real.eq(other.real) or (sign in "*/" and one.low < 0):
                continue
            left, right = old[mine].real, new[other_mine].real
            rises = sign != "-" or mine == 0
            low, high = (old[2].real, new[2].real) if rises else (new[2].real, old[2].real)
            self.know(z3.Implies(left <= right, low <= high))
            self.know(z3.Implies(left >= right, low >= high))

    def _within(self, value: Number) -> Number:
        low, high = Number.of(value.low), Number.of(value.high)
        self.know(z3.And(value.real >= low.real, value.real <= high.real))
        return value

    def values(self, typical: Mapping[str, Any], *statements: Any) -> Mapping[str, Any] | None:
        """Numbers for the inputs with which the path is taken and the statements hold; None: there are none.

        They are typical ones if such ones do.

        Raises:
            P4schedError: the solver gave up.
        """
        known = [name for name in self.variables if name in typical]
        pins = [self.variables[name].real == Number.of(typical[name]).real for name in known]
        found = self._solver.check(*statements, *pins)
        if found != z3.sat:
            found = self._solver.check(*statements)
        if found == z3.unknown:
            raise P4schedError("the solver gave up")
        if found == z3.unsat:
            return None
        model = self._solver.model()
        return {name: _number(model.eval(one.term, model_completion=True)) for name, one in self.variables.items()}


def _number(value: Any) -> int | float:
    if z3.is_int_value(value):
        return int(value.as_long())
    return float(Fraction(value.numerator_as_long(), value.denominator_as_long()))
