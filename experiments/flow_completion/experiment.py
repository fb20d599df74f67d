"""RIFO Fig. 7 and 8, PACKS Fig. 12 in small: completion times of TCP flows with remaining-size ranks against load."""

import csv
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.flow_completion import completion, figure
from experiments.flow_completion.completion import Flow
from p4sched.cli import options
from p4sched.cli.given import refuse
from p4sched.control.parameters import equal_buffers
from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.lab import ranked_schemes
from p4sched.lab.experiment import Declared, SwitchKind, choose, once
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.lab.tcp import TcpCounters, read_counters
from p4sched.p4rt.rank_source import RankSource
from p4sched.paths import traffic_binary
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.schemes import named
from p4sched.units import Duration, Rate

CONGESTION_CONTROL = "cubic"
DISTRIBUTIONS = ("web-search", "data-mining")
HOSTS = 4
FIRST_TCP_PORT = 5001
LEAD_S = 0.5
DRAIN_S = 5.0
"""After the last start, flows have this long to end."""
SIZES = equal_buffers(buffer=40, window=20, headroom=0.1, queues=4)
"""PACKS 6.2: 4 queues of 10 packets or one of 40, |W| = 20, k = 0.1."""
TRACKING_RANGE = 50
"""RIFO, which is not in that paper: T (RIFO V-B)."""
MAX_TRACKING_RANGE = 2**32 - 1
RTO_MIN_RTTS = 2
"""With the RTT itself this makes the timeout of 3 RTTs in PACKS 6.2."""
RTO_MIN_BOUNDS = Duration.parse("1ms"), Duration.parse("1s")
"""The least that a route takes, and a fifth of the time that flows have to end."""
KERNEL_INITIAL_WINDOW = 10
"""Segments (RFC 6928)."""
FRAME_BITS = 8 * 1514
SENDERS_END_S = 5.0
RATE, BMV2_RATE = Rate.parse("100mbit"), Rate.parse("20mbit")
SHORTEST_S = 1.0
"""For flows to start, at each load."""
QUICK_LOADS = "0.8"
QUICK_DURATION = Duration.parse("4s")


class RankScale(StrEnum):
    """How the bytes that remain become one of the 64 ranks of the TOS byte."""

    LOGARITHMIC = "logarithmic"
    LINEAR = "linear"


@dataclass(frozen=True)
class Setting:
    """What all schemes of a run have in common."""

    link: Link
    distribution: str
    scale: float
    loads: Sequence[float]
    seconds: float
    """How long flows start, for each load."""
    seed: int
    rto_min_ns: int
    initial_window: int
    """Segments."""
    with_handshake: bool
    rank_scale: RankScale
    tracking_range: int
    """RIFO's T, in packets."""


