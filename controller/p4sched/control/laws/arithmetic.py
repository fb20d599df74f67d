"""Arithmetic that gives the same bits on every machine, in every Python and in Java (controller/onos/laws).

A decision that is made again from a log must be the same one. Additions, multiplications, divisions and square roots
are rounded as IEEE 754 says, to the last bit. Powers and logarithms are not: mathematical libraries differ in it.
"""

from collections.abc import Iterable


def square(value: float) -> float:
    """`value**2` is a power, so not always the nearest number to the square."""
    return value * value


def in_order(values: Iterable[float]) -> float:
    """The sum, rounded after each addition from left to right. From Python 3.12 on `sum` makes up for the rounding."""
    total = 0.0
    for value in values:
        total += value
    return total
