"""Networks as experiments see them, emulated or in virtual time: dumbbell, incast, leaves and spines."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mininet_topos.dumbbell import USERS_PER_HOST
from mininet_topos.nodes import NodeError
from mininet_topos.shapes import Structure
from mininet_topos.star import Sides
from mininet_topos.stations import Station
from p4sched.lab.errors import LabError
from p4sched.lab.fidelity import Health
from p4sched.lab.tcp import TcpCounters

if TYPE_CHECKING:
    from p4sched.lab.probe_stream import ProbeStream
    from p4sched.lab.ranked_traffic import GeneratedTraffic
    from p4sched.lab.traffic import LongTraffic

USER_HOSTS = 4
"""Hosts of the dumbbell on the users' side, unless told otherwise."""
MAX_USERS = USER_HOSTS * USERS_PER_HOST


@dataclass(frozen=True)
class UserSeat:
    """Place of a user."""

    user: int
    """1, 2, ...: the user id in the switch too."""
    host: str
    address: str


@dataclass(frozen=True)
class Destination:
    """Destination of traffic."""

    host: str
    address: str


class SwitchNode(Protocol):
    """A running switch."""

    @property
    def name(self) -> str:
        """Its name, such as s1."""

    @property
    def device_id(self) -> int:
        """Its device id in P4Runtime."""

    @property
    def address(self) -> str:
        """HOST:PORT of its P4Runtime server."""

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
        """Delays what every host sends, for a switch that cannot delay; False where that cannot be."""

    @abstractmethod
    def check_alive(self) -> None:
        """Raises LabError when nothing is measured any more, because a part of the network has failed."""

    @abstractmethod
    async def set_shortest_timeout(self, rto_min_ns: int) -> None:
        """Gives TCP in all hosts this rto_min: the kernel's 200 ms is a hundred round trips here."""

    @abstractmethod
    async def set_initial_window(self, segments: int) -> None:
        """Gives TCP in all hosts this initial congestion window."""

    @abstractmethod
    async def tcp(self, hosts: Sequence[str]) -> TcpCounters:
        """TCP counters of these hosts."""

    @abstractmethod
    def health(self, rtt_ns: int) -> Health:
        """Begins to watch what the world itself does to the traffic."""

    @abstractmethod
    def long_traffic(self, folder: Path, congestion_control: str) -> "LongTraffic":
        """TCP flows without an end of their own; records go to the folder."""

    @abstractmethod
    def generated_traffic(self, folder: Path) -> "GeneratedTraffic":
        """Ranked UDP flows, and TCP flows of given sizes; records go to the folder."""


class Dumbbell(Network):
    """A running dumbbell or incast: one switch with a bottleneck, hosts, and who sits where."""

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
        """The only one."""
        (found,) = self.switches.values()
        return found

    def stations(self) -> list[Station]:
        """All hosts, the one behind the bottleneck last."""
        return self._sides.stations()

    @abstractmethod
    def probe(self, packets_per_s: float) -> "ProbeStream":
        """A stream of small packets from the own address of the first user host, which belongs to no user."""


class FabricShape(Protocol):
    """Several switches: leaves and spines, or those of a file."""

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
        """Hosts of each leaf, a switch that has any."""

    def stations(self) -> list[Station]:
        """All hosts, rack by rack."""
        return [station for rack in self.racks.values() for station in rack]


class Lab(ABC):
    """Makes networks. Their switches run and have no program yet. Whatever happens while they stand, they are taken
    down at the end. Raises LabError when they cannot be brought up."""

    heading = ""
    """Title of the current measurement, for viewers."""

    @abstractmethod
    def dumbbell(self, users: int, folder: Path, hosts: int = USER_HOSTS) -> AbstractAsyncContextManager[Dumbbell]:
        """A dumbbell with so many users; logs go to the folder."""

    @abstractmethod
    def incast(self, senders: int, folder: Path) -> AbstractAsyncContextManager[Dumbbell]:
        """Senders around one switch with one receiver; one user at each sender."""

    @abstractmethod
    def fabric(self, shape: FabricShape, folder: Path) -> AbstractAsyncContextManager[Fabric]:
        """Several switches, such as leaves and spines."""


@contextmanager
def node_errors() -> Iterator[None]:
    """The topologies' and nodes' errors as errors of the lab."""
    try:
        yield
    except NodeError as error:
        raise LabError(str(error)) from error


def seats(stations: Sequence[Station]) -> list[UserSeat]:
    """Users in the order of their ids: they were dealt to the hosts in turn."""
    dealt = []
    depth = max((len(station.users) for station in stations), default=0)
    for row in range(depth):
        dealt += [(station.name, station.users[row]) for station in stations if row < len(station.users)]
    return [UserSeat(user, host, address) for user, (host, address) in enumerate(dealt, start=1)]