def run(
    ctx: typer.Context,
    sizes: Annotated[
        str, typer.Option(metavar="|".join(DISTRIBUTIONS), help="Distribution of the flows' sizes.")
    ] = DISTRIBUTIONS[0],
    loads: Annotated[str, typer.Option(metavar="L1,L2,...", help="Loads of the bottleneck, up to 1.")] = "0.2,0.5,0.8",
    scale: Annotated[
        float,
        typer.Option(
            help="Factor on the sizes, so that a slow link sees as many flows as a fast one.", min=0.001, max=100
        ),
    ] = 0.5,
    scheme_names: options.RankedSchemes = options.ALL_RANKED_SCHEMES,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = Duration.parse("4ms"),
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="How long flows start, for each load.")
    ] = Duration.parse("20s"),
    rto_min: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help=f"What TCP adds to the RTT before it retransmits, at least; default: {RTO_MIN_RTTS} RTTs."
            " The kernel's own is 200ms; it can be 1ms to 1s, in whole milliseconds.",
        ),
    ] = None,
    initial_window: Annotated[
        int | None,
        typer.Option(
            metavar="SEGMENTS",
            help="What TCP sends before the first acknowledgement, at most; default: a bandwidth-delay product, and"
            f" {KERNEL_INITIAL_WINDOW} at least, which is the kernel's own.",
            min=1,
            max=1000,
        ),
    ] = None,
    with_handshake: Annotated[
        bool,
        typer.Option(
            "--with-handshake",
            help="Open each connection at its flow's start, not ahead: a lost opening segment costs a second.",
        ),
    ] = False,
    rank_scale: Annotated[
        RankScale,
        typer.Option(help="How the bytes that remain become one of 64 ranks. RIFO compares their magnitudes."),
    ] = RankScale.LOGARITHMIC,
    tracking_range: Annotated[
        int,
        typer.Option(
            metavar="PACKETS", help="RIFO's T, the ranks that its range covers.", min=1, max=MAX_TRACKING_RANGE
        ),
    ] = TRACKING_RANGE,
    seed: Annotated[
        int, typer.Option(help="Of sizes and arrivals: the same flows for every scheme.", min=0, max=options.MAX_SEED)
    ] = 1,
    quick: Annotated[bool, options.quick_option(f"--loads {QUICK_LOADS} --duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/flow_completion"),
) -> None:
    """Sends TCP flows of random sizes at each load through each scheme; every segment carries the rank of the bytes
    that remain. Prints a table and writes DIR/summary.json, DIR/loads.csv, DIR/flows.csv and DIR/figure.png."""
    wanted = choose("scheme", scheme_names, ranked_schemes.NAMES)
    if "rifo" not in wanted:
        refuse(ctx, ["--tracking-range"], "without rifo")
    if sizes not in DISTRIBUTIONS:
        raise unknown_name("distribution of sizes", sizes, DISTRIBUTIONS)
    starts = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION)
    link = Link(options.rate_for(rate, switch, RATE, BMV2_RATE), rtt)
    setting = Setting(
        link=link,
        distribution=sizes,
        scale=scale,
        loads=parse_loads(options.unless_quick(ctx, quick, "--loads", loads, QUICK_LOADS)),
        seconds=options.at_least("--duration", starts, SHORTEST_S, "flows start at random times, some a second"),
        seed=seed,
        rto_min_ns=shortest_timeout(rto_min, rtt),
        initial_window=initial_window or max(KERNEL_INITIAL_WINDOW, bandwidth_delay_segments(link)),
        with_handshake=with_handshake,
        rank_scale=rank_scale,
        tracking_range=tracking_range,
    )
    flows: dict[str, dict[float, list[Flow]]] = {}

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
        with dumbbell(ledger, HOSTS, switch.value, folder, hosts=HOSTS) as network:
            network.set_shortest_timeout(setting.rto_min_ns)
            network.set_initial_window(setting.initial_window)
            outcome, flows[name] = await _measure(network, name, setting, ledger, folder, tell)
        return outcome

    found = run_schemes("flow_completion", wanted, switch, out, configuration(setting), measure)
    found["small_mean_ratios"] = {
        f"{load:g}": completion.compare({name: loads[load] for name, loads in flows.items()}, scale)
        for load in setting.loads
    }
    summaries.write(out, found)
    _write_loads(found, out / "loads.csv")
    _write_flows(flows, out / "flows.csv")
    figure.draw(found, out / "figure.png")
    console = Console()
    print_table(console, _table(found))
    print_table(console, _ratios(found))
    print_end(console, found, out)


