"""Records and cells of a comparison: the figures of each group, and their ratios to those of another group."""

from collections.abc import Mapping, Sequence
from typing import Any

from p4sched.sweep.tuned import Group, Measured, ratio, shown_ratio

RATIO = ("ratio", "ratio_low", "ratio_high")
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
    """The cell of a table for the columns of `named`."""
    return shown_ratio({key: record[f"{name}_{key}"] for key in RATIO})
