"""`p4sched sweep SWEEP.toml`: runs every combination of schemes, loads, seeds and parameters of a scenario."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from p4sched import simulate
from p4sched.cli import options, writable
from p4sched.cli.command_line import folder
from p4sched.errors import P4schedError, UsageError
from p4sched.results import sweeps
from p4sched.results.tables import print_table
from p4sched.sweep import folder as folders
from p4sched.sweep import plan as plans
from p4sched.sweep import table, workers
from p4sched.sweep.plan import Plan, Point
from p4sched.sweep.point import Outcome

COLUMN_INCHES = 3.33
"""Width of a column of ACM's and USENIX's papers."""
PRINTED_WARNINGS = 3
A_DAY_S = 24 * 60 * 60
PRINTED_FAILURES = 5
"""Number of failures to print; the file has all of them."""


class PaperFormat(StrEnum):
    """Formats of figures for a paper."""

    PDF = "pdf"
    SVG = "svg"
    PGF = "pgf"


def sweep(
    plan: Annotated[
        Path, typer.Argument(metavar="SWEEP.toml", help="Description of the sweep; see docs/SIMULATION.md.")
    ],
    out: Annotated[
        Path | None, typer.Option(parser=folder, metavar="DIR", help="Folder of the results; default: results/SWEEP.")
    ] = None,
    jobs: Annotated[
        int | None,
        options.jobs_option("Points"),
    ] = None,
    dask: options.Dask = None,
    keep_flows: Annotated[
        bool, typer.Option("--keep-flows", help="Also write DIR/flows.parquet: every flow of every point.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Also write the results as CSV.")] = False,
    paper: Annotated[
        list[PaperFormat] | None,
        typer.Option(help="Also draw the figures for a paper in this format; may be repeated.", show_default=False),
    ] = None,
    width: Annotated[
        float, typer.Option(min=1, max=20, metavar="INCHES", help="Width of the figures for a paper.")
    ] = COLUMN_INCHES,
) -> None:
    """Run every combination of schemes, loads, seeds and parameters of a scenario in virtual time.

    Writes DIR/results.parquet, with a row for each point, DIR/intervals.parquet, with means over the seeds, and
    figures; 'p4sched report DIR' shows all. If you start it again, it runs only the missing points.
    """
    sweep_plan = plans.read(plan)
    where = out or Path("results") / plan.stem
    writable.folder("--out", where)
    _try(sweep_plan, plan)
    with folders.open_folder(where, keep_flows) as results:
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
        intervals = table.write_intervals(where)
        if keep_flows:
            table.write_flows(where, sweep_plan, [results.flows(key) for key in keys])
        if csv:
            table.write_csv(path)
            table.write_csv(intervals)
        _draw(where, paper or [], width)
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
        workers.processes(plan, todo, jobs, folder.scratch, folder.keep_flows)
        if dask is None
        else workers.dask(plan, todo, jobs, dask, folder.keep_flows)
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remaining = (TextColumn("left:"), TimeRemainingColumn())
    failures = 0
    with Progress(*columns, *remaining, speed_estimate_period=A_DAY_S) as progress:
        bar = progress.add_task("points", total=len(todo))
        async for point, outcome in running:
            outcomes[by_point[id(point)]] = {name: value for name, value in outcome.items() if name != "flows"}
            if "error" in outcome:
                failures += 1
                if failures <= PRINTED_FAILURES:
                    progress.console.print(f"[bold red]failed[/] {escape(str(point))}: {escape(outcome['error'])}")
            else:
                folder.keep(by_point[id(point)], outcome)
            progress.advance(bar)
    return [outcomes[key] for key in keys]


def _draw(folder: Path, formats: Sequence[PaperFormat], width_in: float) -> None:
    from p4sched.results import sweep_figure  # noqa: PLC0415 - Matplotlib takes a second

    drawn = sweep_figure.draw(folder)
    for name in (sweep_figure.FIGURE, sweep_figure.RATIOS):
        if (path := folder / f"{name}.png") not in drawn:
            path.unlink(missing_ok=True)
    if not drawn:
        typer.echo("no figure: it needs two loads, or a parameter with two numbers, and flows that ended")
    for form in dict.fromkeys(formats):
        for path in sweep_figure.draw(folder, sweep_figure.Paper(form.value, width_in)):
            typer.echo(str(path))


def _show(folder: Path) -> None:
    content = sweeps.read(folder).content
    _print("Means over the seeds, with intervals of 95 %", content["points"])
    if content["ratios"]:
        _print(f"Ratios to {content['points'][0]['scheme']}, paired by seed", content["ratios"], "")
    listed = [each["warning"] for each in content["warnings"]]
    for sentence in listed[:PRINTED_WARNINGS]:
        typer.echo(f"warning: {sentence}", err=True)
    if len(listed) > PRINTED_WARNINGS:
        typer.echo(f"warning: {len(listed) - PRINTED_WARNINGS} more such lines are in the report", err=True)


def _print(title: str, points: Sequence[Mapping[str, Any]], unit: str = ", ms") -> None:
    if not points:
        return
    columns = [name for name in points[0] if any(point[name] is not None for point in points)]
    shown = Table(title=title, title_justify="left")
    for name in columns:
        heading = sweeps.HEADINGS.get(name, name.replace("_", " ")).replace(", ms", unit)
        shown.add_column(heading, justify="left" if name == "scheme" else "right")
    for point in points:
        shown.add_row(*("-" if point[name] is None else escape(str(point[name])) for name in columns))
    print_table(Console(), shown)
