"""Throughput and latency of a switch between two hosts, next to a no-op forwarder and BMv2."""

import asyncio
import json
import shutil
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from mininet_topos.nodes import Bmv2Switch, EmbeddedSwitch, P4Switch
from p4sched.bench.part import SWITCH_DIR, Outcome, Target
from p4sched.constants import RANK_PORT
from p4sched.errors import P4schedError
from p4sched.lab.emulated.generator import GeneratorRuns
from p4sched.lab.emulated.iperf3 import Iperf3Traffic
from p4sched.lab.emulated.network import Dumbbell, dumbbell
from p4sched.lab.ledger import Ledger
from p4sched.lab.programming import port_settings, program_network
from p4sched.lab.run import clean_run
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import IPERF3, transfers
from p4sched.scheme import Setup
from p4sched.schemes import FIFO, PACKS
from p4sched.units import Duration, Rate

BMV2_PROGRAMS = ("simple_switch_grpc", "simple_switch_CLI")
"""BMv2 is measured where both are installed."""
ROUNDS = 3
TCP_ROUNDS = 8
"""Rounds of Cubic. They differ by 10 to 20 %, so many short rounds give a better median than few long ones."""
LINK = Link(Rate.parse("40gbit"), Duration.parse("10us"))
"""The rate is higher than any switch here reaches, so the machine is the bottleneck. The delay is not measured."""
ROOM = 10_000
"""Packets in each queue."""
WARM_UP_S, TCP_S = 1.0, 2.0
CONNECTIONS = 4
SMALL_BYTES = 66
"""The smallest frames of the generator; 64 bytes without its flow header."""
OFFERED_PPS = 600_000
FLOOD_S, SETTLE_S, COUNTED_S = 4.0, 1.0, 2.0
DELAY_S = 4.0
DELAY_BYTES = 200
WIRE = "wire"
"""Name of an interface of both hosts, and of the direct path between them, without a switch."""


class Forwarder(EmbeddedSwitch):
    """A forwarder that does nothing else, in place of the switch and on the same CPUs."""

    program = "forwarder"

    def switch_command(self) -> list[str]:
        binary = SWITCH_DIR / "target/release/examples/forwarder"
        return [str(binary), *(interface for _, interface in self.port_interfaces())]

    def is_ready(self) -> bool:
        return "ready" in self.log_tail().split()


@dataclass(frozen=True)
class Way:
    """A path between the hosts."""

    label: str
    node: type[P4Switch]
    setup: Setup | None
    """Its program, or None."""


NO_OP = Way("no-op forwarder", Forwarder, None)
OWN_FIFO = Way("fifo.p4", EmbeddedSwitch, replace(FIFO.default_setup(), room=ROOM))
OWN_PACKS = Way("packs.p4", EmbeddedSwitch, replace(PACKS.default_setup(), room=ROOM))
BMV2_FIFO = Way("BMv2, fifo.p4", Bmv2Switch, replace(FIFO.default_setup(), room=ROOM))


def measure() -> Outcome:
    """Measures all ways in turn, ROUNDS times, then all but BMv2 with Cubic alone; takes the medians."""
    build = ["--manifest-path", str(SWITCH_DIR / "Cargo.toml"), "--locked", "--workspace", "--example", "forwarder"]
    if subprocess.run(["cargo", "build", "--quiet", "--release", *build], check=False).returncode != 0:
        raise P4schedError("the forwarder cannot be built")
    ways = [NO_OP, OWN_FIFO, OWN_PACKS, *([BMV2_FIFO] if all(map(shutil.which, BMV2_PROGRAMS)) else [])]
    rounds: dict[str, list[dict[str, float]]] = {way.label: [] for way in ways}
    with clean_run("make bench", programs=[IPERF3]) as ledger, TemporaryDirectory() as folder:
        for number in range(TCP_ROUNDS):
            half_pps: float | None = None
            # BMv2 first: delays are measured with half of the load that BMv2 carries.
            for way in reversed(ways):
                only_tcp = number >= ROUNDS
                if only_tcp and way is BMV2_FIFO:
                    continue
                at = Path(folder) / f"{number}-{way.label.replace(' ', '-')}"
                found = asyncio.run(_round(way, ledger, at, half_pps, only_tcp))
                half_pps = half_pps or found.get("delay_pps")
                rounds[way.label].append(found)
    figures = {
        label: {name: statistics.median(found[name] for found in each if name in found) for name in each[0]}
        for label, each in rounds.items()
    }
    wire_ns = figures[NO_OP.label].pop(WIRE)
    for found in figures.values():
        found |= {"added_ns": found["median_ns"] - wire_ns, "added_p999_ns": found["p999_ns"] - wire_ns}
    return Outcome(_table(figures), {"medians": figures, "rounds": rounds}, _targets(figures))


