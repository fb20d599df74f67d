"""The interface of networks, emulated or in virtual time: dumbbell, incast, leaves and spines."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from mininet_topos.dumbbell import USERS_PER_HOST
from mininet_topos.nodes import NodeError
from mininet_topos.shapes import Structure
from mininet_topos.star import Sides
from mininet_topos.stations import Station
from p4sched.lab.endpoints import Destination, UserSeat
from p4sched.lab.errors import LabError
from p4sched.lab.fidelity import Health
from p4sched.lab.probe_stream import ProbeStream
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.lab.traffic import LongTraffic

USER_HOSTS = 4
"""Default number of hosts on the users' side of the dumbbell."""
MAX_USERS = USER_HOSTS * USERS_PER_HOST


class ResentRank(StrEnum):
    """The rank of TCP data that is sent again."""

    OWN = "own"
    """That of the data when it was first sent."""
    LEAST = "least"
    """The smallest one that the connection has sent so far."""
    URGENT = "urgent"
    """0."""


class SwitchNode(Protocol):
    """A running switch."""

    @property
    def name(self) -> str:
        """Name, such as s1."""

    @property
    def device_id(self) -> int:
        """Device id in P4Runtime."""

    @property
    def address(self) -> str:
        """HOST:PORT of the P4Runtime server."""

    def port_interfaces(self) -> list[tuple[int, str]]:
        """(port number, interface) of every data port."""


class Network(ABC):
    """A running network: its hosts and switches."""

    destination: Destination | None = None
    """Destination of all traffic, in a network with one such host."""

    @property
    @abstractmethod
    def switches(self) -> Mapping[str, SwitchNode]:
        """Switches by name."""

    @abstractmethod
    def stations(self) -> list[Station]:
        """All hosts."""

    @abstractmethod
    def thrift_port(self, switch: str) -> int | None:
        """BMv2's Thrift port; None for another switch."""

    @abstractmethod
    def delay_hosts(self, delay_ns: int) -> bool:
        """Delays the frames of every host, for a switch that cannot delay. Returns False if this is impossible."""

    @abstractmethod
    def check_alive(self) -> None:
        """Raises LabError if a part of the network has failed."""

    @abstractmethod
    async def set_shortest_timeout(self, rto_min_ns: int) -> None:
        """Sets rto_min of TCP in all hosts. The kernel's 200 ms can be a hundred round trips."""

    @abstractmethod
    async def set_initial_window(self, segments: int) -> None:
        """Sets the initial congestion window of TCP in all hosts."""

    @abstractmethod
    async def set_resent_rank(self, rule: ResentRank) -> None:
        """Sets the rank of data that hosts send again. Raises LabError if the network cannot."""

    @abstractmethod
    async def tcp(self, hosts: Sequence[str]) -> TcpCounters:
        """TCP counters of these hosts."""

    @abstractmethod
    def health(self, rtt_ns: int) -> Health:
        """Begins to watch the effects of the machine on the traffic."""

    @abstractmethod
    def long_traffic(self, folder: Path, congestion_control: str) -> LongTraffic:
        """TCP flows that last until they are stopped; records go to the folder."""

    @abstractmethod
    def generated_traffic(self, folder: Path) -> GeneratedTraffic:
        """Ranked UDP flows, and TCP flows of given sizes; records go to the folder."""


class Dumbbell(Network):
    """A running dumbbell or incast: one switch with a bottleneck, hosts, and the places of the users."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self.server_name = sides.far.name
        """Name of the host behind the bottleneck."""
        self.server_address = sides.far.address
        self.destination = Destination(self.server_name, self.server_address)
        self.bottleneck_port = sides.far.port
        self.ports = [station.port for station in sides.stations()]
        self.seats = seats(sides.near)
        self.senders = [station.name for station in sides.near]
        """The hosts of the users."""

    @property
    def switch(self) -> SwitchNode:
        """The only switch."""
        (found,) = self.switches.values()
        return found

    def stations(self) -> list[Station]:
        """All hosts, the one behind the bottleneck last."""
        return self._sides.stations()

    @abstractmethod
    def probe(self, packets_per_s: float) -> ProbeStream:
        """A stream of small packets from the first user host. Its source is the host's own address, which belongs to no
        user."""


class FabricShape(Protocol):
    """Shape of a network with several switches: leaves and spines, or the network of a file."""

    @property
    def structure(self) -> Structure:
        """Switches, hosts and links."""

    @property
    def device_ids(self) -> Mapping[str, int]:
        """Device ids of the switches in P4Runtime."""

    def routes(self, switch: str) -> list[dict[str, Any]]:
        """Entries of `ipv4_routes`."""

    def groups(self, switch: str) -> list[dict[str, Any]]:
        """ECMP groups."""


class Fabric(Network):
    """Several running switches."""

    def __init__(self, shape: FabricShape) -> None:
        self.shape = shape
        self.racks = shape.structure.racks
        """Hosts of each leaf. A leaf is a switch with hosts."""

    def stations(self) -> list[Station]:
        """All hosts, rack by rack."""
        return [station for rack in self.racks.values() for station in rack]


class Lab(ABC):
    """Makes networks with running switches that have no program yet. A network is removed at the end of its block, also
    after an error. Raises LabError if a network cannot start."""

    heading = ""
    """Title of the current measurement, for viewers."""

    @abstractmethod
    def dumbbell(self, users: int, folder: Path, hosts: int = USER_HOSTS) -> AbstractAsyncContextManager[Dumbbell]:
        """A dumbbell with this number of users; logs go to the folder."""

    @abstractmethod
    def incast(self, senders: int, folder: Path) -> AbstractAsyncContextManager[Dumbbell]:
        """Senders around one switch with one receiver; one user at each sender."""

    @abstractmethod
    def fabric(self, shape: FabricShape, folder: Path) -> AbstractAsyncContextManager[Fabric]:
        """Several switches, such as leaves and spines."""


@contextmanager
def node_errors() -> Iterator[None]:
    """Turns errors of topologies and nodes into errors of the lab."""
    try:
        yield
    except NodeError as error:
        raise LabError(str(error)) from error


def seats(stations: Sequence[Station]) -> list[UserSeat]:
    """Places of the users in the order of their ids. The users are assigned to the hosts in turn."""
    dealt = []
    depth = max((len(station.users) for station in stations), default=0)
    for row in range(depth):
        dealt += [(station.name, station.users[row]) for station in stations if row < len(station.users)]
    return [UserSeat(user, host, address) for user, (host, address) in enumerate(dealt, start=1)]
