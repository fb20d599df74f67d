"""The results of a sweep as Parquet files, and as CSV.

results.parquet     a row for each point, in the order of the sweep
intervals.parquet   a row for each figure of each scheme, load and set of parameters: its mean over the seeds, and its
                    ratio to the first scheme
flows.parquet       a row for each flow of each point, if they are kept
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from p4sched.results.sweeps import FILE, META, SHOWN, load, ratios
from p4sched.sweep.plan import Plan, Point
from p4sched.sweep.point import FIGURES, Outcome

INTERVALS, FLOWS = "intervals.parquet", "flows.parquet"


def write(folder: Path, name: str, plan: Plan, outcomes: Sequence[Outcome]) -> Path:
    """Writes FOLDER/results.parquet atomically."""
    import pyarrow as pa  # noqa: PLC0415 - takes a quarter of a second
    from pyarrow import parquet  # noqa: PLC0415

    def column(name: str, kind: Any, meaning: str) -> Any:
        return pa.field(name, kind, metadata={"meaning": meaning})

    types = {int: pa.int64(), float: pa.float64()}
    fields = [
        column("scheme", pa.string(), "name of the scheme in the sweep"),
        column("load", pa.float64(), "flows.poisson.load of the scenario; null without one"),
        column("seed", pa.int64(), "seed of the scenario"),
        *(column(path, _kind(plan, path), "field of the scenario") for path in plan.parameters),
        *(column(name, types[kind], meaning) for name, (kind, meaning, _) in FIGURES.items()),
        column("error", pa.string(), "why the point failed; null if it did not"),
    ]
    rows = [_row(point, found) for point, found in zip(plan.points, outcomes, strict=True)]
    description = {"sweep": name, "parameters": list(plan.parameters), "programs": plan.programs, "check": plan.check}
    schema = pa.schema(fields, metadata={META: json.dumps(description)})
    path = folder / FILE
    with _replacing(path) as new:
        parquet.write_table(pa.Table.from_pylist(rows, schema), new)
    return path


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A new file that replaces `path` at the end of the block."""
    new = path.with_name(f"{path.name}.new")
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def write_intervals(folder: Path) -> Path:
    """Writes FOLDER/intervals.parquet from FOLDER/results.parquet."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    description, _, groups = load(folder)
    parameters = description["parameters"]
    read = parquet.read_schema(folder / FILE)
    number = pa.float64()
    columns = [
        ("figure", pa.string(), "figure of results.parquet"),
        ("seeds", pa.int64(), "seeds with a result"),
        ("mean", number, "mean over the seeds"),
        ("low", number, "lower bound of its interval of 95 % (Student's t); null with one seed"),
        ("high", number, "upper bound"),
        ("baseline", pa.string(), "the first scheme of the sweep; null for itself"),
        ("ratio", number, "geometric mean over the seeds of the ratio to the baseline with the same seed"),
        ("ratio_low", number, "lower bound of its interval of 95 %"),
        ("ratio_high", number, "upper bound"),
    ]
    fields = [read.field(name) for name in ("scheme", "load", *parameters)]
    fields += [pa.field(name, kind, metadata={"meaning": meaning}) for name, kind, meaning in columns]
    relative = {id(group): estimates for group, estimates in ratios(groups)}
    rows = []
    for group in groups:
        for figure in SHOWN:
            mean, ratio = group[figure], relative.get(id(group), {}).get(figure)
            low, high = (mean and mean.interval) or (None, None)
            ratio_low, ratio_high = (ratio and ratio.interval) or (None, None)
            rows.append(
                {
                    **group["where"],
                    "figure": figure,
                    "seeds": group["seeds"],
                    "mean": mean and mean.value,
                    "low": low,
                    "high": high,
                    "baseline": groups[0]["where"]["scheme"] if id(group) in relative else None,
                    "ratio": ratio and ratio.value,
                    "ratio_low": ratio_low,
                    "ratio_high": ratio_high,
                }
            )
    path = folder / INTERVALS
    with _replacing(path) as new:
        parquet.write_table(pa.Table.from_pylist(rows, pa.schema(fields)), new)
    return path


def write_csv(path: Path) -> Path:
    """Writes a Parquet file as CSV, beside it."""
    from pyarrow import csv, parquet  # noqa: PLC0415

    to = path.with_suffix(".csv")
    with _replacing(to) as new:
        csv.write_csv(parquet.read_table(path), new)
    return to


def write_flows(folder: Path, plan: Plan, files: Sequence[Path | None]) -> Path:
    """Writes FOLDER/flows.parquet from the files of the points, one after the other."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    path = folder / FLOWS
    writer = None
    with _replacing(path) as new:
        try:
            for point, file in zip(plan.points, files, strict=True):
                if file is None:
                    continue
                flows = parquet.read_table(file)
                values = {"scheme": point.scheme, "load": point.load, "seed": point.seed, **point.parameters}
                kinds = {"scheme": pa.string(), "load": pa.float64(), "seed": pa.int64()}
                kinds |= {path: _kind(plan, path) for path in plan.parameters}
                for place, (name, value) in enumerate(values.items()):
                    same = pa.array([value], kinds[name]).take(pa.array([0] * len(flows), pa.int32()))
                    flows = flows.add_column(place, name, same)
                writer = writer or parquet.ParquetWriter(new, flows.schema)
                writer.write_table(flows)
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            parquet.write_table(pa.table({}), new)
    return path


def _kind(plan: Plan, path: str) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    types = {type(point.parameters[path]) for point in plan.points}
    if types <= {bool}:
        return pa.bool_()
    if types <= {int}:
        return pa.int64()
    return pa.string() if str in types else pa.float64()


def _row(point: Point, outcome: Outcome) -> Mapping[str, Any]:
    figures = outcome.get("figures") or dict.fromkeys(FIGURES)
    axes = {"scheme": point.scheme, "load": point.load, "seed": point.seed}
    return {**axes, **point.parameters, **figures, "error": outcome.get("error")}
