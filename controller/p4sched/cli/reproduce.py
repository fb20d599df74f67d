"""`p4sched reproduce`: the figures of the papers, as published and as measured."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing, nullcontext
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from p4sched.cli import options, writable
from p4sched.cli.command_line import folder
from p4sched.errors import P4schedError, UsageError, require
from p4sched.paths import REPRODUCED_DIR, REPRODUCTION_DIR
from p4sched.reproducing import page, published, runs
from p4sched.reproducing.figure import PAPERS, Figure, figures, select
from p4sched.reproducing.judge import CLOSE, NO, NONE, OPEN, YES
from p4sched.reproducing.results import Judged, Ratios, collect, of_older_code
from p4sched.reproducing.results import number as number_text
from p4sched.reproducing.runs import Job
from p4sched.reproducing.store import Store, open_store
from p4sched.units import Duration
from p4sched.versions import commit, require_current

FOLDER = REPRODUCED_DIR
LOWEST_PRIORITY = 19
SHORTEST_S = 0.000001
PAPERS_DURATION = Duration.parse("1s")
MOST_NAMES = 3
"""Numbers that an error names for a simulation."""
PAGE_SEEDS = range(1, 6)
"""Seeds that the page of the repository asks for, whatever the command does. Others that are stored count, too."""


def reproduce(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help=f"{', '.join(PAPERS)}; default: all.")] = None,
    number: Annotated[
        str | None, typer.Argument(metavar="FIGURE", help="Number of the figure in this paper; default: all.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Number of seeds.")] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**31, help="First seed; 0: the flows of the run file of AIFO, RIFO or SP-PIFO.")
    ] = 1,
    duration: Annotated[
        Duration, options.time_option("Virtual time of a simulation; the papers have 1s.")
    ] = PAPERS_DURATION,
    jobs: Annotated[
        int | None,
        options.jobs_option("Simulations"),
    ] = None,
    dask: options.Dask = None,
    line: Annotated[
        list[str] | None, typer.Option(metavar="LINE", help="Only this line, as in DIR/measured; can be given again.")
    ] = None,
    place: Annotated[
        list[str] | None,
        typer.Option(metavar="PLACE", help="Only this place on the axis, such as a load; can be given again."),
    ] = None,
    again: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Make no missing simulation, but N stored ones of older code, drawn at random, again, and compare.",
        ),
    ] = None,
    no_runs: Annotated[bool, typer.Option("--no-runs", help="Run no simulation; only show the stored ones.")] = False,
    no_page: Annotated[bool, typer.Option("--no-page", help="Do not write the page.")] = False,
    out: Annotated[
        Path,
        typer.Option(
            parser=folder,
            metavar="DIR",
            help="Folder of the numbers.",
            show_default="docs/reproduction in the repository, else results/reproduction",
        ),
    ] = FOLDER,
) -> None:
    """Reproduce the figures and tables of the papers in virtual time, and compare them with the published numbers.

    Runs the missing simulations at the lowest priority, and keeps each in DIR/measured. If you start it again, it
    continues. Writes a page of all figures (DIR/README.md), pictures, and DIR/rows.csv. Prints the verdicts.
    """
    options.at_least("--duration", duration, SHORTEST_S, "a flow takes longer than that")
    require(not (again and no_runs), "--again makes simulations, --no-runs does not: give one of them")
    asked = range(seed, seed + seeds)
    chosen = select(paper, number, {each.name: each.plain for each in page.read_notes().further})
    all_jobs = runs.jobs(chosen, asked, int(duration), line or (), place or ())
    changed: list[str] = []
    if _is_tracked(out) and duration != PAPERS_DURATION and not no_page:
        raise UsageError(
            f"--duration {duration}: the page in {out} has simulations of {PAPERS_DURATION}; name another folder with"
            " --out, or add --no-page"
        )
    if not (no_runs and no_page):
        writable.folder("--out", out)
    # who only reads need not wait for a command that writes
    with open_store(out) if not no_runs else nullcontext(Store(out)) as store:
        if not no_runs:
            older = of_older_code(all_jobs, store) if again else []
            drawn = Random(seed).sample(older, min(again or 0, len(older)))
            left = drawn if again else runs.missing(all_jobs, store)
            typer.echo(
                f"{len(drawn)} of {len(older)} simulations of older code"
                if again
                else f"{len(all_jobs) - len(left)} of {len(all_jobs)} simulations are stored"
            )
            changed = _make(all_jobs, left, store, jobs or len(os.sched_getaffinity(0)), dask)
            if drawn and not changed:
                typer.echo(f"all {len(drawn)} have the same numbers as before")
        of_page = PAGE_SEEDS if _is_tracked(out) else asked
        judged = _judge(chosen if no_page else list(figures().values()), store, of_page, duration)
        if not no_page:
            page.write(judged, page.read_notes(), out, _command(of_page, duration))
        shown = [each for each in judged if each.figure in chosen]
        if line or place:
            _print_numbers(shown, all_jobs, store)
        else:
            _print(shown, paper is None)
        if not no_page:
            typer.echo(str(out / page.PAGE))
    if changed:
        raise P4schedError(f"other numbers than before in {len(changed)} of the simulations: {'; '.join(changed)}")


def _is_tracked(out: Path) -> bool:
    """True for the folder of the repository."""
    return out.resolve() == REPRODUCTION_DIR.resolve()


def _command(seeds: range, duration: Duration) -> str:
    """The command that writes a page for these seeds."""
    first = f" --seed {seeds[0]}" if seeds[0] != 1 else ""
    return f"p4sched reproduce{first} --seeds {len(seeds)} --duration {duration}"


def _judge(chosen: Sequence[Figure], store: Store, seeds: Sequence[int], duration: Duration) -> list[Judged]:
    numbers = published.read()
    return [collect(figure, numbers, store, seeds, int(duration)) for figure in chosen]


def _print(judged: Sequence[Judged], all_of_them: bool) -> None:
    """The verdicts: a row for each quantity, or the number of each verdict if all figures were asked for."""
    rows = [row for each in judged for row in each.shown]
    table = Table(box=None, pad_edge=False)
    if all_of_them:
        for column in ("", YES, NO, OPEN):
            table.add_column(column)
        for name, found in page.verdicts(judged).items():
            table.add_row(name, *(str(found.count(each)) for each in (YES, NO, OPEN)))
    else:
        for column in ("figure", "quantity", "order", f"within {CLOSE:.0%}", "ratio to the published values"):
            table.add_column(column, overflow="fold")
        for row in rows:
            ratios = Ratios.of(list(row.verdict.ratios.values()))
            values = row.verdict.values if row.has_published else NONE
            table.add_row(row.figure.name, row.quantity.title, row.verdict.order, values, f"{ratios or NONE}")
    if rows:
        Console(highlight=False).print(table)
    stored, wanted = sum(each.stored for each in judged), sum(each.wanted for each in judged)
    typer.echo(f"{stored} of {wanted} simulations are stored")


def _print_numbers(judged: Sequence[Judged], all_jobs: Sequence[Job], store: Store) -> None:
    """A row for each simulation and quantity."""
    table = Table(box=None, pad_edge=False)
    for column in ("figure", "line", "place", "seed", "quantity", "published", "measured"):
        table.add_column(column, overflow="fold")
    rows = {each.figure.name: each.shown for each in judged}
    for job in all_jobs:
        found = store.of_inputs(job.inputs)
        if found is None:
            continue
        for row in rows[job.figure.name]:
            had = row.published.values.get((job.line, job.place))
            ours = found.metrics.get(row.quantity.key.replace("*", job.place))
            texts = (NONE if value is None else number_text(value) for value in (had, ours))
            table.add_row(job.figure.name, job.line, job.place, str(job.run.seed), row.quantity.title, *texts)
    if table.rows:
        Console(highlight=False).print(table)
    stored = sum(store.of_inputs(job.inputs) is not None for job in all_jobs)
    typer.echo(f"{stored} of {len(all_jobs)} simulations are stored")


def _make(all_jobs: Sequence[Job], left: Sequence[Job], store: Store, at_once: int, dask: str | None) -> list[str]:
    """Makes simulations. Returns those that had other numbers before."""
    if not left:
        return []
    for sources in {tuple(job.figure.sources) for job in left}:
        require_current("p4sched-simulate", sources)
    os.nice(LOWEST_PRIORITY - os.nice(0))
    done: set[str] = set()
    try:
        return asyncio.run(_run(all_jobs, left, store, at_once, dask, done))
    except KeyboardInterrupt:
        typer.echo(f"{len(left) - len(done)} simulations are left; run the same command to continue", err=True)
        raise


async def _run(
    all_jobs: Sequence[Job], left: Sequence[Job], store: Store, at_once: int, address: str | None, done: set[str]
) -> list[str]:
    made = runs.processes(left, at_once) if address is None else runs.dask(left, at_once, address)
    versions = {
        figure.name: commit(figure.sources) for figure in {job.figure.name: job.figure for job in left}.values()
    }
    clock = runs.Clock(all_jobs, left, store)
    changed = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        bar = progress.add_task(_left(clock, at_once), total=len(left))
        async with aclosing(made) as running:
            async for job, metrics, took_s in running:
                before, now = store.of_inputs(job.inputs), job.measured(metrics, took_s, versions[job.figure.name])
                if before and (names := before.differences(now)):
                    changed.append(f"{job} ({', '.join(names[:MOST_NAMES])})")
                store.keep(job.figure, now)
                done.add(job.inputs)
                clock.done(job, took_s)
                if not progress.console.is_terminal:
                    progress.console.print(f"{job}: {took_s:.1f} s, {_left(clock, at_once)}")
                progress.update(bar, advance=1, description=_left(clock, at_once))
    return changed


def _left(clock: runs.Clock, at_once: int) -> str:
    """The time left, in words."""
    return f"some {timedelta(seconds=round(clock.seconds_left / at_once))} left"
