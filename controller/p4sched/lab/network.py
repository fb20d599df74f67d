"""The dumbbell, brought up under Mininet and taken down again."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger, interface_index
from p4sched.paths import ROOT

# The folder of topologies belongs to no package: `mn --custom` reads its files as they are.
sys.path.append(str(ROOT / "mininet-topos"))

from mininet.net import Mininet

from dumbbell import DumbbellTopo, Station
from nodes import Bmv2Switch, NodeError, OffloadFreeHost, P4Switch, dying_with_us

__all__ = ["Dumbbell", "UserSeat", "dumbbell", "dying_with_us", "seats"]

CPU_PORT = 509
"""Of the switch; CPU_PORT in p4/shared/constants.p4."""
CONGESTION_CONTROL = "cubic"
ALLOWED_CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
NETDEV_MAX_BACKLOG = "/proc/sys/net/core/netdev_max_backlog"
BACKLOG_FRAMES = 10_000
"""Frames that may wait for a CPU between two virtual interfaces; hundreds of flows overrun the usual 1000."""


@dataclass(frozen=True)
class UserSeat:
    """Where a user sits."""

    user: int
    """1, 2, ...: the user id in the switch too."""
    host: str
    address: str


class Dumbbell:
    """A running dumbbell: hosts, switch, and who sits where."""

    def __init__(self, net: Any, topology: DumbbellTopo) -> None:
        self._net = net
        self._topology = topology
        self.switch: P4Switch = net["s1"]
        self.server_address = topology.server_side.address
        self.bottleneck_port = topology.server_side.port
        self.ports = [station.port for station in topology.stations()]
        self.seats = seats(topology.users_side)

    @property
    def address(self) -> str:
        """host:port of the switch's P4Runtime server."""
        return self.switch.address

    @property
    def thrift_port(self) -> int | None:
        """BMv2's Thrift port; None for another switch."""
        return self.switch.thrift_port if isinstance(self.switch, Bmv2Switch) else None

    def stations(self) -> list[Station]:
        """All hosts, the server last."""
        return self._topology.stations()

    def host(self, name: str) -> OffloadFreeHost:
        """The Mininet host of this name."""
        host: OffloadFreeHost = self._net[name]
        return host

    @property
    def server(self) -> OffloadFreeHost:
        """The host behind the bottleneck."""
        return self.host("server")

    def sender_pids(self) -> list[int]:
        """A process in the network namespace of each user host."""
        return [self._pid(station.name) for station in self._topology.users_side]

    @property
    def server_pid(self) -> int:
        """A process in the server's network namespace."""
        return self._pid("server")

    def _pid(self, name: str) -> int:
        pid: int = self._net[name].pid
        return pid

    def delay_hosts(self, delay_ns: int) -> bool:
        """Delays what each host sends, by netem, for a switch that cannot delay; False if the kernel has no netem."""
        try:
            for station in self.stations():
                self.host(station.name).delay(delay_ns)
        except NodeError:
            return False
        return True

    def set_shortest_timeout(self, rto_min_ns: int) -> None:
        """Gives TCP in all hosts this rto_min: the kernel's 200 ms is a hundred round trips here."""
        for station in self.stations():
            self.host(station.name).set_shortest_timeout(rto_min_ns)

    def check_alive(self) -> None:
        """Raises LabError when the switch has ended or one of its links is down: nothing is measured any more."""
        if not self.switch.alive():
            raise LabError(f"the switch ended during the run:\n{self.switch.log_tail()}")
        for port, interface in self.switch.port_interfaces():
            state = operational_state(interface)
            if state != "up":
                raise LabError(f"port {port} of the switch lost its link: {interface} is {state}")


def operational_state(interface: str) -> str:
    """State of an interface as the kernel names it: "up", "down", "lowerlayerdown", ...; "gone" if there is none."""
    try:
        return Path(f"/sys/class/net/{interface}/operstate").read_text().strip()
    except FileNotFoundError:
        return "gone"


def seats(stations: list[Station]) -> list[UserSeat]:
    """Users in the order of their ids: they were dealt to the hosts in turn."""
    dealt = []
    depth = max((len(station.users) for station in stations), default=0)
    for row in range(depth):
        dealt += [(station.name, station.users[row]) for station in stations if row < len(station.users)]
    return [UserSeat(user, host, address) for user, (host, address) in enumerate(dealt, start=1)]


def _allow_congestion_control(ledger: Ledger) -> None:
    """Lets hosts have it as their default.

    It is not enough that iperf3 asks for it: iperf3 does so when it is connected, and where the default is BBR, the
    connection keeps the pacing that BBR has switched on.
    """
    allowed = Path(ALLOWED_CONGESTION_CONTROL).read_text().split()
    if CONGESTION_CONTROL not in allowed:
        ledger.change_setting(ALLOWED_CONGESTION_CONTROL, " ".join([*allowed, CONGESTION_CONTROL]))


@contextmanager
def dumbbell(ledger: Ledger, users: int, switch: str, log_folder: Path, hosts: int = 4) -> Iterator[Dumbbell]:
    """A dumbbell with `users` users whose switch runs and has no program yet.

    Raises LabError when it cannot be brought up. Whatever happens inside, it is taken down at the end.
    """
    # Mininet would change a dozen of the machine's limits for good; the lab sets what it needs in its hosts.
    Mininet.inited = True
    net: Any = None
    try:
        topology = DumbbellTopo(
            hosts=hosts,
            users=users,
            switch=switch,
            switch_params={"log_folder": log_folder, "cpu_port": CPU_PORT},
            congestion_control=CONGESTION_CONTROL,
        )
    except NodeError as error:
        raise LabError(str(error)) from error
    try:
        log_folder.mkdir(parents=True, exist_ok=True)
        ledger.change_setting(NETDEV_MAX_BACKLOG, str(BACKLOG_FRAMES))
        _allow_congestion_control(ledger)
        _refuse_taken_names(topology)
        net = Mininet(topo=topology, controller=None, build=False)  # type: ignore[no-untyped-call]
        try:
            net.build()
            ledger.add_processes(node.pid for node in net.hosts + net.switches)
            ledger.add_links(f"s1-eth{station.port}" for station in topology.stations())
            net.start()
        except NodeError as error:
            raise LabError(str(error)) from error
        running = Dumbbell(net, topology)
        assert running.switch.process is not None
        ledger.add_processes([running.switch.process.pid])
        ledger.add_switch(running.switch.name, running.address)
        yield running
    finally:
        if net is not None:
            net.stop()
            ledger.forget_network()


def _refuse_taken_names(topology: DumbbellTopo) -> None:
    """Mininet names interfaces s1-eth1, s1-eth2, ...; somebody else's are not ours to remove."""
    for station in topology.stations():
        name = f"s1-eth{station.port}"
        if interface_index(name) is not None:
            raise LabError(f"there is an interface {name} already, of another Mininet network: stop that one first")
