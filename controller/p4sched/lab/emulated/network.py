"""Networks under Mininet: dumbbell, incast, several switches."""

import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mininet.net import Mininet

from mininet_topos.dumbbell import dumbbell_sides
from mininet_topos.incast import incast_sides
from mininet_topos.nodes import Bmv2Switch, NodeError, P4Switch
from mininet_topos.star import Sides
from mininet_topos.stations import refuse_taken_names
from mininet_topos.topo import StructureTopo
from p4sched.constants import CPU_PORT
from p4sched.errors import P4schedError
from p4sched.lab import network
from p4sched.lab.emulated.generator import GeneratorRuns
from p4sched.lab.emulated.health import MachineHealth
from p4sched.lab.emulated.hosts import MininetHosts
from p4sched.lab.emulated.iperf3 import Iperf3Traffic
from p4sched.lab.emulated.probe_stream import HostProbe
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import USER_HOSTS, FabricShape, ResentRank, node_errors
from p4sched.lab.tcp_counters import TcpCounters, read_counters

CONGESTION_CONTROL = "cubic"
ALLOWED_CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
NETDEV_MAX_BACKLOG = "/proc/sys/net/core/netdev_max_backlog"
HALT_POLL = "/sys/module/haltpoll/parameters/guest_halt_poll_ns"
DYING_SECONDS = 0.5
BACKLOG_FRAMES = 10_000
"""Frames that may wait for a CPU between two virtual interfaces. The default of 1000 is too small for hundreds of
flows."""


HALT_POLL_NS = 200_000
"""Time that an idle CPU polls before it halts; the default of Linux. In a virtual machine the hypervisor wakes a halted
CPU, which costs more time than a packet. A store to memory wakes a CPU that polls."""


class MininetNetwork(MininetHosts):
    """A running network under Mininet."""

    def __init__(self, net: Any, ledger: Ledger, switches: Sequence[str]) -> None:
        super().__init__(net, ledger)
        self._switches: dict[str, P4Switch] = {name: net[name] for name in switches}

    @property
    def switches(self) -> Mapping[str, P4Switch]:
        return self._switches

    def thrift_port(self, switch: str) -> int | None:
        node = self._switches[switch]
        return node.thrift_port if isinstance(node, Bmv2Switch) else None

    def delay_hosts(self, delay_ns: int) -> bool:
        """Delays hosts with netem; False if the kernel has none."""
        try:
            for station in self.stations():
                self.host(station.name).delay(delay_ns)
        except NodeError:
            return False
        return True

    def check_alive(self) -> None:
        """Raises LabError when a switch has ended or a link is down."""
        which = "the switch" if len(self._switches) == 1 else "switch {}"
        _check_switches(self._switches.values())
        for name, switch in self._switches.items():
            called = which.format(name)
            for port, interface in switch.port_interfaces():
                state = operational_state(interface)
                if state != "up":
                    raise LabError(f"port {port} of {called} lost its link: {interface} is {state}")

    async def set_shortest_timeout(self, rto_min_ns: int) -> None:
        for station in self.stations():
            self.host(station.name).set_shortest_timeout(rto_min_ns)

    async def set_initial_window(self, segments: int) -> None:
        for station in self.stations():
            self.host(station.name).set_initial_window(segments)

    async def set_resent_rank(self, rule: ResentRank) -> None:
        raise LabError("hosts of the emulation have the ranks of their kernel: only virtual time can change them")

    async def tcp(self, hosts: Sequence[str]) -> TcpCounters:
        """TCP counters of the kernel, from their namespaces."""
        return read_counters(self.pid(host) for host in hosts)

    def health(self, rtt_ns: int) -> MachineHealth:
        return MachineHealth(rtt_ns)

    def long_traffic(self, folder: Path, congestion_control: str) -> Iperf3Traffic:
        return Iperf3Traffic(self, self._ledger, folder, congestion_control)

    def generated_traffic(self, folder: Path) -> GeneratorRuns:
        return GeneratorRuns(self, self._ledger, folder)


class Dumbbell(MininetNetwork, network.Dumbbell):
    """A running dumbbell or incast under Mininet."""

    def __init__(self, net: Any, ledger: Ledger, sides: Sides) -> None:
        MininetNetwork.__init__(self, net, ledger, ["s1"])
        network.Dumbbell.__init__(self, sides)

    @property
    def switch(self) -> P4Switch:
        return self._switches["s1"]

    @property
    def address(self) -> str:
        """host:port of the switch's P4Runtime server."""
        return self.switch.address

    def probe(self, packets_per_s: float) -> HostProbe:
        return HostProbe(self, packets_per_s)


class Fabric(MininetNetwork, network.Fabric):
    """Several running switches under Mininet."""

    def __init__(self, net: Any, ledger: Ledger, shape: FabricShape) -> None:
        MininetNetwork.__init__(self, net, ledger, shape.structure.switch_names())
        network.Fabric.__init__(self, shape)

    @property
    def switches(self) -> Mapping[str, P4Switch]:
        return self._switches


