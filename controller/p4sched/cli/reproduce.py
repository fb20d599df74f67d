"""`p4sched reproduce`: the figures of the papers, as published and as measured."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from p4sched.cli import options, writable
from p4sched.cli.command_line import folder
from p4sched.paths import REPRODUCED_DIR
from p4sched.reproducing import page, published, runs
from p4sched.reproducing.figure import PAPERS, figures, select
from p4sched.reproducing.results import collect
from p4sched.reproducing.runs import Job
from p4sched.reproducing.store import Store, open_store
from p4sched.units import Duration
from p4sched.versions import commit

FOLDER = REPRODUCED_DIR
LOWEST_PRIORITY = 19
SHORTEST_S = 0.000001


def reproduce(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help=f"{', '.join(PAPERS)}; default: all.")] = None,
    number: Annotated[
        str | None, typer.Argument(metavar="FIGURE", help="Number of the figure in this paper; default: all.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Number of seeds.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="First seed.")] = 1,
    duration: Annotated[
        Duration, options.time_option("Virtual time of a simulation; the papers have 1s.")
    ] = Duration.parse("1s"),
    jobs: Annotated[
        int | None,
        options.jobs_option("Simulations"),
    ] = None,
    dask: options.Dask = None,
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
    continues. Writes a page of all figures (DIR/README.md), pictures, and DIR/rows.csv.
    """
    options.at_least("--duration", duration, SHORTEST_S, "a flow takes longer than that")
    chosen = select(paper, number)
    writable.folder("--out", out)
    with open_store(out) as store:
        if not no_runs:
            all_jobs = runs.jobs(chosen, range(seed, seed + seeds), int(duration))
            _make(all_jobs, store, jobs or len(os.sched_getaffinity(0)), dask)
        if not no_page:
            command = f"p4sched reproduce --seeds {seeds} --duration {duration}"
            _write(store, range(seed, seed + seeds), int(duration), out, command)


def _write(store: Store, seeds: Sequence[int], duration_ns: int, out: Path, command: str) -> None:
    """Writes the page with all figures."""
    numbers = published.read()
    judged = [collect(figure, numbers, store, seeds, duration_ns) for figure in figures().values()]
    page.write(judged, page.read_notes(), out, command)
    typer.echo(str(out / page.PAGE))


def _make(all_jobs: Sequence[Job], store: Store, at_once: int, dask: str | None) -> None:
    left = runs.missing(all_jobs, store)
    typer.echo(f"{len(all_jobs) - len(left)} of {len(all_jobs)} simulations are stored")
    if not left:
        return
    os.nice(LOWEST_PRIORITY - os.nice(0))
    done: set[str] = set()
    try:
        asyncio.run(_run(all_jobs, left, store, at_once, dask, done))
    except KeyboardInterrupt:
        typer.echo(f"{len(left) - len(done)} simulations are left; run the same command to continue", err=True)
        raise


async def _run(
    all_jobs: Sequence[Job], left: Sequence[Job], store: Store, at_once: int, address: str | None, done: set[str]
) -> None:
    made = runs.processes(left, at_once) if address is None else runs.dask(left, at_once, address)
    versions = {
        figure.name: commit(figure.sources) for figure in {job.figure.name: job.figure for job in left}.values()
    }
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        bar = progress.add_task(_estimate(all_jobs, left, store, at_once), total=len(left))
        async with aclosing(made) as running:
            async for job, metrics, took_s in running:
                store.keep(job.figure, job.measured(metrics, took_s, versions[job.figure.name]))
                done.add(job.run.inputs)
                rest = [each for each in left if each.run.inputs not in done]
                if not progress.console.is_terminal:
                    progress.console.print(f"{job}: {took_s:.1f} s, {_estimate(all_jobs, rest, store, at_once)}")
                progress.update(bar, advance=1, description=_estimate(all_jobs, rest, store, at_once))


def _estimate(all_jobs: Sequence[Job], left: Sequence[Job], store: Store, at_once: int) -> str:
    """The time left, in words."""
    seconds = sum(job.run.work for job in left) * runs.second_of_work(all_jobs, store) / at_once
    return f"some {timedelta(seconds=round(seconds))} left"
