"""RIFO Fig. 7 and 8, PACKS Fig. 12 in small: completion times of TCP flows with remaining-size ranks against load."""

import csv
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.flow_completion import completion, figure
from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.experiment import Experiment, SwitchKind, choose, once
from p4sched.lab import options, ranked_schemes
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_schemes import decisions, equal_buffers, ranked_scheme, ranked_testbed
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.lab.tcp import read_counters
from p4sched.paths import traffic_binary
from p4sched.rank_source import RankSource
from p4sched.units import Duration, Rate

CONGESTION_CONTROL = "cubic"
DISTRIBUTIONS = ("web-search", "data-mining")
HOSTS = 4
FIRST_TCP_PORT = 5001
LEAD_S = 0.5
DRAIN_S = 3.0
"""After the last start, flows have this long to end."""
SIZES = replace(equal_buffers(buffer=40, window=20, headroom=0.1, queues=4), rifo_tracking=50)
"""PACKS 6.2: 4 queues of 10 packets or one of 40, |W| = 20, k = 0.1. RIFO, which is not in it, has T = 50 (RIFO 5)."""
RTO_MIN_RTTS = 2
"""With the RTT itself this makes the timeout of 3 RTTs of pFabric's hosts (PACKS 6.2)."""
RATE, BMV2_RATE = Rate.parse("100mbit"), Rate.parse("20mbit")
SHORTEST_S = 1.0
"""For flows to start, at each load."""
QUICK_LOADS = "0.5,0.8"
QUICK_DURATION = Duration.parse("4s")


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
    ] = 0.1,
    scheme_names: options.RankedSchemes = options.ALL_RANKED_SCHEMES,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = Duration.parse("2ms"),
    duration: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="How long flows start, for each load.")
    ] = Duration.parse("20s"),
    rto_min: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help=f"What TCP adds to the RTT before it retransmits, at least; default: {RTO_MIN_RTTS} RTTs."
            " The kernel's own is 200ms.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of sizes and arrivals: the same flows for every scheme.", min=0, max=options.MAX_SEED)
    ] = 1,
    quick: Annotated[bool, options.quick_option(f"--loads {QUICK_LOADS} --duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/flow_completion"),
) -> None:
    """Sends TCP flows of random sizes at each load through each scheme; every segment carries the rank of the bytes
    that remain. Prints a table and writes DIR/summary.json, DIR/loads.csv and DIR/figure.png."""
    wanted = choose("scheme", scheme_names, ranked_schemes.NAMES)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    if sizes not in DISTRIBUTIONS:
        raise unknown_name("distribution of sizes", sizes, DISTRIBUTIONS)
    asked = parse_loads(options.unless_quick(ctx, quick, "--loads", loads, QUICK_LOADS))
    starts = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION)
    seconds = options.at_least("--duration", starts, SHORTEST_S, "flows start at random times, some a second")
    link = Link(rate, rtt)

    shortest = rto_min or RTO_MIN_RTTS * rtt

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
        with dumbbell(ledger, HOSTS, switch.value, folder, hosts=HOSTS) as network:
            network.set_shortest_timeout(shortest)
            plans = {
                load: plan(network, sizes, scale, load, int(rate), seconds, seed, FIRST_TCP_PORT + place)
                for place, load in enumerate(asked)
            }
            return await _measure(network, name, link, plans, seconds, scale, ledger, folder, tell)

    configuration = {
        "sizes": sizes,
        "scale": scale,
        "loads": asked,
        "rate_bps": int(rate),
        "rtt_ms": rtt / 1e6,
        "rto_min_ms": shortest / 1e6,
        "duration_s": seconds,
        "congestion_control": CONGESTION_CONTROL,
        "seed": seed,
    }
    found = run_schemes("flow_completion", wanted, switch, out, configuration, measure)
    _write(found, out / "loads.csv")
    figure.draw(found, out / "figure.png")
    console = Console()
    console.print(_table(found))
    print_end(console, found, out)


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
    network: Dumbbell, sizes: str, scale: float, load: float, rate_bps: int, seconds: float, seed: int, port: int
) -> list[dict[str, Any]]:
    """The flows of one load, by the traffic generator."""
    sources = ",".join(seat.address for seat in network.seats)
    words = [str(traffic_binary()), "plan", "--sizes", sizes, "--scale", str(scale), "--load", str(load)]
    words += ["--link-bps", str(rate_bps), "--duration", str(seconds), "--seed", str(seed), "--port", str(port)]
    words += ["--sources", sources, "--destinations", network.server_address]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise P4schedError(done.stderr.strip())
    flows: list[dict[str, Any]] = json.loads(done.stdout)
    return [flow | {"start_s": flow["start_s"] + LEAD_S} for flow in flows]


