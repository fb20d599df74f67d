"""The traffic manager behind a switch's ports: shapers, queues, and their statistics.

`EmbeddedTrafficManager` uses gRPC with the embedded switch. `Bmv2TrafficManager` uses `simple_switch_CLI` for the
settings that BMv2 supports, and refuses the other settings by name.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TypeAlias

from google.protobuf.json_format import ParseDict, ParseError

from p4sched.clock import await_answer
from p4sched.errors import P4schedError
from p4sched.p4rt.reader import SessionError, SwitchGoneError, one_sentence
from p4sched.p4rt.tls import Tls, channel
from p4sched.paths import tool
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.proto.enums import CalendarPlace, Discipline, MemorySharing
from p4sched.proto.traffic_manager_pb2_grpc import TrafficManagerStub

QUEUES = 8
TIMEOUT_S = 10.0
BMV2_RATE_PACKET_BYTES = 1514
"""Ethernet frame of a full-sized segment, which converts bit/s to BMv2's packets/s."""

BMV2_DISCIPLINES = (Discipline.STRICT, Discipline.FIFO)
BEYOND_BMV2 = tuple(each for each in Discipline if each not in BMV2_DISCIPLINES)
"""The ideals."""
BMV2_LIMITS = (
    "set_queue_rate of stock BMv2 limits every priority queue of a port on its own, in packets a second: each queue "
    "gets the full rate, so queues do not compete for one link, and small packets count as much as large ones; BMv2 "
    f"has no propagation delay, none of the disciplines {', '.join(BEYOND_BMV2)}, and reports no queue statistics"
)


class TrafficManagerError(P4schedError):
    """An error of the traffic manager: it refuses a request or cannot be reached."""


@dataclass(frozen=True)
class QueueSettings:
    """One priority queue; None keeps a value."""

    depth_packets: int | None = None
    rate_pps: int | None = None
    """BMv2's per-queue limiter; 0: none."""


@dataclass(frozen=True)
class Calendar:
    """The rounds of `afq`, `calendar` and `gearbox`; None keeps a value."""

    queues: int | None = None
    """Number of rounds, each with its own queue."""
    bytes_per_round: int | None = None
    """`afq` and `gearbox`: bytes that a user may send in one round."""
    queue_packets: int | None = None
    """Room of each queue; 0: only the buffer limits it."""
    turn_bytes: int | None = None
    """`calendar`: bytes after which the head also moves on; 0: only when its queue is empty."""
    turn_ns: int | None = None
    """`calendar`: time after which the head moves on, and only then; 0: it does not depend on time."""
    place: CalendarPlace | None = None
    rank_width: int | None = None
    """Ranks of one round, if the rank selects the round."""
    levels: int | None = None
    """`gearbox`: number of levels. A round of a level is `queues` rounds of the level below."""
    burst_rounds: int | None = None
    """`gearbox`: rounds that a user may be ahead; 0: as many as the levels reach."""
    whole_sets: bool | None = None
    """`gearbox`: True if a level holds all of its current and its next set of queues."""


@dataclass(frozen=True)
class Scrr:
    """The settings of `scrr`; None keeps a value."""

    flow_packets: int | None = None
    """Packets of one user in the buffer; 0: only the buffer limits them."""
    version: int | None = None
    """Version of the rule: 0 basic, 1 scrr, 2 npm, 3 nmia, 4 nmne, 5 neia."""


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree. Those without children are leaves."""

    discipline: Discipline
    parent: int = 0
    """Index of the parent in the list. The root is the first node and has no parent."""
    buffer_packets: int = 0
    """Packets that a leaf can hold; 0: the buffer of the port."""
    quantum_bytes: int = 0
    """Quantum of `drr`; 0: that of the port."""
    scale: int = 256
    """256 / weight among the children of a parent that is `stfq`."""


@dataclass(frozen=True)
class Tree:
    """The nodes of the discipline `tree`, and the fields of a packet that select its place."""

    nodes: Sequence[TreeNode]
    leaf_field: str = ""
    """Field with the number of a packet's leaf."""
    rank_fields: Sequence[str] = ()
    """Fields with the ranks of the levels below the root."""


