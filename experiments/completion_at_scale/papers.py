"""The figures of the papers: their lines, networks, flows and panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from experiments.completion_at_scale import ports
from experiments.completion_at_scale.ports import DCTCP, FIXED_TIMEOUT, PFABRIC, TCP, Hosts, Port
from experiments.completion_at_scale.workloads import (
    DATA_MINING,
    DATA_MINING_UPPER,
    FAIR_WEB_SEARCH,
    GBIT,
    LOADS,
    PARETO,
    WEB_SEARCH,
    Workload,
)
from p4sched.errors import unknown_name
from p4sched.folders.settings import word_of
from p4sched.schemes import SCHEMES, title

TO_END, START_TIME = "to_end", "start_time"
"""Ranks: remaining bytes of the flow after the packet's first byte, as in Netbench; or virtual start times (STFQ)."""


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    name: str
    """Name, as on the command line and in summary.json."""
    label: str
    """Label in the figure."""
    port: Port
    hosts: Hosts = field(default_factory=lambda: PFABRIC)
    ranks: str = TO_END
    has_model: bool = True
    """False for a scheduler that has only a program; then the hosts' ports are FIFO."""
    port_at: Mapping[float, Port] = field(default_factory=dict)
    """Other ports at some loads, in published settings."""
    events: str | None = None
    """Order of simultaneous events, if it is not that of planning (`switch/simulator/SCENARIOS.md`)."""


@dataclass(frozen=True)
class Panel:
    """A part of a figure."""

    key: str
    """Key of a load's record in summary.json; for several classes of sizes `size_*_KEY`."""
    title: str
    workload: Workload | None = None
    """Workload; None: the only workload of the figure."""
    by_size: bool = False
    """True: against the size of flows, at one load; False: against the load."""


@dataclass(frozen=True)
class PaperFigure:
    """A figure or a table of a paper."""

    name: str
    """Name as on the command line."""
    title: str
    """Paper and content of the figure."""
    access_bps: int
    lines: Sequence[Line]
    panels: Sequence[Panel]
    workloads: Sequence[Workload] = (WEB_SEARCH,)
    loads: Sequence[float] = LOADS
    reference: bool = False
    """True if a run shows the published numbers beside its own."""
    published: Sequence[Line] = ()
    """Lines with the settings of the authors' run files, where these differ from `lines`, or add to them. A line
    replaces that of the same name when the figure is reproduced."""
    replaced: str = "own settings"
    """What the lines have that `published` replaces, for their labels."""

    def select_lines(self, names: Sequence[str]) -> Sequence[Line]:
        """Lines with these names. Raises UsageError for an unknown name."""
        known = [line.name for line in self.lines]
        for name in names:
            if name not in known:
                raise unknown_name(f"line of {self.name}", name, known)
        return [line for line in self.lines if not names or line.name in names]


SMALL_MEAN = Panel("small_mean_ms", "Small flows, mean")
SMALL_P99 = Panel("small_p99_ms", "Small flows, 99th percentile")
LARGE_MEAN = Panel("large_mean_ms", "Large flows, mean")
ALL_MEAN = Panel("mean_ms", "All flows, mean")
DONE = Panel("completed_share", "Flows that are done at the end")
COMPLETION = (SMALL_MEAN, SMALL_P99, LARGE_MEAN, DONE)
LARGE_RATE = Panel("large_mbps", "Large flows, throughput")
SIZES_MEAN = Panel("mean_ms", "By size, mean", by_size=True)
SIZES_P99 = Panel("p99_ms", "By size, 99th percentile", by_size=True)


def described(name: str) -> Line:
    """A line for a scheduler in a folder."""
    return Line(name, title(name), ports.queues(word_of(SCHEMES[name]), 4), has_model=SCHEMES[name].has_model)


