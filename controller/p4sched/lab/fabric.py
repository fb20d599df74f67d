"""Programs leaves and spines, with routes and shaped links, and observes all switches."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from p4sched.control.controller import SwitchAddress
from p4sched.lab.controllers import Controllers, Laws, SwitchController, SwitchPlan, python_controllers
from p4sched.lab.fidelity import Health
from p4sched.lab.network import Fabric
from p4sched.lab.observation import Observation, queue_counts
from p4sched.lab.programming import NO_DELAY, bmv2_bottleneck, bottleneck
from p4sched.lab.schemes import Link
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.traffic_manager import (
    Bmv2TrafficManager,
    EmbeddedTrafficManager,
    PortSettings,
    TrafficManager,
)
from p4sched.p4rt.users import User
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.scheme import Setup

NOBODY: Mapping[str, Any] = MappingProxyType({})
"""No users on any switch."""


@dataclass(frozen=True)
class SwitchSeat:
    """One programmed switch."""

    controller: SwitchController
    traffic_manager: TrafficManager
    host_ports: tuple[int, ...]
    fabric_ports: tuple[int, ...]
    """Ports to other switches."""

    @property
    def reader(self) -> Reader:
        """Reads from the switch."""
        return self.controller.reader

    @property
    def ports(self) -> tuple[int, ...]:
        """All ports."""
        return self.host_ports + self.fabric_ports


@dataclass(frozen=True)
class FabricTestbed:
    """Programmed switches by name."""

    switches: Mapping[str, SwitchSeat]
    notes: tuple[str, ...]
    """Properties of the links that these switches and this machine do not emulate."""


@asynccontextmanager
async def program_fabric(
    network: Fabric,
    ranked: Setup,
    hosts: Link,
    fabric_bps: int,
    source: RankSource,
    *,
    users: Mapping[str, Sequence[User]] = NOBODY,
    laws: Mapping[str, Laws] = NOBODY,
    controllers: Controllers = python_controllers,
) -> AsyncIterator[FabricTestbed]:
    """Runs the scheme on every port of every switch.

    Links to hosts are `hosts`, with half of the RTT in front of each host. Links between switches have the rate
    `fabric_bps` and no delay. `users` and `laws` are by switch. A switch without laws has the scheme's own parameters.
    """

    def plan(name: str) -> SwitchPlan:
        switch, shape, tuned = network.switches[name], network.shape, laws.get(name)
        return SwitchPlan(
            SwitchAddress(switch.address, switch.device_id),
            ranked,
            dict(switch.port_interfaces()),
            shape.routes(name),
            shape.groups(name),
            users.get(name, ()),
            source,
            ranked.parameters if tuned is None else None,
            tuned,
        )

    async with controllers({name: plan(name) for name in network.switches}) as running, AsyncExitStack() as stack:
        switches = {}
        for name, switch in network.switches.items():
            thrift = network.thrift_port(name)
            manager: TrafficManager
            manager = EmbeddedTrafficManager(switch.address) if thrift is None else Bmv2TrafficManager(thrift)
            stack.push_async_callback(manager.close)
            rack, others = host_ports(network, name), fabric_ports(network, name)
            switches[name] = SwitchSeat(running[name], manager, rack, others)
            shaped = bottleneck if thrift is None else bmv2_bottleneck
            settings = [shaped(port, ranked, hosts) for port in rack]
            settings += [between(shaped(port, ranked, hosts), fabric_bps) for port in others]
            await manager.set_ports(settings)
        yield FabricTestbed(switches, _not_emulated(network, hosts))


def host_ports(network: Fabric, switch: str) -> tuple[int, ...]:
    """Ports of a switch to its rack."""
    return tuple(station.port for station in network.racks.get(switch, ()))


def fabric_ports(network: Fabric, switch: str) -> tuple[int, ...]:
    """Ports of a switch to other switches."""
    rack = host_ports(network, switch)
    return tuple(port for port in network.shape.structure.ports(switch) if port not in rack)


def between(host_port: PortSettings, rate_bps: int) -> PortSettings:
    """Settings of a port to another switch, from those of a port to a host: another rate, and no delay."""
    return replace(host_port, rate_bps=rate_bps, delay_ns=None if host_port.delay_ns is None else 0)


def _not_emulated(network: Fabric, hosts: Link) -> tuple[str, ...]:
    """Lets hosts delay frames if the switches cannot. Returns a note if the kernel cannot either."""
    if all(network.thrift_port(name) is None for name in network.switches):
        return ()
    return () if network.delay_hosts(hosts.rtt_ns // 2) else (NO_DELAY,)


@dataclass(frozen=True)
class FabricObservation:
    """Observations between start and end."""

    total: Observation
    """The machine, TCP and all switches together; lateness is that of the worst switch."""
    ports: Mapping[str, Mapping[int, Mapping[str, Any]]]
    """Queues of each switch and port; empty for switches that do not count them."""
    sent_bytes: Mapping[str, Mapping[int, int]]
    """Bytes by switch and port."""


@dataclass(frozen=True)
class FabricObserver:
    """Observes all switches from `start` to `finish`."""

    network: Fabric
    testbed: FabricTestbed
    health: Health
    tcp: TcpCounters
    stats: Mapping[str, Mapping[int, pb.PortStats] | None]

    @classmethod
    async def start(cls, network: Fabric, testbed: FabricTestbed, rtt_ns: int) -> "FabricObserver":
        """Starts to observe."""
        for seat in testbed.switches.values():
            await seat.traffic_manager.fidelity(reset=True)
        stats = await _stats(testbed)
        health = network.health(rtt_ns)
        return cls(network, testbed, health, await network.tcp(_all_hosts(network)), stats)

    async def finish(self) -> FabricObservation:
        """Observations since the start."""
        self.health.end()
        tcp, stats = await self.network.tcp(_all_hosts(self.network)), await _stats(self.testbed)
        reports = [await seat.traffic_manager.fidelity() for seat in self.testbed.switches.values()]
        fidelity = self.health.fidelity([report for report in reports if report is not None])
        ports, sent = {}, {}
        for name, later in stats.items():
            earlier = self.stats[name]
            if later is not None and earlier is not None:
                pairs = {port: (earlier[port], found) for port, found in later.items()}
                ports[name] = {port: queue_counts(*pair) for port, pair in pairs.items()}
                sent[name] = {port: after.tx_bytes - before.tx_bytes for port, (before, after) in pairs.items()}
        return FabricObservation(Observation(fidelity, tcp - self.tcp, {}), ports, sent)


async def _stats(testbed: FabricTestbed) -> dict[str, Mapping[int, pb.PortStats] | None]:
    return {name: await seat.traffic_manager.stats() for name, seat in testbed.switches.items()}


def _all_hosts(network: Fabric) -> list[str]:
    return [station.name for station in network.stations()]
