"""The figures of this experiment for `p4sched reproduce`, with the settings of the authors' run files."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from experiments.completion_at_scale import greedy, metrics, ports, rack, tcp_figures
from experiments.completion_at_scale.network import Run as Simulation
from experiments.completion_at_scale.over_seeds import SIZE_CLASSES, size_key
from experiments.completion_at_scale.papers import FIGURES as PAPER_FIGURES
from experiments.completion_at_scale.papers import RIFO_OF_RUN_FILE, START_TIME, Line, PaperFigure
from experiments.completion_at_scale.workloads import (
    DATA_MINING,
    PARETO_MEAN_BYTES,
    PARETO_OF_RUN_FILES,
    WEB_SEARCH,
    Workload,
)
from p4sched import simulate
from p4sched.reproducing import figure as reproduced
from p4sched.reproducing.figure import Figure, Metrics, Quantity

OURS = "-ours"
"""End of the name of a line with the laboratory's settings, where the published ones are others."""
SIMULATED = "-simulated"
"""End of the name of a line with the rule of the authors' simulations. The line without it has the rule of the text."""
TEXT = "-text"
"""End of the name of a line that has the rule of the text in any case."""
NETBENCH = "netbench"
"""Netbench's order of simultaneous events, and the end of the name of a line that has it, Netbench's PIFO and its unit
of start times. The line without it has events in the order of planning, and equal ranks of PIFO in the order of
arrival."""
REORDERING = ("pifo", "sp_pifo")
"""Schemes that send packets of a flow in another order, so that the order of simultaneous events matters."""
WITHOUT_RULES = ("packs",)
"""Papers whose simulations are not public: their lines have the rules of the text."""
RUN_FILE = 0
"""Seed with the flows of the authors' run file; the network's seed is 1."""
SIZES_LOAD = "0.7"
"""Load of the figures against the size of flows."""
CRATES = ("simulator", "schedulers", "traffic-manager", "transport", "world")
SOURCES = (
    *(
        f"experiments/completion_at_scale/{name}.py"
        for name in ("metrics", "network", "netbench_flows", "topologies", "workloads")
    ),
    *(f"switch/{crate}/src" for crate in CRATES),
)
SMALL_MEAN = Quantity("small_mean_ms", "small flows, mean, ms")
SMALL_P99 = Quantity("small_p99_ms", "small flows, 99th percentile, ms")
LARGE_MEAN = Quantity("large_mean_ms", "large flows, mean, ms")
LARGE_BESIDE = (
    Quantity("large_done", "large flows that are done, share", linear=True, beside=True),
    Quantity("large_restricted_ms", "large flows, restricted mean, ms", beside=True),
)
"""Beside the mean of the large flows, which is that of the flows that are done."""
VERY_LARGE_MEAN = Quantity("very_large_mean_ms", "flows of 2 MB and more, mean, ms")
ALL_MEAN = Quantity("mean_ms", "all flows, mean, ms")
RATE = Quantity("rate_gbps", "mean of the flows' rates, Gbit/s")
LARGE_RATE = Quantity("large_rate_gbps", "mean of the large flows' rates, Gbit/s")
SIZES_MEAN = Quantity(size_key("mean_ms", "*"), "mean, ms")
SIZES_P99 = Quantity(size_key("p99_ms", "*"), "99th percentile, ms")
DONE = Quantity("done", "share of the flows that are done", linear=True)


@dataclass(frozen=True)
class Run:
    """A run of p4sched.reproducing."""

    simulation: Simulation
    of_sizes: bool = False
    """True for a figure against the size of flows."""
    of_run_file: bool = False
    """True: the flows of the authors' run file."""

    @property
    def seed(self) -> int:
        """The seed."""
        return RUN_FILE if self.of_run_file else self.simulation.seed

    @property
    def by_size(self) -> bool:
        """True if the numbers of each class of sizes are stored: for fair queueing, and for figures against sizes."""
        return self.of_sizes or self.simulation.line.ranks == START_TIME

    @property
    def inputs(self) -> str:
        """Hash of scenario and flows."""
        each, workload = self.simulation, self.simulation.workload
        shares = None if workload.shares is None else list(workload.shares.items())
        drawn = [] if workload.run_file_seed is None else ["Netbench", workload.run_file_seed]
        drawn += ["all gaps"] * workload.all_gaps
        flows = [shares, workload.starts_per_s(each.load, each.access_bps), *drawn]
        record = json.dumps([each.scenario(), flows, self.by_size], sort_keys=True)
        return sha256(record.encode()).hexdigest()[:16]

    @property
    def work(self) -> float:
        """Gigabytes that the network carries at most."""
        each, workload = self.simulation, self.simulation.workload
        offered = workload.starts_per_s(each.load, each.access_bps) * _mean_bytes(workload)
        return min(offered, workload.network.all_servers * each.access_bps / 8) * each.end_ns / 1e18

    async def make(self, folder: Path) -> Metrics:
        """All numbers."""
        scenario = await asyncio.to_thread(self.simulation.in_folder, folder)
        result = await simulate.run_async(scenario, folder / "results")
        return await asyncio.to_thread(metrics.measure, result, self.simulation.end_ns, self.by_size)