_TCP = Line("tcp", "TCP", ports.single("fifo", ports.DROP_PACKETS), TCP)
_DCTCP = Line("dctcp", "DCTCP", ports.marking(ports.single("fifo", ports.DROP_PACKETS), ports.MARK_PACKETS), DCTCP)
_TCP_OF_BYTES = replace(_TCP, port=ports.of_bytes(ports.DROP_BYTES))
"""SP-PIFO's Netbench. That of AIFO and RIFO holds 146,000 / 1460 packets."""
_DCTCP_OF_BYTES = replace(_DCTCP, port=ports.marking_bytes(_TCP_OF_BYTES.port, ports.MARK_BYTES))
"""DCTCP with ranks of pFabric in the simulations of SP-PIFO, AIFO and RIFO (EcnTailDropOutputPort.java)."""
_PIFO = Line("pifo", "PIFO", ports.single("pifo", 80))
_SP_PIFO = Line("sp_pifo", "SP-PIFO", ports.queues("sp_pifo", 8))
_AIFO = Line("aifo", "AIFO", ports.aifo())
_RIFO = Line("rifo", "RIFO", ports.rifo())
_RIFO_LINES = (_TCP, _DCTCP, _PIFO, _SP_PIFO, _AIFO, _RIFO)

_PACKS_LINES = (
    Line("fifo", "FIFO", ports.single("fifo", 40)),
    Line("sp_pifo", "SP-PIFO", ports.queues("sp_pifo", 4)),
    Line("aifo", "AIFO", ports.aifo(40, sampling=1)),
    Line("rifo", "RIFO", ports.rifo(40)),
    Line("packs", "PACKS", ports.packs(4)),
    Line("pifo", "PIFO", ports.single("pifo", 40)),
)
"""Lines of PACKS 6.2, and RIFO, which is not in that paper, with its own T."""


def _fair(name: str, label: str, port: Port) -> Line:
    """A line with start times as ranks, marks at every port, and hosts with DCTCP (run files of SP-PIFO and RIFO)."""
    return Line(name, label, ports.marking(port, ports.FAIR_MARK_PACKETS), DCTCP, START_TIME)


_AFQ_ROUND_BYTES = {8: 320, 32: 80}
"""Bytes of a round in the run files, by the number of queues."""


def _in_bytes(line: Line) -> Line:
    """The same fair line as in Netbench: bytes for the thresholds of marks, DCTCP's ports and AFQ's rounds."""
    port = {name: value for name, value in line.port.items() if name != "mark_at_packets"}
    if line.name == "dctcp":
        port = dict(ports.of_bytes(ports.FAIR_DROP_BYTES))
    if line.name == "afq":
        port = ports.afq_of_bytes(port["queues"], port["queue_size"], _AFQ_ROUND_BYTES[port["queues"]])
    return replace(line, port=ports.marking_bytes(port, ports.FAIR_MARK_BYTES))


