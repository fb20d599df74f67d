"""All points of a sweep as one Parquet file: a row for each, in the order of the sweep."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from p4sched.results.sweeps import FILE, META
from p4sched.sweep.plan import Plan, Point
from p4sched.sweep.point import FIGURES, Outcome


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
    new = path.with_name(f"{FILE}.new")
    try:
        parquet.write_table(pa.Table.from_pylist(rows, schema), new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
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