async def _measure(
    network: Dumbbell,
    name: str,
    link: Link,
    plans: Mapping[float, Sequence[dict[str, Any]]],
    seconds: float,
    scale: float,
    ledger: Ledger,
    folder: Path,
    tell: Tell,
) -> SchemeOutcome:
    ranked = ranked_scheme(name, SIZES)
    users = [seat.user for seat in network.seats]
    found = []
    async with ranked_testbed(network, ranked, link, RankSource.TOS, users) as testbed:
        observer = await Observer.start(network, testbed.traffic_manager, link)
        for place, (load, flows) in enumerate(plans.items()):
            tell(f"load {load:g}: {len(flows)} flows")
            network.check_alive()
            deadline, port = LEAD_S + seconds + DRAIN_S, FIRST_TCP_PORT + place
            found.append(await at_load(network, load, flows, port, deadline, scale, ledger, folder / f"load-{load:g}"))
        observation = await observer.finish()
        counted = await decisions(testbed.session, ranked, network.bottleneck_port)
    seen = observation.but(completion.unmeasured(found))
    return SchemeOutcome({"loads": found}, seen, ranked.scheme.label, counted, testbed.notes)


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
    """Sends the flows that make a load, and gives up those that are not done at the deadline (in seconds from now)."""
    before = read_counters(network.sender_pids())
    with GeneratedTraffic(network, ledger, folder) as traffic:
        await traffic.serve_tcp(port, deadline + 0.5, len(flows))
        for host in dict.fromkeys(seat.host for seat in network.seats):
            sources = {seat.address for seat in network.seats if seat.host == host}
            own = [flow for flow in flows if flow["src"] in sources]
            traffic.send_tcp(host, own, CONGESTION_CONTROL, deadline)
        completed = await traffic.report("serve", deadline + 5)
    tcp = read_counters(network.sender_pids()) - before
    return (
        {"load": load}
        | completion.summarise(completion.joined(flows, completed), scale)
        | {
            "segments_sent": tcp.segments_sent,
            "segments_retransmitted": tcp.segments_retransmitted,
            "syn_retransmissions": tcp.syn_retransmissions,
            "timeouts": tcp.timeouts,
        }
    )


def _write(found: Mapping[str, Any], path: Path) -> None:
    """One row a scheme and load."""
    with path.open("w", newline="") as file:
        rows: csv.DictWriter[str] | None = None
        for name, scheme in found["schemes"].items():
            for load in scheme["loads"]:
                if rows is None:
                    rows = csv.DictWriter(file, ["scheme", *load])
                    rows.writeheader()
                rows.writerow({"scheme": name} | load)


def _table(found: Mapping[str, Any]) -> Table:
    shown = Table(
        title="Completion times in ms: mean, median, 99th percentile of small flows, mean of large flows",
        title_justify="left",
    )
    columns = ("scheme", "load", "mean", "median", "99 %", "large", "flows", "over 1 s", "not done", "run")
    for column in columns:
        shown.add_column(column, justify="left" if column in ("scheme", "run") else "right")
    for name, scheme in found["schemes"].items():
        for load in scheme["loads"]:
            times = [load[key] for key in ("small_mean_ms", "small_median_ms", "small_p99_ms", "large_mean_ms")]
            shown.add_row(
                title(name),
                f"{load['load']:g}",
                *("-" if time is None else f"{time:.1f}" for time in times),
                str(load["flows"]),
                str(load["small_over_1s"]),
                str(load["not_completed"]),
                verdict(scheme),
            )
    return shown


EXPERIMENT = Experiment(
    "flow_completion", "Small flows end sooner with ranks (RIFO paper, Fig. 7 and 8; PACKS paper, Fig. 12)", run
)
