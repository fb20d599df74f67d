"""RIFO Fig. 7 and 8, PACKS Fig. 12 at a small scale: completion times of TCP flows ranked by remaining bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.flow_completion import figure
from p4sched.cli import options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.control.parameters import equal_buffers
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes
from p4sched.lab.bench import bench
from p4sched.lab.experiment import Choice, Experiment, Results, Rows, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.lab.schemes import Link
from p4sched.lab.sized_flows import CONGESTION_CONTROL, DISTRIBUTIONS, FILES, LEAD_S, RankScale, SizedFlows, parse_loads
from p4sched.lab.time_scale import Base
from p4sched.p4rt.rank_source import RankSource
from p4sched.results import completion
from p4sched.results.completion import Flow
from p4sched.results.tables import cell, record_rows, verdict
from p4sched.schemes import find_scheme, title
from p4sched.units import Duration, Rate

BASE = Base(Rate.parse("100mbit"), Duration.parse("4ms"), slowest=10)
HOSTS = 4
DRAIN_S = 5.0
"""Time for the last flows to end, at time scale 1."""
SIZES = equal_buffers(buffer=40, window=20, headroom=0.1, queues=4)
"""Sizes of PACKS 6.2: 4 queues of 10 packets or one of 40, |W| = 20, k = 0.1."""
TRACKING_RANGE = 50
"""T of RIFO (RIFO V-B), which is not in PACKS."""
MAX_TRACKING_RANGE = 2**32 - 1
RTO_MIN_RTTS = 2
"""Default of rto_min, in RTTs. Together with the RTT this gives the timeout of 3 RTTs in PACKS 6.2."""
RTO_MIN_BOUNDS = Duration.parse("1ms"), Duration.parse("1s")
"""Limits of rto_min: the smallest value of a route, and a fifth of the time for flows to end."""
KERNEL_INITIAL_WINDOW = 10
"""Initial window in segments (RFC 6928)."""
FRAME_BITS = 8 * 1514
SHORTEST_S = 1.0
"""Shortest time for starts of flows, at each load."""


Sent = Mapping[float, Sequence[Flow]]
"""Results of the flows at each load."""


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    flows: SizedFlows
    rto_min_ns: int
    initial_window: int
    """Segments."""
    with_handshake: bool
    tracking_range: int
    """RIFO's T, in packets."""
    drain_s: float
    """Time for flows to end after the last start."""


