"""The simulations of the papers at full size: completion times of flows among 144 servers, in virtual time."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from experiments.completion_at_scale import figure, reference
from experiments.completion_at_scale.network import Run
from experiments.completion_at_scale.over_seeds import Figures, of_seed, summarise
from experiments.completion_at_scale.papers import FIGURES as PAPER_FIGURES
from experiments.completion_at_scale.papers import Line, PaperFigure, described
from experiments.completion_at_scale.points import Points
from experiments.completion_at_scale.workloads import GBIT, LOADS
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.errors import P4schedError, UsageError
from p4sched.folders.schemes import find, give_own_colours
from p4sched.lab.experiment import Experiment, Results, RunOptions, SchemeOutcome, Seed, Stage, choose, once
from p4sched.p4rt.target import Target
from p4sched.results.sweeps import ENOUGH_DONE
from p4sched.results.tables import cell, record_rows
from p4sched.schemes import SCHEMES
from p4sched.units import Duration

SHORTEST_S = 0.001
MOST_SEEDS = 1000
RUNS = ("run-*/*", "run-*/results/*")
"""Files of an unfinished run that are deleted. Its finished points stay, and the next run continues from them."""
LIST = "list"
NAMED_SHORT = 4
"""Points with too few completed flows that the warning names."""


@dataclass(frozen=True)
class Setting:
    """Setting that all runs share."""

    figure: PaperFigure
    lines: Sequence[Line]
    loads: Sequence[float]
    seeds: Sequence[int]
    duration: Duration


def listing() -> str:
    """A line for each figure."""
    return "\n".join(
        f"  {each.name:13} {each.title}; lines {', '.join(line.name for line in each.lines)}"
        for each in PAPER_FIGURES.values()
    )


def print_list(name: str) -> str:
    """Prints the list, if it is requested."""
    if name == LIST:
        typer.echo(listing())
        raise typer.Exit
    return name


def setting(
    run_options: RunOptions,
    figure: Annotated[
        str,
        typer.Option(
            "--figure",
            metavar="NAME",
            help=f"{', '.join(PAPER_FIGURES)}; list: describe them.",
            callback=print_list,
        ),
    ] = "packs-12",
    lines: Annotated[str, typer.Option(metavar="L1,L2,...", help="Lines of the figure to run; default: all.")] = "",
    loads: Annotated[
        str,
        typer.Option(metavar="L1,L2,...", help=f"Loads, from {', '.join(f'{load:g}' for load in LOADS)}."),
        QuickDefault("0.2,0.6"),
    ] = "0.2,0.4,0.6,0.8",
    seeds: Annotated[
        int,
        typer.Option(help="Number of lists of flows, with seeds from --seed on.", min=1, max=MOST_SEEDS),
        QuickDefault(2),
    ] = 5,
    duration: Annotated[
        Duration,
        options.time_option("Virtual time in which flows start; then the run ends. At 10 Gbit/s --quick uses a tenth."),
        QuickDefault(Duration.parse("20ms")),
    ] = Duration.parse("1s"),
    folders: Annotated[
        str,
        typer.Option(
            "--scheme", metavar="FOLDER,...", help="Schedulers in folders: further lines, with 4 queues of 10 packets."
        ),
    ] = "",
) -> Setting:
    """Repeats a figure of a paper in virtual time: flows between 144 servers of a leaf-spine network, for each line at
    each load. Prints a table and writes DIR/summary.json, DIR/loads.csv and DIR/figure.png."""
    run_options.refuse(["--switch"], "in virtual time: the models of the schemes are at the ports")
    options.at_least("--duration", duration, SHORTEST_S, "a flow takes longer than that")
    shown = parse_figure(figure)
    if run_options.quick and not run_options.explicit["--duration"]:
        duration = Duration(duration * GBIT // shown.access_bps)
    names = choose(f"line of {shown.name}", lines, [line.name for line in shown.lines]) if lines else []
    further = [described(name) for name in choose("scheme", folders, (), find)] if folders else []
    give_own_colours([line.name for line in further])
    shown = replace(shown, lines=(*shown.select_lines(names), *further))
    return Setting(
        shown,
        shown.lines,
        parse_loads(loads),
        range(run_options.seed, run_options.seed + seeds),
        duration,
    )


def parse_figure(name: str) -> PaperFigure:
    """The figure with this name. Raises UsageError, with the list of names, for an unknown name."""
    if name not in PAPER_FIGURES:
        raise UsageError(f"no figure '{name}'; use one of:\n{listing()}")
    return PAPER_FIGURES[name]


def parse_loads(text: str) -> list[float]:
    """Parses different loads. The run files of the papers must have an arrival rate for each load."""
    known = ", ".join(f"{load:g}" for load in LOADS)
    try:
        loads = [float(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--loads {text}: loads are {known}, with commas between them") from None
    for load in loads:
        if load not in LOADS:
            raise UsageError(f"--loads {text}: there is no arrival rate for {load:g}, only for {known}")
    once("load", loads, text)
    return loads


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    shown = setting.figure
    return {
        "figure": shown.name,
        "access_bps": shown.access_bps,
        "workloads": [workload.name for workload in shown.workloads],
        "loads": list(setting.loads),
        "starts_per_s": {
            workload.name: [workload.starts_per_s(load, shown.access_bps) for load in setting.loads]
            for workload in shown.workloads
        },
        "seeds": list(setting.seeds),
        "duration_s": setting.duration.seconds,
        "time": "virtual",
        "switch": "none",
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all lines, with as many runs at the same time as this process has CPUs. A scheduler in a folder of its
    own that fails is left out."""
    free = asyncio.Semaphore(len(os.sched_getaffinity(0)))
    shown = setting.figure
    points = Points(stage.folder)
    left = len(setting.lines) * len(shown.workloads) * len(setting.loads) * len(setting.seeds)
    total = left
    failures: dict[str, P4schedError] = {}

    async def outcome(run: Run) -> Figures:
        nonlocal left
        async with free:
            if run.line.name in failures:
                raise failures[run.line.name]
            key = points.key(run)
            figures = points.load(key)
            if figures is None:
                folder = (
                    stage.folder
                    / f"run-{shown.lines.index(run.line)}-{shown.workloads.index(run.workload)}-{run.load:g}-{run.seed}"
                )
                try:
                    figures = of_seed(await run.outcome(folder))
                except P4schedError as error:
                    failures.setdefault(run.line.name, error)
                    raise
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
                points.keep(key, figures)
        left -= 1
        stage.tell(f"{left} of {total} runs are left")
        return figures

    async def record(line: Line, place: int, load: float) -> dict[str, Any]:
        workload = shown.workloads[place]
        runs = [Run(line, workload, shown.access_bps, load, seed, int(setting.duration)) for seed in setting.seeds]
        seeds = await asyncio.gather(*map(outcome, runs))
        return {"workload": workload.name, "load": load} | summarise(seeds)

    async def loads(line: Line) -> list[dict[str, Any]]:
        places = [(place, load) for place in range(len(shown.workloads)) for load in setting.loads]
        try:
            return list(await asyncio.gather(*(record(line, place, load) for place, load in places)))
        except P4schedError:
            if line.name not in SCHEMES or SCHEMES[line.name].in_laboratory:
                raise
            return []

    found = await asyncio.gather(*map(loads, setting.lines))
    schemes = {
        line.name: {"label": line.label, "loads": records}
        for line, records in zip(setting.lines, found, strict=True)
        if line.name not in failures
    }
    return SchemeOutcome({"schemes": schemes}, None, failures=failures)


