"""`python -m p4sched.soak [--minutes M]`: see the package. Needs root. The exit code is 1 if the counts do not add up.

The network has twelve leaves, each with a host, and four spines. Every second switch interprets its program, the others
compile it. Hosts send UDP flows to each other. Meanwhile links between switches go down and come up, and controllers
are killed; the next controller replaces all programs.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from mininet_topos.leaf_spine import Shape
from mininet_topos.nodes import with_death_signal
from p4sched.errors import P4schedError
from p4sched.lab.emulated.network import Fabric, fabric
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger
from p4sched.lab.run import clean_run
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager, PortSettings, QueueSettings
from p4sched.paths import BUILD_DIR
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.results.whole_file import write_whole
from p4sched.soak.account import contradictions, totals
from p4sched.soak.controller import READY
from p4sched.soak.links import Links
from p4sched.soak.traffic import Delivery, SoakTraffic

SHAPE = Shape(leaves=12, spines=4, hosts=1)
OUT = BUILD_DIR / "soak"
LINK_BPS = 2_000_000
QUEUE_PACKETS = 20
CONTROLLER_LIVES_S = 20.0
"""Lifetime of a controller after it has programmed all switches."""
PROGRAMMING_S = 120.0
"""Limit of the time to program all switches on a busy machine."""
CHECK_EVERY_S = 2.0
DRAIN_S = 10.0
LEAST_MINUTES, MOST_MINUTES = 0.5, 1400.0
"""Limits of a run: the first link goes down within the smaller; the traffic generator sends for at most a day."""
MORE_MEMORY = 16 << 20
"""Allowed growth of a switch after its first programs, in bytes. A leak of one program per replacement exceeds it."""


@dataclass
class Findings:
    """Result of the soak."""

    problems: list[str] = field(default_factory=list)
    checks: int = 0
    killed: int = 0
    """Number of killed controllers."""
    first_bytes: dict[str, int] = field(default_factory=dict)
    """Memory of each switch after its first programs."""
    most_bytes: dict[str, int] = field(default_factory=dict)


class Soak:
    """A running fabric, its traffic and its failures."""

    def __init__(self, network: Fabric, ledger: Ledger, findings: Findings) -> None:
        self._network, self._ledger, self._found = network, ledger, findings
        self._managers: dict[str, EmbeddedTrafficManager] = {}
        self.links = Links.of(network)
        self.before: dict[str, pb.GetStatsResponse] = {}
        """Statistics of the switches at the start of the account."""

    async def run(self, seconds: float, seed: int) -> tuple[Delivery, Mapping[str, pb.GetStatsResponse]]:
        """Runs everything for this time; returns the account of the traffic, and the statistics of the switches at the
        end."""
        # A connection belongs to the event loop that opens it.
        self._managers = {name: EmbeddedTrafficManager(s.address) for name, s in self._network.switches.items()}
        await self._shape()
        self.before = await self._check()
        self.links.begin(self.before)
        plan = OUT / "plan.json"
        plan.write_text(json.dumps(self._plan()))
        first = await self._controller(plan, 0)
        traffic = SoakTraffic(self._network, self._ledger, OUT / "traffic")
        traffic.start(seconds, seed)
        until = time.monotonic() + seconds
        tasks = [
            asyncio.create_task(self.links.flap(random.Random(seed))),
            asyncio.create_task(self._controllers(plan, first)),
            asyncio.create_task(self._check_always()),
        ]
        try:
            while time.monotonic() < until:
                traffic.check()
                for task in tasks:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.5)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        delivery = await traffic.finish()
        stats = await self._drained()
        if full := traffic.sockets_full():
            self._problem(f"{full} datagrams found no room at a receiver: the machine is too busy to account for them")
        for manager in self._managers.values():
            await manager.close()
        return delivery, stats

    def _problem(self, text: str) -> None:
        if text not in self._found.problems:
            self._found.problems.append(text)

    async def _shape(self) -> None:
        """Sets slow links with short queues, which overflow in bursts."""
        queues = {queue: QueueSettings(QUEUE_PACKETS) for queue in range(8)}
        for name, switch in self._network.switches.items():
            ports = [port for port, _ in switch.port_interfaces()]
            settings = [
                PortSettings(port, rate_bps=LINK_BPS, queues=queues, buffer_packets=QUEUE_PACKETS) for port in ports
            ]
            await self._managers[name].set_ports(settings)

    def _plan(self) -> dict[str, dict[str, object]]:
        return {
            name: {
                "address": switch.address,
                "device_id": switch.device_id,
                "ports": dict(switch.port_interfaces()),
                "routes": self._network.shape.routes(name),
                "groups": self._network.shape.groups(name),
            }
            for name, switch in self._network.switches.items()
        }

    async def _controller(self, plan: Path, number: int) -> subprocess.Popen[bytes]:
        """Starts a controller; returns when it has programmed all switches."""
        log = OUT / f"controller-{number}.log"
        command = [sys.executable, "-m", "p4sched.soak.controller", str(plan), str(number)]
        with log.open("wb") as out:
            process = subprocess.Popen(
                with_death_signal(command), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
        self._ledger.add_processes([process.pid])
        deadline = time.monotonic() + PROGRAMMING_S
        while READY not in (said := log.read_text().split()):
            if process.poll() is not None:
                raise LabError(f"controller {number} ended: {' '.join(said)}")
            if time.monotonic() > deadline:
                raise LabError(f"controller {number} has not programmed all switches after {PROGRAMMING_S:.0f} s")
            await asyncio.sleep(0.1)
        return process

    async def _controllers(self, plan: Path, process: subprocess.Popen[bytes]) -> None:
        """Kills the controller and starts the next one, with another program, until it is cancelled."""
        number = 0
        while True:
            await asyncio.sleep(CONTROLLER_LIVES_S)
            process.kill()
            process.wait()
            self._found.killed += 1
            number += 1
            process = await self._controller(plan, number)
            if number == 2:
                self._found.first_bytes = {name: self._bytes(name) for name in self._network.switches}

    def _bytes(self, switch: str) -> int:
        process = self._network.switches[switch].process
        assert process is not None
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))

    async def _check_always(self) -> None:
        while True:
            await self._check()
            await asyncio.sleep(CHECK_EVERY_S)

    async def _check(self) -> dict[str, pb.GetStatsResponse]:
        """Checks the statistics of every switch, each from one instant, and returns them."""
        stats = {}
        for name, manager in self._managers.items():
            stats[name] = await manager.account()
            for problem in contradictions(stats[name]):
                self._problem(f"{name}: {problem}")
            self._found.most_bytes[name] = max(self._bytes(name), self._found.most_bytes.get(name, 0))
        self._found.checks += 1
        for name, first in self._found.first_bytes.items():
            if (grown := self._found.most_bytes[name] - first) > MORE_MEMORY:
                self._problem(f"{name} has grown beyond {MORE_MEMORY >> 20} MiB since its first programs")
                self._found.most_bytes[name] = first + grown
        return stats

    async def _drained(self) -> dict[str, pb.GetStatsResponse]:
        """Waits until no packet is inside a switch; returns the statistics of all switches."""
        deadline = time.monotonic() + DRAIN_S
        while True:
            stats = await self._check()
            if not any(totals(found).inside for found in stats.values()):
                return stats
            if time.monotonic() > deadline:
                self._problem(f"packets are still inside {DRAIN_S:.0f} s after the traffic has ended")
                return stats
            await asyncio.sleep(0.2)


def report(soak: Soak, findings: Findings, delivery: Delivery, stats: Mapping[str, pb.GetStatsResponse]) -> Table:
    """The table of the run. Adds contradictions between the counts of different parts to the problems."""
    table = Table(title="Every frame, by switch", title_justify="left")
    kinds = [kind for kind in totals(stats["s1"]).drops if any(totals(s).drops[kind] for s in stats.values())]
    for column in ("switch", "program", "received", "sent", *kinds, "refused", "lost before", "memory, MiB"):
        table.add_column(column, justify="left" if column in ("switch", "program") else "right")
    for place, (name, counts) in enumerate(stats.items()):
        one = totals(counts)
        row = [one.received, one.sent, *(one.drops[kind] for kind in kinds), one.refused, one.rx_lost]
        memory = f"{findings.first_bytes.get(name, 0) >> 20} to {findings.most_bytes[name] >> 20}"
        table.add_row(name, "interpreted" if place % 2 else "compiled", *(f"{count:,}" for count in row), memory)
    on_links, wrong = soak.links.losses(stats)
    findings.problems += wrong
    lost = on_links + sum(totals(counts).lost - totals(soak.before[name]).lost for name, counts in stats.items())
    if delivery.sent != delivery.received + lost:
        missing = delivery.sent - delivery.received - lost
        findings.problems.append(
            f"hosts sent {delivery.sent:,} datagrams and received {delivery.received:,}, {lost:,} were lost in the"
            f" switches and on links: {missing:,} are missing"
        )
    if delivery.reordered:
        findings.problems.append(f"{delivery.reordered:,} datagrams arrived after a later one of their flow")
    table.caption = (
        f"{delivery.sent:,} datagrams sent, {delivery.received:,} received, {on_links:,} lost on links that were down;"
        f" {soak.links.flaps} links went down, {findings.killed} controllers were killed, {findings.checks} checks"
    )
    return table


def _minutes(text: str) -> float:
    """Parses a number of minutes within the limits."""
    try:
        minutes = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        raise argparse.ArgumentTypeError(f"{text}: {LEAST_MINUTES:g} to {MOST_MINUTES:g} minutes are possible")
    return minutes


def main() -> int:
    """Runs the soak; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m p4sched.soak", description=__doc__)
    parser.add_argument("--minutes", type=_minutes, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    found, console = Findings(), Console(highlight=False, width=160)
    interpreted = [name for place, name in enumerate(SHAPE.switch_names()) if place % 2]
    try:
        with (
            clean_run("make soak") as ledger,
            fabric(ledger, SHAPE, "embedded", OUT / "switches", interpreted) as network,
        ):
            soak = Soak(network, ledger, found)
            delivery, stats = asyncio.run(soak.run(60 * options.minutes, options.seed))
            table = report(soak, found, delivery, stats)
    except P4schedError as error:
        console.print(f"soak: {error}", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("soak: interrupted; all processes and links are removed")
        return 130
    console.print(table)
    for problem in found.problems:
        console.print(f"  {problem}", markup=False)
    console.print("[bold red]does not add up[/]" if found.problems else "everything adds up")
    write_whole(OUT / "report.json", json.dumps({**asdict(found), "delivery": asdict(delivery)}, indent=2) + "\n")
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
