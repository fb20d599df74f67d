"""A memory that all ports of a switch share: what C, B and the sizes of queues are while the room moves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from statistics import geometric_mean
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.shared_buffer import figure, traffic
from p4sched import simulate
from p4sched.cli import options
from p4sched.errors import UsageError
from p4sched.lab import comparison
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import parse_loads
from p4sched.sweep.compared import against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Simulation, tune
from p4sched.units import Duration

SCHEMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo")
MEASURED = ("fifo", "aifo", "packs", "pifo")
"""Schemes of the figure in the README."""
READING = ("aifo", "rifo", "packs")
"""Schemes whose rules read the sizes of queues."""
OWN, DT, ABM, OCCAMY = SHARINGS = ("own", "dynamic_thresholds", "abm", "occamy")
"""A part of the memory for each port, or one of the rules of the traffic manager."""
FIXED, FOLLOWS, LATE = KNOWN = ("fixed", "follows", "follows_1ms")
"""The size that a rule reads: a fixed one; the threshold of the memory; that threshold each millisecond."""
LATE_NS = 1_000_000
TRANSPORT = {"control": "new_reno"}
QUEUES = 4
WINDOW = 20
"""|W| of AIFO and PACKS, T of RIFO."""
OBJECTIVE = "slowdown"
SLOWDOWNS = (OBJECTIVE, "web", "incast")


@dataclass(frozen=True)
class Grid:
    """Values of the parameters, for all combinations."""

    own_parts: tuple[Fraction, ...]
    """Sizes with a part for each port, as shares of the memory (C of AIFO, B of RIFO, all queues of the others). Each
    size is a whole number of packets for each queue."""
    parts: tuple[Fraction, ...]
    """Fixed sizes beside a rule of sharing."""
    headrooms_256: tuple[int, ...]
    """k in 1/256."""
    alphas_256: tuple[int, ...]
    """alpha in 1/256."""

    def alphas_beside_a_size(self) -> tuple[int, ...]:
        """Those of 0.5 and more, or all if there are none: the size is already a small share of the memory."""
        return tuple(alpha for alpha in self.alphas_256 if alpha >= 128) or self.alphas_256


PART = Fraction(1, traffic.PORTS["leaf"])
"""The part of a port: most of `own_parts`."""
FULL = Grid(
    (PART / 5, PART * 2 / 5, PART * 3 / 5, PART * 4 / 5, PART),
    (Fraction(1, 20), Fraction(1, 12), Fraction(1, 6), Fraction(1, 2)),
    (0, 26),
    (4, 8, 16, 32, 64, 128, 512, 2048),
)
QUICK = Grid((PART,), (PART,), (26,), (512,))
MOST_ALPHA = 256
"""Largest value of --alphas: with 8 already, a queue may take nearly the whole memory."""


@dataclass(frozen=True)
class Setting(comparison.GridSetting[Grid]):
    """Setting of a run."""

    memories: Sequence[int]


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(SCHEMES)] = ",".join(MEASURED),
    loads: options.Loads = "0.6",
    memories: Annotated[str, typer.Option(metavar="B1,B2,...", help="Packets in the memory of a switch.")] = "120",
    alphas: Annotated[
        str | None,
        typer.Option(metavar="A1,A2,...", help="alpha of the rules of sharing, in steps of 1/256."),
    ] = None,
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("30ms"),
) -> Setting:
    """Incast beside web-search flows in virtual time, with a part of the memory for each port, or with one memory that
    all ports share. Prints a table and writes DIR/summary.json, DIR/best.csv, DIR/overall.csv, DIR/grid.csv and
    DIR/figure.png."""
    options.long_enough(duration)
    grid = QUICK if run_options.quick else FULL
    return Setting(
        choose("scheme", compared, SCHEMES),
        parse_loads(loads),
        grid if alphas is None else replace(grid, alphas_256=_alphas_256(alphas)),
        comparison.seeds_of(run_options, seeds),
        duration,
        _packets(memories),
    )


def _alphas_256(text: str) -> tuple[int, ...]:
    """Values of alpha in 1/256. Raises UsageError."""
    try:
        values = [256 * float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(1 <= value <= 256 * MOST_ALPHA for value in values):
        raise UsageError(f"--alphas '{text}': numbers of 1/256 to {MOST_ALPHA} with commas, for example 0.125,2")
    found = tuple(round(value) for value in values)
    if len(set(found)) < len(found):
        raise UsageError(f"--alphas '{text}': two of these are the same in steps of 1/256")
    return found


def _packets(text: str) -> list[int]:
    """Sizes of memories. Raises UsageError."""
    words = text.split(",")
    if not all(word.isdecimal() and 24 <= int(word) <= 100_000 for word in words) or len(set(words)) < len(words):
        raise UsageError(f"--memories {text}: different whole numbers of packets, from 24 to 100000, with commas")
    return [int(word) for word in words]


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "loads": list(setting.loads),
        "memories": list(setting.memories),
        "own_parts": [float(part) for part in setting.grid.own_parts],
        "parts": [float(part) for part in setting.grid.parts],
        "headrooms_256": list(setting.grid.headrooms_256),
        "alphas_256": list(setting.grid.alphas_256),
        "window": WINDOW,
        "queues": QUEUES,
        "senders": traffic.senders(),
        "block_bytes": traffic.BLOCK_BYTES,
        "round_ns": traffic.ROUND_NS,
        **comparison.configuration(setting),
    }


def kinds(scheme: str) -> list[tuple[str, str]]:
    """How the memory is shared, and what the rule of a scheme knows of it. Only with dynamic thresholds late."""
    if scheme not in READING:
        return [(sharing, FIXED) for sharing in SHARINGS]
    return [(sharing, known) for sharing in SHARINGS for known in KNOWN if known == FIXED or _follows(sharing, known)]


def _follows(sharing: str, known: str) -> bool:
    return sharing != OWN if known == FOLLOWS else sharing == DT


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all groups."""
    grid = setting.grid
    for scheme, load, memory in product(setting.schemes, setting.loads, setting.memories):
        headrooms = grid.headrooms_256 if scheme in READING else (0,)
        for sharing, known in kinds(scheme):
            group: Group = {"scheme": scheme, "load": load, "memory": memory, "sharing": sharing, "known": known}
            # with a part for each port, the size is the parameter of the schemes that read none
            sized = known == FIXED and (scheme in READING or sharing == OWN)
            alphas = (0,) if sharing == OWN else grid.alphas_beside_a_size() if sized else grid.alphas_256
            sizes = _sizes(grid.own_parts if sharing == OWN else grid.parts, memory) if sized else (0,)
            for headroom, alpha, size in product(headrooms, alphas, sizes):
                parameters: Group = {"headroom_256": headroom, "alpha_256": alpha, "size": size}
                yield Candidate(group, parameters, partial(_run, group, parameters, int(setting.duration)))


