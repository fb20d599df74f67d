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
from p4sched.sweep.compared import of_scheme, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Seeds, Simulation, Tuned, tune
from p4sched.units import Duration

SCHEMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo")
WITH_HEADROOM = ("aifo", "rifo", "packs")
SENDERS = ("dctcp", "cubic")
"""Cubic's senders understand marks, too: they reduce their window as after a loss (RFC 3168)."""
QUEUES = 4
WINDOW = 20
"""|W| of AIFO and PACKS, T of RIFO."""
NO_MARKS = "none"
PAPER_K, PAPER_BUFFER = 26, 40
"""k = 0.1 and the packets of a port: the setting at which the figure shows refused and marked packets."""
OBJECTIVE = "slowdown"


@dataclass(frozen=True)
class Grid:
    """Values of the parameters, for all combinations."""

    marks: tuple[str | int, ...]
    """Waiting packets from which on a packet gets a mark."""
    buffers: tuple[int, ...]
    """C of AIFO, B of RIFO, and all queues of the others together, in packets."""
    headrooms_256: tuple[int, ...]
    """k in 1/256."""


FULL = Grid((NO_MARKS, 2, 5, 10, 20, 40), (12, 20, 40, 80), (0, PAPER_K, 128))
QUICK = Grid((NO_MARKS, 10), (PAPER_BUFFER,), (PAPER_K, 128))


@dataclass(frozen=True)
class Setting:
    """Setting of a run."""

    schemes: Sequence[str]
    senders: Sequence[str]
    loads: Sequence[float]
    grid: Grid
    seeds: Seeds
    duration: Duration


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(SCHEMES)] = ",".join(SCHEMES),
    senders: Annotated[
        str,
        typer.Option(metavar="S1,S2,...", help=f"Congestion control of all hosts: {', '.join(SENDERS)}."),
        QuickDefault("dctcp"),
    ] = ",".join(SENDERS),
    loads: options.Loads = "0.4,0.8",
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("100ms"),
) -> Setting:
    """Web-search flows among 16 hosts in virtual time, for each mark threshold, headroom and buffer of each scheme.
    Prints a table and writes DIR/summary.json, DIR/best.csv, DIR/grid.csv and DIR/figure.png."""
    options.long_enough(duration)
    return Setting(
        choose("scheme", compared, SCHEMES),
        choose("congestion control", senders, SENDERS),
        parse_loads(loads),
        QUICK if run_options.quick else FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "senders": list(setting.senders),
        "loads": list(setting.loads),
        "marks": list(setting.grid.marks),
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "window": WINDOW,
        "queues": QUEUES,
        **comparison.configuration(setting),
    }


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all groups."""
    for senders, load, scheme, marks in product(setting.senders, setting.loads, setting.schemes, setting.grid.marks):
        group: Group = {"scheme": scheme, "senders": senders, "load": load, "mark_at_packets": marks}
        headrooms = setting.grid.headrooms_256 if scheme in WITH_HEADROOM else (0,)
        for buffer, headroom in product(setting.grid.buffers, headrooms):
            parameters: Group = {"buffer_packets": buffer, "headroom_256": headroom}
            yield Candidate(group, parameters, partial(_run, group, parameters, int(setting.duration)))


def _run(group: Group, parameters: Group, duration_ns: int, seed: int) -> Simulation:
    marks = group["mark_at_packets"]
    ports = simulate.Ports(
        str(group["scheme"]),
        queues=QUEUES,
        queue_size=int(parameters["buffer_packets"]) // QUEUES,
        window=WINDOW,
        headroom_256=int(parameters["headroom_256"]),
        mark_at_packets=None if marks == NO_MARKS else int(marks),
    )
    transport = {"control": group["senders"], "ecn": True}
    return Simulation(
        leaf_spine.scenario(ports, transport, float(group["load"]), duration_ns, seed), leaf_spine.measure
    )


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all schemes."""
    found = await tune(list(candidates(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    schemes = {
        scheme: {
            "label": title(scheme),
            "best": [without_scheme(each.record(leaf_spine.FIGURES)) for each in of_scheme(found.best, scheme)],
            "grid": comparison.grid(found, leaf_spine.FIGURES, scheme),
            "pairs": list(pairs(found, setting, scheme)),
        }
        for scheme in setting.schemes
    }
    return SchemeOutcome({"schemes": schemes}, None)


def pairs(found: Tuned, setting: Setting, scheme: str) -> Iterator[dict[str, Any]]:
    """For each kind of senders and load: the scheme without marks, and with the best threshold; the ratio of the latter
    to the former, and to FIFO with its best threshold."""
    for senders, load in product(setting.senders, setting.loads):

        def best(name: str, marked: bool, senders: str = senders, load: float = load) -> Measured:
            return found.best_of(
                lambda group: (
                    (group["scheme"], group["senders"], group["load"]) == (name, senders, load)
                    and (group["mark_at_packets"] != NO_MARKS) is marked
                )
            )

        alone, both = best(scheme, False), best(scheme, True)
        fifo = best("fifo", True) if "fifo" in setting.schemes else None
        yield {
            "senders": senders,
            "load": load,
            "alone": alone.record([OBJECTIVE]),
            "both": both.record([OBJECTIVE]),
            "to_alone": tuned.ratio(both, alone, OBJECTIVE),
            "to_fifo_with_marks": None if fifo is None else tuned.ratio(both, fifo, OBJECTIVE),
            "alone_to_fifo_with_marks": None if fifo is None else tuned.ratio(alone, fifo, OBJECTIVE),
        }


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
    shown = comparison.heading(
        results, "Mean slowdown of all flows, each with the best parameters of the grid", ("scheme", "senders"), columns
    )
    for scheme in results.schemes.values():
        for pair in scheme["pairs"]:
            shown.add_row(
                scheme["label"],
                pair["senders"],
                f"{pair['load']:g}",
                f"{pair['alone'][OBJECTIVE]:.2f} ({_parameters(pair['alone'])})",
                f"{pair['both'][OBJECTIVE]:.2f} (at {pair['both']['mark_at_packets']}, {_parameters(pair['both'])})",
                *(
                    tuned.shown_ratio(pair[key])
                    for key in ("to_alone", "alone_to_fifo_with_marks", "to_fifo_with_marks")
                ),
            )
    return [shown]


def _parameters(record: Mapping[str, Any]) -> str:
    headroom = f", k {record['headroom_256'] / 256:.1f}" if record["scheme"] in WITH_HEADROOM else ""
    return f"C {record['buffer_packets']}{headroom}"


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
