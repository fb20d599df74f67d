"""Order within a flow: rules of SP-PIFO and PACKS that keep it, and senders that do not need it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.reordering import figure
from p4sched import simulate
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.lab import comparison
from p4sched.lab.comparison import GridSetting
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import parse_loads
from p4sched.sweep import leaf_spine
from p4sched.sweep.compared import against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Simulation, tune
from p4sched.units import Duration

FLOWLETS = "flowlet_queue"
RULES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "fifo": ("FIFO", "fifo", ()),
    "sp_pifo": ("SP-PIFO", "sp_pifo", ()),
    "sp_pifo_flow": ("SP-PIFO, a flow keeps its queue", "sp_pifo", ("flow_queue",)),
    "sp_pifo_flowlet": ("SP-PIFO, a flowlet keeps its queue", "sp_pifo", (FLOWLETS,)),
    "packs": ("PACKS", "packs", ()),
    "packs_flow": ("PACKS, a flow keeps its queue", "packs", ("flow_queue",)),
    "packs_flowlet": ("PACKS, a flowlet keeps its queue", "packs", (FLOWLETS,)),
    "packs_first": ("PACKS, first queue only", "packs", ("no_fall_through",)),
    "packs_total": ("PACKS, total occupancy", "packs", ("total_occupancy",)),
    "pifo": ("PIFO", "pifo", ()),
}
"""Title, scheme and variants of each rule."""
PLAIN = {
    "sp_pifo_flow": "sp_pifo",
    "sp_pifo_flowlet": "sp_pifo",
    "packs_flow": "packs",
    "packs_flowlet": "packs",
    "packs_first": "packs",
    "packs_total": "packs",
}
"""The rule of the paper that each other one differs from."""
EXACT = {"sp_pifo_flowlet": "sp_pifo_flow", "packs_flowlet": "packs_flow"}
"""The rule that knows which packets wait, for those with a table of flowlets."""
RACK = "rack"
RECOVERIES = (RACK, "sack", "new_reno", "quic", "go_back_n")
"""Detection of losses: RACK waits for reordering; `sack` and `new_reno` take three later segments for a loss, with and
without selective acknowledgements; QUIC takes three later packets or 9/8 of a round trip; with go-back-N the receiver
discards what is not in order."""
QUEUES = 4
WINDOW = 20
"""|W| of PACKS."""
OBJECTIVE = "slowdown"
ORDER = ("inversions", "overtakes")
"""Packets that left a port while one of a smaller rank, or an earlier one of their flow, waited: shares of all packets
that left."""
FIGURES = (*leaf_spine.FIGURES, *ORDER)


@dataclass(frozen=True)
class Grid(comparison.Grid):
    """Values of the parameters, for all combinations."""

    gaps_us: tuple[int, ...]
    """Gaps of the flowlets."""


FULL = Grid((12, 20, 40, 80, 160), (0, 26), (20, 50, 100, 200, 500, 1000, 10_000, 100_000))
QUICK = Grid((40,), (26,), (200,))


@dataclass(frozen=True)
class Setting(GridSetting[Grid]):
    """Setting of a run."""

    recoveries: Sequence[str]
    cells: int
    """Cells of the tables of flowlets."""


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(RULES)] = ",".join(RULES),
    recoveries: Annotated[
        str,
        typer.Option(metavar="R1,R2,...", help=f"Detection of losses at all hosts: {', '.join(RECOVERIES)}."),
        QuickDefault("rack,new_reno"),
    ] = ",".join(RECOVERIES),
    cells: Annotated[int, typer.Option(min=1, max=2**20, help="Cells of each table of flowlets.")] = 4096,
    loads: options.Loads = "0.8",
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("50ms"),
) -> Setting:
    """Web-search flows among 16 hosts in virtual time, for rules that keep the packets of a flow in order, and for
    senders that detect losses in other ways. Prints a table and writes DIR/summary.json, DIR/best.csv, DIR/grid.csv and
    DIR/figure.png."""
    options.long_enough(duration)
    return Setting(
        choose("scheme", compared, RULES),
        parse_loads(loads),
        QUICK if run_options.quick else FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
        choose("detection of losses", recoveries, RECOVERIES),
        cells,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "recoveries": list(setting.recoveries),
        "loads": list(setting.loads),
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "gaps_us": list(setting.grid.gaps_us),
        "cells": setting.cells,
        "window": WINDOW,
        "queues": QUEUES,
        **comparison.configuration(setting),
    }


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all groups."""
    for scheme, recovery, load in product(setting.schemes, setting.recoveries, setting.loads):
        group: Group = {"scheme": scheme, "recovery": recovery, "load": load}
        _, plain, variants = RULES[scheme]
        gaps = setting.grid.gaps_us if FLOWLETS in variants else (0,)
        for sizes, gap in product(setting.grid.parameters(headroom=plain == "packs"), gaps):
            parameters: Group = {**sizes, "gap_us": gap}
            yield Candidate(group, parameters, partial(_run, group, parameters, setting))


