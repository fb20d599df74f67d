"""Reads the Parquet file of a sweep as a summary for tables and pages.

`p4sched sweep` writes results.parquet with a row for each point. The columns are `scheme`, `load`, `seed`, a column for
each parameter by its path, the figures of the point, and `error`, the reason of a failure or null. The metadata of a
column describe it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from statistics import fmean
from typing import Any

from p4sched.errors import P4schedError
from p4sched.json_records import MALFORMED, check, malformed, parse_json
from p4sched.results import intervals
from p4sched.results.summaries import VIRTUAL, Summary

FILE = "results.parquet"
META = "p4sched.sweep"
"""Key of the file's metadata: JSON with the sweep's name and parameters."""
SHOWN = (
    "completed_share",
    "small_restricted_mean_ms",
    "small_restricted_p99_ms",
    "large_restricted_mean_ms",
    "restricted_mean_ms",
    "restricted_p99_ms",
)
"""Figures in tables and in drawings. Restricted times count all flows: a scheme that ends only its quick flows would
have the shortest mean over the completed ones."""
HEADINGS = {
    "completed_share": "done",
    "small_restricted_mean_ms": "small: mean, ms",
    "small_restricted_p99_ms": "99 %, ms",
    "large_restricted_mean_ms": "large: mean, ms",
    "restricted_mean_ms": "all: mean, ms",
    "restricted_p99_ms": "all: 99 %, ms",
}
"""Headings of these figures in tables."""
ENOUGH_DONE = 0.99
"""A smaller share of completed flows gives a warning."""
Row = Mapping[str, Any]
Group = Mapping[str, Any]


@dataclass(frozen=True)
class Estimate:
    """A mean over the seeds, or a ratio of means."""

    value: float
    interval: intervals.Interval | None
    """Interval of 95 %; None with one seed."""
    seeds: int

    def __str__(self) -> str:
        """Text for tables: `1.23±0.05`, or `1.23 (1.18-1.31)` if the interval is not symmetric."""
        if self.interval is None:
            return f"{self.value:.4g}"
        low, high = self.interval
        if isclose(self.value - low, high - self.value, rel_tol=1e-6, abs_tol=1e-12):
            return f"{self.value:.3g}±{(high - low) / 2:.2g}"
        return f"{self.value:.3g} ({low:.3g}-{high:.3g})"


def read(folder: Path) -> Summary:
    """The sweep in a folder as a summary.

    `points` has a record for each scheme, load and set of parameters, with the mean of each figure over the seeds, and
    its interval of 95 %. `ratios` has the same records in relation to the first scheme of the sweep, paired by seed.
    `warnings` has a record for each of them in which too few flows ended. `failed` has a record for each point without
    figures.

    Raises P4schedError if the folder holds no sweep.
    """
    description, rows, groups = load(folder)
    with malformed(f"{folder / FILE} is not the result of a sweep"):
        return Summary(folder, _content(description, rows, groups))


def _content(description: Mapping[str, Any], rows: Sequence[Row], groups: Sequence[Group]) -> Mapping[str, Any]:
    parameters = description["parameters"]
    failed = [row for row in rows if row["error"] is not None]
    return {
        "experiment": str(description["sweep"]),
        "configuration": {
            "points": len(rows),
            "failed": len(failed),
            "seeds": len({row["seed"] for row in rows}),
            "programs": description.get("programs", False),
            "time": VIRTUAL,
        },
        "warnings": [{"warning": sentence} for sentence in warnings(groups)],
        "points": [_record(group, group) for group in groups],
        "ratios": [_record(group, ratio) for group, ratio in ratios(groups)],
        "failed": [{name: row[name] for name in ("scheme", "load", *parameters, "seed", "error")} for row in failed],
    }


def load(folder: Path) -> tuple[Mapping[str, Any], list[Row], list[Group]]:
    """The file's description of the sweep, its rows, and their groups. Raises P4schedError for any other file."""
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - takes a quarter of a second

    path = folder / FILE
    try:
        table = parquet.read_table(path)
        description = parse_json((table.schema.metadata or {})[META.encode()].decode())
        check("sweep", description["sweep"], str)
        check("parameters", description["parameters"], tuple[str, ...])
        rows = table.to_pylist()
        return description, rows, group_rows(rows, description["parameters"])
    except (OSError, ArrowException, *MALFORMED) as error:
        raise P4schedError(f"{path} is not the result of a sweep: {' '.join(str(error).split())}") from error


def group_rows(rows: Sequence[Row], parameters: Sequence[str]) -> list[Group]:
    """A group for each scheme, load and set of parameters, in order of appearance.

    A group has its place (`where`), its number of `seeds`, the values of each shown figure by seed (`by_seed`), and for
    each shown figure an estimate of its mean; None if a seed has no value.
    """
    found: dict[tuple[Any, ...], list[Row]] = {}
    names = ("scheme", "load", *parameters)
    for row in rows:
        if row["error"] is None:
            found.setdefault(tuple(row[name] for name in names), []).append(row)
    return [
        {
            "where": dict(zip(names, where, strict=True)),
            "seeds": len(seeds),
            "by_seed": {name: {row["seed"]: row[name] for row in seeds} for name in SHOWN},
        }
        | {name: _estimate([row[name] for row in seeds]) for name in SHOWN}
        for where, seeds in found.items()
    ]


def _estimate(values: Sequence[float | None]) -> Estimate | None:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Estimate(fmean(known), intervals.over_seeds(known), len(known))


def ratios(groups: Sequence[Group]) -> list[tuple[Group, Mapping[str, Estimate | None]]]:
    """The ratio of each figure to that of the first scheme with the same load, parameters and seeds, for each group of
    another scheme. A ratio needs values above 0."""
    if not groups:
        return []
    first = groups[0]["where"]["scheme"]
    of_first = {_place(group): group for group in groups if group["where"]["scheme"] == first}
    return [
        (group, {name: _ratio(group["by_seed"][name], other["by_seed"][name]) for name in SHOWN})
        for group in groups
        if group["where"]["scheme"] != first and (other := of_first.get(_place(group))) is not None
    ]


def _place(group: Group) -> tuple[Any, ...]:
    """Load and parameters of a group."""
    return tuple(value for name, value in group["where"].items() if name != "scheme")


def _ratio(values: Mapping[int, float | None], others: Mapping[int, float | None]) -> Estimate | None:
    pairs = [(value, others[seed]) for seed, value in values.items() if seed in others]
    both = [(value, other) for value, other in pairs if value and other]
    if not both or len(both) < len(pairs):
        return None
    ratio, interval = intervals.paired_ratio([value for value, _ in both], [other for _, other in both])
    return Estimate(ratio, interval, len(both))


def warnings(groups: Sequence[Group]) -> list[str]:
    """A sentence for each group in which too few flows ended."""
    return [
        f"{name(group)}: only {100 * share.value:.3g} % of the flows ended; restricted times count the others with the"
        " time until the end of the run, so they are too short: a later end_ns, or a lower load, would show more"
        for group in groups
        if (share := group["completed_share"]) is not None and share.value < ENOUGH_DONE
    ]


def name(group: Group) -> str:
    """The name of a group in messages."""
    return ", ".join(f"{name} {value}" for name, value in group["where"].items() if value is not None)


def _record(group: Group, estimates: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: None if (found := estimates[name]) is None else str(found) for name in SHOWN}
    return {**group["where"], "seeds": group["seeds"], **texts}
