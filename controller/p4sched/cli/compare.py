"""`p4sched compare`: schedulers on a fixed set of workloads, with one page for all results."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from p4sched.cli import options, writable
from p4sched.comparing import page, workloads
from p4sched.comparing.page import Cell, Comparison
from p4sched.comparing.workloads import Workload
from p4sched.control.parameters import Parameters
from p4sched.errors import P4schedError
from p4sched.folders.schemes import find, give_own_colours
from p4sched.lab.experiment import choose
from p4sched.results.tables import print_table
from p4sched.schemes import SCHEMES, title
from p4sched.versions import versions_in_virtual_time

DEFAULT = "fifo,sp_pifo,aifo,rifo,packs,pifo,drr,stfq"
KNOWN = tuple(name for name, scheme in SCHEMES.items() if issubclass(scheme.layout, Parameters))
"""Schemes whose parameters follow from sizes alone."""


def compare(
    schemes: Annotated[
        str, typer.Argument(metavar="SCHEMES", help="Names or folders of schedulers, separated by commas.")
    ] = DEFAULT,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=100, help="Number of seeds; default: 5, or 2 with --quick.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="First seed.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Short workloads, for a first look.")] = False,
    out: options.ResultFolder = Path("results/compare"),
) -> None:
    """Compare schedulers on a fixed set of workloads in virtual time: inversions, completion times, incast, fairness,
    attacks. Writes a page (DIR/README.md), a figure and a CSV. FDPA is left out: it needs bands and a controller."""
    names = choose("scheme", schemes, KNOWN, find)
    give_own_colours(names)
    writable.folder("--out", out)
    count = seeds or (2 if quick else 5)
    words = f"p4sched compare {schemes}{' --quick' if quick else ''} --seeds {count} --seed {seed}"
    found = Comparison(
        names,
        workloads.workloads(names),
        range(seed, seed + count),
        words,
        versions_in_virtual_time(),
        {name: workloads.held_packets(name) for name in names},
    )
    console = Console()
    failures = _measure(found, workloads.QUICK if quick else workloads.FULL, console)
    page.write(found, out)
    if found.groups:
        print_table(console, _scores(found))
    for sentence in page.unranked(found):
        console.print(sentence, markup=False, soft_wrap=True)
    console.print(f"{out / page.PAGE}")
    if failures:
        raise P4schedError(f"{len(failures)} workloads failed: {failures[0]}")


def _scores(found: Comparison) -> Table:
    table = Table(title=f"numbers over {title(page.REFERENCE)}'s; smaller is better", title_justify="left")
    table.add_column("scheme")
    for group in found.groups:
        table.add_column(group, justify="right")
    for name, row in found.scores():
        table.add_row(title(name), *(score.strip("*") for score in row))
    return table


def _measure(found: Comparison, scale: workloads.Scale, console: Console) -> list[str]:
    """Fills the cells. Returns the failures; a failure does not stop the other schedulers."""
    failures: list[str] = []

    def one(job: tuple[Workload, str]) -> None:
        workload, name = job
        if not workload.suits(name):
            cell = Cell((), f"{title(name)} does not serve packets by rank: no {workload.group}")
        else:
            try:
                cell = _cell(workload, name, found.seeds, scale)
            except P4schedError as error:
                failures.append(f"{title(name)}, {workload.name}: {error}")
                cell = Cell((), failures[-1])
        found.cells[workload.name, name] = cell

    jobs = [(workload, name) for workload in found.workloads for name in found.schemes]
    with Progress(console=console, transient=True) as shown, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        task = shown.add_task("comparing", total=len(jobs))
        for _ in pool.map(one, jobs):
            shown.advance(task)
    return failures


def _cell(workload: Workload, name: str, seeds: Sequence[int], scale: workloads.Scale) -> Cell:
    values = [workload.measure(name, seed, scale) for seed in seeds]
    kept = tuple(value for value in values if value is not None)
    if not all(math.isfinite(each.value) for each in kept):
        raise P4schedError("it measured nothing")
    return Cell(
        kept, "" if kept else f"{title(name)} has no model, so it gives no congestion marks: no {workload.group}"
    )