@dataclass(frozen=True)
class PortSettings:
    """Settings of a port; None keeps a value."""

    port: int
    rate_bps: int | None = None
    """Rate of the whole port in bit/s of Ethernet frames; 0: not shaped."""
    delay_ns: int | None = None
    """Propagation delay of the link behind the port."""
    discipline: Discipline | None = None
    queues: Mapping[int, QueueSettings] = field(default_factory=dict)
    """Queues by priority, 0..7; 7 is the most urgent."""
    buffer_packets: int | None = None
    """Packets that the buffer of the port can hold, for every discipline except `strict`."""
    user_field: str | None = None
    """Field with the user, for `drr`, `afq`, `stfq`, `gearbox` and `scrr`, for example "meta.user"."""
    rank_field: str | None = None
    """Field with the rank, for `pifo`, for a `calendar` placed by rank, and for the root of a `tree`; with 256 / weight
    of the user, for `gearbox`."""
    quantum_bytes: int | None = None
    """Bytes of a user in one round of DRR."""
    calendar: Calendar | None = None
    tree: Tree | None = None
    """New tree; replaces the old one."""
    scrr: Scrr | None = None


@dataclass(frozen=True)
class Memory:
    """The memory that the queues of all ports share, besides the size of each."""

    packets: int
    """Packets that it holds; 0: there is none."""
    sharing: MemorySharing = MemorySharing.DYNAMIC_THRESHOLDS
    alpha_256: int = 256
    """256 times alpha."""


@dataclass(frozen=True)
class Fidelity:
    """Lateness of frames on emulated links during `measured_ns`, compared with the ideal time. None: not measured."""

    measured_ns: int
    departures: int
    lateness_p50_ns: int | None
    lateness_p99_ns: int | None
    lateness_p999_ns: int | None
    lateness_max_ns: int | None
    rx_lost: int
    tx_errors: int | None
    cpu_ns: int | None
    """CPU time of the data-plane thread."""


class EmbeddedTrafficManager:
    """The embedded switch's traffic manager: gRPC on the port of P4Runtime."""

    def __init__(self, address: str, tls: Tls | None = None) -> None:
        self.address = address
        self._channel = channel(address, tls)
        # the generated stub is typed for synchronous channels as well
        self._stub = TrafficManagerStub(self._channel)

    async def close(self) -> None:
        """Closes the connection."""
        async with await_answer():
            await self._channel.close()

    async def set_ports(self, ports: Sequence[PortSettings]) -> None:
        """Changes these ports, all or nothing. A setting of None keeps its value."""
        request = pb.SetPortsRequest(ports=[_port_message(port) for port in ports])
        async with one_sentence(self.address, "configure its ports"):
            await self._stub.SetPorts(request, timeout=TIMEOUT_S)

    async def set_memory(self, memory: Memory) -> None:
        """Changes the memory that all ports share."""
        fields = {**asdict(memory), "sharing": f"MEMORY_SHARING_{memory.sharing.name}"}
        try:
            request = ParseDict({"memory": fields}, pb.SetPortsRequest())
        except ParseError as error:
            raise TrafficManagerError(f"memory: {' '.join(str(error).split())}") from None
        async with one_sentence(self.address, "configure its memory"):
            await self._stub.SetPorts(request, timeout=TIMEOUT_S)

    async def memory(self) -> Memory:
        """The memory that all ports share."""
        async with one_sentence(self.address, "read the settings of its memory"):
            reply = await self._stub.GetPorts(pb.GetPortsRequest(), timeout=TIMEOUT_S)
        found = reply.memory
        sharing = pb.MemorySharing.Name(found.sharing).removeprefix("MEMORY_SHARING_")
        return Memory(found.packets, MemorySharing[sharing], found.alpha_256)

    async def ports(self) -> list[PortSettings]:
        """The settings of all ports."""
        async with one_sentence(self.address, "read the settings of its ports"):
            reply = await self._stub.GetPorts(pb.GetPortsRequest(), timeout=TIMEOUT_S)
        return [_port_settings(port) for port in reply.ports]

    async def stats(self, ports: Sequence[int] = ()) -> Mapping[int, pb.PortStats]:
        """Counters of these ports (empty: all ports), by port, read at one instant."""
        return {port.port: port for port in (await self.account(ports)).ports}

    async def account(self, ports: Sequence[int] = ()) -> pb.GetStatsResponse:
        """The same, with the account of every packet of the switch."""
        async with one_sentence(self.address, "read its statistics"):
            reply: pb.GetStatsResponse = await self._stub.GetStats(pb.GetStatsRequest(ports=ports), timeout=TIMEOUT_S)
        return reply

    async def fidelity(self, *, reset: bool = False) -> Fidelity:
        """Fidelity of the emulation since the last reset."""
        async with one_sentence(self.address, "read its fidelity"):
            reply = await self._stub.GetFidelity(pb.GetFidelityRequest(reset=reset), timeout=TIMEOUT_S)
        return Fidelity(**{name: getattr(reply, name) for name in Fidelity.__dataclass_fields__})