def comparison(results: Results[Setting, None]) -> dict[str, Any]:
    """The published numbers next to the numbers of the run, if there are any."""
    return {"published": reference.compare(results.schemes)} if results.setting.figure.reference else {}


def table(results: Results[Setting, None]) -> list[Table | str]:
    """Tables of completion times at each load: the mean over the seeds, with the lowest and the highest. A line below
    warns of too few completed flows."""
    setting = results.setting
    rate = setting.figure.access_bps / GBIT
    shown = Table(
        title=f"{setting.figure.title}. {rate:g} and {4 * rate:g} Gbit/s, times in ms: mean (lowest-highest seed)",
        title_justify="left",
    )
    columns = ("line", "load", "small, mean", "small, 99 %", "large, mean", "large, Mbit/s", "all, mean", "done")
    for column in columns:
        shown.add_column(column, justify="left" if column == "line" else "right")
    several = len(setting.figure.workloads) > 1
    for scheme in results.schemes.values():
        for load in scheme["loads"]:
            shown.add_row(
                f"{scheme['label']}, {load['workload']}" if several else scheme["label"],
                f"{load['load']:g}",
                _span(load, "small_mean_ms", ".3f"),
                _span(load, "small_p99_ms", ".2f"),
                _span(load, "large_mean_ms", ".1f"),
                _span(load, "large_mbps", ".0f"),
                _span(load, "mean_ms", ".2f"),
                cell(load["completed_share"], ".3f"),
            )
    ratio_tables = _ratio_tables(results.summary["published"]) if setting.figure.reference else []
    return [shown, *ratio_tables, *_warnings(results.schemes)]


def _warnings(schemes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line that names the lines and loads with too few completed flows; none if there are none."""
    short = [
        f"{escape(scheme['label'])} at {load['load']:g}: {100 * share:.3g} %"
        for scheme in schemes.values()
        for load in scheme["loads"]
        if (share := load["completed_share"]) is not None and share < ENOUGH_DONE
    ]
    if not short:
        return []
    more = f" and {len(short) - NAMED_SHORT} more" if len(short) > NAMED_SHORT else ""
    listed = f"{'; '.join(short[:NAMED_SHORT])}{more}"
    return [
        f"[yellow]warning: too few flows ended ({listed}).[/] The times are of those that ended, so they are too short."
        " restricted_ms in loads.csv counts the others until the end of the run; a longer --duration shows more"
    ]


def _span(load: dict[str, Any], key: str, form: str) -> str:
    mean, low, high = (cell(load[place], form) for place in (key, f"{key}_low", f"{key}_high"))
    return f"{mean} ({low}-{high})"


def _ratio_tables(comparisons: Sequence[dict[str, Any]]) -> list[Table]:
    """Ratio of each value to the published one, a row for each line and load."""
    ratio_table = Table(title="So many times the published value", title_justify="left")
    keys = list(reference.METRICS)
    for column in ("line", "load", "small, mean", "small, 99 %", "large, mean"):
        ratio_table.add_column(column, justify="left" if column == "line" else "right")
    ratios: dict[tuple[str, float], dict[str, float]] = {}
    for comparison in comparisons:
        ratios.setdefault((comparison["line"], comparison["load"]), {})[comparison["figure"]] = comparison["ratio"]
    for (line, load), found in ratios.items():
        ratio_table.add_row(line, f"{load:g}", *(cell(found.get(key), ".2f") for key in keys))
    return [ratio_table]


EXPERIMENT = Experiment(
    name="completion_at_scale",
    summary="Completion times among 144 servers in virtual time (AIFO 7-11, 14; RIFO 7-14; PACKS 12-13; SP-PIFO 7-10)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"loads.csv": lambda results: record_rows(results.schemes, "loads")},
    files=RUNS,
    seed=Seed("Seed of the first list of flows, and of their paths.", bounded=True),
    targets=(Target.V1MODEL,),
    comparison=comparison,
    in_lab=lambda _: False,
    simulated=True,
)
