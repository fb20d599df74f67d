"""Congestion marks and admission by rank: when each acts, and whether both together are better than one of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.ecn_and_admission import figure
from p4sched import simulate
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.lab import comparison
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import parse_loads
from p4sched.schemes import title
from p4sched.sweep import leaf_spine, tuned
from p4sched.sweep.compared import RATIO, Ratio, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Simulation, Tuned, tune
from p4sched.units import Duration

DUAL_PI2 = "dual_pi2"
SCHEMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo", DUAL_PI2)
WITH_HEADROOM = ("aifo", "rifo", "packs")
SENDERS = ("dctcp", "cubic", "prague", "cubic+dctcp", "cubic+prague")
"""Cubic's senders understand marks, too: they reduce their window as after a loss (RFC 3168). With two kinds, flows
are of the first and of the second in turn."""
LABELS = {DUAL_PI2: "DualPI2"}
MEASURED = SCHEMES[:-1], SENDERS[:2]
"""Schemes and senders of the figure in the README."""
FRAME_NS = 12_112
"""Time of a full frame on a host's link: the target of DualPI2's delay for a threshold of one packet."""
QUEUES = 4
WINDOW = 20
"""|W| of AIFO and PACKS, T of RIFO."""
NO_MARKS = "none"
PAPER_K, PAPER_BUFFER = 26, 40
"""k = 0.1 and the packets of a port: the setting at which the figure shows refused and marked packets."""
OBJECTIVE = "slowdown"
HALVES = ("even_slowdown", "odd_slowdown")
"""Mean slowdown of every second flow, from the first and the second on: of each kind of senders, if there are two."""
FIGURES = (*leaf_spine.FIGURES, *HALVES)


@dataclass(frozen=True)
class Grid(comparison.Grid):
    """Values of the parameters, for all combinations."""

    marks: tuple[str | int, ...]
    """Waiting packets from which on a packet gets a mark."""
    ramps: tuple[int, ...]
    """Of DualPI2: the full frames after whose time the ramp of queue L begins."""
    rtts_us: tuple[int, ...]
    """Of DualPI2: the longest round trip that is expected."""


FULL = Grid((8, 12, 20, 40, 80, 160), (0, PAPER_K, 128), (NO_MARKS, 2, 5, 10, 20, 40), (1, 4), (200, 800))
QUICK = Grid((PAPER_BUFFER,), (PAPER_K, 128), (NO_MARKS, 10), (1,), (200,))


@dataclass(frozen=True)
class Setting(comparison.GridSetting[Grid]):
    """Setting of a run."""

    senders: Sequence[str]


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(SCHEMES)] = ",".join(MEASURED[0]),
    senders: Annotated[
        str,
        typer.Option(metavar="S1,S2,...", help=f"Congestion control of all hosts: {', '.join(SENDERS)}."),
        QuickDefault("dctcp"),
    ] = ",".join(MEASURED[1]),
    loads: options.Loads = "0.4,0.8",
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("100ms"),
) -> Setting:
    """Web-search flows among 16 hosts in virtual time, for each mark threshold, headroom and buffer of each scheme.
    Prints a table and writes DIR/summary.json, DIR/best.csv, DIR/grid.csv and DIR/figure.png."""
    options.long_enough(duration)
    return Setting(
        choose("scheme", compared, SCHEMES),
        parse_loads(loads),
        QUICK if run_options.quick else FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
        choose("congestion control", senders, SENDERS),
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "senders": list(setting.senders),
        "loads": list(setting.loads),
        "marks": list(setting.grid.marks),
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "ramps": list(setting.grid.ramps),
        "rtts_us": list(setting.grid.rtts_us),
        "window": WINDOW,
        "queues": QUEUES,
        **comparison.configuration(setting),
    }


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all groups. DualPI2 always marks."""
    for senders, load, scheme, marks in product(setting.senders, setting.loads, setting.schemes, setting.grid.marks):
        if (scheme, marks) == (DUAL_PI2, NO_MARKS):
            continue
        group: Group = {"scheme": scheme, "senders": senders, "load": load, "mark_at_packets": marks}
        for parameters in _parameters_of(scheme, setting.grid):
            yield Candidate(group, parameters, partial(_run, group, parameters, int(setting.duration)))


def _parameters_of(scheme: str, grid: Grid) -> Iterator[Group]:
    """The grid of a scheme. A parameter that it does not have is 0."""
    ramps, rtts_us = (grid.ramps, grid.rtts_us) if scheme == DUAL_PI2 else ((0,), (0,))
    for sizes, ramp, rtt_us in product(grid.parameters(headroom=scheme in WITH_HEADROOM), ramps, rtts_us):
        yield {**sizes, "ramp_frames": ramp, "rtt_max_us": rtt_us}


