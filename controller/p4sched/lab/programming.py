"""Programs a running dumbbell: program, routes, users and bottleneck."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mininet_topos.stations import routes
from p4sched.control.controller import SwitchAddress
from p4sched.control.parameters import Parameters
from p4sched.lab.bmv2 import LabBmv2
from p4sched.lab.controllers import Controllers, Laws, SwitchController, SwitchPlan, python_controllers
from p4sched.lab.endpoints import UserSeat
from p4sched.lab.network import Dumbbell
from p4sched.lab.schemes import URGENT, Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.session import Session
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager, PortSettings, QueueSettings, TrafficManager
from p4sched.p4rt.users import PrefixUser
from p4sched.proto.enums import Discipline
from p4sched.scheme import Setup

NO_DELAY = "the RTT is not emulated: BMv2 has no propagation delay, and this kernel has no netem to give the hosts one"
LINK_QUEUE_PACKETS = 10_000
"""Queue size at ports without a shaper, which are never a bottleneck."""


@dataclass(frozen=True)
class Testbed:
    """A programmed dumbbell."""

    controller: SwitchController
    traffic_manager: TrafficManager
    notes: tuple[str, ...]
    """Properties of the link that this switch and this machine do not emulate."""

    @property
    def reader(self) -> Reader:
        """Reads from the switch."""
        return self.controller.reader

    @property
    def session(self) -> Session:
        """Session of the Python controller. Only this controller offers registers and packet-outs."""
        assert isinstance(self.reader, Session), "another controller holds the switch"
        return self.reader


@asynccontextmanager
async def program_network(
    network: Dumbbell,
    setup: Setup,
    link: Link,
    weights: Mapping[int, float],
    *,
    source: RankSource | None = None,
    parameters: Parameters | None = None,
    laws: Laws | None = None,
    controllers: Controllers = python_controllers,
) -> AsyncIterator[Testbed]:
    """Programs the switch with the scheme, routes and users, and shapes the bottleneck.

    `weights` are the users' weights by id; a seat of `network.seats` without a weight gets no user. `SwitchPlan`
    describes the other arguments.
    """
    switch = network.switch
    plan = SwitchPlan(
        SwitchAddress(switch.address, switch.device_id),
        setup,
        dict(switch.port_interfaces()),
        routes(network.stations()),
        users=[user_of(seat, weights[seat.user]) for seat in network.seats if seat.user in weights],
        rank_source=source,
        parameters=parameters,
        laws=laws,
    )
    async with controllers({switch.name: plan}) as running:
        controller = running[switch.name]
        traffic_manager = _traffic_manager(network, controller.reader)
        try:
            await traffic_manager.set_ports(port_settings(network, setup, link))
            yield Testbed(controller, traffic_manager, _not_emulated(network, link))
        finally:
            await traffic_manager.close()


def user_of(seat: UserSeat, weight: float = 1.0) -> PrefixUser:
    """The user of a seat in the switch: all packets from its address."""
    return PrefixUser(seat.user, f"{seat.address}/32", weight)


def _not_emulated(network: Dumbbell, link: Link) -> tuple[str, ...]:
    """Lets hosts delay frames if the switch cannot. Returns a note if the kernel cannot either."""
    if _thrift_port(network) is None or network.delay_hosts(link.rtt_ns // 2):
        return ()
    return (NO_DELAY,)


def _traffic_manager(network: Dumbbell, reader: Reader) -> TrafficManager:
    thrift_port = _thrift_port(network)
    if thrift_port is not None:
        interfaces = dict(network.switch.port_interfaces())
        return LabBmv2(thrift_port, reader, interfaces, network.bottleneck_port)
    return EmbeddedTrafficManager(network.switch.address)


def _thrift_port(network: Dumbbell) -> int | None:
    return network.thrift_port(network.switch.name)


def port_settings(network: Dumbbell, setup: Setup, link: Link) -> list[PortSettings]:
    """The bottleneck port with the scheme's settings, and the ports back to the users, without a shaper. Each direction
    adds half of the RTT."""
    if _thrift_port(network) is not None:
        return [bmv2_bottleneck(network.bottleneck_port, setup, link)]
    way_back = [
        PortSettings(
            port,
            rate_bps=0,
            delay_ns=link.rtt_ns // 2,
            discipline=Discipline.FIFO,
            buffer_packets=LINK_QUEUE_PACKETS,
        )
        for port in network.ports
        if port != network.bottleneck_port
    ]
    return [*way_back, bottleneck(network.bottleneck_port, setup, link)]


def bottleneck(port: int, setup: Setup, link: Link) -> PortSettings:
    """The shaped port of the embedded switch."""
    strict = setup.scheme.discipline == Discipline.STRICT
    return PortSettings(
        port,
        rate_bps=link.rate_bps,
        delay_ns=link.rtt_ns - link.rtt_ns // 2,
        discipline=setup.scheme.discipline,
        queues=_queues(setup.queue_sizes) if strict else {},
        buffer_packets=None if strict else setup.queue_sizes[0],
        user_field=setup.user_field,
        rank_field=setup.scheme.rank_field,
        calendar=setup.layout.calendar,
        tree=setup.layout.tree,
        scrr=setup.layout.scrr,
        quantum_bytes=setup.layout.quantum_bytes,
    )


def bmv2_bottleneck(port: int, setup: Setup, link: Link) -> PortSettings:
    """The closest setting of BMv2: every queue limited to the whole rate of the link. fifo.p4 uses only queue 0."""
    strict = setup.scheme.discipline == Discipline.STRICT
    queues = _queues(setup.queue_sizes) if strict else {0: QueueSettings(depth_packets=setup.queue_sizes[0])}
    return PortSettings(port, rate_bps=link.rate_bps, queues=queues)


def _queues(depths: Sequence[int]) -> dict[int, QueueSettings]:
    return {URGENT - place: QueueSettings(depth_packets=depth) for place, depth in enumerate(depths)}