def setting(
    run_options: RunOptions,
    sizes: Annotated[
        str, typer.Option(metavar="|".join(DISTRIBUTIONS), help="Distribution of the flows' sizes.")
    ] = DISTRIBUTIONS[0],
    loads: Annotated[
        str, typer.Option(metavar="L1,L2,...", help="Loads of the bottleneck, up to 1."), QuickDefault("0.8")
    ] = "0.2,0.5,0.8",
    scale: Annotated[
        float,
        typer.Option(
            help="Factor on the sizes, so that a slow link carries as many flows as a fast one.", min=0.001, max=100
        ),
    ] = 0.5,
    rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("20mbit")), ScaledDefault()] = BASE.rate,
    rtt: options.RoundTripTime = BASE.rtt,
    duration: Annotated[
        Duration,
        options.time_option("Time in which flows start, for each load."),
        QuickDefault(Duration.parse("4s")),
        MinimumRtts(1000),
    ] = Duration.parse("20s"),
    rto_min: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help=f"Minimum that TCP adds to the RTT before it retransmits; default: {RTO_MIN_RTTS} RTTs."
            " The kernel's own is 200ms. From 1ms to 1s, in whole milliseconds.",
        ),
    ] = None,
    initial_window: Annotated[
        int | None,
        typer.Option(
            metavar="SEGMENTS",
            help="Segments that TCP sends before the first acknowledgement; default: a bandwidth-delay product, but at"
            f" least {KERNEL_INITIAL_WINDOW}, the kernel's own.",
            min=1,
            max=1000,
        ),
    ] = None,
    with_handshake: Annotated[
        bool,
        typer.Option(
            "--with-handshake",
            help="Open each connection when its flow starts, not before: a lost opening segment costs a second.",
        ),
    ] = False,
    rank_scale: Annotated[
        RankScale,
        typer.Option(help="Scale from remaining bytes to 64 ranks. RIFO compares the magnitudes of ranks."),
    ] = RankScale.LOGARITHMIC,
    tracking_range: Annotated[
        int,
        typer.Option(
            metavar="PACKETS", help="RIFO's T: packets whose ranks its range covers.", min=1, max=MAX_TRACKING_RANGE
        ),
    ] = TRACKING_RANGE,
) -> Setting:
    """Sends TCP flows of random sizes at each load through each scheme; the rank of a segment is the number of bytes
    that remain. Prints a table and writes DIR/summary.json, DIR/loads.csv, DIR/flows.csv and DIR/figure.png."""
    if "rifo" not in run_options.schemes:
        run_options.refuse(["--tracking-range"], "without rifo")
    link = Link(rate, rtt)
    seconds = options.at_least("--duration", duration, SHORTEST_S, "flows start at random times, some a second")
    return Setting(
        link=link,
        flows=SizedFlows(sizes, scale, parse_loads(loads), int(rate), seconds, run_options.seed, rank_scale),
        rto_min_ns=shortest_timeout(rto_min, rtt),
        initial_window=initial_window or max(KERNEL_INITIAL_WINDOW, bandwidth_delay_segments(link)),
        with_handshake=with_handshake,
        tracking_range=tracking_range,
        drain_s=DRAIN_S * run_options.scale,
    )


