"""Arithmetic that gives the same bits on every machine, in every Python and in Java (controller/onos/laws).

A decision that is repeated from a log must be the same. IEEE 754 defines the last bit of additions, multiplications,
divisions and square roots, but not of powers and logarithms, in which mathematical libraries differ.
"""

from collections.abc import Iterable


def square(value: float) -> float:
    """The square, rounded to the nearest number. `value**2` is a power, which may be rounded differently."""
    return value * value


def in_order(values: Iterable[float]) -> float:
    """The sum, rounded after each addition from left to right. `sum` compensates the rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


def close_to(current: int, wanted: int, share: float) -> bool:
    """True if a count differs by at most this share, or by one."""
    return abs(wanted - current) <= max(1, share * current)