def _mean_bytes(workload: Workload) -> float:
    if workload.shares is None:
        return PARETO_MEAN_BYTES
    return sum(size * share for size, share in workload.shares.items())


def _scheme(line: Line) -> str:
    """The scheme of a line's ports, for its colour; hosts of TCP and DCTCP have colours of their own."""
    return line.name if line.name in ("tcp", "dctcp") else str(line.port["scheme"])


def _simulated(line: Line) -> Line:
    """The line with the rules of the authors' simulations."""
    port_at = {load: ports.simulated(port) for load, port in line.port_at.items()}
    return replace(line, name=f"{line.name}{SIMULATED}", port=ports.simulated(line.port), port_at=port_at)


@dataclass(frozen=True)
class _Shown:
    """A line of a figure."""

    line: Line
    of: str
    """Name of the paper's line that it repeats or varies."""
    published: bool


def _lines(figure: PaperFigure, further: Sequence[str], netbench_order: bool) -> dict[str, _Shown]:
    """Lines by name. For each line of the paper, first the line with the published settings, the rule of the authors'
    simulations, and with `netbench_order` for the schemes that reorder Netbench's order of events and of equal ranks,
    and its unit of start times; then the one without that order, the one with the rule of the text, and the one with
    our settings. A further line "A-B" varies line A."""
    replaced = {line.name: line for line in figure.published}
    found: dict[str, _Shown] = {}

    def add(line: Line) -> None:
        settled = line.name.endswith(TEXT) or figure.name.partition("-")[0] in WITHOUT_RULES
        scheme = line.port["scheme"]
        has_rule = not settled and scheme in ports.VARIANTS and "variants" not in line.port
        published = _simulated(line) if has_rule else line
        reorders = netbench_order and scheme in REORDERING
        if reorders:
            port = ports.of_netbench(line.port) if scheme == "pifo" else published.port
            if line.ranks == START_TIME:
                port = ports.counting_bytes(port)
            as_run = replace(published, name=f"{line.name}-{NETBENCH}", events=NETBENCH, port=port)
            found[as_run.name] = _Shown(as_run, line.name, published=True)
            rule = "rule of the text" if scheme == "pifo" else "events as planned"
            published = replace(published, label=f"{line.label}, {rule}")
        of = line.name.partition("-")[0] if line.name in further else line.name
        found[published.name] = _Shown(published, of, published=line.name not in further and not reorders)
        if has_rule:
            text = replace(line, label=f"{line.label}, rule of the text")
            found[line.name] = _Shown(text, line.name, published=False)

    for line in figure.lines:
        add(replaced.get(line.name, line))
        other = replaced.pop(line.name, None)
        # a line that differs at some loads only has the line with the rule of the text beside it
        if other and replace(other, port_at={}) != line:
            ours = replace(line, name=f"{line.name}{OURS}", label=f"{line.label}, {figure.replaced}")
            found[ours.name] = _Shown(ours, line.name, published=False)
    for line in replaced.values():
        add(line)
    return found


def _figure(
    name: str,
    title: str,
    like: str,
    quantities: Sequence[Quantity],
    workload: Workload | None = None,
    further: Sequence[str] = (),
    netbench_order: bool = False,
) -> Figure:
    """A figure with the lines and the network of a figure of this experiment; `workload`: that of the run files,
    if it is another one. `further`: lines that the published figure does not have. `netbench_order`: the published
    lines of PIFO and SP-PIFO have Netbench's order of events and of equal ranks, and its unit of start times."""
    paper = PAPER_FIGURES[like]
    has_run_file = name.partition("-")[0] not in WITHOUT_RULES
    known = _lines(paper, further, netbench_order)
    shown = [
        reproduced.Line(each.line.name, each.line.label, _scheme(each.line), each.published, each.of)
        for each in known.values()
    ]

    def run(line: str, place: str, seed: int, duration_ns: int) -> Run:
        load, each = float(place), known[line].line
        each = replace(each, port=each.port_at.get(load, each.port), port_at={})
        flows, as_published = workload or paper.workloads[0], seed == RUN_FILE and has_run_file
        if as_published:
            flows, seed = replace(flows, run_file_seed=PARETO_OF_RUN_FILES.run_file_seed), 1
        simulation = Simulation(each, flows, paper.access_bps, load, seed, duration_ns)
        return Run(simulation, of_run_file=as_published)

    places = [f"{load:g}" for load in paper.loads]
    if LARGE_MEAN in quantities:
        quantities = (*quantities, *LARGE_BESIDE)
    return Figure(name, title, shown, places, "load", quantities, run, SOURCES)


def _by_size(name: str, of: Figure) -> Figure:
    """The figure of one load against the size of the flows, as in AIFO Fig. 14c and PACKS Fig. 13b."""

    def run(line: str, place: str, seed: int, duration_ns: int) -> Run:
        found = of.run(line, SIZES_LOAD, seed, duration_ns)
        assert isinstance(found, Run)
        return replace(found, of_sizes=True)

    return replace(
        of,
        name=name,
        title=f"{of.title}, load {SIZES_LOAD}",
        places=list(SIZE_CLASSES),
        axis="bytes",
        quantities=(SIZES_MEAN, SIZES_P99),
        run=run,
    )


