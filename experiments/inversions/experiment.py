"""PACKS Fig. 3, 9, 10 and 11: inversions and drops of every rank at a load a little above 1."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.inversions import departures, figure, stepped_stream
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, QuickDefault, ScaledDefault
from p4sched.constants import RANK_PORT
from p4sched.control.parameters import equal_buffers
from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.lab import ranked_schemes
from p4sched.lab.bench import bench
from p4sched.lab.depth import Depth, Worker, depth_for, with_depth, worker_for
from p4sched.lab.experiment import Choice, Experiment, Results, Rows, RunOptions, SchemeOutcome, Seed, Stage, Tell
from p4sched.lab.ranked_traffic import FILES, FRAME_BYTES, refuse_faster
from p4sched.lab.schemes import Link
from p4sched.lab.time_scale import Base
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.results.tables import cell, verdict
from p4sched.schemes import find_scheme, title
from p4sched.units import Duration, Rate

DISTRIBUTIONS = ("uniform", "poisson", "exponential", "inverse-exponential", "convex")
RANK_COUNT = 100
OVERLOAD = 1.1
"""Load: arrivals of 11 Gbit/s at a link of 10 Gbit/s (PACKS 6.1)."""
PAPER_RATE = 10_000_000_000
PAPER_PACKETS = 916_666
"""Number of 1500-byte packets in a second at 11 Gbit/s."""
PAPER_WINDOW = 1000
QUICK_PACKETS = 100_000
MAX_PACKETS = 100_000_000
MAX_SHIFT = 10**9
BASE = Base(Rate.parse("50mbit"), Duration.parse("10ms"), frames=2, slowest=10)
LEAD_S = 0.5
DRAIN_S = 1.0


@dataclass(frozen=True)
class Live:
    """A run in the lab."""

    link: Link
    seconds: float
    """Time in which packets are sent."""
    depth: Depth
    worker: Worker | None

    @property
    def arrival_bps(self) -> int:
        """Rate of the arrivals."""
        return round(OVERLOAD * self.link.rate_bps)


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    stream: stepped_stream.Stream
    live: Live | None
    """Settings of the run in the lab; None: in stepped time."""
    computed: Mapping[str, Any] = field(default_factory=dict)
    """Results of stepped time, for summary.json."""


def setting(
    run_options: RunOptions,
    ranks: Annotated[
        str, typer.Option(metavar="|".join(DISTRIBUTIONS), help=f"Distribution of the ranks below {RANK_COUNT}.")
    ] = "uniform",
    window: Annotated[
        int | None,
        typer.Option(
            help="|W|, RIFO's T; default: the most that the programs hold, 32, on a Tofino 16; with --stepped 1000, as"
            " in the paper, on a Tofino 16."
        ),
    ] = None,
    in_steps: Annotated[
        bool,
        typer.Option(
            "--stepped",
            help="Run models and compiled programs in stepped time: 11 Gbit/s arrive at a link of 10 Gbit/s.",
        ),
    ] = False,
    window_shift: Annotated[
        int,
        typer.Option(
            help="With --stepped: offset on the ranks in the window of PACKS' model.",
            min=-MAX_SHIFT,
            max=MAX_SHIFT,
        ),
    ] = 0,
    queue: Annotated[
        int,
        typer.Option(
            help=f"Packets that each of {QUEUES} queues holds; a single queue holds as many as all of them.",
            min=1,
            max=4095,
        ),
    ] = 10,
    rate: Annotated[
        Rate,
        options.rate_option("Rate of the bottleneck; 11/10 of it arrives."),
        Bmv2Default(Rate.parse("20mbit")),
        ScaledDefault(),
    ] = BASE.rate,
    duration: Annotated[
        Duration,
        options.time_option("Time in which packets are sent."),
        QuickDefault(Duration.parse("3s")),
        ScaledDefault(),
    ] = Duration.parse("12s"),
    packets: Annotated[
        int, typer.Option(help="Number of packets with --stepped.", min=1, max=MAX_PACKETS), QuickDefault(QUICK_PACKETS)
    ] = PAPER_PACKETS,
    depth: Annotated[
        Depth | None,
        typer.Option(
            help="Source of the queue's length in ingress: the traffic manager, a register, or a worker packet.",
            show_default="exact; register on BMv2 and for tna",
        ),
    ] = None,
    worker_round: Annotated[
        Duration,
        options.time_option("Time of a worker packet for all ports."),
        ScaledDefault(),
    ] = Duration.parse("1ms"),
) -> Setting:
    """Sends a constant stream of ranked packets, at 1.1 times the link's rate, through each scheme; counts inversions
    and drops of every rank. Prints a table and writes DIR/summary.json, DIR/ranks.csv and DIR/figure.png."""
    refuse_mismatch(run_options, in_steps, depth)
    if ranks not in DISTRIBUTIONS:
        raise unknown_name("rank distribution", ranks, DISTRIBUTIONS)
    largest = PROGRAMS[run_options.target].largest_window
    on_tofino = run_options.target is not Target.V1MODEL
    size = window if window is not None else PAPER_WINDOW if in_steps and not on_tofino else largest
    if size < 1:
        raise UsageError(f"--window {size}: it must hold at least 1 rank")
    if on_tofino and size > largest:
        raise UsageError(f"--window {size}: the programs for {run_options.target} hold 1 to {largest} ranks")
    stream = stepped_stream.Stream(
        ranks, size, packets, run_options.seed, QUEUES, queue, window_shift, run_options.target
    )
    if in_steps:
        return Setting(stream, None)
    depth = depth_for(depth, run_options.switch, run_options.target)
    worker = worker_for(
        depth, worker_round, [find_scheme(name).program for name in run_options.schemes], run_options.target
    )
    equal_buffers(QUEUES * queue, size)
    refuse_faster(f"--rate {rate}", rate, OVERLOAD)
    shortest = ceil(RANK_COUNT * FRAME_BYTES * 8e3 / round(OVERLOAD * rate)) / 1e3
    seconds = options.at_least("--duration", duration, shortest, f"there are {RANK_COUNT} ranks, a packet for each")
    live = Live(Link(rate, round(BASE.rtt * run_options.scale)), seconds, depth, worker)
    return Setting(replace(stream, packets=round(live.arrival_bps * seconds / (8 * FRAME_BYTES))), live)


def refuse_mismatch(run_options: RunOptions, in_steps: bool, depth: Depth | None) -> None:
    """Raises UsageError for options that do not fit together."""
    if in_steps:
        live = ("--rate", "--duration", "--switch", "--depth", "--worker-round")
        run_options.refuse(live, "with --stepped: stepped time has the paper's rates, and no switch")
        if "packs" not in run_options.schemes:
            run_options.refuse(["--window-shift"], "without packs among --schemes")
        if any(find_scheme(name).description.like for name in run_options.schemes):
            run_options.refuse(["--window-shift"], "with a scheme that has set parameters")
    else:
        run_options.refuse(["--packets"], "without --stepped; --duration says how long packets are sent")
        run_options.refuse(["--window-shift"], "without --stepped: the programs cannot shift their windows")
        if depth != Depth.WORKER:
            run_options.refuse(["--worker-round"], "without --depth worker")


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    stream, live = setting.stream, setting.live
    found = {
        "ranks": stream.ranks,
        "rank_count": RANK_COUNT,
        "window": stream.window,
        "window_shift": stream.window_shift,
        "queues": QUEUES,
        "queue_size": stream.queue_size,
        "headroom": 0.0,
        "seed": stream.seed,
        "stepped": live is None,
        "rate_bps": PAPER_RATE if live is None else int(live.link.rate_bps),
        "arrival_bps": round(OVERLOAD * PAPER_RATE) if live is None else live.arrival_bps,
        "packets": stream.packets,
    }
    if live is None:
        return found | {"switch": "none"}
    round_s = live.worker.round_ns / 1e9 if live.worker else None
    return found | {"depth": live.depth.value, "worker_round_s": round_s}


@contextmanager
def prepare(setting: Setting, run_options: RunOptions, tell: Tell) -> Iterator[Setting]:
    """Computes all schemes together if the run is in stepped time."""
    if setting.live is not None:
        yield setting
    else:
        tell("models and compiled programs in stepped time")
        yield replace(setting, computed=stepped_stream.measure(setting.stream, run_options.schemes, run_options.out))


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Measures one scheme."""
    stream, live = setting.stream, setting.live
    if live is None:
        if stage.name in (failed := setting.computed.get("failed", {})):
            raise P4schedError(failed[stage.name])
        return SchemeOutcome(setting.computed["schemes"][stage.name], None)
    alike = find_scheme(stage.name).for_comparison(equal_buffers(QUEUES * stream.queue_size, stream.window))
    scheme = with_depth(alike, live.depth, stage.target)
    sent_log, received_log = stage.folder / "sent.csv", stage.folder / "received.csv"
    network = stage.lab.dumbbell(1, stage.folder, hosts=1)
    async with bench(stage, network, scheme, live.link, RankSource.HEADER) as running:
        if live.worker is not None:
            await live.worker.start(running.network, running.testbed)
        seat = running.network.seats[0]
        flow = {
            "flow": 1,
            "src": seat.address,
            "dst": running.network.server_address,
            "port": RANK_PORT,
            "rate_bps": live.arrival_bps,
            "frame_bytes": FRAME_BYTES,
            "ranks": {"drawn": {"distribution": stream.ranks, "below": RANK_COUNT}},
            "start_s": LEAD_S,
            "stop_s": LEAD_S + live.seconds,
        }
        traffic = await running.generated_traffic()
        await traffic.receive_udp([RANK_PORT], LEAD_S + live.seconds + DRAIN_S, received_log)
        await running.observe()
        sending = await traffic.send_udp(seat.host, [flow], stream.seed, sent_log)
        stage.tell(f"sending for {live.seconds:g} s")
        sent = (await traffic.report(sending, LEAD_S + live.seconds + 5))[0]
        running.network.check_alive()
        await asyncio.sleep(DRAIN_S / 2)
        await running.observed()
        await traffic.report("receive", DRAIN_S + 5)
    stage.tell("counting")
    result = departures.outcome(
        departures.read_sent(sent_log),
        departures.read_received(received_log),
        FRAME_BYTES * 8e9 / live.link.rate_bps,
        RANK_COUNT,
    )
    found = {
        "inversions": sum(result.inversions),
        "drops": sum(result.drops),
        "departures": sum(result.departures),
        "lowest_rank_dropped": result.lowest_rank_dropped,
        "inversions_by_rank": result.inversions,
        "drops_by_rank": result.drops,
        "departures_by_rank": result.departures,
        "refused_by_sender": sent["refused"],
    }
    return running.outcome(found, [] if found["departures"] else ["no packet reached the receiver"])


