"""A tenant who cheats: what it gains with each scheme, what the others lose, and what a tree of tenants costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.cheating import closed_loop, figure, tenants
from experiments.cheating.closed_loop import ClosedLoopRun
from experiments.cheating.tenants import BEHAVIOURS, HONEST, TenantRun
from p4sched import simulate
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.lab import comparison
from p4sched.lab.comparison import Grid, GridSetting
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import parse_loads
from p4sched.sweep.compared import against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, ratio, repeat, tune
from p4sched.units import Duration

LABELS = {
    "fifo": "FIFO",
    "drr": "DRR of flows",
    "sp_pifo": "SP-PIFO",
    "aifo": "AIFO",
    "rifo": "RIFO",
    "packs": "PACKS",
    "aifo_own": "AIFO, a window each",
    "rifo_own": "RIFO, a range each",
    "packs_own": "PACKS, a window each",
    "pifo": "PIFO",
    "tree": "tree: DRR of tenants, PIFO of each",
    "aifo_normalised": "AIFO, normalised ranks",
    "packs_normalised": "PACKS, normalised ranks",
    "pifo_normalised": "PIFO, normalised ranks",
    "aifo_equal_last": "AIFO, normalised, equal ranks last",
    "packs_equal_last": "PACKS, normalised, equal ranks last",
    "pifo_equal_last": "PIFO, normalised, equal ranks last",
}
MEASURED = list(LABELS)[:11]
"""Schemes of the figure in the README."""
NORMALISED = {"_normalised": Fraction(1, 2), "_equal_last": Fraction(1)}
"""Ends of the names of schemes with normalised ranks, and the share of equal ranks that counts."""
OWN = "_own"
"""End of the names of schemes with a window (RIFO: a range) for each tenant."""
WITH_HEADROOM = ("aifo", "rifo", "packs")
QUEUES = 4
WINDOW = 20
"""|W| of AIFO and PACKS, T of RIFO."""
ADAPTIVE = "adaptive"
"""The behaviour of a tenant that tries all lies (`closed_loop`)."""
WHO = ("cheater", "others", "cheater_large", "others_large")


FULL = Grid((4, 8, 12, 20, 40, 80, 160, 320, 640), (0, 26, 128, 205))
QUICK = Grid((40,), (26,))


@dataclass(frozen=True)
class Setting(GridSetting[Grid]):
    """Setting of a run."""

    cheaters: int


Cheaters = Annotated[
    int,
    typer.Option(
        min=1, max=tenants.MOST_CHEATERS, help="Tenants who cheat in the same way. Only one alone learns what pays."
    ),
]


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(LABELS), QuickDefault("fifo,packs,packs_own,pifo,tree")] = ",".join(
        MEASURED
    ),
    loads: options.Loads = "0.8",
    cheaters: Cheaters = 1,
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("100ms"),
) -> Setting:
    """Four tenants send web-search flows, ranked by their sizes, and some of them cheat. Prints a table and writes
    DIR/summary.json, DIR/tenants.csv, DIR/closed.csv, DIR/grid.csv and DIR/figure.png."""
    options.long_enough(duration)
    return Setting(
        choose("scheme", compared, LABELS),
        parse_loads(loads),
        QUICK if run_options.quick else FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
        cheaters,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "loads": list(setting.loads),
        "tenants": tenants.TENANTS,
        "cheaters": setting.cheaters,
        "scale": tenants.SCALE,
        "parts": tenants.PARTS,
        "split_above_bytes": tenants.SPLIT_BYTES,
        "fill_bps": tenants.FILL_BPS,
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "window": WINDOW,
        "queues": QUEUES,
        **comparison.configuration(setting),
    }


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings with honest tenants: an operator tunes for these."""
    for scheme, load in product(setting.schemes, setting.loads):
        group: Group = {"scheme": scheme, "load": load, "behaviour": HONEST}
        for parameters in setting.grid.parameters(headroom=base(scheme) in WITH_HEADROOM):
            yield _candidate(group, parameters, setting, 1)


def base(scheme: str) -> str:
    """The scheme of the ports."""
    for end in (OWN, *NORMALISED):
        scheme = scheme.removesuffix(end)
    return scheme


def _candidate(group: Group, parameters: Group, setting: Setting, cheaters: int) -> Candidate:
    return Candidate(group, parameters, partial(_run, group, parameters, int(setting.duration), cheaters))


def _run(group: Group, parameters: Group, duration_ns: int, cheaters: int, seed: int) -> TenantRun | ClosedLoopRun:
    scheme, behaviour, load = str(group["scheme"]), str(group["behaviour"]), float(group["load"])
    used = ports(base(scheme), int(parameters["buffer_packets"]), int(parameters["headroom_256"]), scheme.endswith(OWN))
    equal = next((share for end, share in NORMALISED.items() if scheme.endswith(end)), None)
    if behaviour == ADAPTIVE:
        return ClosedLoopRun(used, load, equal, seed)
    return TenantRun(used, load, behaviour, duration_ns, seed, equal, cheaters)