# The starts of AIFO 14 and RIFO 12 are those of web search in the run files; only the rows of their data have the names
# of data mining. The run files of RIFO 8 have the upper bounds of the sizes, but its data are those of the lower ones.
_completion = partial(_figure, quantities=(SMALL_MEAN, SMALL_P99, LARGE_MEAN))
_AIFO_14 = _figure(
    "aifo-14", "fair queueing", "aifo-14", (SMALL_MEAN, SMALL_P99, LARGE_MEAN, VERY_LARGE_MEAN), WEB_SEARCH
)
_PACKS_13 = _figure(
    "packs-13",
    "fair queueing",
    "packs-13",
    (SMALL_MEAN, DONE),
    further=("aifo-k=0", "packs-k=0", "afq-bytes"),
)
# Seed 1 of SP-PIFO's figures has the flows of the run files.
_MINING_OF_RUN_FILES, _SEARCH_OF_RUN_FILES = (
    replace(workload, run_file_seed=PARETO_OF_RUN_FILES.run_file_seed, all_gaps=True)
    for workload in (DATA_MINING, WEB_SEARCH)
)
_of_sp_pifo = partial(_figure, workload=_SEARCH_OF_RUN_FILES)
_SP_PIFO_9 = _of_sp_pifo("sp_pifo-9", "fair queueing, 32 queues", "sp_pifo-9", (SMALL_MEAN,))
FIGURES = (
    _completion("rifo-7", "completion times, web search", "rifo-7", netbench_order=True),
    _completion(
        "rifo-8",
        "completion times, data mining",
        "rifo-8",
        workload=DATA_MINING,
        further=(RIFO_OF_RUN_FILE.name,),
        netbench_order=True,
    ),
    _completion("rifo-9", "tracking range T", "rifo-9", further=("t=50",), netbench_order=True),
    _figure("rifo-10", "queue B", "rifo-10", (SMALL_MEAN, LARGE_MEAN, RATE)),
    _figure("rifo-tables", "Tables II and III: B = T", "rifo-tables", (SMALL_MEAN, LARGE_MEAN)),
    _figure("rifo-11a", "throughput, web search", "rifo-7", (RATE,), netbench_order=True),
    _figure(
        "rifo-11b",
        "throughput, data mining",
        "rifo-8",
        (RATE, LARGE_RATE),
        DATA_MINING,
        further=(RIFO_OF_RUN_FILE.name,),
        netbench_order=True,
    ),
    _completion("rifo-12", "fair queueing, web search", "rifo-12", workload=WEB_SEARCH, further=("rifo-file",)),
    _completion("rifo-13", "fair queueing, data mining", "rifo-13", netbench_order=True),
    _completion(
        "rifo-14",
        "Pareto sizes",
        "rifo-14",
        workload=PARETO_OF_RUN_FILES,
        further=("rifo-text",),
        netbench_order=True,
    ),
    _completion("aifo-7", "completion times with ranks of pFabric", "aifo-7", netbench_order=True),
    _completion("aifo-8", "headroom k", "aifo-8", further=("k=0.5", "fifo"), netbench_order=True),
    _completion("aifo-9", "window and sampling", "aifo-9"),
    _figure("aifo-10", "target length C, 1 and 4 Gbit/s", "aifo-10", (SMALL_MEAN, LARGE_MEAN)),
    _figure("aifo-11", "target length C, 10 and 40 Gbit/s", "aifo-11", (SMALL_MEAN, LARGE_MEAN)),
    _AIFO_14,
    _by_size("aifo-14c", _AIFO_14),
    _completion("sp_pifo-7", "completion times, data mining", "sp_pifo-7", workload=_MINING_OF_RUN_FILES),
    _completion("sp_pifo-8", "completion times, web search", "sp_pifo-8", workload=_SEARCH_OF_RUN_FILES),
    _SP_PIFO_9,
    _of_sp_pifo("sp_pifo-9-eight", "fair queueing, 8 queues", "sp_pifo-9-eight", (SMALL_MEAN,)),
    _by_size("sp_pifo-9-sizes", _SP_PIFO_9),
    _of_sp_pifo("sp_pifo-10", "fair queueing, number of queues", "sp_pifo-10", (ALL_MEAN,)),
    _figure(
        "packs-12",
        "completion times with ranks of pFabric",
        "packs-12",
        (SMALL_MEAN, SMALL_P99, ALL_MEAN, DONE),
        further=("rifo",),
    ),
    _figure("packs-12-design", "sixteen readings of the settings", "packs-12-design", (SMALL_P99, SMALL_MEAN)),
    _PACKS_13,
    _by_size("packs-13b", _PACKS_13),
    *rack.FIGURES,
    *tcp_figures.FIGURES,
    *greedy.FIGURES,
)
