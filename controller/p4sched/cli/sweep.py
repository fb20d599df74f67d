"""`p4sched sweep SWEEP.toml`: runs every combination of schemes, loads, seeds and parameters of a scenario."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from p4sched import simulate
from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.errors import P4schedError, UsageError
from p4sched.results import sweeps
from p4sched.results.tables import print_table
from p4sched.sweep import folder as folders
from p4sched.sweep import plan as plans
from p4sched.sweep import table, workers
from p4sched.sweep.plan import Plan, Point
from p4sched.sweep.point import Outcome

FIGURE = "figure.png"
A_DAY_S = 24 * 60 * 60
PRINTED_FAILURES = 5
"""Number of failures to print; the file has all of them."""


def sweep(
    plan: Annotated[
        Path, typer.Argument(metavar="SWEEP.toml", help="Description of the sweep; see docs/SIMULATION.md.")
    ],
    out: Annotated[
        Path | None, typer.Option(parser=folder, metavar="DIR", help="Folder of the results; default: results/SWEEP.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Points that run at the same time; default: one for each CPU."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local", help="Run on Dask: address of a scheduler, or local for one on this machine."
        ),
    ] = None,
) -> None:
    """Run every combination of schemes, loads, seeds and parameters of a scenario in virtual time.

    Writes DIR/results.parquet, with a row for each point, and DIR/figure.png; 'p4sched report DIR' shows both. If you
    start it again, it runs only the missing points.
    """
    sweep_plan = plans.read(plan)
    where = out or Path("results") / plan.stem
    writable.folder("--out", where)
    _try(sweep_plan, plan)
    with folders.open_folder(where) as results:
        report = results.change_report(plan.read_text(encoding="utf-8"), sweep_plan)
        if report:
            typer.echo(report)
        keys = [folders.key(sweep_plan, point) for point in sweep_plan.points]
        try:
            outcomes = asyncio.run(_run(sweep_plan, keys, results, jobs or len(os.sched_getaffinity(0)), dask))
        except KeyboardInterrupt:
            left = len(folders.missing(sweep_plan, results, keys))
            typer.echo(f"{left} of {len(keys)} points are left; run the same command to continue", err=True)
            raise
        path = table.write(where, plan.stem, sweep_plan, outcomes)
        _draw(where)
    _show(where)
    typer.echo(str(path))
    failed = [
        (point, outcome["error"])
        for point, outcome in zip(sweep_plan.points, outcomes, strict=True)
        if "error" in outcome
    ]
    if failed:
        point, reason = failed[0]
        raise P4schedError(f"{len(failed)} of {len(keys)} points failed, the first one ({point}): {reason}")


def _try(plan: Plan, path: Path) -> None:
    """Runs each scheme for a nanosecond, to report errors in the schemes or the scenario before the sweep."""
    for point in {point.scheme: point for point in reversed(plan.points)}.values():
        try:
            simulate.run({**point.scenario, "end_ns": 1}, programs=plan.programs, check=plan.check)
        except simulate.EndedError:
            continue
        except P4schedError as error:
            raise UsageError(f"{path}: {point}: {error}") from error


async def _run(plan: Plan, keys: list[str], folder: folders.Folder, jobs: int, dask: str | None) -> list[Outcome]:
    """Outcomes of all points, in order."""
    by_point = dict(zip(map(id, plan.points), keys, strict=True))
    outcomes = {key: outcome for key in keys if (outcome := folder.outcome(key)) is not None}
    left: dict[str, Point] = {key: point for key, point in zip(keys, plan.points, strict=True) if key not in outcomes}
    if outcomes:
        typer.echo(f"{len(keys) - len(left)} of {len(keys)} points are done already")
    todo = list(left.values())
    running: AsyncIterator[workers.Done] = (
        workers.processes(plan, todo, jobs, folder.scratch) if dask is None else workers.dask(plan, todo, jobs, dask)
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remaining = (TextColumn("left:"), TimeRemainingColumn())
    failures = 0
    with Progress(*columns, *remaining, speed_estimate_period=A_DAY_S) as progress:
        bar = progress.add_task("points", total=len(todo))
        async for point, outcome in running:
            outcomes[by_point[id(point)]] = outcome
            if "error" in outcome:
                failures += 1
                if failures <= PRINTED_FAILURES:
                    progress.console.print(f"[bold red]failed[/] {escape(str(point))}: {escape(outcome['error'])}")
            else:
                folder.keep(by_point[id(point)], outcome)
            progress.advance(bar)
    return [outcomes[key] for key in keys]


def _draw(folder: Path) -> None:
    from p4sched.results.sweep_figure import draw  # noqa: PLC0415 - Matplotlib takes a second

    if not draw(folder, folder / FIGURE):
        (folder / FIGURE).unlink(missing_ok=True)


def _show(folder: Path) -> None:
    points = sweeps.read(folder).content["points"]
    if not points:
        return
    columns = [name for name in points[0] if any(point[name] is not None for point in points)]
    shown = Table(title="Means over the seeds (lowest-highest)", title_justify="left")
    for name in columns:
        shown.add_column(name.replace("_", " "), justify="left" if name == "scheme" else "right")
    for point in points:
        shown.add_row(*("-" if point[name] is None else escape(str(point[name])) for name in columns))
    print_table(Console(), shown)