def rank_rows(results: Results[Any, Any]) -> Rows:
    """One row for each scheme and rank."""
    yield ["scheme", "rank", "inversions", "drops", "departures"]
    for name, scheme in results.schemes.items():
        columns = (scheme["inversions_by_rank"], scheme["drops_by_rank"], scheme["departures_by_rank"])
        for rank, values in enumerate(zip(*columns, strict=True)):
            yield [name, rank, *values]


def table(results: Results[Any, Any]) -> list[Table | str]:
    """Tables of inversions and drops; in stepped time also whether the programs agree with the models."""
    schemes = results.schemes
    above = f"Inversions and drops, {results.summary['configuration']['ranks']} ranks"
    shown = Table(title=above, title_justify="left")
    for column in ("scheme", "inversions", "times PACKS'", "drops", "lowest rank dropped", "run"):
        shown.add_column(column, justify="left" if column in ("scheme", "run") else "right")
    packs = schemes.get("packs", {}).get("inversions")
    for name, scheme in schemes.items():
        lowest = scheme["lowest_rank_dropped"]
        shown.add_row(
            title(name),
            str(scheme["inversions"]),
            f"{scheme['inversions'] / packs:.2f}" if packs else "-",
            str(scheme["drops"]),
            "none" if lowest is None else str(lowest),
            verdict(scheme),
        )
    programs = results.summary.get("programs")
    return [shown, *_programs(programs), *_costs(schemes, programs)]