def _run(group: Group, parameters: Group, duration_ns: int, seed: int) -> Simulation:
    marks, load = group["mark_at_packets"], float(group["load"])
    sizes: dict[str, Any] = {"queues": QUEUES, "queue_size": int(parameters["buffer_packets"]) // QUEUES}
    if group["scheme"] == DUAL_PI2:
        ports = simulate.Ports(DUAL_PI2, **sizes, dual_pi2=_dual_pi2(int(marks), parameters))
    else:
        ports = simulate.Ports(
            str(group["scheme"]),
            **sizes,
            window=WINDOW,
            headroom_256=int(parameters["headroom_256"]),
            mark_at_packets=None if marks == NO_MARKS else int(marks),
        )
    kinds = str(group["senders"]).split("+")
    transport = {"control": kinds[0], "ecn": True}
    scenario = leaf_spine.scenario(ports, transport, load, duration_ns, seed)
    if len(kinds) > 1:
        transports = {kind: {"preset": "data_centre", "control": kind, "ecn": True} for kind in kinds}
        scenario = scenario.with_(transports=transports, flows=_in_turn(load, duration_ns, seed, kinds))
    return Simulation(scenario, _figures)


def _dual_pi2(marks: int, parameters: Group) -> dict[str, int]:
    """The target of the delay is the time in which so many full frames leave. The ramp is half as long as its start, as
    in RFC 9332."""
    start_ns = int(parameters["ramp_frames"]) * FRAME_NS
    rtt_ns = 1000 * int(parameters["rtt_max_us"])
    return {"target_ns": marks * FRAME_NS, "rtt_max_ns": rtt_ns, "min_th_ns": start_ns, "range_ns": start_ns // 2}


def _in_turn(load: float, duration_ns: int, seed: int, kinds: Sequence[str]) -> list[simulate.Flow]:
    """The same flows, of these kinds in turn."""
    return [
        simulate.Flow(
            str(flow["source"]),
            str(flow["destination"]),
            int(flow["bytes"]),
            int(flow["start_ns"]),
            transport=kinds[number % len(kinds)],
        )
        for number, flow in enumerate(leaf_spine.listed(load, duration_ns, seed))
    ]


def _figures(result: simulate.Result) -> dict[str, float]:
    slowdown = leaf_spine.slowdowns(result)
    halves = (leaf_spine.mean(slowdown[first::2]) for first in (0, 1))
    return {**leaf_spine.measure(result), **dict(zip(HALVES, halves, strict=True))}


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all schemes."""
    found = await tune(list(candidates(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    schemes = {
        scheme: {
            "label": LABELS.get(scheme) or title(scheme),
            "best": [without_scheme(each.record(FIGURES)) for each in of_scheme(found.best, scheme)],
            "grid": comparison.grid(found, FIGURES, scheme),
            "pairs": list(pairs(found, setting, scheme)),
        }
        for scheme in setting.schemes
    }
    return SchemeOutcome({"schemes": schemes}, None)


def pairs(found: Tuned, setting: Setting, scheme: str) -> Iterator[dict[str, Any]]:
    """For each kind of senders and load: the scheme without marks, and with the best threshold; the ratio of the latter
    to the former, and to FIFO with its best threshold. DualPI2 is never without marks."""
    for senders, load in product(setting.senders, setting.loads):

        def best(name: str, marked: bool, senders: str = senders, load: float = load) -> Measured:
            return found.best_of(
                lambda group: (
                    (group["scheme"], group["senders"], group["load"]) == (name, senders, load)
                    and (group["mark_at_packets"] != NO_MARKS) is marked
                )
            )

        alone = None if scheme == DUAL_PI2 else best(scheme, False)
        both = best(scheme, True)
        fifo = best("fifo", True) if "fifo" in setting.schemes else None
        yield {
            "senders": senders,
            "load": load,
            "alone": None if alone is None else alone.record([OBJECTIVE]),
            "both": both.record([OBJECTIVE, *HALVES]),
            **named("to_alone", _ratio(both, alone)),
            **named("to_fifo_with_marks", _ratio(both, fifo)),
            **named("alone_to_fifo_with_marks", _ratio(alone, fifo)),
        }


def _ratio(one: Measured | None, other: Measured | None) -> Ratio:
    return dict.fromkeys(RATIO) if one is None or other is None else tuned.ratio(one, other, OBJECTIVE)


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each scheme, kind of senders and load."""
    columns = (
        "load",
        "no marks",
        "best marks",
        "with / without",
        "no marks / FIFO with marks",
        "with / FIFO with marks",
    )
    rows = comparison.heading(
        results, "Mean slowdown of all flows, each with the best parameters of the grid", ("scheme", "senders"), columns
    )
    for scheme in results.schemes.values():
        for pair in scheme["pairs"]:
            rows.add_row(
                scheme["label"],
                pair["senders"],
                f"{pair['load']:g}",
                "-" if pair["alone"] is None else f"{pair['alone'][OBJECTIVE]:.2f} ({_parameters(pair['alone'])})",
                f"{pair['both'][OBJECTIVE]:.2f} (at {pair['both']['mark_at_packets']}, {_parameters(pair['both'])})",
                *(shown(pair, name) for name in ("to_alone", "alone_to_fifo_with_marks", "to_fifo_with_marks")),
            )
    return [rows]


def _parameters(record: Mapping[str, Any]) -> str:
    headroom = f", k {record['headroom_256'] / 256:.1f}" if record["scheme"] in WITH_HEADROOM else ""
    ramp = f", L from {record['ramp_frames']}" if record["scheme"] == DUAL_PI2 else ""
    return f"C {record['buffer_packets']}{headroom}{ramp}"


EXPERIMENT = comparison.experiment(
    "ecn_and_admission",
    "Congestion marks and admission by rank: where each acts, and whether both are better than one",
    "DCTCP at load 0.8 for 20 ms, and a part of the grid",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
)
