"""Ranks of data that is sent again: as the flow's, the most urgent one, or the least that the flow has had."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import geometric_mean
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.retransmissions import figure, traffic
from p4sched import simulate
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.lab import comparison
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import check_load
from p4sched.sweep.compared import against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Seeds, Simulation, repeat, tune
from p4sched.units import Duration

SCHEMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo")
ADMITTING = ("aifo", "rifo", "packs")
OWN, URGENT, LEAST = AGAIN = ("own", "urgent", "least")
"""The rank of data that is sent again: that of the data, 0, or the smallest that the flow has sent so far."""
QUEUES = 4
OBJECTIVE = "slowdown"
MAP = ("headroom_256", "window")
"""The parameters for each of which `DIR/map.csv` has its own best buffer."""


@dataclass(frozen=True)
class Grid(comparison.Grid):
    """Values of the parameters, for all combinations."""

    windows: tuple[int, ...]
    """|W| of AIFO and PACKS, T of RIFO."""


FULL = Grid((8, 20, 40, 80, 160), (0, 26, 128, 205), (10, 20, 100))
QUICK = Grid((40,), (26,), (20,))


@dataclass(frozen=True)
class Setting:
    """Setting of a run."""

    schemes: Sequence[str]
    traffics: Sequence[str]
    grid: Grid
    load: float
    seeds: Seeds
    duration: Duration


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(SCHEMES)] = ",".join(SCHEMES),
    traffics: Annotated[
        str,
        typer.Option(metavar="T1,T2,...", help=f"Traffic: {', '.join(traffic.TRAFFICS)}."),
        QuickDefault("incast of 16"),
    ] = ",".join(traffic.TRAFFICS),
    load: Annotated[float, typer.Option(help="Load of the web-search flows.")] = traffic.LOAD,
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("50ms"),
) -> Setting:
    """Incast and web-search flows in virtual time, for each rank of data that is sent again. An incast has a round for
    each 5 ms of --duration. Prints a table and writes DIR/summary.json, DIR/best.csv, DIR/map.csv,
    DIR/together.csv, DIR/grid.csv and DIR/figure.png."""
    options.long_enough(duration)
    check_load(load)
    return Setting(
        choose("scheme", compared, SCHEMES),
        choose("traffic", traffics, traffic.TRAFFICS),
        QUICK if run_options.quick else FULL,
        load,
        comparison.seeds_of(run_options, seeds),
        duration,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "traffics": list(setting.traffics),
        "load": setting.load,
        "rounds": traffic.rounds_of(int(setting.duration)),
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "windows": list(setting.grid.windows),
        "queues": QUEUES,
        **comparison.configuration(setting),
    }


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all groups. FIFO reads no ranks."""
    grid = setting.grid
    for scheme, name in product(setting.schemes, setting.traffics):
        windows = grid.windows if scheme in ADMITTING else grid.windows[:1]
        for again in AGAIN if scheme != "fifo" else (OWN,):
            group: Group = {"scheme": scheme, "traffic": name, "again": again}
            for sizes, window in product(grid.parameters(headroom=scheme in ADMITTING), windows):
                parameters: Group = {**sizes, "window": window}
                yield Candidate(group, parameters, partial(_run, group, parameters, setting))


def of_map(setting: Setting) -> Iterator[Candidate]:
    """The same of the rules of admission, with a group for each k and window: the buffer alone is chosen."""
    for each in candidates(setting):
        if each.group["scheme"] in ADMITTING:
            place = {key: each.parameters[key] for key in MAP}
            yield Candidate({**each.group, **place}, each.parameters, each.run)


def _run(group: Group, parameters: Group, setting: Setting, seed: int) -> Simulation:
    ports = simulate.Ports(
        str(group["scheme"]),
        queues=QUEUES,
        queue_size=int(parameters["buffer_packets"]) // QUEUES,
        window=int(parameters["window"]),
        headroom_256=int(parameters["headroom_256"]),
    )
    name = str(group["traffic"])
    scenario = traffic.scenario(ports, name, str(group["again"]), int(setting.duration), seed, setting.load)
    return Simulation(scenario, MEASURES[name])