async def ports_of(address: str, tls: Tls | None = None) -> list[int]:
    """The ports of the embedded switch at `address`, which never change. Empty for a switch that cannot list its ports,
    such as BMv2."""
    manager = EmbeddedTrafficManager(address, tls)
    try:
        return sorted(await manager.stats())
    except SwitchGoneError:
        raise
    except SessionError:
        return []
    finally:
        await manager.close()


class Bmv2TrafficManager:
    """Traffic manager of stock BMv2, through `simple_switch_CLI`. BMV2_LIMITS lists its limits."""

    def __init__(self, thrift_port: int) -> None:
        self._command = [
            str(tool("simple_switch_CLI", "it comes with BMv2 and configures its queues")),
            "--thrift-port",
            str(thrift_port),
        ]

    async def close(self) -> None:
        """Does nothing: no connection is open."""

    async def set_ports(self, ports: Sequence[PortSettings]) -> None:
        """Sets queue rates (from the port's bit/s) and queue depths, with one run of simple_switch_CLI."""
        commands = [command for port in ports for command in bmv2_commands(port)]
        if not commands:
            return
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate("\n".join(commands).encode() + b"\n")
        text = output.decode(errors="replace")
        # simple_switch_CLI exits with 0 after most errors
        if process.returncode != 0 or "Error" in text or "Could not connect" in text:
            raise TrafficManagerError(f"simple_switch_CLI: {_bmv2_reason(text)}")

    async def stats(self, ports: Sequence[int] = ()) -> Mapping[int, pb.PortStats] | None:
        """Always None: BMv2 has no queue statistics."""
        return None

    async def fidelity(self, *, reset: bool = False) -> Fidelity | None:
        """Always None: BMv2 does not measure its lateness."""
        return None


TrafficManager: TypeAlias = EmbeddedTrafficManager | Bmv2TrafficManager


def bmv2_commands(port: PortSettings) -> list[str]:
    """Commands of `simple_switch_CLI` for the settings of a port. Raises an error for settings that BMv2 lacks.

    A rate in bit/s becomes a rate in packets of 1514 bytes, for each queue of the port.
    """
    for asked, what in (
        (port.delay_ns, "a propagation delay"),
        (port.discipline in BEYOND_BMV2, f"the discipline '{port.discipline}'"),
    ):
        if asked:
            raise TrafficManagerError(f"port {port.port}: BMv2 cannot do {what}; {BMV2_LIMITS}")
    commands = []
    if port.rate_bps:
        commands.append(f"set_queue_rate {bmv2_rate_pps(port.rate_bps)} {port.port}")
    if port.buffer_packets is not None:
        commands.append(f"set_queue_depth {port.buffer_packets} {port.port}")
    for priority, queue in sorted(port.queues.items()):
        if queue.rate_pps:
            commands.append(f"set_queue_rate {queue.rate_pps} {port.port} {priority}")
        if queue.depth_packets is not None:
            commands.append(f"set_queue_depth {queue.depth_packets} {port.port} {priority}")
    return commands


