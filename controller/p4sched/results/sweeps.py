"""Reads the Parquet file of a sweep as a summary for tables and pages.

`p4sched sweep` writes results.parquet with a row for each point. The columns are `scheme`, `load`, `seed`, a column for
each parameter by its path, the figures of the point, and `error`, the reason of a failure or null. The metadata of a
column describe it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from p4sched.errors import P4schedError
from p4sched.json_records import MALFORMED, check, malformed, parse_json
from p4sched.results.summaries import VIRTUAL, Summary

FILE = "results.parquet"
META = "p4sched.sweep"
"""Key of the file's metadata: JSON with the sweep's name and parameters."""
SHOWN = ("small_mean_ms", "small_p99_ms", "large_mean_ms", "mean_ms", "p99_ms", "completed_share")
"""Figures in tables and in the drawing."""
Row = Mapping[str, Any]
Group = Mapping[str, Any]


def read(folder: Path) -> Summary:
    """The sweep in a folder as a summary.

    `points` has a record for each scheme, load and set of parameters, with the mean, lowest and highest value of each
    figure over the seeds. `failed` has a record for each point without figures.

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
        "points": [_record(group) for group in groups],
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

    A group has its place (`where`), its number of `seeds`, and for each shown figure the mean, lowest and highest value
    over the seeds; None if a seed has no value.
    """
    found: dict[tuple[Any, ...], list[Row]] = {}
    names = ("scheme", "load", *parameters)
    for row in rows:
        if row["error"] is None:
            found.setdefault(tuple(row[name] for name in names), []).append(row)
    return [
        {"where": dict(zip(names, where, strict=True)), "seeds": len(seeds)}
        | {name: _span([row[name] for row in seeds]) for name in SHOWN}
        for where, seeds in found.items()
    ]


def _span(values: Sequence[float | None]) -> tuple[float, float, float] | None:
    known = [value for value in values if value is not None]
    return (fmean(known), min(known), max(known)) if known and len(known) == len(values) else None


def _record(group: Group) -> dict[str, Any]:
    spans = {name: _text(group[name]) for name in SHOWN}
    return {**group["where"], "seeds": group["seeds"], **spans}


def _text(span: tuple[float, float, float] | None) -> str | None:
    if span is None:
        return None
    mean, low, high = (f"{value:.4g}" for value in span)
    return mean if low == high else f"{mean} ({low}-{high})"