def _run(group: Group, parameters: Group, setting: Setting, seed: int) -> Simulation:
    _, scheme, variants = RULES[str(group["scheme"])]
    flowlets = {"gap_ns": 1000 * int(parameters["gap_us"]), "cells": setting.cells}
    ports = simulate.Ports(
        scheme,
        queues=QUEUES,
        queue_size=int(parameters["buffer_packets"]) // QUEUES,
        window=WINDOW,
        headroom_256=int(parameters["headroom_256"]),
        variants=variants or None,
        flowlets=flowlets if FLOWLETS in variants else None,
    )
    transport = {"control": "new_reno", "recovery": group["recovery"]}
    load, duration_ns = float(group["load"]), int(setting.duration)
    scenario = leaf_spine.scenario(ports, transport, load, duration_ns, seed, count_inversions=True)
    return Simulation(scenario, figures)


def figures(result: simulate.Result) -> Mapping[str, float]:
    """`FIGURES` of a run."""
    sent = max(int(result.ports["sent_packets"].sum()), 1)
    return {**leaf_spine.measure(result), **{name: int(result.ports[name].sum()) / sent for name in ORDER}}


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all rules."""
    found = await tune(list(candidates(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    return comparison.outcome(found, setting.schemes, FIGURES, _records, lambda rule: RULES[rule][0])


def _records(best: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """The figures of a rule; `to_plain`: its slowdown over that of the paper's rule with the same senders; `to_exact`:
    over that of the rule that knows which packets wait; `to_rack`: over that with senders with RACK; `to_pifo`: over
    that of PIFO with the same senders."""
    for each in of_scheme(best, scheme):
        yield {
            **without_scheme(each.record(FIGURES)),
            **named("to_plain", against(each, best, {"scheme": PLAIN.get(scheme, scheme)}, OBJECTIVE)),
            **named("to_exact", against(each, best, {"scheme": EXACT.get(scheme, scheme)}, OBJECTIVE)),
            **named("to_rack", against(each, best, {"recovery": RACK}, OBJECTIVE)),
            **named("to_pifo", against(each, best, {"scheme": "pifo"}, OBJECTIVE)),
        }


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each rule, kind of senders and load."""
    ratios = ("over the paper's rule", "over the exact rule", "over RACK", "over PIFO")
    shares = ("sent again, %", "lost, %", "inversions, %", "overtakes, %")
    columns = ("load", "slowdown", *ratios, *shares)
    rows = comparison.heading(
        results, "Mean slowdown of all flows, each with the best parameters of the grid", ("scheme", "losses"), columns
    )
    for scheme in results.schemes.values():
        for each in scheme["best"]:
            rows.add_row(
                scheme["label"],
                each["recovery"],
                f"{each['load']:g}",
                f"{each['slowdown']:.2f}",
                shown(each, "to_plain"),
                shown(each, "to_exact"),
                shown(each, "to_rack"),
                shown(each, "to_pifo"),
                f"{100 * each['resent']:.2f}",
                f"{100 * (each['refused'] + each['full']):.2f}",
                *(f"{100 * each[name]:.2f}" for name in ORDER),
            )
    return [rows]


EXPERIMENT = comparison.experiment(
    "reordering",
    "Order within a flow: what rules that keep it cost, and what they buy for TCP, QUIC and go-back-N",
    "load 0.8 for 20 ms, with and without RACK, and one setting of each scheme",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
)
