"""The estimates of the ranked laws: from any counters, a traffic in the ranges that `laws` starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import z3

from p4sched.control.laws import traffic_estimate
from p4sched.control.laws.port_counters import BUCKETS, Step
from p4sched.control.laws.traffic_estimate import MIN_POLLS, Traffic
from p4sched.errors import UsageError
from p4sched.p4rt.reader import Count
from p4sched.proofs.laws import LARGEST_COUNT, LONGEST_NS, TRAFFIC, Found, broken, settled
from p4sched.proofs.numbers import Number, Paths

POLLS_OF_DISPERSION = traffic_estimate.MIN_DISPERSION_POLLS + 1
NAMES = ("duration", "read", "admitted packets", "admitted bytes", "dropped packets", "dropped bytes", "found empty")
TYPICAL = dict(zip(NAMES, (10**8, 0, 100, 10**5, 0, 0, 0), strict=True))


def step(values: Mapping[str, Any], number: int) -> Step:
    """A poll with these counts. Counters may be reset at any time, so a count is any number."""
    duration, read, packets, size, dropped, dropped_size, empty = (values[f"{name} {number}"] for name in NAMES)
    admitted = Count(packets, size)
    return Step(
        number * LONGEST_NS,
        number * LONGEST_NS + duration,
        read * read * 1.0,
        admitted + Count(dropped, dropped_size),
        admitted,
        dropped,
        empty,
        (0,) * BUCKETS,
    )


def inputs(paths: Paths, polls: int) -> Mapping[str, Any]:
    """Any counts."""
    found: dict[str, Any] = {}
    for number in range(polls):
        for name in NAMES:
            low, high = {"duration": (1, LONGEST_NS), "read": (0, LONGEST_NS)}.get(name, (0, LARGEST_COUNT))
            found[f"{name} {number}"] = paths.variable(f"{name} {number}", low, high)
    return found


def estimates() -> Iterator[Found]:
    """Each estimate, for the smallest number of polls from which the law takes it."""
    yield _claim("drain rate", MIN_POLLS, _drain)
    yield _claim("traffic", MIN_POLLS, _traffic)
    yield _claim("index of dispersion", POLLS_OF_DISPERSION, _dispersion)


def _claim(name: str, polls: int, estimate: Any) -> Found:
    def check(paths: Paths) -> Any:
        return estimate(inputs(paths, polls), polls, paths.variable("drain_bps", 1e-9, 1e29))

    def again(values: Mapping[str, Any]) -> str:
        try:
            statements = estimate(values, polls, values["drain_bps"])
        except (ArithmeticError, ValueError, UsageError) as error:
            return f"it ends with {type(error).__name__}: {error}"
        return broken(statements)

    typical = {f"{name} {number}": value for name, value in TYPICAL.items() for number in range(polls)}
    return settled(f"ranked laws, {polls} polls: {name}", check, again, typical)


def _within(name: str, value: Any) -> tuple[str, Any]:
    low, high = TRAFFIC[name]
    number = Number.of(value)
    return f"{name} is from {low:g} to {high:g}", z3.And(
        number.real >= Number.of(low).real, number.real <= Number.of(high).real
    )


def _steps(values: Mapping[str, Any], polls: int) -> list[Step]:
    return [step(values, number) for number in range(polls)]


def _drain(values: Mapping[str, Any], polls: int, before: Any) -> list[tuple[str, Any]]:
    return [_within("drain_bps", traffic_estimate.drain_rate(_steps(values, polls), before, 10**9))]


def _traffic(values: Mapping[str, Any], polls: int, drain: Any) -> list[tuple[str, Any]]:
    found: Traffic | None = traffic_estimate.traffic_of(_steps(values, polls), drain, 1.0)
    return [] if found is None else [_within(name, getattr(found, name)) for name in TRAFFIC]


def _dispersion(values: Mapping[str, Any], polls: int, _drain: Any) -> list[tuple[str, Any]]:
    found = traffic_estimate.index_of_dispersion(_steps(values, polls))
    return [] if found is None else [_within("dispersion", found)]
