"""Networks, brought up under Mininet and taken down again: dumbbell, incast, leaves and spines."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet.net import Mininet

from mininet_topos.dumbbell import USERS_PER_HOST, dumbbell_sides
from mininet_topos.incast import incast_sides
from mininet_topos.leaf_spine import LeafSpineTopo, Shape
from mininet_topos.nodes import Bmv2Switch, NodeError, OffloadFreeHost, P4Switch, dying_with_us, on_host_cpus
from mininet_topos.star import Sides, StarTopo
from mininet_topos.stations import Station, refuse_taken_names
from p4sched.errors import P4schedError
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger

__all__ = [
    "MAX_USERS",
    "Destination",
    "Dumbbell",
    "Fabric",
    "Network",
    "NodeError",
    "Shape",
    "UserSeat",
    "dumbbell",
    "dying_with_us",
    "incast",
    "leaf_spine",
    "on_host_cpus",
    "seats",
]

CPU_PORT = 509
"""Of the switch; CPU_PORT in p4/shared/constants.p4."""
USER_HOSTS = 4
"""Hosts of the dumbbell on the users' side, unless told otherwise."""
MAX_USERS = USER_HOSTS * USERS_PER_HOST
CONGESTION_CONTROL = "cubic"
ALLOWED_CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
NETDEV_MAX_BACKLOG = "/proc/sys/net/core/netdev_max_backlog"
DYING_SECONDS = 0.5
BACKLOG_FRAMES = 10_000
"""Frames that may wait for a CPU between two virtual interfaces; hundreds of flows overrun the usual 1000."""


@dataclass(frozen=True)
class UserSeat:
    """Where a user sits."""

    user: int
    """1, 2, ...: the user id in the switch too."""
    host: str
    address: str


@dataclass(frozen=True)
class Destination:
    """Where traffic goes."""

    host: str
    address: str


class Network:
    """A running network: its hosts and switches."""

    destination: Destination | None = None
    """Where all traffic goes, in a network that has one such host."""

    def __init__(self, net: Any, switches: Sequence[str]) -> None:
        self._net = net
        self.switches: dict[str, P4Switch] = {name: net[name] for name in switches}

    def host(self, name: str) -> OffloadFreeHost:
        """The Mininet host of this name."""
        host: OffloadFreeHost = self._net[name]
        return host

    def pid(self, host: str) -> int:
        """A process in this host's network namespace."""
        pid: int = self._net[host].pid
        return pid

    def delay(self, hosts: Sequence[str], delay_ns: int) -> bool:
        """Delays what these hosts send, by netem, for a switch that cannot delay; False if the kernel has no netem."""
        try:
            for name in hosts:
                self.host(name).delay(delay_ns)
        except NodeError:
            return False
        return True

    def check_alive(self) -> None:
        """Raises LabError when a switch has ended or a link is down: nothing is measured any more."""
        which = "the switch" if len(self.switches) == 1 else "switch {}"
        _check_switches(self.switches.values())
        for name, switch in self.switches.items():
            called = which.format(name)
            for port, interface in switch.port_interfaces():
                state = operational_state(interface)
                if state != "up":
                    raise LabError(f"port {port} of {called} lost its link: {interface} is {state}")


def _check_switches(switches: Iterable[P4Switch], patience: float = 0.0, seen: P4schedError | None = None) -> None:
    """Raises LabError if a switch has ended, or does within `patience` seconds. `seen`: what was seen of that."""
    deadline = time.monotonic() + patience
    for switch in switches:
        death = switch.death(max(0.0, deadline - time.monotonic()))
        if death is not None:
            raise LabError(death) from seen


def thrift_port(switch: P4Switch) -> int | None:
    """BMv2's Thrift port; None for another switch."""
    return switch.thrift_port if isinstance(switch, Bmv2Switch) else None


class Dumbbell(Network):
    """A running dumbbell or incast: one switch with a bottleneck, hosts, and who sits where."""

    def __init__(self, net: Any, sides: Sides) -> None:
        super().__init__(net, ["s1"])
        self._sides = sides
        self.switch = self.switches["s1"]
        self.server_name = sides.far.name
        """Of the host behind the bottleneck."""
        self.server_address = sides.far.address
        self.destination = Destination(self.server_name, self.server_address)
        self.bottleneck_port = sides.far.port
        self.ports = [station.port for station in sides.stations()]
        self.seats = seats(sides.near)

    @property
    def address(self) -> str:
        """host:port of the switch's P4Runtime server."""
        return self.switch.address

    @property
    def thrift_port(self) -> int | None:
        """BMv2's Thrift port; None for another switch."""
        return thrift_port(self.switch)

    def stations(self) -> list[Station]:
        """All hosts, the one behind the bottleneck last."""
        return self._sides.stations()

    @property
    def server(self) -> OffloadFreeHost:
        """The host behind the bottleneck."""
        return self.host(self.server_name)

    def sender_pids(self) -> list[int]:
        """A process in the network namespace of each user host."""
        return [self.pid(station.name) for station in self._sides.near]

    @property
    def server_pid(self) -> int:
        """A process in the server's network namespace."""
        return self.pid(self.server_name)

    def delay_hosts(self, delay_ns: int) -> bool:
        """Delays what every host sends; False if the kernel has no netem."""
        return self.delay([station.name for station in self.stations()], delay_ns)

    def set_shortest_timeout(self, rto_min_ns: int) -> None:
        """Gives TCP in all hosts this rto_min: the kernel's 200 ms is a hundred round trips here."""
        for station in self.stations():
            self.host(station.name).set_shortest_timeout(rto_min_ns)

    def set_initial_window(self, segments: int) -> None:
        """Gives TCP in all hosts this initial congestion window."""
        for station in self.stations():
            self.host(station.name).set_initial_window(segments)