async def _round(way: Way, ledger: Ledger, folder: Path, delay_pps: float | None, only_tcp: bool) -> dict[str, float]:
    with dumbbell(ledger, 1, way.node, folder, hosts=1) as network:
        async with _ready(network, way):
            tcp_bps = await _tcp(network, ledger, folder / "tcp")
            if only_tcp:
                return {"tcp_bps": tcp_bps}
            pps = await _flood(network, ledger, folder / "flood")
            delay_pps = delay_pps or pps / 2
            median, tail = await _delays(network, ledger, folder / "delay", delay_pps)
            found = {"tcp_bps": tcp_bps, "pps": pps, "delay_pps": delay_pps, "median_ns": median, "p999_ns": tail}
            if way is NO_OP:
                _join(network)
                found[WIRE], _ = await _delays(network, ledger, folder / "wire", delay_pps)
    return found


def _join(network: Dumbbell) -> None:
    """Connects the two hosts with a wire that bypasses the switch. The wire is removed with the hosts."""
    stations = network.stations()
    one, other = (network.host(station.name) for station in stations)
    ends = ["name", WIRE, "netns", str(one.pid), "type", "veth", "peer", "name", WIRE, "netns", str(other.pid)]
    one.run("ip", "link", "add", *ends)
    for host, peer in zip((one, other), reversed(stations), strict=True):
        host.set_up_interface(WIRE)
        host.run("ip", "link", "set", WIRE, "up")
        host.run("ip", "route", "replace", peer.prefix, "dev", WIRE)


@asynccontextmanager
async def _ready(network: Dumbbell, way: Way) -> AsyncIterator[None]:
    if way.setup is not None:
        weights = {seat.user: 1.0 for seat in network.seats}
        async with program_network(network, way.setup, LINK, weights, parameters=way.setup.parameters) as testbed:
            # The other ways add no delay on purpose.
            ports = [replace(port, delay_ns=0) for port in port_settings(network, way.setup, LINK) if port.delay_ns]
            await testbed.traffic_manager.set_ports(ports)
            yield
        return
    # No switch rewrites addresses, so each host sends to the other's address.
    one, other = network.stations()
    for station, peer in ((one, other), (other, one)):
        host = network.host(station.name)
        words = ["replace", station.gateway, "lladdr", peer.mac, "dev", _interface(station.name), "nud", "permanent"]
        host.run("ip", "neighbour", *words)
    yield


async def _tcp(network: Dumbbell, ledger: Ledger, folder: Path) -> float:
    planned = transfers(network.seats, [CONNECTIONS])
    async with Iperf3Traffic(network, ledger, folder) as traffic:
        await traffic.serve(planned)
        await traffic.send(planned, TCP_S, WARM_UP_S)
        await asyncio.sleep(WARM_UP_S + TCP_S)
        reports = await traffic.finish()
        traffic.check_failures()
    return sum(report.goodput_bps for report in reports.values())


async def _flood(network: Dumbbell, ledger: Ledger, folder: Path) -> float:
    """Small frames a second that reach the far host. No process reads them there."""
    async with GeneratorRuns(network, ledger, folder) as traffic:
        words = ["python3", "-c", f"import socket,time;s=socket.socket(2,2);s.bind(('',{RANK_PORT}));time.sleep(60)"]
        sink = subprocess.Popen(network.host(network.server_name).command(*words))
        ledger.add_processes([sink.pid])
        try:
            flow = _flow(network, OFFERED_PPS, SMALL_BYTES, FLOOD_S)
            path = folder / "flows.json"
            path.write_text(json.dumps([flow]))
            traffic.start("flood", network.seats[0].host, ["udp-send", str(path), "--seed", "1"])
            await asyncio.sleep(SETTLE_S)
            began, before = time.monotonic(), _received_packets(network)
            await asyncio.sleep(COUNTED_S)
            return (_received_packets(network) - before) / (time.monotonic() - began)
        finally:
            sink.kill()
            sink.wait()


