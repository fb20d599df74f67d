"""PACKS Fig. 12 and RIFO Fig. 7 at their size: completion times of flows among 144 servers, in virtual time."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.completion_at_scale import figure
from experiments.completion_at_scale.network import GBIT, STARTS_PER_S, Paper, Run
from experiments.completion_at_scale.over_seeds import summarise
from p4sched.cli import options
from p4sched.cli.options import Quick
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes
from p4sched.lab.experiment import Asked, Choice, Experiment, Results, SchemeOutcome, Seed, Stage, once
from p4sched.p4rt.target import Target
from p4sched.results.completion import Flow
from p4sched.results.tables import cell, record_rows
from p4sched.schemes import title
from p4sched.units import Duration

SHORTEST_S = 0.001
MOST_SEEDS = 1000
RUNS = ("run-*/*", "run-*/results/*")
"""What a run leaves that did not come to its end."""


@dataclass(frozen=True)
class Setting:
    """What all schemes of a run have in common."""

    paper: Paper
    loads: Sequence[float]
    seeds: Sequence[int]
    duration: Duration


def setting(
    asked: Asked,
    paper: Annotated[
        Paper,
        typer.Option(help="Whose settings: PACKS 6.2, 1 and 4 Gbit/s; or RIFO's run files, 10 and 40 Gbit/s."),
    ] = Paper.PACKS,
    loads: Annotated[
        str,
        typer.Option(metavar="L1,L2,...", help=f"Of {', '.join(f'{load:g}' for load in STARTS_PER_S)}."),
        Quick("0.2,0.6"),
    ] = "0.2,0.4,0.6,0.8",
    seeds: Annotated[
        int, typer.Option(help="How many lists of flows, of the seeds from --seed on.", min=1, max=MOST_SEEDS), Quick(2)
    ] = 5,
    duration: Annotated[
        Duration,
        options.time_option("How long flows start, in virtual time; then the run ends."),
        Quick(Duration.parse("50ms")),
    ] = Duration.parse("1s"),
) -> Setting:
    """Sends flows between 144 servers of a leaf-spine network through each scheme, at each load, in virtual time.
    Prints a table and writes DIR/summary.json, DIR/loads.csv and DIR/figure.png."""
    asked.refuse(["--switch"], "in virtual time: the models of the schemes are at the ports")
    options.at_least("--duration", duration, SHORTEST_S, "a flow takes longer than that")
    return Setting(paper, parse_loads(loads), range(asked.seed, asked.seed + seeds), duration)


def parse_loads(text: str) -> list[float]:
    """The loads in `text`: of those for which the papers' run files have arrival rates, none twice."""
    known = ", ".join(f"{load:g}" for load in STARTS_PER_S)
    try:
        loads = [float(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--loads {text}: loads are {known}, with commas between them") from None
    for load in loads:
        if load not in STARTS_PER_S:
            raise UsageError(f"--loads {text}: there is no arrival rate for {load:g}, only for {known}")
    once("load", loads, text)
    return loads


def configuration(setting: Setting) -> dict[str, Any]:
    """What summary.json says of the setting."""
    paper = setting.paper
    return {
        "paper": paper.value,
        "access_bps": paper.access_bps,
        "loads": list(setting.loads),
        "starts_per_s": [paper.starts_per_s(load) for load in setting.loads],
        "seeds": list(setting.seeds),
        "duration_s": setting.duration.seconds,
        "time": "virtual",
        "switch": "none",
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """One scheme: as many runs at a time as the machine has CPUs."""
    free = asyncio.Semaphore(os.cpu_count() or 1)
    runs = [
        Run(setting.paper, stage.name, load, seed, int(setting.duration))
        for load in setting.loads
        for seed in setting.seeds
    ]
    left = len(runs)

    async def outcome(run: Run) -> list[Flow]:
        nonlocal left
        async with free:
            folder = stage.folder / f"run-{run.load:g}-{run.seed}"
            flows = await run.outcome(folder)
            shutil.rmtree(folder)
        left -= 1
        stage.tell(f"{left} of {len(runs)} runs are left")
        return flows

    sent = await asyncio.gather(*map(outcome, runs))
    stage.folder.rmdir()
    found = []
    for place, load in enumerate(setting.loads):
        count = len(setting.seeds)
        found.append({"load": load} | summarise(sent[place * count : (place + 1) * count]))
    return SchemeOutcome({"loads": found}, None)


def table(results: Results[Setting, None]) -> list[Table]:
    """Completion times at each load: the mean over the seeds, with the lowest and the highest."""
    rate = results.setting.paper.access_bps / GBIT
    shown = Table(
        title=f"Completion times in ms, {rate:g} and {4 * rate:g} Gbit/s: mean, lowest and highest of the seeds",
        title_justify="left",
    )
    columns = ("scheme", "load", "small, mean", "small, 99 %", "large, mean", "all, mean", "done")
    for column in columns:
        shown.add_column(column, justify="left" if column == "scheme" else "right")
    for name, scheme in results.schemes.items():
        for load in scheme["loads"]:
            shown.add_row(
                title(name),
                f"{load['load']:g}",
                _span(load, "small_mean_ms", ".3f"),
                _span(load, "small_p99_ms", ".2f"),
                _span(load, "large_mean_ms", ".1f"),
                _span(load, "mean_ms", ".2f"),
                cell(load["completed_share"], ".3f"),
            )
    return [shown]


def _span(load: dict[str, Any], key: str, form: str) -> str:
    mean, low, high = (cell(load[place], form) for place in (key, f"{key}_low", f"{key}_high"))
    return f"{mean} ({low}-{high})"


EXPERIMENT = Experiment(
    name="completion_at_scale",
    summary="Completion times among 144 servers in virtual time (PACKS paper, Fig. 12; RIFO paper, Fig. 7)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.found, path),
    csv={"loads.csv": lambda results: record_rows(results.schemes, "loads")},
    files=RUNS,
    schemes=Choice(ranked_schemes.NAMES),
    seed=Seed("Of the first list of flows, and of their paths.", bounded=True),
    targets=(Target.V1MODEL,),
    in_lab=lambda _: False,
    simulated=True,
)