class Fabric(Network):
    """Running leaves and spines."""

    def __init__(self, net: Any, shape: Shape) -> None:
        super().__init__(net, shape.switch_names())
        self.shape = shape
        self.racks = {leaf: shape.rack(leaf) for leaf in shape.leaf_names()}

    def stations(self) -> list[Station]:
        """All hosts, rack by rack."""
        return [station for rack in self.racks.values() for station in rack]


def operational_state(interface: str) -> str:
    """State of an interface as the kernel names it: "up", "down", "lowerlayerdown", ...; "gone" if there is none."""
    try:
        return Path(f"/sys/class/net/{interface}/operstate").read_text().strip()
    except FileNotFoundError:
        return "gone"


def seats(stations: Sequence[Station]) -> list[UserSeat]:
    """Users in the order of their ids: they were dealt to the hosts in turn."""
    dealt = []
    depth = max((len(station.users) for station in stations), default=0)
    for row in range(depth):
        dealt += [(station.name, station.users[row]) for station in stations if row < len(station.users)]
    return [UserSeat(user, host, address) for user, (host, address) in enumerate(dealt, start=1)]


def _widen_backlog(ledger: Ledger) -> None:
    """Frames that no longer fit into the backlog are counted, and make a run invalid."""
    # the kernel shows it in the machine's own network namespace only, not in that of a container
    if Path(NETDEV_MAX_BACKLOG).exists():
        ledger.change_setting(NETDEV_MAX_BACKLOG, str(BACKLOG_FRAMES))


def allow_congestion_control(ledger: Ledger) -> None:
    """Lets hosts have it as their default.

    It is not enough that iperf3 asks for it: iperf3 does so when it is connected, and where the default is BBR, the
    connection keeps the pacing that BBR has switched on.
    """
    allowed = Path(ALLOWED_CONGESTION_CONTROL).read_text().split()
    if CONGESTION_CONTROL not in allowed:
        ledger.change_setting(ALLOWED_CONGESTION_CONTROL, " ".join([*allowed, CONGESTION_CONTROL]))


@contextmanager
def dumbbell(ledger: Ledger, users: int, switch: str, log_folder: Path, hosts: int = USER_HOSTS) -> Iterator[Dumbbell]:
    """A dumbbell with `users` users whose switch runs and has no program yet.

    Raises LabError when it cannot be brought up. Whatever happens inside, it is taken down at the end.
    """
    with _node_errors():
        sides = dumbbell_sides(hosts, users)
    with _star(ledger, sides, switch, log_folder, cpu_port=CPU_PORT) as network:
        yield network


@contextmanager
def incast(ledger: Ledger, senders: int, switch: str, log_folder: Path) -> Iterator[Dumbbell]:
    """Senders around one switch with one receiver; otherwise as `dumbbell`, with one user at each sender."""
    with _node_errors():
        sides = incast_sides(senders)
    with _star(ledger, sides, switch, log_folder) as network:
        yield network


@contextmanager
def _star(
    ledger: Ledger, sides: Sides, switch: str, log_folder: Path, cpu_port: int | None = None
) -> Iterator[Dumbbell]:
    with _node_errors():
        topology = StarTopo(
            sides=sides,
            switch=switch,
            switch_params={"log_folder": log_folder, "cpu_port": cpu_port},
            congestion_control=CONGESTION_CONTROL,
        )
    interfaces = [f"s1-eth{station.port}" for station in sides.stations()]
    with _brought_up(ledger, topology, interfaces, log_folder) as net:
        yield Dumbbell(net, sides)


@contextmanager
def leaf_spine(ledger: Ledger, shape: Shape, switch: str, log_folder: Path) -> Iterator[Fabric]:
    """Leaves and spines whose switches run and have no program yet; otherwise as `dumbbell`."""
    with _node_errors():
        topology = LeafSpineTopo(
            shape=shape,
            switch=switch,
            switch_params={name: {"log_folder": log_folder} for name in shape.switch_names()},
            congestion_control=CONGESTION_CONTROL,
        )
    with _brought_up(ledger, topology, shape.interfaces(), log_folder) as net:
        yield Fabric(net, shape)


@contextmanager
def _node_errors() -> Iterator[None]:
    """The topologies' and nodes' errors as errors of the lab."""
    try:
        yield
    except NodeError as error:
        raise LabError(str(error)) from error


@contextmanager
def _brought_up(ledger: Ledger, topology: Any, interfaces: Sequence[str], log_folder: Path) -> Iterator[Any]:
    """The network under Mininet, its switches running; `interfaces` are those in the machine's own namespace."""
    # Mininet would change a dozen of the machine's limits for good; the lab sets what it needs in its hosts.
    Mininet.inited = True
    net: Any = None
    try:
        log_folder.mkdir(parents=True, exist_ok=True)
        _widen_backlog(ledger)
        allow_congestion_control(ledger)
        with _node_errors():
            refuse_taken_names(interfaces)
        net = Mininet(topo=topology, controller=None, build=False)  # type: ignore[no-untyped-call]
        with _node_errors():
            net.build()
            ledger.add_processes(node.pid for node in net.hosts + net.switches)
            ledger.add_links(interfaces)
            net.start()
        ledger.add_processes(switch.process.pid for switch in net.switches)
        for switch in net.switches:
            ledger.add_switch(switch.name, switch.address, switch.device_id)
        try:
            yield net
        except P4schedError as error:
            # a connection breaks a moment before its process has ended
            _check_switches(net.switches, DYING_SECONDS, error)
            raise
    finally:
        if net is not None:
            net.stop()
            ledger.forget_network()