def _check_switches(switches: Iterable[P4Switch], patience: float = 0.0, seen: P4schedError | None = None) -> None:
    """Raises LabError if a switch has ended, or ends within `patience` seconds. `seen`: the error that it caused."""
    deadline = time.monotonic() + patience
    for switch in switches:
        death = switch.death(max(0.0, deadline - time.monotonic()))
        if death is not None:
            raise LabError(death) from seen


def operational_state(interface: str) -> str:
    """State of an interface, with the kernel's word: "up", "down", "lowerlayerdown", ...; "gone" if there is none."""
    try:
        return Path(f"/sys/class/net/{interface}/operstate").read_text().strip()
    except OSError:  # ENOENT, or EINVAL while the interface goes
        return "gone"


def _widen_backlog(ledger: Ledger) -> None:
    """Makes room for more frames between interfaces. A frame that does not fit makes the run invalid."""
    # the setting exists only in the network namespace of the machine, not in that of a container
    if Path(NETDEV_MAX_BACKLOG).exists():
        ledger.change_setting(NETDEV_MAX_BACKLOG, str(BACKLOG_FRAMES))


def _poll_before_halting(ledger: Ledger) -> None:
    """Makes idle CPUs poll before they halt, if the kernel supports it and it is off."""
    setting = Path(HALT_POLL)
    if os.access(setting, os.R_OK | os.W_OK) and int(setting.read_text()) < HALT_POLL_NS:
        ledger.change_setting(HALT_POLL, str(HALT_POLL_NS))


def allow_congestion_control(ledger: Ledger) -> None:
    """Lets hosts have CONGESTION_CONTROL as their default.

    The option of iperf3 is not enough: iperf3 sets it after the connection is open. If the default is BBR, the
    connection keeps the pacing of BBR.
    """
    allowed = Path(ALLOWED_CONGESTION_CONTROL).read_text().split()
    if CONGESTION_CONTROL not in allowed:
        ledger.change_setting(ALLOWED_CONGESTION_CONTROL, " ".join([*allowed, CONGESTION_CONTROL]))


@contextmanager
def dumbbell(
    ledger: Ledger, users: int, switch: str | type[P4Switch], log_folder: Path, hosts: int = USER_HOSTS
) -> Iterator[Dumbbell]:
    """A running dumbbell with `users` users. The switch has no program yet.

    Raises LabError if it cannot start. The network is removed at the end of the block, also after an error.
    """
    with node_errors():
        sides = dumbbell_sides(hosts, users)
    with _star(ledger, sides, switch, log_folder, cpu_port=CPU_PORT) as network:
        yield network


@contextmanager
def incast(ledger: Ledger, senders: int, switch: str, log_folder: Path) -> Iterator[Dumbbell]:
    """Like `dumbbell`, with senders around one switch, one receiver, and one user at each sender."""
    with node_errors():
        sides = incast_sides(senders)
    with _star(ledger, sides, switch, log_folder) as network:
        yield network


@contextmanager
def _star(
    ledger: Ledger, sides: Sides, switch: str | type[P4Switch], log_folder: Path, cpu_port: int | None = None
) -> Iterator[Dumbbell]:
    with node_errors():
        topology = StructureTopo(
            structure=sides.structure(),
            switch=switch,
            switch_params={"s1": {"log_folder": log_folder, "cpu_port": cpu_port}},
            congestion_control=CONGESTION_CONTROL,
        )
    with _bring_up(ledger, topology, sides.structure().interfaces(), log_folder) as net:
        yield Dumbbell(net, ledger, sides)


@contextmanager
def fabric(
    ledger: Ledger, shape: FabricShape, switch: str, log_folder: Path, interpreted: Container[str] = ()
) -> Iterator[Fabric]:
    """Like `dumbbell`, with several switches. `interpreted`: embedded switches that do not compile their program."""
    with node_errors():
        topology = StructureTopo(
            structure=shape.structure,
            switch=switch,
            switch_params={
                name: {
                    "log_folder": log_folder,
                    "dpid": f"{number:x}",
                    **({"interpret": True} if name in interpreted else {}),
                }
                for name, number in shape.device_ids.items()
            },
            congestion_control=CONGESTION_CONTROL,
        )
    with _bring_up(ledger, topology, shape.structure.interfaces(), log_folder) as net:
        yield Fabric(net, ledger, shape)


@contextmanager
def _bring_up(ledger: Ledger, topology: Any, interfaces: Sequence[str], log_folder: Path) -> Iterator[Any]:
    """A network with running switches under Mininet. `interfaces` are those in the machine's own namespace."""
    # Keeps Mininet from changing limits of the machine permanently; the lab sets the limits in its hosts.
    Mininet.inited = True
    net: Any = None
    try:
        log_folder.mkdir(parents=True, exist_ok=True)
        _widen_backlog(ledger)
        _poll_before_halting(ledger)
        allow_congestion_control(ledger)
        with node_errors():
            refuse_taken_names(interfaces)
        net = Mininet(topo=topology, controller=None, build=False)
        with node_errors():
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
            # a connection breaks a moment before its process ends
            _check_switches(net.switches, DYING_SECONDS, error)
            raise
    finally:
        if net is not None:
            net.stop()
            ledger.forget_network()