def shortest_timeout(requested: Duration | None, rtt: Duration) -> int:
    """rto_min in ns: the option, or RTO_MIN_RTTS RTTs, rounded up to whole milliseconds as in routes. Raises UsageError
    for a value outside RTO_MIN_BOUNDS."""
    if requested is not None and not RTO_MIN_BOUNDS[0] <= requested <= RTO_MIN_BOUNDS[1]:
        raise UsageError(f"--rto-min {requested}: must be {RTO_MIN_BOUNDS[0]} to {RTO_MIN_BOUNDS[1]}")
    return -(-(requested or RTO_MIN_RTTS * rtt) // 10**6) * 10**6


def bandwidth_delay_segments(link: Link) -> int:
    """Bandwidth-delay product in full segments."""
    return round(link.rate_bps * link.rtt_ns / 1e9 / FRAME_BITS)


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    flows = setting.flows
    return {
        "sizes": flows.distribution,
        "scale": flows.scale,
        "loads": list(flows.loads),
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "rto_min_ms": setting.rto_min_ns / 1e6,
        "initial_window_segments": setting.initial_window,
        "with_handshake": setting.with_handshake,
        "rank_scale": flows.rank_scale.value,
        "rifo_tracking_range": setting.tracking_range,
        "duration_s": flows.seconds,
        "congestion_control": CONGESTION_CONTROL,
    }


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[Sent]:
    """Measures one scheme."""
    link = setting.link
    scheme = find_scheme(stage.name).for_comparison(replace(SIZES, tracking=setting.tracking_range))
    network = stage.lab.dumbbell(HOSTS, stage.folder, hosts=HOSTS)
    found, sent = [], {}
    async with bench(stage, network, scheme, link, RankSource.TOS) as running:
        await running.network.set_shortest_timeout(setting.rto_min_ns)
        await running.network.set_initial_window(setting.initial_window)
        plans = setting.flows.plans(running.network)
        await running.observe()
        for plan in plans:
            opening_s = None if setting.with_handshake else len(plan.flows) / HOSTS * link.rtt_ns / 1e9
            deadline = LEAD_S + setting.flows.seconds + setting.drain_s
            sent[plan.load], summary = await plan.exchange(running, deadline, setting.flows.scale, opening_s)
            found.append(summary)
        await running.observed()
    return running.outcome({"loads": found}, completion.unmeasured(found), sent)


def ratios(results: Results[Setting, Sent]) -> dict[str, Any]:
    """Ratios of the mean times of small flows between schemes."""
    flows = results.setting.flows
    return {
        "small_mean_ratios": {
            f"{load:g}": completion.compare({name: sent[load] for name, sent in results.records.items()}, flows.scale)
            for load in flows.loads
        }
    }


def flow_rows(results: Results[Any, Sent]) -> Rows:
    """One row for each flow, without a time if it did not end."""
    yield ["scheme", "load", "start_s", "size_bytes", "completion_ms", "segments_retransmitted"]
    for name, loads in results.records.items():
        for load, sent in loads.items():
            for flow in sent:
                time_ms = "" if flow.completion_s is None else 1e3 * flow.completion_s
                yield [name, load, flow.start_s, flow.size_bytes, time_ms, flow.retransmitted]


def table(results: Results[Any, Any]) -> list[Table]:
    """Tables of completion times at each load, and of the ratios between schemes."""
    return [_times(results.schemes), _ratios(results.summary)]


def _times(schemes: Mapping[str, Any]) -> Table:
    shown = Table(
        title="Completion times in ms: mean, median, 99th percentile of small flows, mean of large flows",
        title_justify="left",
    )
    columns = ("scheme", "load", "mean", "95 %", "median", "99 %", "large", "resent by", "not done", "run")
    for column in columns:
        shown.add_column(column, justify="left" if column in ("scheme", "run") else "right")
    for name, scheme in schemes.items():
        for load in scheme["loads"]:
            low, high, *times = (
                cell(load[f"{key}_ms"], ".2f")
                for key in ("small_mean_low", "small_mean_high", "small_median", "small_p99", "large_mean")
            )
            shown.add_row(
                title(name),
                f"{load['load']:g}",
                cell(load["small_mean_ms"], ".2f"),
                f"{low}-{high}",
                *times,
                f"{load['small_retransmitting']} of {load['small_flows']}",
                str(load["not_completed"]),
                verdict(scheme),
            )
    return shown


def _ratios(summary: Mapping[str, Any]) -> Table:
    """Ratio of each scheme to the last one of the run: PIFO, if all run."""
    *names, last = summary["schemes"]
    shown = Table(title=f"Mean of small flows, in times that with {title(last)}, and the 95 % interval of the ratio")
    shown.add_column("scheme")
    for load in summary["small_mean_ratios"]:
        shown.add_column(f"load {load}", justify="right")
    for name in names:
        ratios = [ratios.get(name, {}).get(last) for ratios in summary["small_mean_ratios"].values()]
        shown.add_row(title(name), *("-" if ratio is None else _ratio(ratio) for ratio in ratios))
    return shown


def _ratio(ratio: Mapping[str, float | None]) -> str:
    bounds = "" if ratio["low"] is None else f" ({ratio['low']:.2f}-{ratio['high']:.2f})"
    return f"{ratio['ratio']:.2f}{bounds}"


EXPERIMENT = Experiment(
    name="flow_completion",
    summary="Small flows end sooner with ranks (RIFO paper, Fig. 7 and 8; PACKS paper, Fig. 12)",
    setting=setting,
    configuration=configuration,
    measure=measure,
    table=table,
    figure=lambda results, path: figure.draw(results.summary, path),
    csv={"loads.csv": lambda results: record_rows(results.schemes, "loads"), "flows.csv": flow_rows},
    files=FILES,
    schemes=Choice(ranked_schemes.NAMES),
    seed=Seed("Seed of sizes and arrivals: the same flows for every scheme.", bounded=True),
    comparison=ratios,
    base=BASE,
)