def _incast_of_16(result: simulate.Result) -> dict[str, float]:
    return traffic.measure("incast of 16", result)


def _incast_of_40(result: simulate.Result) -> dict[str, float]:
    return traffic.measure("incast of 40", result)


def _web_search(result: simulate.Result) -> dict[str, float]:
    return traffic.measure(traffic.WEB_SEARCH, result)


MEASURES = dict(zip(traffic.TRAFFICS, (_incast_of_16, _incast_of_40, _web_search), strict=True))


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all schemes."""
    found = await tune(list(candidates(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    outcome = comparison.outcome(found, setting.schemes, traffic.FIGURES, _records)
    # the runs of the choice are those of the first call
    mapped = await tune(list(of_map(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    together = await repeat(one_for_all(found.grid), setting.seeds.result, stage.folder, stage.tell)
    for scheme in setting.schemes:
        if scheme in ADMITTING:
            outcome.summary["schemes"][scheme]["map"] = list(_places(mapped.best, scheme))
        outcome.summary["schemes"][scheme]["together"] = list(_places(together, scheme))
    return outcome


def one_for_all(grid: Sequence[Measured]) -> list[Candidate]:
    """For each scheme and rank, the candidates with the parameters that are best for all traffics together: those with
    the smallest geometric mean of the slowdowns."""
    settings: dict[tuple[Any, Any], dict[str, list[Measured]]] = {}
    for each in grid:
        group = each.candidate.group
        of_rank = settings.setdefault((group["scheme"], group["again"]), {})
        of_rank.setdefault(json.dumps(each.candidate.parameters), []).append(each)
    best = (min(of_rank.values(), key=_mean_over_traffics) for of_rank in settings.values())
    return [each.candidate for setting in best for each in setting]


def _mean_over_traffics(measured: Sequence[Measured]) -> float:
    return geometric_mean(each.mean(OBJECTIVE) for each in measured)


def _places(best: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """The figures of a scheme at places of its grid."""
    for each in of_scheme(best, scheme):
        yield {
            **without_scheme(each.record((OBJECTIVE, "timeouts"))),
            **named("to_own", against(each, best, {"again": OWN}, OBJECTIVE)),
        }


def _records(best: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """The figures of a scheme; `to_own`: its slowdown over that with the ranks of the data; `to_fifo`: over FIFO's."""
    for each in of_scheme(best, scheme):
        yield {
            **without_scheme(each.record(traffic.FIGURES)),
            **named("to_own", against(each, best, {"again": OWN}, OBJECTIVE)),
            **named("to_fifo", against(each, best, {"again": OWN, "scheme": "fifo"}, OBJECTIVE)),
        }


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each traffic, scheme and rank of data that is sent again."""
    columns = ("slowdown", "over own", "over FIFO", "99 %", "timeouts", "sent again, %", "refused, %")
    rows = comparison.heading(
        results,
        "Mean slowdown, each with the best parameters of the grid",
        ("traffic", "scheme", "rank again"),
        columns,
    )
    for name in results.setting.traffics:
        for scheme in results.schemes.values():
            for each in scheme["best"]:
                if each["traffic"] == name:
                    rows.add_row(
                        name,
                        scheme["label"],
                        each["again"],
                        f"{each['slowdown']:.2f}",
                        shown(each, "to_own"),
                        shown(each, "to_fifo"),
                        f"{each['p99_slowdown']:.2f}",
                        f"{each['timeouts']:.3f}",
                        f"{100 * each['resent']:.1f}",
                        f"{100 * each['refused']:.1f}",
                    )
    return [rows]


EXPERIMENT = comparison.experiment(
    "retransmissions",
    "Ranks of data that is sent again, in incast and among web-search flows",
    "four rounds of 16 senders, with one setting of each scheme",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
    ("best", "map", "together", "grid"),
)