def _charging_drops(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with the start times of SP-PIFO's Netbench. AFQ and DCTCP have none."""
    without = ("dctcp", "afq")
    return tuple(
        line if line.name.partition("-")[0] in without else replace(line, port=ports.charging_drops(line.port))
        for line in lines
    )


def _marked_by_bytes(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with the settings of the run files."""
    return tuple(_in_bytes(line) for line in lines)


_AIFO_FAIR_LINES = (
    _TCP,
    _fair("dctcp", "DCTCP", ports.single("fifo", ports.FAIR_DROP_PACKETS)),
    _fair("afq", "AFQ", ports.afq(32, 320, 80)),
    _fair("sp_pifo", "SP-PIFO", ports.queues("sp_pifo", 32)),
    _fair("pifo", "PIFO", ports.single("pifo", 320)),
    _fair("aifo", "AIFO", ports.aifo(80)),
)
_RIFO_FAIR_LINES = (*_AIFO_FAIR_LINES, _fair("rifo", "RIFO", ports.rifo(80)))


def _fair_tcp(name: str, label: str, port: Port) -> Line:
    """A line with start times as ranks, no marks, and hosts with TCP."""
    return Line(name, label, port, TCP, START_TIME)


_PACKS_FAIR_LINES = (
    _fair_tcp("fifo", "FIFO", ports.single("fifo", 320)),
    _fair_tcp("sp_pifo", "SP-PIFO", ports.queues("sp_pifo", 32)),
    _fair_tcp("aifo", "AIFO", ports.aifo(320, window=10, sampling=1, k=0.2)),
    _fair_tcp("packs", "PACKS", ports.packs(32, window=10, k=0.2)),
    _fair_tcp("afq", "AFQ", ports.afq(32, 10, 80 * ports.FRAME_BYTES)),
    _fair_tcp("pifo", "PIFO", ports.single("pifo", 320)),
)

_PACKS_FAIR_WITHOUT_MARGIN = (
    _fair_tcp("aifo-k=0", "AIFO, k = 0", ports.aifo(320, window=10, sampling=1, k=0)),
    _fair_tcp("packs-k=0", "PACKS, k = 0", ports.packs(32, window=10, k=0)),
)
"""Not the burstiness margin of the text, 0.2: with 0 AIFO's ratio to PACKS is in the published range."""
_PACKS_AFQ_OF_RUN_FILE = _fair_tcp("afq-bytes", "AFQ, 80 bytes a round", ports.afq_of_bytes(32, 10, 80))
"""AFQ as in the run files of SP-PIFO. The text of PACKS has 80 packets a round."""

_AIFO_K = (
    *(Line(f"k={k:g}", f"AIFO, k = {k:g}", ports.aifo(k=k)) for k in (0.1, 0.3, 0.5, 0.7, 0.9)),
    Line("fifo", "FIFO", ports.single("fifo", 80)),
    _PIFO,
)
_AIFO_WINDOWS = tuple(
    Line(f"w={window}/{sampling}", f"|W| = {window}, {ranks}", ports.aifo(20, window, sampling))
    for window, sampling, ranks in (
        (20, 1, "each rank"),
        (20, 50, "1 of 50 ranks"),
        (100, 10, "1 of 10 ranks"),
        (1000, 1, "each rank"),
    )
)
_AIFO_LENGTHS = tuple(Line(f"c={length}", f"C = {length}", ports.aifo(length)) for length in (10, 20, 50, 100))
_AIFO_LONG = (Line("c=500", "C = 500", ports.aifo(500)),)
_RIFO_RANGES = tuple(
    Line(f"t={tracking}", f"T = {tracking}", ports.rifo(20, tracking)) for tracking in (30, 50, 100, 500, 1000)
)
_RIFO_LENGTHS = tuple(Line(f"b={length}", f"B = {length}", ports.rifo(length)) for length in (10, 20, 50, 100, 500))
_RIFO_TABLE = (
    *(Line(f"rifo-{size}", f"RIFO, B = T = {size}", ports.rifo(size, size)) for size in (50, 100, 500)),
    *(Line(f"aifo-{size}", f"AIFO, C = {size}", ports.aifo(size)) for size in (50, 100, 500)),
)

_AIFO_FAIR_PUBLISHED = _marked_by_bytes(
    (*_AIFO_FAIR_LINES[1:-1], _fair("aifo", "AIFO", ports.aifo(100, sampling=1))),
)
_RIFO_FAIR_OF_RUN_FILE = _in_bytes(_fair("rifo-file", "RIFO, T of the run file", ports.simulated(ports.rifo(100, 150))))
"""RIFO Fig. 12 in MainFigure12.java. The published numbers are those of T = 50."""
RIFO_OF_RUN_FILE = Line(
    "rifo-file",
    "RIFO, T of the run file",
    ports.simulated(ports.rifo(tracking=150)),
    port_at={0.7: ports.simulated(ports.rifo(tracking=200, k=0.5))},
)
"""RIFO Fig. 8 in MainFigure8.java. The published numbers are those of T = 50, as in the text."""
_RIFO_7 = replace(_RIFO, port_at={0.6: ports.rifo(tracking=150)})
"""RIFO Fig. 7 and 11a. The published numbers at load 0.6 are those of T = 150, as in MainFigure7.java."""

_SP_PIFO_LINES = (_TCP, _DCTCP, _PIFO, _SP_PIFO)
_SP_PIFO_FAIR_LINES = (
    _TCP,
    _fair("dctcp", "DCTCP", ports.single("fifo", ports.FAIR_DROP_PACKETS)),
    _fair("afq", "AFQ", ports.afq(8, 10, 320)),
    _fair("sp_pifo", "SP-PIFO", ports.queues("sp_pifo", 8)),
    _fair("pifo", "PIFO", ports.single("pifo", 80)),
)


_QUEUE_COUNTS = (8, 16, 24, 32)
_SP_PIFO_QUEUES = _charging_drops(
    _marked_by_bytes(
        (
            _fair("pifo", "PIFO", ports.single("pifo", 320)),
            *(_fair(f"afq-{n}", f"AFQ, {n} queues", ports.afq_of_bytes(n, 10, 1500)) for n in _QUEUE_COUNTS),
            *(_fair(f"sp_pifo-{n}", f"SP-PIFO, {n} queues", ports.queues("sp_pifo", n)) for n in _QUEUE_COUNTS),
        )
    )
)
"""Lines of SP-PIFO Fig. 10, with the settings of its run files."""
_AFQ_OF_NETBENCH = _marked_by_bytes(
    [_fair(f"afq-{n}", f"AFQ, {n} queues", ports.afq_of_netbench(n, 10, 1500)) for n in _QUEUE_COUNTS]
)
"""AFQQueue.java drops what is more than n rounds ahead; AFQ's paper what is n rounds ahead."""


def _simulated(line: Line, label: str, *variants: str) -> Line:
    """The same line with rules of the authors' simulations, by default with all of its scheme."""
    name = f"{line.name}-{variants[0] if variants else 'simulated'}"
    return replace(line, name=name, label=f"{line.label}, {label}", port=ports.simulated(line.port, *variants))


_PARETO_LINES = (
    _TCP,
    _DCTCP,
    _PIFO,
    *(replace(line, port=ports.simulated(line.port)) for line in (_SP_PIFO, _AIFO)),
    Line("rifo", "RIFO", ports.simulated(ports.rifo(tracking=150))),
    Line("rifo-text", "RIFO, rule of the text", ports.rifo(tracking=150)),
)
"""Lines of RIFO Fig. 14 with the rules and settings of the authors' simulations, and RIFO with the rule of its text."""
_PACKS = next(line for line in _PACKS_LINES if line.name == "packs")
_SP_PIFO_OF_PACKS = next(line for line in _PACKS_LINES if line.name == "sp_pifo")
_VARIANT_LINES = (
    _SP_PIFO,
    _simulated(_SP_PIFO, "drops keep bounds"),
    _AIFO,
    _simulated(_AIFO, "compare first", "compare_first"),
    _simulated(_AIFO, "strictly below", "strictly_below"),
    _simulated(_AIFO, "filling window", "filling_window"),
    _simulated(_AIFO, "all three"),
    _RIFO,
    _simulated(_RIFO, "Max alone"),
    _PACKS,
    _simulated(_PACKS, "total occupancy", "total_occupancy"),
    _simulated(_PACKS, "strictly below", "strictly_below"),
    _simulated(_PACKS, "filling window", "filling_window"),
    _simulated(_PACKS, "all three"),
)


def _design() -> Sequence[Line]:
    """SP-PIFO with and without a push-down for drops, PACKS with and without the total occupancy and with and without a
    window whose size grows while it fills, each with both kinds of timeouts: sixteen pairs."""
    lines = []
    for timeout, label, hosts in (("", "", PFABRIC), ("-fixed", ", fixed timeout", FIXED_TIMEOUT)):
        for line, choices in (
            (_SP_PIFO_OF_PACKS, {"": (), "-keep": ("drops_keep_bounds",)}),
            (
                _PACKS,
                {
                    "": (),
                    "-total": ("total_occupancy",),
                    "-filling": ("filling_window",),
                    "-total-filling": ("total_occupancy", "filling_window"),
                },
            ),
        ):
            for choice, variants in choices.items():
                port = ports.simulated(line.port, *variants) if variants else line.port
                shown = ", ".join([line.label, *variants]).replace("_", " ") + label
                name = f"{line.name}{choice}{timeout}"
                lines.append(replace(line, name=name, label=shown, port=port, hosts=hosts))
    return lines


_FAST = 10 * GBIT
_EACH = (
    PaperFigure(
        "aifo-7",
        "AIFO Fig. 7: completion times with ranks of pFabric",
        _FAST,
        _RIFO_LINES[:5],
        COMPLETION,
        published=(_DCTCP_OF_BYTES,),
    ),
    PaperFigure("aifo-8", "AIFO Fig. 8: the headroom k", _FAST, _AIFO_K, COMPLETION, published=(_TCP,)),
    PaperFigure("aifo-9", "AIFO Fig. 9: window and sampling", _FAST, _AIFO_WINDOWS, COMPLETION),
    PaperFigure(
        "aifo-10",
        "AIFO Fig. 10: the target length C, 1 and 4 Gbit/s",
        GBIT,
        _AIFO_LENGTHS,
        COMPLETION,
        published=_AIFO_LONG,
    ),
    PaperFigure(
        "aifo-11",
        "AIFO Fig. 11: the target length C, 10 and 40 Gbit/s",
        _FAST,
        _AIFO_LENGTHS,
        COMPLETION,
        published=_AIFO_LONG,
    ),
    PaperFigure(
        "aifo-14",
        "AIFO Fig. 14: fair queueing",
        GBIT,
        _AIFO_FAIR_LINES,
        (SMALL_MEAN, SMALL_P99, SIZES_MEAN, DONE),
        workloads=(FAIR_WEB_SEARCH,),
        published=_AIFO_FAIR_PUBLISHED,
    ),
    PaperFigure(
        "rifo-7",
        "RIFO Fig. 7: completion times, web search",
        _FAST,
        _RIFO_LINES,
        COMPLETION,
        published=(_DCTCP_OF_BYTES, _RIFO_7),
        reference=True,
    ),
    PaperFigure(
        "rifo-8",
        "RIFO Fig. 8: completion times, data mining",
        _FAST,
        _RIFO_LINES,
        COMPLETION,
        workloads=(DATA_MINING_UPPER,),
        published=(_DCTCP_OF_BYTES, RIFO_OF_RUN_FILE),
    ),
    PaperFigure(
        "rifo-9", "RIFO Fig. 9: the tracking range T", _FAST, _RIFO_RANGES, COMPLETION, published=(_TCP, _PIFO)
    ),
    PaperFigure(
        "rifo-10", "RIFO Fig. 10: the queue B", _FAST, _RIFO_LENGTHS, (SMALL_MEAN, LARGE_MEAN, LARGE_RATE, DONE)
    ),
    PaperFigure(
        "rifo-11",
        "RIFO Fig. 11: throughput of large flows",
        _FAST,
        _RIFO_LINES,
        [Panel(LARGE_RATE.key, f"Large flows, {each.name}", each) for each in (WEB_SEARCH, DATA_MINING_UPPER)],
        workloads=(WEB_SEARCH, DATA_MINING_UPPER),
    ),
    PaperFigure(
        "rifo-12",
        "RIFO Fig. 12: fair queueing, web search",
        GBIT,
        _RIFO_FAIR_LINES,
        COMPLETION,
        workloads=(FAIR_WEB_SEARCH,),
        published=(
            *_AIFO_FAIR_PUBLISHED,
            *_marked_by_bytes([_fair("rifo", "RIFO", ports.rifo(100))]),
            _RIFO_FAIR_OF_RUN_FILE,
        ),
    ),
    PaperFigure(
        "rifo-13",
        "RIFO Fig. 13: fair queueing, data mining",
        GBIT,
        _RIFO_FAIR_LINES,
        COMPLETION,
        workloads=(DATA_MINING,),
        published=(*_AIFO_FAIR_PUBLISHED, *_marked_by_bytes([_fair("rifo", "RIFO", ports.rifo(100))])),
    ),
    PaperFigure(
        "rifo-14",
        "RIFO Fig. 14: Pareto sizes",
        _FAST,
        _PARETO_LINES,
        COMPLETION,
        workloads=(PARETO,),
        published=(_DCTCP_OF_BYTES,),
    ),
    PaperFigure("rifo-tables", "RIFO Tables II and III: B = T", _FAST, _RIFO_TABLE, (SMALL_MEAN, LARGE_MEAN, DONE)),
    PaperFigure(
        "sp_pifo-7",
        "SP-PIFO Fig. 7: completion times, data mining",
        GBIT,
        _SP_PIFO_LINES,
        COMPLETION,
        workloads=(DATA_MINING,),
        published=(_TCP_OF_BYTES, _DCTCP_OF_BYTES),
    ),
    PaperFigure(
        "sp_pifo-8",
        "SP-PIFO Fig. 8: completion times, web search",
        GBIT,
        _SP_PIFO_LINES,
        COMPLETION,
        published=(_TCP_OF_BYTES, _DCTCP_OF_BYTES),
    ),
    PaperFigure(
        "sp_pifo-9",
        "SP-PIFO Fig. 9: fair queueing, 32 queues",
        GBIT,
        _AIFO_FAIR_LINES[:5],
        (SMALL_MEAN, DONE),
        published=(_TCP_OF_BYTES, *_charging_drops(_marked_by_bytes(_AIFO_FAIR_LINES[1:5]))),
    ),
    PaperFigure(
        "sp_pifo-9-eight",
        "SP-PIFO Fig. 9: fair queueing, 8 queues",
        GBIT,
        _SP_PIFO_FAIR_LINES,
        (SMALL_MEAN, DONE),
        published=(_TCP_OF_BYTES, *_charging_drops(_marked_by_bytes(_SP_PIFO_FAIR_LINES[1:]))),
    ),
    PaperFigure(
        "sp_pifo-10",
        "SP-PIFO Fig. 10: fair queueing, number of queues",
        GBIT,
        _SP_PIFO_QUEUES,
        (ALL_MEAN, DONE),
        loads=(0.2, 0.4, 0.6, 0.8),
        published=_AFQ_OF_NETBENCH,
        replaced="AFQ's own rule for packets far ahead",
    ),
    PaperFigure(
        "packs-12",
        "PACKS Fig. 12: completion times with ranks of pFabric",
        GBIT,
        _PACKS_LINES,
        (SMALL_MEAN, SMALL_P99, ALL_MEAN, DONE),
        published=[replace(line, hosts=FIXED_TIMEOUT) for line in _PACKS_LINES],
        replaced="timeouts that double",
    ),
    PaperFigure(
        "packs-13",
        "PACKS Fig. 13: fair queueing",
        GBIT,
        _PACKS_FAIR_LINES,
        (SMALL_MEAN, SIZES_MEAN, SIZES_P99, DONE),
        published=(*_PACKS_FAIR_WITHOUT_MARGIN, _PACKS_AFQ_OF_RUN_FILE),
    ),
)
_DESIGN = PaperFigure("packs-12-design", "PACKS Fig. 12: sixteen readings of its settings", GBIT, _design(), COMPLETION)
_VARIANTS = PaperFigure(
    "variants", "Rules of the authors' simulations beside those of the text", _FAST, _VARIANT_LINES, COMPLETION
)
FIGURES: Mapping[str, PaperFigure] = {figure.name: figure for figure in (*_EACH, _DESIGN, _VARIANTS)}
