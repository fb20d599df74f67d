"""Rates and durations as text: "500mbit", "10ms"."""

import re
from typing import Self

from p4sched.errors import UsageError, require

_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([a-zµ/]*)", re.IGNORECASE)

# tc(8) writes bit/s as "bit", with decimal prefixes.
_RATE_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_DURATION_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
MAX_RATE = 1000 * 10**9
MAX_DURATION = 24 * 60 * 60 * 10**9


class Rate(int):
    """A positive rate in bit/s. `str()` gives the shortest form that `parse` reads back."""

    @classmethod
    def parse(cls, text: object) -> Self:
        """Parses "500mbit", "1.5gbit", "64kbit". The unit is required, and the value must be positive."""
        value = cls(_parse(str(text), _RATE_UNITS, "rate", "500mbit"))
        require(value >= 1, f"rate '{text}' is zero; a link needs a positive rate, for example 500mbit")
        require(value <= MAX_RATE, f"rate '{text}' is above {cls(MAX_RATE)}, more than any port has")
        return value

    def __str__(self) -> str:
        return _shortest(int(self), _RATE_UNITS)


class Duration(int):
    """A positive time in nanoseconds. `str()` gives the shortest form that `parse` reads back."""

    @classmethod
    def parse(cls, text: object) -> Self:
        """Parses "10ms", "60s", "1.5s", "250us". The unit is required, and the value must be positive."""
        value = cls(_parse(str(text), _DURATION_UNITS, "time", "10ms"))
        require(value >= 1, f"time '{text}' is zero; it must be positive, for example 10ms")
        require(value <= MAX_DURATION, f"time '{text}' is above a day ({cls(MAX_DURATION)})")
        return value

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return int(self) / 1e9

    def __str__(self) -> str:
        return _shortest(int(self), {unit: ns for unit, ns in _DURATION_UNITS.items() if unit != "µs"})


def delay_ns(text: str) -> int:
    """Parses a delay, such as "10us" or "0us", in nanoseconds. Unlike a `Duration`, it may be 0."""
    found = _parse(text, _DURATION_UNITS, "time", "10us")
    return found and int(Duration.parse(text))


def _parse(text: str, units: dict[str, int], kind: str, example: str) -> int:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"'{text}' is not a {kind}; write a positive number and a unit, for example {example}")
    number, unit = found.group(1), found.group(2).lower().removesuffix("/s")
    if unit not in units:
        wrong = f"unknown unit '{found.group(2)}'" if unit else "no unit"
        raise UsageError(f"{kind} '{text}' has {wrong}; the units are {', '.join(units)}, for example {example}")
    return round(float(number) * units[unit])


def _shortest(value: int, units: dict[str, int]) -> str:
    forms = [f"{value // size}{unit}" for unit, size in units.items() if value % size == 0]
    return min(forms, key=lambda form: (len(form), form))
