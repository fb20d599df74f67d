"""How old a queue length may be: AIFO, RIFO and PACKS with lengths that are copied now and then, or are in cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Annotated, Any

from rich.table import Table

from experiments.stale_lengths import figure
from p4sched import simulate
from p4sched.cli import options
from p4sched.errors import UsageError
from p4sched.lab import comparison
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import parse_loads
from p4sched.sweep import leaf_spine
from p4sched.sweep.compared import against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Simulation, tune
from p4sched.units import Duration

SCHEMES = ("fifo", "aifo", "rifo", "packs", "pifo")
READING = ("aifo", "rifo", "packs")
"""Schemes whose rules read the lengths of queues."""
TRANSPORT = {"control": "new_reno"}
QUEUES = 4
WINDOW = 20
"""|W| of AIFO and PACKS, T of RIFO."""
FRAME_US = 8 * 1514 / 1000
"""Time of a full frame on a host's link."""
DELAY = Duration(leaf_spine.ACCESS.delay_ns)
FRESH: Group = {"period_us": 0, "cell_bytes": 0}
OBJECTIVE = "slowdown"


@dataclass(frozen=True)
class Grid(comparison.Grid):
    """Values of the parameters, for all combinations, and what is known of the lengths."""

    periods_us: tuple[int, ...]
    """Times between two copies of the lengths."""
    cells: tuple[int, ...]
    """Bytes of a cell, those of Tofino 1 and 2."""


FULL = Grid((8, 12, 20, 40, 80, 160), (0, 26), (0, 50, 100, 200, 500, 1000), (80, 176))
QUICK = Grid((20,), (26,), (0, 100), (80,))


@dataclass(frozen=True)
class Setting(comparison.GridSetting[Grid]):
    """Setting of a run."""

    delay: Duration


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(SCHEMES)] = ",".join(SCHEMES),
    loads: options.Loads = "0.4,0.6,0.8",
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("50ms"),
    delay: Annotated[Duration, options.time_option("Delay of each link, each way.")] = DELAY,
) -> Setting:
    """Web-search flows among 16 hosts in virtual time, for each age of the queue lengths that the rules of AIFO, RIFO
    and PACKS know. Prints a table and writes DIR/summary.json, DIR/best.csv, DIR/grid.csv and DIR/figure.png."""
    options.long_enough(duration)
    if 100 * delay > duration:
        raise UsageError(f"--delay {delay}: at most a hundredth of --duration, {duration}")
    return Setting(
        choose("scheme", compared, SCHEMES),
        parse_loads(loads),
        QUICK if run_options.quick else FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
        delay,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "loads": list(setting.loads),
        "periods_us": list(setting.grid.periods_us),
        "cells": list(setting.grid.cells),
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "window": WINDOW,
        "queues": QUEUES,
        "frame_us": FRAME_US,
        "delay_us": int(setting.delay) / 1000,
        **comparison.configuration(setting),
    }


def knowledge(grid: Grid, scheme: str) -> list[Group]:
    """What the rule of a scheme may know: each period in packets, and each cell at once."""
    if scheme not in READING:
        return [FRESH]
    old: list[Group] = [{"period_us": period, "cell_bytes": 0} for period in grid.periods_us]
    return old + [{"period_us": 0, "cell_bytes": cell} for cell in grid.cells]


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all groups."""
    for scheme, load in product(setting.schemes, setting.loads):
        for known in knowledge(setting.grid, scheme):
            group: Group = {"scheme": scheme, "load": load, **known}
            for parameters in setting.grid.parameters(headroom=scheme in READING):
                yield Candidate(group, parameters, partial(_run, group, parameters, setting))


def _run(group: Group, parameters: Group, setting: Setting, seed: int) -> Simulation:
    fresh = simulate.Ports(
        str(group["scheme"]),
        queues=QUEUES,
        queue_size=int(parameters["buffer_packets"]) // QUEUES,
        window=WINDOW,
        headroom_256=int(parameters["headroom_256"]),
    )
    known = replace(
        fresh,
        length_period_ns=1000 * int(group["period_us"]) or None,
        cell_bytes=int(group["cell_bytes"]) or None,
    )
    delay = {"delay_ns": int(setting.delay)}
    scenario = leaf_spine.scenario(fresh, TRANSPORT, float(group["load"]), int(setting.duration), seed, **delay)
    # a host sees its own queue
    return Simulation(scenario.with_(ports=known), leaf_spine.measure, delay)


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all schemes."""
    found = await tune(list(candidates(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    return comparison.outcome(found, setting.schemes, leaf_spine.FIGURES, _records)


def _records(best: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """The figures of a scheme; `to_fresh` and `to_fifo`: its slowdown over that with the lengths themselves, and over
    that of FIFO."""
    for each in of_scheme(best, scheme):
        yield {
            **without_scheme(each.record(leaf_spine.FIGURES)),
            **named("to_fresh", against(each, best, FRESH, OBJECTIVE)),
            **named("to_fifo", against(each, best, {**FRESH, "scheme": "fifo"}, OBJECTIVE)),
        }


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each scheme, load, period and cell."""
    columns = ("load", "period, us", "cell, bytes", "C", "k", "slowdown", "over the length itself", "over FIFO")
    rows = comparison.heading(
        results, "Mean slowdown of all flows, each with the best parameters of the grid", ("scheme",), columns
    )
    for scheme in results.schemes.values():
        for each in scheme["best"]:
            rows.add_row(
                scheme["label"],
                f"{each['load']:g}",
                str(each["period_us"]),
                str(each["cell_bytes"] or "-"),
                str(each["buffer_packets"]),
                f"{each['headroom_256'] / 256:.1f}",
                f"{each['slowdown']:.2f}",
                shown(each, "to_fresh"),
                shown(each, "to_fifo"),
            )
    return [rows]


EXPERIMENT = comparison.experiment(
    "stale_lengths",
    "How old a queue length may be, and in which unit, for AIFO, RIFO and PACKS",
    "load 0.8 for 20 ms, with two periods, one cell, and one setting of each scheme",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
)