def _sizes(parts: tuple[Fraction, ...], memory: int) -> list[int]:
    """The sizes, each a multiple of the number of queues."""
    return list(dict.fromkeys(QUEUES * max(int(part * memory / QUEUES), 1) for part in parts))


def _run(group: Group, parameters: Group, duration_ns: int, seed: int) -> Simulation:
    memory, sharing = int(group["memory"]), str(group["sharing"])
    own = memory // traffic.PORTS["leaf"]
    # without a size of its own, a queue may take the whole memory
    size = int(parameters["size"]) or (own if sharing == OWN else QUEUES * memory)
    follow = {FOLLOWS: {"follow_every_ns": 0}, LATE: {"follow_every_ns": LATE_NS}}.get(str(group["known"]), {})
    shared = {"packets": memory, "sharing": sharing, "alpha_256": int(parameters["alpha_256"]), **follow}
    ports = simulate.Ports(
        str(group["scheme"]),
        queues=QUEUES,
        queue_size=max(size // QUEUES, 1),
        window=WINDOW,
        headroom_256=int(parameters["headroom_256"]),
        memory=None if sharing == OWN else shared,
    )
    return Simulation(traffic.scenario(ports, TRANSPORT, float(group["load"]), duration_ns, seed), traffic.measure)


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all schemes."""
    found = await tune(list(candidates(setting)), OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    outcome = comparison.outcome(found, setting.schemes, traffic.FIGURES, partial(_records, traffic.FIGURES))
    means = list(over_settings(found.best))
    for scheme in setting.schemes:
        outcome.summary["schemes"][scheme]["overall"] = list(_records(SLOWDOWNS, means, scheme))
    return outcome


def over_settings(best: Sequence[Measured]) -> Iterator[Measured]:
    """For each scheme and kind of memory, the geometric means over all loads and memories: one for each seed, since the
    settings have the same seeds."""
    of_kind: dict[tuple[Any, ...], list[Measured]] = {}
    for each in best:
        group = each.candidate.group
        of_kind.setdefault((group["scheme"], group["sharing"], group["known"]), []).append(each)
    for (scheme, sharing, known), found in of_kind.items():
        kind: Group = {"scheme": scheme, "sharing": sharing, "known": known}
        yield Measured(Candidate(kind, {"settings": len(found)}, found[0].candidate.run), _geometric_means(found))


def _geometric_means(found: Sequence[Measured]) -> list[dict[str, float]]:
    of_each_seed = zip(*(each.seeds for each in found), strict=True)
    return [{key: geometric_mean(run[key] for run in runs) for key in SLOWDOWNS} for runs in of_each_seed]


def _records(keys: Sequence[str], best: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """The figures of a scheme; `to_own`: over those of the same scheme with a part of the memory for each port;
    `to_fixed`: over those of the same sharing with a fixed size."""
    own: Group = {"sharing": OWN, "known": FIXED}
    for each in of_scheme(best, scheme):
        yield {
            **without_scheme(each.record(keys)),
            **named("to_own", against(each, best, own, OBJECTIVE)),
            **named("web_to_own", against(each, best, own, "web")),
            **named("incast_to_own", against(each, best, own, "incast")),
            **named("to_fixed", against(each, best, {"known": FIXED}, OBJECTIVE)),
        }


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each memory, scheme, sharing, and what the rule knows."""
    columns = ("load", "B", "size", "k", "alpha", "web", "incast", "both / own", "both / fixed")
    rows = comparison.heading(
        results,
        "Mean slowdowns, each with the best parameters of the grid",
        ("scheme", "memory", "size that the rule reads"),
        columns,
    )
    for scheme in results.schemes.values():
        for each in scheme["best"]:
            rows.add_row(
                scheme["label"],
                each["sharing"],
                each["known"],
                f"{each['load']:g}",
                str(each["memory"]),
                str(each["size"] or "-"),
                f"{each['headroom_256'] / 256:.1f}",
                f"{each['alpha_256'] / 256:g}" if each["alpha_256"] else "-",
                f"{each['web']:.2f}",
                f"{each['incast']:.2f}",
                shown(each, "to_own"),
                shown(each, "to_fixed"),
            )
    return [rows, _overall(results)]


def _overall(results: Results[Setting, None]) -> Table:
    """A row for each scheme, sharing, and what the rule knows."""
    rows = comparison.heading(
        results,
        "The same, as geometric means over all loads and memories",
        ("scheme", "memory", "size that the rule reads"),
        ("both / own", "web / own", "incast / own"),
    )
    for scheme in results.schemes.values():
        for each in scheme["overall"]:
            ratios = (shown(each, name) for name in ("to_own", "web_to_own", "incast_to_own"))
            rows.add_row(scheme["label"], each["sharing"], each["known"], *ratios)
    return rows


EXPERIMENT = comparison.experiment(
    "shared_buffer",
    "One memory for all ports of a switch, and rules of admission that follow it or not",
    "load 0.8 for 20 ms, with one setting of each scheme",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
    ("best", "overall", "grid"),
)
