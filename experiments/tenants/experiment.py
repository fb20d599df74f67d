"""Tenants with their own schedulers on one link: a tree of queues against one flat rank."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Annotated, Any

from rich.table import Table

from experiments.tenants import figure, traffic
from experiments.tenants.traffic import TenantsRun
from p4sched import simulate
from p4sched.cli import options
from p4sched.errors import UsageError
from p4sched.lab import comparison
from p4sched.lab.comparison import Grid, GridSetting
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.lab.sized_flows import parse_loads
from p4sched.sweep import tuned
from p4sched.sweep.compared import against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, tune
from p4sched.units import Duration

LABELS = {
    "fifo": "FIFO",
    "pifo_told": "PIFO, ranks as told",
    "pifo": "PIFO, normalised",
    "sp_pifo": "SP-PIFO, normalised",
    "packs": "PACKS, normalised",
    "shares": "tree: shares, FIFO of each",
    "one_buffer": "tree: shares, own schedulers, one buffer",
    "tree": "tree: shares, own schedulers, own buffers",
}
"""`one_buffer` has the semantics of vPIFO (SIGCOMM 2024): a full buffer drops the packet that arrives."""
QUEUES = 4
WINDOW = 20
"""|W| of PACKS."""
REFERENCE = "tree"


FULL = Grid((8, 20, 40, 80, 160, 640), (0, 26, 128, 205))
QUICK = Grid((80,), (26,))


Setting = GridSetting[Grid]


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(LABELS)] = ",".join(LABELS),
    loads: options.TenantLoads = "0.15,0.25",
    seeds: options.ResultSeeds = 8,
    duration: options.Starts = Duration.parse("100ms"),
) -> Setting:
    """Three tenants with their own schedulers share each link, and one of them sends four times its load. Prints a
    table and writes DIR/summary.json, DIR/tenants.csv, DIR/grid.csv and DIR/figure.png."""
    options.long_enough(duration)
    of_tenants = parse_loads(loads)
    if max(of_tenants) > 1 / len(traffic.TENANTS):
        raise UsageError(f"--loads {loads}: a tenant of {len(traffic.TENANTS)} has a load of at most 0.33")
    return Setting(
        choose("scheme", compared, LABELS),
        of_tenants,
        QUICK if run_options.quick else FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "loads": list(setting.loads),
        "tenants": list(traffic.TENANTS),
        "factor": traffic.FACTOR,
        "buffers": list(setting.grid.buffers),
        "headrooms_256": list(setting.grid.headrooms_256),
        "window": WINDOW,
        "queues": QUEUES,
        **comparison.configuration(setting),
    }


def candidates(setting: Setting) -> Iterator[Candidate]:
    """All settings of all schemes."""
    for scheme, load in product(setting.schemes, setting.loads):
        group: Group = {"scheme": scheme, "load": load}
        for parameters in setting.grid.parameters(headroom=scheme == "packs"):
            yield Candidate(group, parameters, partial(_run, group, parameters, int(setting.duration)))


def _run(group: Group, parameters: Group, duration_ns: int, seed: int) -> TenantsRun:
    scheme = str(group["scheme"])
    used = ports(scheme, int(parameters["buffer_packets"]), int(parameters["headroom_256"]))
    return TenantsRun(used, scheme in ("pifo", "sp_pifo", "packs"), float(group["load"]), duration_ns, seed)


def ports(scheme: str, buffer: int, headroom_256: int) -> simulate.Ports:
    """All ports of a scheme."""
    if scheme in ("shares", "one_buffer", "tree"):
        own = [traffic.DISCIPLINES[tenant] if scheme != "shares" else "fifo" for tenant in traffic.TENANTS]
        room = buffer if scheme == "one_buffer" else -(-buffer // len(own))
        leaves = [{"parent": 0, "queue_size": room, "discipline": discipline} for discipline in ("fifo", *own)]
        return simulate.Ports(
            "tree", queues=QUEUES, queue_size=buffer // QUEUES, tree=[{"discipline": "stfq"}, *leaves]
        )
    name = "pifo" if scheme == "pifo_told" else scheme
    return simulate.Ports(name, queues=QUEUES, queue_size=buffer // QUEUES, window=WINDOW, headroom_256=headroom_256)


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures all schemes."""
    found = await tune(list(candidates(setting)), "cost", setting.seeds, stage.folder, stage.tell)
    return comparison.outcome(found, setting.schemes, traffic.FIGURES, _records, LABELS.__getitem__, "tenants")


def _records(best: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """The figures of a scheme at each load; `isolation`: the others' slowdown with heavy traffic over that with calm
    traffic; `to_tree`: what each traffic costs over the tree."""
    for each in of_scheme(best, scheme):
        record = without_scheme(each.record(traffic.FIGURES))
        record |= named("isolation", tuned.ratio(each, each, "heavy_others", "calm_others"))
        for key in ("calm", "heavy_others", "alone_bulk"):
            record |= named(f"{key}_to_tree", against(each, best, {"scheme": REFERENCE}, key))
        yield record


def table(results: Results[Setting, None]) -> list[Table]:
    """A row for each scheme and load."""
    columns = (
        "load",
        "calm",
        "over tree",
        "others, heavy",
        "over calm",
        "over tree",
        "late, %",
        "bulk alone, over tree",
    )
    rows = comparison.heading(results, "Mean slowdown, each with the best parameters of the grid", ("scheme",), columns)
    for scheme in results.schemes.values():
        for each in scheme["tenants"]:
            rows.add_row(
                scheme["label"],
                f"{each['load']:g}",
                f"{each['calm']:.2f}",
                shown(each, "calm_to_tree"),
                f"{each['heavy_others']:.2f}",
                shown(each, "isolation"),
                shown(each, "heavy_others_to_tree"),
                f"{100 * each['calm_late']:.1f}, {100 * each['heavy_late']:.1f}",
                shown(each, "alone_bulk_to_tree"),
            )
    return [rows]


EXPERIMENT = comparison.experiment(
    "tenants",
    "Tenants with their own schedulers: a tree of queues against one flat rank, when one tenant sends too much",
    "a load of 0.25 of each tenant for 20 ms, with one setting of each scheme",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
    (
        "tenants",
        "grid",
    ),
)