def ports(scheme: str, buffer: int, headroom_256: int, own: bool = False) -> simulate.Ports:
    """All ports of a scheme; `own`: with a window for each tenant. A leaf of the tree may hold half of the buffer, so
    no tenant can fill it alone."""
    if scheme == "drr":
        return simulate.Ports(scheme, queues=QUEUES, queue_size=buffer // QUEUES)
    if scheme == "tree":
        leaf: dict[str, Any] = {"parent": 0, "queue_size": buffer // 2}
        leaves = [leaf | {"discipline": "fifo"}, *([leaf | {"discipline": "pifo"}] * tenants.TENANTS)]
        tree: list[dict[str, Any]] = [{"discipline": "drr"}, *leaves]
        return simulate.Ports(scheme, queues=QUEUES, queue_size=buffer // QUEUES, tree=tree)
    return simulate.Ports(
        scheme,
        queues=QUEUES,
        queue_size=buffer // QUEUES,
        window=WINDOW,
        headroom_256=headroom_256,
        variants=["own_window"] if own else None,
    )


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Chooses the parameters with honest tenants, then measures each behaviour with them."""
    found = await tune(list(candidates(setting)), "slowdown", setting.seeds, stage.folder, stage.tell)
    cheaters = setting.cheaters
    wanted = [
        _candidate(dict(each.candidate.group) | {"behaviour": behaviour}, each.candidate.parameters, setting, cheaters)
        for each in found.best
        for behaviour in BEHAVIOURS
    ]
    measured = await repeat(wanted, setting.seeds.result, stage.folder, stage.tell)
    adaptive = [
        _candidate(dict(each.candidate.group) | {"behaviour": ADAPTIVE}, each.candidate.parameters, setting, 1)
        for each in found.best
        if cheaters == 1
    ]
    closed = await repeat(adaptive, setting.seeds.result, stage.folder, stage.tell)
    schemes = {
        scheme: {
            "label": LABELS[scheme],
            "tenants": list(_records(measured, scheme)),
            "closed": list(_closed(closed, scheme)),
            "grid": comparison.grid(found, tenants.FIGURES, scheme),
        }
        for scheme in setting.schemes
    }
    return SchemeOutcome({"schemes": schemes}, None)


def _records(measured: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """Slowdowns, and their ratios to those with honest tenants. `pifo_ratio`: slowdown of all flows over that of PIFO
    with the same behaviour."""
    for each in of_scheme(measured, scheme):
        record = without_scheme(each.record(tenants.FIGURES))
        for who in WHO:
            record |= named(who, against(each, measured, {"behaviour": HONEST}, who))
        yield record | named("pifo", against(each, measured, {"scheme": "pifo"}, "slowdown"))


def _closed(measured: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """What the adaptive tenant gains and the others lose, over the same flows with an honest tenant."""
    for each in of_scheme(measured, scheme):
        record = without_scheme(each.record(closed_loop.FIGURES))
        for name in closed_loop.RATES:
            record |= named(name, ratio(each, each, name, f"honest_{name}"))
        yield record


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each scheme, load and behaviour."""
    columns = (
        "load",
        "its slowdown",
        "over honest",
        "large ones",
        "the others'",
        "over honest",
        "large ones",
        "all over PIFO",
    )
    rows = comparison.heading(
        results, "Mean slowdown; parameters chosen with honest tenants", ("scheme", "the cheaters"), columns
    )
    for scheme in results.schemes.values():
        for each in scheme["tenants"]:
            rows.add_row(
                scheme["label"],
                each["behaviour"],
                f"{each['load']:g}",
                f"{each['cheater']:.2f}",
                shown(each, "cheater"),
                shown(each, "cheater_large"),
                f"{each['others']:.2f}",
                shown(each, "others"),
                shown(each, "others_large"),
                shown(each, "pifo"),
            )
    adaptive = comparison.heading(
        results,
        "A tenant who keeps the lie that pays best, over an honest one",
        ("scheme", "it keeps"),
        ("load", "its rate", "the others' rate", "their slowdown"),
    )
    for scheme in results.schemes.values():
        for each in scheme["closed"]:
            kept = max(tenants.LIES, key=lambda lie, each=each: float(each[f"kept_{lie}"]))  # type: ignore[misc]
            cells = (shown(each, name) for name in closed_loop.RATES)
            adaptive.add_row(scheme["label"], f"{kept}, {each[f'kept_{kept}']:.0%}", f"{each['load']:g}", *cells)
    return [rows, adaptive] if results.setting.cheaters == 1 else [rows]


EXPERIMENT = comparison.experiment(
    "cheating",
    "A tenant who cheats with ranks: what it gains, what the others lose, and what a tree of tenants costs",
    "load 0.8 for 20 ms, with one setting of each of five schemes",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
    ("tenants", "closed", "grid"),
)
