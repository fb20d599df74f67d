"""Records and cells of a comparison: the figures of each group, and their ratios to those of another group.

A run compares many groups, and of many intervals of 95 % some miss the truth. So a ratio is *certain* only if it
differs from 1 after Holm's correction over all ratios of the same name in the run.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from math import log
from typing import Any

from p4sched.results.intervals import holm, student_p, student_t
from p4sched.sweep.tuned import Group, Measured, ratio, shown_ratio

RATIO = ("ratio", "ratio_low", "ratio_high")
CERTAIN = "certain"
Ratio = Mapping[str, float | None]


def of_scheme(measured: Sequence[Measured], scheme: str) -> list[Measured]:
    """What was measured of a scheme."""
    return [each for each in measured if each.candidate.group["scheme"] == scheme]


def without_scheme(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record as one of several of a scheme."""
    return {key: value for key, value in record.items() if key != "scheme"}


def against(each: Measured, best: Sequence[Measured], changed: Group, key: str) -> Ratio:
    """Ratio of a figure to that of the group with these other values; None without such a group."""
    wanted = dict(each.candidate.group) | dict(changed)
    other = next((one for one in best if dict(one.candidate.group) == wanted), None)
    return dict.fromkeys(RATIO) if other is None else ratio(each, other, key)


def named(name: str, found: Ratio) -> dict[str, float | None]:
    """The ratio as columns of a record."""
    return {f"{name}_{key}": value for key, value in found.items()}


def shown(record: Mapping[str, Any], name: str) -> str:
    """The cell of a table for the columns of `named`; a star: certain."""
    cell = shown_ratio({key: record[f"{name}_{key}"] for key in RATIO})
    return f"{cell} *" if record.get(f"{name}_{CERTAIN}") else cell


def add_certain(records: Sequence[MutableMapping[str, Any]], seeds: int) -> None:
    """Adds a column to the columns of each `named`: True if the ratio is certain, None if there is no interval. Two
    groups with the same figures for each seed, such as a group and itself, are no comparison."""
    ends = tuple(f"_{key}" for key in RATIO)
    names = [key.removesuffix(ends[0]) for key in (records[0] if records else ()) if key.endswith(ends[0])]
    for name in names:
        probabilities = [_probability([record[f"{name}{end}"] for end in ends], seeds) for record in records]
        compared = [place for place, probability in enumerate(probabilities) if probability is not None]
        found = holm([probability for probability in probabilities if probability is not None])
        certain = dict(zip(compared, found, strict=True))
        for place, record in enumerate(records):
            record[f"{name}_{CERTAIN}"] = certain.get(place)


def _probability(bounds: Sequence[float | None], seeds: int) -> float | None:
    """Probability of a ratio at least as far from 1 if the truth is 1, from an interval of 95 % over so many seeds.
    None if there is no interval, or if it is a point."""
    value, low, high = bounds
    if value is None or low is None or high is None or low == high:
        return None
    return student_p(2 * log(value) * student_t(seeds - 1) / log(high / low), seeds - 1)
