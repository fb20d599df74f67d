"""A running dumbbell gets its program, its routes, its users, and its bottleneck."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from p4sched.lab.bmv2 import LabBmv2
from p4sched.lab.network import Dumbbell
from p4sched.lab.schemes import URGENT, Link
from p4sched.p4rt import users
from p4sched.p4rt.compile import compiled
from p4sched.p4rt.routes import route
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.traffic_manager import (
    Discipline,
    EmbeddedTrafficManager,
    PortSettings,
    QueueSettings,
    TrafficManager,
)
from p4sched.schemes import Setup

NO_DELAY = "the RTT is not emulated: BMv2 has no propagation delay, and this kernel has no netem to give the hosts one"
LINK_QUEUE_PACKETS = 10_000
"""Room at ports that are not shaped: never a bottleneck."""


@dataclass(frozen=True)
class Testbed:
    """A programmed dumbbell."""

    session: Session
    traffic_manager: TrafficManager
    notes: tuple[str, ...]
    """What of the link this switch and this machine do not emulate."""


@asynccontextmanager
async def programmed(
    network: Dumbbell, setup: Setup, link: Link, weights: Mapping[int, float]
) -> AsyncIterator[Testbed]:
    """The switch runs the scheme's program, knows routes and users, and shapes the bottleneck.

    `weights` are those of the users by id; the users are `network.seats`.
    """
    program = compiled(setup.scheme.program, macros=setup.macros, target=setup.target)
    async with connect(network.address, program, device_id=network.switch.device_id, force=True) as session:
        await session.insert(
            [route(station.prefix, station.port, station.mac) for station in network.stations()]
            + [users.prefix_user(seat.user, f"{seat.address}/32", weights[seat.user]) for seat in network.seats]
        )
        traffic_manager = _traffic_manager(network, session)
        try:
            await traffic_manager.set_ports(port_settings(network, setup, link))
            yield Testbed(session, traffic_manager, _not_emulated(network, link))
        finally:
            await traffic_manager.close()


def _not_emulated(network: Dumbbell, link: Link) -> tuple[str, ...]:
    """Gives a switch without propagation delay hosts that delay, where the kernel can; says so where it cannot."""
    if network.thrift_port is None or network.delay_hosts(link.rtt_ns // 2):
        return ()
    return (NO_DELAY,)


def _traffic_manager(network: Dumbbell, session: Session) -> TrafficManager:
    if network.thrift_port is not None:
        interfaces = dict(network.switch.port_interfaces())
        return LabBmv2(network.thrift_port, session, interfaces, network.bottleneck_port)
    return EmbeddedTrafficManager(network.address)


def port_settings(network: Dumbbell, setup: Setup, link: Link) -> list[PortSettings]:
    """The bottleneck port as the scheme wants it; the way back is not shaped. Half of the RTT lies behind each."""
    if network.thrift_port is not None:
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
    )


def bmv2_bottleneck(port: int, setup: Setup, link: Link) -> PortSettings:
    """What BMv2 has of it: every queue limited to the link's whole rate. fifo.p4 uses queue 0 only."""
    strict = setup.scheme.discipline == Discipline.STRICT
    queues = _queues(setup.queue_sizes) if strict else {0: QueueSettings(depth_packets=setup.queue_sizes[0])}
    return PortSettings(port, rate_bps=link.rate_bps, queues=queues)


def _queues(depths: Sequence[int]) -> dict[int, QueueSettings]:
    return {URGENT - place: QueueSettings(depth_packets=depth) for place, depth in enumerate(depths)}