def bmv2_rate_pps(rate_bps: int) -> int:
    """BMv2's queue rate, packets/s, closest to a rate in bit/s of full-sized packets."""
    return max(1, round(rate_bps / (8 * BMV2_RATE_PACKET_BYTES)))


def _bmv2_reason(text: str) -> str:
    """The line with the error."""
    if "_M_range_check" in text:
        return "no such queue; simple_switch_grpc has one queue a port unless it is started with --priority-queues 8"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "Could not" in line or "Error" in line), lines[-1] if lines else "failed")


def _port_message(port: PortSettings) -> pb.PortConfig:
    same = ("port", "rate_bps", "delay_ns", "buffer_packets", "user_field", "rank_field", "quantum_bytes")
    queues = [pb.QueueConfig(queue=number, **asdict(queue)) for number, queue in sorted(port.queues.items())]
    message = pb.PortConfig(**{name: getattr(port, name) for name in same}, queues=queues)
    if port.calendar is not None:
        message.calendar.CopyFrom(_calendar_message(port.calendar))
    if port.scrr is not None:
        message.scrr.CopyFrom(pb.Scrr(**asdict(port.scrr)))
    if port.tree is not None:
        message.tree.CopyFrom(_tree_message(port.tree))
    if port.discipline is not None:
        message.discipline = _number(port.discipline)
    return message


def _number(discipline: Discipline) -> pb.Discipline.ValueType:
    return pb.Discipline.Value(f"DISCIPLINE_{discipline.name}")


def _discipline(number: pb.Discipline.ValueType) -> Discipline:
    return Discipline[pb.Discipline.Name(number).removeprefix("DISCIPLINE_")]


def _calendar_message(calendar: Calendar) -> pb.Calendar:
    message = pb.Calendar(**asdict(replace(calendar, place=None)))
    if calendar.place is not None:
        message.place = pb.CalendarPlace.Value(f"CALENDAR_PLACE_{calendar.place.name}")
    return message


def _tree_message(tree: Tree) -> pb.Tree:
    nodes = [pb.TreeNode(**asdict(node) | {"discipline": _number(node.discipline)}) for node in tree.nodes]
    return pb.Tree(nodes=nodes, leaf_field=tree.leaf_field, rank_fields=tree.rank_fields)


def _port_settings(message: pb.PortConfig) -> PortSettings:
    """The inverse of `_port_message`."""
    queues = {each.queue: QueueSettings(each.depth_packets, each.rate_pps) for each in message.queues}
    return PortSettings(
        message.port,
        rate_bps=message.rate_bps,
        delay_ns=message.delay_ns,
        discipline=_discipline(message.discipline),
        queues=queues,
        buffer_packets=message.buffer_packets,
        user_field=message.user_field or None,
        rank_field=message.rank_field or None,
        quantum_bytes=message.quantum_bytes,
        calendar=_calendar(message.calendar),
        tree=_tree(message.tree) if message.HasField("tree") else None,
        scrr=Scrr(message.scrr.flow_packets, message.scrr.version),
    )


def _calendar(message: pb.Calendar) -> Calendar:
    values = {each.name: getattr(message, each.name) for each in fields(Calendar)}
    place = pb.CalendarPlace.Name(message.place).removeprefix("CALENDAR_PLACE_")
    return Calendar(**values | {"place": CalendarPlace[place]})


def _tree(message: pb.Tree) -> Tree:
    nodes = tuple(
        TreeNode(_discipline(node.discipline), node.parent, node.buffer_packets, node.quantum_bytes, node.scale)
        for node in message.nodes
    )
    return Tree(nodes, message.leaf_field, tuple(message.rank_fields))
