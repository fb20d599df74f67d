"""Networks in virtual time: dumbbell, incast, several switches. Each network has its own process."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mininet_topos.dumbbell import dumbbell_sides
from mininet_topos.incast import incast_sides
from mininet_topos.star import Sides
from p4sched.lab import network
from p4sched.lab.announcement import announce
from p4sched.lab.endpoints import Destination
from p4sched.lab.experiment import HostKind
from p4sched.lab.fidelity import Exact, Health
from p4sched.lab.network import USER_HOSTS, FabricShape, Lab, ResentRank, node_errors
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.lab.topology_file import DescribedFabric
from p4sched.lab.virtual.client import Client, in_lock_step
from p4sched.lab.virtual.process import VirtualProcess, virtual_process
from p4sched.lab.virtual.topology import Topology, describe
from p4sched.lab.virtual.traffic import Runs, VirtualGeneratedTraffic, VirtualLongTraffic, VirtualProbe
from p4sched.p4rt.traffic_manager import Fidelity as SwitchFidelity
from p4sched.proto import simulation_pb2 as pb

AnyNetwork = TypeVar("AnyNetwork", bound=network.Network)


@dataclass(frozen=True)
class VirtualSwitch:
    """A switch of a network in virtual time."""

    name: str
    address: str
    device_id: int
    ports: Sequence[int]

    def port_interfaces(self) -> list[tuple[int, str]]:
        """(port number, interface) of every data port, with Mininet's names."""
        return [(port, f"{self.name}-eth{port}") for port in self.ports]


class NoMachine(Health):
    """Health in virtual time, where no machine can be too slow."""

    def end(self) -> None:
        """Does nothing."""

    def fidelity(self, switches: Sequence[SwitchFidelity]) -> Exact:
        return Exact(sum(switch.departures for switch in switches))


@dataclass(frozen=True)
class JoinedSimulation:
    """A simulation that this event loop takes part in."""

    process: VirtualProcess
    client: Client
    origin_ns: int
    """Time 0 of the simulation on the event loop's clock."""
    switches: Mapping[str, VirtualSwitch]
    hosts: HostKind


_RESENT_RANKS = {
    ResentRank.OWN: pb.RESENT_RANK_OWN,
    ResentRank.LEAST: pb.RESENT_RANK_LEAST,
    ResentRank.URGENT: pb.RESENT_RANK_URGENT,
}


class VirtualNetwork(network.Network):
    """A network in virtual time."""

    def __init__(self, simulation: JoinedSimulation) -> None:
        self._simulation = simulation

    @property
    def switches(self) -> Mapping[str, VirtualSwitch]:
        return self._simulation.switches

    def thrift_port(self, switch: str) -> int | None:
        """Always None: its switches have no Thrift."""
        return None

    def delay_hosts(self, delay_ns: int) -> bool:
        """Always False: its switches delay, not the hosts."""
        return False

    def check_alive(self) -> None:
        self._simulation.process.check_alive()

    async def set_shortest_timeout(self, rto_min_ns: int) -> None:
        # the kernel's routes hold rto_min in whole milliseconds
        await self._simulation.client.set_hosts(rto_min_ns=-(-rto_min_ns // 10**6) * 10**6)

    async def set_initial_window(self, segments: int) -> None:
        await self._simulation.client.set_hosts(initial_window=segments)

    async def set_resent_rank(self, rule: ResentRank) -> None:
        await self._simulation.client.set_hosts(resent_rank=_RESENT_RANKS[rule])

    async def tcp(self, hosts: Sequence[str]) -> TcpCounters:
        return await self._simulation.client.counters(hosts)

    def health(self, rtt_ns: int) -> NoMachine:
        return NoMachine()

    def long_traffic(self, folder: Path, congestion_control: str) -> VirtualLongTraffic:
        return VirtualLongTraffic(self.runs(folder.name), folder, congestion_control, self.destination)

    def generated_traffic(self, folder: Path) -> VirtualGeneratedTraffic:
        assert self.destination is not None, "generated traffic goes to one host"
        return VirtualGeneratedTraffic(self.runs(folder.name), folder, self.destination)

    def runs(self, prefix: str) -> Runs:
        """Runs of traffic programs whose names begin with `prefix`."""
        return Runs(self._simulation.client, self._simulation.origin_ns, f"{prefix}/")


class Dumbbell(VirtualNetwork, network.Dumbbell):
    """A dumbbell or incast in virtual time."""

    def __init__(self, simulation: JoinedSimulation, sides: Sides) -> None:
        VirtualNetwork.__init__(self, simulation)
        network.Dumbbell.__init__(self, sides)

    def probe(self, packets_per_s: float) -> VirtualProbe:
        assert self.destination is not None
        first = self.stations()[0]
        source = Destination(first.name, first.address)
        return VirtualProbe(
            self.runs("probe"),
            self._simulation.origin_ns,
            source,
            self.destination,
            packets_per_s,
            self._simulation.hosts,
        )


class Fabric(VirtualNetwork, network.Fabric):
    """Several switches in virtual time."""

    def __init__(self, simulation: JoinedSimulation, shape: FabricShape) -> None:
        VirtualNetwork.__init__(self, simulation)
        network.Fabric.__init__(self, shape)


class VirtualLab(Lab):
    """Makes networks in virtual time, for a program that runs in a `VirtualLoop`."""

    def __init__(self, hosts: HostKind) -> None:
        self._hosts = hosts
        self._options = [] if hosts is HostKind.MODEL else ["--hosts", hosts.value]

    @asynccontextmanager
    async def dumbbell(self, users: int, folder: Path, hosts: int = USER_HOSTS) -> AsyncIterator[network.Dumbbell]:
        with node_errors():
            sides = dumbbell_sides(hosts, users)
        async with self._simulation(describe(sides.structure(), cpu_port=True), folder) as simulation:
            with self._announced_network(Dumbbell(simulation, sides), simulation, folder) as up:
                yield up

    @asynccontextmanager
    async def incast(self, senders: int, folder: Path) -> AsyncIterator[network.Dumbbell]:
        with node_errors():
            sides = incast_sides(senders)
        async with self._simulation(describe(sides.structure()), folder) as simulation:
            with self._announced_network(Dumbbell(simulation, sides), simulation, folder) as up:
                yield up

    @asynccontextmanager
    async def fabric(self, shape: FabricShape, folder: Path) -> AsyncIterator[network.Fabric]:
        topology = shape.description if isinstance(shape, DescribedFabric) else describe(shape.structure)
        async with self._simulation(topology, folder) as simulation:
            with self._announced_network(Fabric(simulation, shape), simulation, folder) as up:
                yield up

    @contextmanager
    def _announced_network(self, up: AnyNetwork, simulation: JoinedSimulation, folder: Path) -> Iterator[AnyNetwork]:
        with announce(self.heading, up, folder, simulation.origin_ns, simulation.process.address):
            yield up

    @asynccontextmanager
    async def _simulation(self, topology: Topology, folder: Path) -> AsyncIterator[JoinedSimulation]:
        """The simulation of a network, which gives the event loop its time."""
        folder.mkdir(parents=True, exist_ok=True)
        async with (
            virtual_process(topology, self._options) as process,
            in_lock_step(process.address) as (client, origin_ns),
        ):
            yield JoinedSimulation(process, client, origin_ns, _switches(await client.describe()), self._hosts)


def _switches(response: pb.DescribeResponse) -> dict[str, VirtualSwitch]:
    return {
        switch.name: VirtualSwitch(switch.name, switch.address, switch.device_id, list(switch.ports))
        for switch in response.switches
    }
