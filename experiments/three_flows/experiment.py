"""AIFO Fig. 12 and 13: three TCP flows of sizes 10 : 5 : 1 with remaining-size ranks share a link."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.three_flows import figure
from p4sched.cli import options
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import Declared, SwitchKind, choose
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.lab.tcp import read_counters
from p4sched.p4rt.rank_source import RankSource
from p4sched.results.tables import print_table
from p4sched.schemes import named
from p4sched.units import Duration, Rate

CONGESTION_CONTROL = "cubic"
FLOWS = (("large", 10), ("medium", 5), ("small", 1))
"""Name and size in units."""
UNITS = sum(size for _, size in FLOWS)
TCP_PORT = 5001
LEAD_S = 0.5
"""From starting the senders to the first segment."""
PATIENCE = 3
"""The flows may take so many times as long as the link needs for their bytes."""
RATE, BMV2_RATE = Rate.parse("100mbit"), Rate.parse("20mbit")
QUICK_DURATION = Duration.parse("2s")


def run(
    ctx: typer.Context,
    scheme_names: options.RankedSchemes = options.ALL_RANKED_SCHEMES,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = Duration.parse("2ms"),
    duration: Annotated[
        Duration,
        typer.Option(parser=Duration.parse, metavar="TIME", help="How long the link needs for all three flows."),
    ] = Duration.parse("5s"),
    seed: Annotated[int, typer.Option(help="Recorded only: TCP in real time draws nothing.")] = 1,
    quick: Annotated[bool, options.quick_option(f"--duration {QUICK_DURATION}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/three_flows"),
) -> None:
    """Sends a large, a medium and a small flow (10 : 5 : 1) at the same time through each scheme; every segment carries
    the rank of the bytes that remain. Prints a table and writes DIR/summary.json, DIR/flows.csv, DIR/figure.png and
    every segment in order of arrival to DIR/SCHEME/segments.csv."""
    wanted = choose("scheme", scheme_names, ranked_schemes.NAMES)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    seconds = options.unless_quick(ctx, quick, "--duration", duration, QUICK_DURATION).seconds
    unit = int(rate * seconds / 8 / UNITS)
    if unit < 100_000:
        raise UsageError(
            f"{seconds:g} s at {rate / 1e6:g} Mbit/s make a small flow of {unit} bytes: it needs 100000 to outlast"
            " slow start; raise --rate or --duration"
        )
    sizes = {name: units * unit for name, units in FLOWS}
    link = Link(rate, rtt)

    async def measure(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
        with dumbbell(ledger, len(FLOWS), switch.value, folder, hosts=len(FLOWS)) as network:
            return await _measure(network, name, link, sizes, seconds, ledger, folder, tell)

    configuration = {
        "rate_bps": int(rate),
        "rtt_ms": rtt / 1e6,
        "sizes_bytes": sizes,
        "congestion_control": CONGESTION_CONTROL,
        "seed": seed,
    }
    found = run_schemes("three_flows", wanted, switch, out, configuration, measure)
    _write(found, out / "flows.csv")
    figure.draw(found, out, out / "figure.png")
    console = Console()
    print_table(console, _table(found))
    print_end(console, found, out)


async def _measure(
    network: Dumbbell,
    name: str,
    link: Link,
    sizes: Mapping[str, int],
    seconds: float,
    ledger: Ledger,
    folder: Path,
    tell: Tell,
) -> SchemeOutcome:
    ranked = named(name).usual()
    users = [seat.user for seat in network.seats]
    patience = LEAD_S + PATIENCE * seconds + 2
    async with ranked_testbed(network, ranked, link, RankSource.TOS, users) as testbed:
        with GeneratedTraffic(network, ledger, folder / "traffic") as traffic:
            await traffic.serve_tcp(TCP_PORT, patience)
            await traffic.observe(patience, folder / "segments.csv")
            observer = await Observer.start(network, testbed.traffic_manager, link)
            before = [read_counters([pid]) for pid in network.sender_pids()]
            largest = max(sizes.values())
            for seat, size in zip(network.seats, sizes.values(), strict=True):
                flow = {
                    "flow": seat.user,
                    "src": seat.address,
                    "dst": network.server_address,
                    "port": TCP_PORT,
                    "size_bytes": size,
                    "start_s": LEAD_S,
                    "tos": {"remaining": {"largest_bytes": largest}},
                }
                traffic.send_tcp(seat.host, [flow], CONGESTION_CONTROL, patience)
            tell("sending")
            outcomes = [(await traffic.report(f"send-{seat.host}", patience + 5))[0] for seat in network.seats]
            network.check_alive()
            observation = await observer.finish()
            after = [read_counters([pid]) for pid in network.sender_pids()]
            tell("collecting")
            completed = {flow["flow"]: flow for flow in await traffic.report("serve", patience + 5)}
            observed = {flow["src"]: flow for flow in await traffic.report("observe", patience + 5)}
            counted = await decisions(testbed.session, network.bottleneck_port)
    flows = {}
    for place, (seat, (flow_name, size)) in enumerate(zip(network.seats, sizes.items(), strict=True)):
        if not outcomes[place]["completed"] and seat.address not in observed:
            raise LabError(f"the {flow_name} flow sent nothing: {outcomes[place]['error']}")
        seen, ended, tcp = observed[seat.address], completed.get(seat.user), after[place] - before[place]
        flows[flow_name] = {
            "source": seat.address,
            "size_bytes": size,
            "completed": ended is not None,
            "completion_s": None if ended is None else ended["fct_ns"] / 1e9,
            "segments": seen["segments"],
            "reordered_segments": seen["reordered"],
            "retransmitted_segments": tcp.segments_retransmitted,
            "reorderings_seen_by_sender": tcp.reorderings,
        }
    order = sorted((f["completion_s"], name) for name, f in flows.items() if f["completion_s"] is not None)
    found = {
        "flows": flows,
        "completion_order": [name for _, name in order],
        "reordered_segments": sum(f["reordered_segments"] for f in flows.values()),
    }
    return SchemeOutcome(found, observation, ranked.label, counted, testbed.notes)


def _write(found: Mapping[str, Any], path: Path) -> None:
    """One row a scheme and flow."""
    columns = ["completion_s", "size_bytes", "segments", "reordered_segments", "retransmitted_segments"]
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["scheme", "flow", *columns])
        for name, scheme in found["schemes"].items():
            for flow, values in scheme["flows"].items():
                rows.writerow([name, flow, *(values[column] for column in columns)])


def _table(found: Mapping[str, Any]) -> Table:
    shown = Table(title="Completion times, and segments overtaken on the way", title_justify="left")
    shown.add_column("scheme")
    for flow, _ in reversed(FLOWS):
        shown.add_column(f"{flow}, s", justify="right")
    for flow, _ in reversed(FLOWS):
        shown.add_column(f"{flow}, reordered", justify="right")
    shown.add_column("run")
    for name, scheme in found["schemes"].items():
        flows = scheme["flows"]
        times = [_seconds(flows[flow]["completion_s"]) for flow, _ in reversed(FLOWS)]
        overtaken = [str(flows[flow]["reordered_segments"]) for flow, _ in reversed(FLOWS)]
        shown.add_row(f"[bold]{title(name)}[/]\n{scheme['label']}", *times, *overtaken, verdict(scheme))
    return shown


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


EXPERIMENT = Declared(
    "three_flows", "The smallest of three TCP flows ends first; who reorders segments (AIFO paper, Fig. 12 and 13)", run
)