async def _delays(network: Dumbbell, ledger: Ledger, folder: Path, pps: float) -> tuple[float, float]:
    """Delay from one host to the other in ns: median and 99.9th percentile."""
    log = folder / "received.csv"
    async with GeneratorRuns(network, ledger, folder) as traffic:
        await traffic.receive_udp([RANK_PORT], DELAY_S + 2, log)
        sending = await traffic.send_udp(network.seats[0].host, [_flow(network, pps, DELAY_BYTES, DELAY_S)], 1)
        await traffic.report(sending, 3 * DELAY_S)
        await traffic.report("receive", 3 * DELAY_S)
    rows = [line.split(",") for line in log.read_text().splitlines()[1:]]
    delays = sorted(int(row[4]) - int(row[3]) for row in rows)
    if not delays:
        raise P4schedError("no packet arrived whose delay could be measured")
    return float(delays[len(delays) // 2]), float(delays[len(delays) * 999 // 1000])


def _flow(network: Dumbbell, pps: float, frame_bytes: int, seconds: float) -> dict[str, Any]:
    return {
        "flow": 1,
        "src": network.seats[0].address,
        "dst": network.server_address,
        "port": RANK_PORT,
        "rate_bps": round(pps * frame_bytes * 8),
        "frame_bytes": frame_bytes,
        "ranks": {"fixed": 1},
        "start_s": 0.2,
        "stop_s": seconds,
    }


def _received_packets(network: Dumbbell) -> int:
    """Frames that the far host's interface has received."""
    lines = Path(f"/proc/{network.pid(network.server_name)}/net/dev").read_text().splitlines()
    name = f"{_interface(network.server_name)}:"
    return next(int(line.split()[2]) for line in lines if line.split()[0] == name)


def _interface(host: str) -> str:
    """The interface of a host."""
    return f"{host}-eth0"


def _table(figures: dict[str, dict[str, float]]) -> Table:
    table = Table(title="Between two hosts", title_justify="left")
    table.add_column("through")
    delays = ("delay, us", "added, us", "1 in 1000 adds more, us")
    for column in ("Cubic, Gbit/s", "66-byte frames/s", *delays, "at frames/s"):
        table.add_column(column, justify="right")
    for label, found in figures.items():
        microseconds = (f"{found[name] / 1000:,.0f}" for name in ("median_ns", "added_ns", "added_p999_ns"))
        rate = f"{found['tcp_bps'] / 1e9:.2f}"
        table.add_row(label, rate, f"{found['pps']:,.0f}", *microseconds, f"{found['delay_pps']:,.0f}")
    return table


def _targets(figures: dict[str, dict[str, float]]) -> Sequence[Target]:
    def ratio(name: str, numerator: Way, denominator: Way) -> float:
        return figures[numerator.label][name] / figures[denominator.label][name]

    targets = [
        Target("Cubic, fifo.p4 against the forwarder", ratio("tcp_bps", OWN_FIFO, NO_OP), 0.9),
        Target("Cubic, packs.p4 against the forwarder", ratio("tcp_bps", OWN_PACKS, NO_OP), 0.8),
        Target("small frames, fifo.p4 against the forwarder", ratio("pps", OWN_FIFO, NO_OP), 0.9),
    ]
    if BMV2_FIFO.label in figures:
        targets += [
            Target("small frames, fifo.p4 against BMv2", ratio("pps", OWN_FIFO, BMV2_FIFO), 5.0),
            Target(
                "median of the added delay against BMv2's", ratio("added_ns", OWN_FIFO, BMV2_FIFO), 0.2, at_most=True
            ),
            Target(
                "its 99.9th percentile against BMv2's", ratio("added_p999_ns", OWN_FIFO, BMV2_FIFO), 0.2, at_most=True
            ),
        ]
    return targets