def shortest_timeout(asked: Duration | None, rtt: Duration) -> int:
    """rto_min in ns: what was asked for, else RTO_MIN_RTTS RTTs; in whole milliseconds, rounded up, as routes have it.
    Raises UsageError for one with which a flow is never done, or that routes do not have."""
    if asked is not None and not RTO_MIN_BOUNDS[0] <= asked <= RTO_MIN_BOUNDS[1]:
        raise UsageError(f"--rto-min {asked}: it can be {RTO_MIN_BOUNDS[0]} to {RTO_MIN_BOUNDS[1]}")
    return -(-(asked or RTO_MIN_RTTS * rtt) // 10**6) * 10**6


def bandwidth_delay_segments(link: Link) -> int:
    """Full segments that the link holds in a round-trip time."""
    return round(link.rate_bps * link.rtt_ns / 1e9 / FRAME_BITS)


def configuration(setting: Setting) -> dict[str, Any]:
    """The part of summary.json that says what was asked for."""
    return {
        "sizes": setting.distribution,
        "scale": setting.scale,
        "loads": list(setting.loads),
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "rto_min_ms": setting.rto_min_ns / 1e6,
        "initial_window_segments": setting.initial_window,
        "with_handshake": setting.with_handshake,
        "rank_scale": setting.rank_scale.value,
        "rifo_tracking_range": setting.tracking_range,
        "duration_s": setting.seconds,
        "congestion_control": CONGESTION_CONTROL,
        "seed": setting.seed,
    }


def parse_loads(text: str) -> list[float]:
    """ "0.2,0.8": each above 0 and at most 1."""
    try:
        loads = [float(load) for load in text.split(",")]
    except ValueError:
        raise UsageError(f"loads '{text}' are not numbers separated by commas, for example 0.2,0.5,0.8") from None
    for load in loads:
        if not 0 < load <= 1:
            raise UsageError(f"load {load:g}: it must be above 0 and at most 1, or the queue grows without end")
    once("load", loads, text)
    return loads


def plan(
    network: Dumbbell,
    sizes: str,
    scale: float,
    load: float,
    rate_bps: int,
    seconds: float,
    seed: int,
    port: int,
    rank_scale: RankScale = RankScale.LOGARITHMIC,
) -> list[dict[str, Any]]:
    """The flows of one load, by the traffic generator."""
    sources = ",".join(seat.address for seat in network.seats)
    words = [str(traffic_binary()), "plan", "--sizes", sizes, "--scale", str(scale), "--load", str(load)]
    words += ["--link-bps", str(rate_bps), "--duration", str(seconds), "--seed", str(seed), "--port", str(port)]
    words += ["--rank-scale", rank_scale.value, "--sources", sources, "--destinations", network.server_address]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise P4schedError(done.stderr.strip())
    flows: list[dict[str, Any]] = json.loads(done.stdout)
    if not flows:
        raise UsageError(
            f"load {load:g} makes no flow in {seconds:g} s with seed {seed}: a higher load or a longer duration does"
        )
    return [flow | {"start_s": flow["start_s"] + LEAD_S} for flow in flows]


async def _measure(
    network: Dumbbell, name: str, setting: Setting, ledger: Ledger, folder: Path, tell: Tell
) -> tuple[SchemeOutcome, dict[float, list[Flow]]]:
    ranked = named(name).alike(replace(SIZES, tracking=setting.tracking_range))
    link = setting.link
    users = [seat.user for seat in network.seats]
    found, sent = [], {}
    sizes, rate, port = (setting.distribution, setting.scale), int(link.rate_bps), FIRST_TCP_PORT
    planned = [
        plan(network, *sizes, load, rate, setting.seconds, setting.seed, port + place, setting.rank_scale)
        for place, load in enumerate(setting.loads)
    ]
    async with ranked_testbed(network, ranked, link, RankSource.TOS, users) as testbed:
        observer = await Observer.start(network, testbed.traffic_manager, link)
        for place, load in enumerate(setting.loads):
            opening_s = 0.0 if setting.with_handshake else len(planned[place]) / HOSTS * link.rtt_ns / 1e9
            flows = [flow | {"start_s": flow["start_s"] + opening_s} for flow in planned[place]]
            tell(f"load {load:g}: {len(flows)} flows")
            network.check_alive()
            deadline = LEAD_S + opening_s + setting.seconds + DRAIN_S
            part, ahead = folder / f"load-{load:g}", not setting.with_handshake
            sent[load], tcp = await exchange(network, flows, port + place, deadline, ledger, part, ahead)
            found.append(load_summary(load, sent[load], tcp, setting.scale))
        observation = await observer.finish()
        counted = await decisions(testbed.session, network.bottleneck_port)
    seen = observation.but(completion.unmeasured(found))
    return SchemeOutcome({"loads": found}, seen, ranked.label, counted, testbed.notes), sent


async def at_load(
    network: Dumbbell,
    load: float,
    flows: Sequence[dict[str, Any]],
    port: int,
    deadline: float,
    scale: float,
    ledger: Ledger,
    folder: Path,
) -> dict[str, Any]:
    """Sends the flows that make a load, each over a connection that is opened at its start; what became of them."""
    sent, tcp = await exchange(network, flows, port, deadline, ledger, folder)
    return load_summary(load, sent, tcp, scale)


async def exchange(
    network: Dumbbell,
    flows: Sequence[dict[str, Any]],
    port: int,
    deadline: float,
    ledger: Ledger,
    folder: Path,
    open_ahead: bool = False,
) -> tuple[list[Flow], TcpCounters]:
    """Sends flows, and gives up those that are not done at the deadline (in seconds from now)."""
    before = read_counters(network.sender_pids())
    with GeneratedTraffic(network, ledger, folder) as traffic:
        await traffic.serve_tcp(port, deadline + 0.5, len(flows))
        runs = []
        for host in dict.fromkeys(seat.host for seat in network.seats):
            sources = {seat.address for seat in network.seats if seat.host == host}
            own = [flow for flow in flows if flow["src"] in sources]
            runs.append(traffic.send_tcp(host, own, CONGESTION_CONTROL, deadline, open_ahead=open_ahead))
        completed = await traffic.report("serve", deadline + 5)
        reported = [outcome for run in runs for outcome in await traffic.report(run, SENDERS_END_S)]
    return completion.joined(flows, completed, reported), read_counters(network.sender_pids()) - before


def load_summary(load: float, sent: Sequence[Flow], tcp: TcpCounters, scale: float) -> dict[str, Any]:
    """What became of the flows that made a load."""
    return (
        {"load": load}
        | completion.summarise(sent, scale)
        | {
            "segments_sent": tcp.segments_sent,
            "segments_retransmitted": tcp.segments_retransmitted,
            "syn_retransmissions": tcp.syn_retransmissions,
            "timeouts": tcp.timeouts,
        }
    )


def _write_loads(found: Mapping[str, Any], path: Path) -> None:
    """One row a scheme and load."""
    with path.open("w", newline="") as file:
        rows: csv.DictWriter[str] | None = None
        for name, scheme in found["schemes"].items():
            for load in scheme["loads"]:
                if rows is None:
                    rows = csv.DictWriter(file, ["scheme", *load])
                    rows.writeheader()
                rows.writerow({"scheme": name} | load)


def _write_flows(flows: Mapping[str, Mapping[float, Sequence[Flow]]], path: Path) -> None:
    """One row a flow; no time for one that was not done."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["scheme", "load", "start_s", "size_bytes", "completion_ms", "segments_retransmitted"])
        for name, loads in flows.items():
            for load, sent in loads.items():
                for flow in sent:
                    time_ms = "" if flow.completion_s is None else 1e3 * flow.completion_s
                    rows.writerow([name, load, flow.start_s, flow.size_bytes, time_ms, flow.retransmitted])


def _table(found: Mapping[str, Any]) -> Table:
    shown = Table(
        title="Completion times in ms: mean, median, 99th percentile of small flows, mean of large flows",
        title_justify="left",
    )
    columns = ("scheme", "load", "mean", "95 %", "median", "99 %", "large", "resent by", "not done", "run")
    for column in columns:
        shown.add_column(column, justify="left" if column in ("scheme", "run") else "right")
    for name, scheme in found["schemes"].items():
        for load in scheme["loads"]:
            shown.add_row(
                title(name),
                f"{load['load']:g}",
                _ms(load["small_mean_ms"]),
                f"{_ms(load['small_mean_low_ms'])}-{_ms(load['small_mean_high_ms'])}",
                *(_ms(load[key]) for key in ("small_median_ms", "small_p99_ms", "large_mean_ms")),
                f"{load['small_retransmitting']} of {load['small_flows']}",
                str(load["not_completed"]),
                verdict(scheme),
            )
    return shown


def _ms(time: float | None) -> str:
    return "-" if time is None else f"{time:.2f}"


def _ratios(found: Mapping[str, Any]) -> Table:
    """Each scheme against the last one of the run: PIFO, in a run of all."""
    *names, last = found["schemes"]
    shown = Table(title=f"Mean of small flows, in times that with {title(last)}, and the 95 % interval of the ratio")
    shown.add_column("scheme")
    for load in found["small_mean_ratios"]:
        shown.add_column(f"load {load}", justify="right")
    for name in names:
        ratios = [ratios.get(name, {}).get(last) for ratios in found["small_mean_ratios"].values()]
        shown.add_row(title(name), *("-" if ratio is None else _ratio(ratio) for ratio in ratios))
    return shown


def _ratio(found: Mapping[str, float | None]) -> str:
    bounds = "" if found["low"] is None else f" ({found['low']:.2f}-{found['high']:.2f})"
    return f"{found['ratio']:.2f}{bounds}"


EXPERIMENT = Declared(
    "flow_completion", "Small flows end sooner with ranks (RIFO paper, Fig. 7 and 8; PACKS paper, Fig. 12)", run
)