_EQUAL = {
    True: "equal to the model's, rank by rank",
    False: "[bold red]NOT the model's[/]",
    None: "not compared: it has no model, or serves users, which the stream does not have",
}


def _programs(programs: Mapping[str, Any] | None) -> Iterator[str]:
    if programs is None:
        return
    packs = programs["schemes"].get("packs", {}).get("inversions")
    for name, program in programs["schemes"].items():
        inversions = program["inversions"]
        ratio = f", {inversions / packs:.2f} times compiled PACKS'" if packs else ""
        word = _EQUAL[programs["equal_to_models"].get(name)]
        window = f", |W| = {programs['window']}" if find_scheme(name).description.takes_window else ""
        yield f"compiled {title(name)}{window}: {inversions} inversions{ratio}: {word}"


def _costs(exact: Mapping[str, Any], programs: Mapping[str, Any] | None) -> Iterator[Table]:
    """Cost of the approximations in a Tofino program, compared with the exact scheme."""
    if programs is None or programs["target"] == Target.V1MODEL:
        return
    shown = Table(title=f"Programs for {programs['target']} beside the exact schemes", title_justify="left")
    shown.add_column("scheme")
    for column in ("inversions, exact", programs["target"], "drops, exact", programs["target"], "lowest rank dropped"):
        shown.add_column(column, justify="right")
    for name, found in programs["schemes"].items():
        lowest = [cell(each["lowest_rank_dropped"], "d") for each in (exact[name], found)]
        counts = [str(each[key]) for key in ("inversions", "drops") for each in (exact[name], found)]
        shown.add_row(title(name), *counts, ", ".join(lowest))
    yield shown


EXPERIMENT = Experiment(
    name="inversions",
    summary=(
        "How often packets leave before more urgent ones, and which are dropped (PACKS paper, Fig. 3, 9, 10 and 11)"
    ),
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"ranks.csv": rank_rows},
    files=("sent.csv", "received.csv", *FILES),
    scratch=stepped_stream.FILES,
    schemes=Choice(ranked_schemes.NAMES),
    seed=Seed("Seed of the ranks.", bounded=True),
    quick=f"--duration 3s; with --stepped --packets {QUICK_PACKETS}",
    comparison=lambda results: {
        key: part for key, part in results.setting.computed.items() if key not in ("schemes", "failed")
    },
    in_lab=lambda setting: setting.live is not None,
    prepare=prepare,
    base=BASE,
)
