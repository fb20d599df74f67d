"""Reads a switch again and again: everything that a page shows of it comes from here.

A switch does not notice: reading changes no counter, no register and no queue, and a round takes two requests.
"""

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from finsy.proto import p4r

from p4sched.control.controller import SwitchAddress
from p4sched.control.loop import action_data_in_force
from p4sched.control.parameters import MAX_WINDOW as LARGEST_WINDOW
from p4sched.live.polling import Poll
from p4sched.live.view import REFUSED, TAIL_DROPS, Cells, PortView, SwitchView, architecture, scheme_of
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.session import watch
from p4sched.p4rt.traffic_manager import QUEUES, EmbeddedTrafficManager, Fidelity
from p4sched.p4rt.users import DEPARTURES, UNIT_SCALE, user_counters
from p4sched.proto import traffic_manager_pb2 as pb

RATE_WINDOW_NS = 500_000_000
"""Over which rates of users are means: in a shorter time a slow user sends too few packets."""
DROP_WINDOW_NS = 200_000_000
LARGEST_RANK = 0xFFFF_FFFF


@dataclass(frozen=True)
class Reading:
    """What a switch has counted so far, at one instant of its own clock."""

    time_ns: int
    lengths: Mapping[int, tuple[int, ...]]
    """Packets in the queues of each port, by priority 0, 1, ..."""
    sent: Mapping[int, int]
    """Bytes that left each port."""
    dropped: Mapping[int, tuple[int, int, int]]
    """Packets that each port lost: refused by the admission rule; the program saw no room; the queue had no room."""
    users: Mapping[int, int]
    """Bytes delivered, by user."""
    ranks: Mapping[int, Mapping[str, Any]]
    """By port: "window", the ranks by cell; "lowest" and "highest"; "bounds" by queue."""


@dataclass
class Collector:
    """Reads one switch."""

    name: str
    reader: Reader
    manager: EmbeddedTrafficManager
    poll: Poll
    view: SwitchView
    window: int = LARGEST_WINDOW
    """|W|: cells of the window that are in use."""
    _cookie: int | None = None
    """Of the program that the P4Info belongs to."""
    _cells: Cells | None = None
    _request: p4r.ReadRequest | None = None
    _readings: deque[Reading] = field(default_factory=deque)

    async def look(self) -> bool:
        """Looks which program, ports and users there are. Says whether something has changed."""
        cookie = await self.reader.pipeline_cookie()
        if self._cells is None or cookie is None or cookie != self._cookie:
            await self.reader.load_schema()
            self._cells, self._cookie = None, cookie
        ports = tuple(PortView.of(settings) for settings in await self.manager.ports())
        users = {}
        if self.reader.schema.counters.get(DEPARTURES) is not None:
            counted = await user_counters(self.reader)
            users = {user: UNIT_SCALE / counted[user].scale for user in sorted(counted)}
        view = SwitchView(self.name, scheme_of(self.reader, ports), architecture(self.reader), ports, users)
        changed = view != self.view
        if changed or self._cells is None:
            self.view = view
            self._cells = Cells.of(self.reader, view)
            self._request = self.reader.request(self._cells.entities) if self._cells.entities else None
        return changed

    async def parameters(self) -> dict[int | None, dict[str, int]]:
        """The action data in force, by port; that of all other ports by None."""
        scheme = self.view.scheme
        if scheme is None:
            return {}
        found: dict[int | None, dict[str, int]] = {}
        default = await action_data_in_force(self.reader, scheme.parameters)
        if default is not None:
            found[None] = default
        for port, values in (await self.reader.port_actions(scheme.parameters.table)).items():
            found[port] = values
        self.window = max((values.get("window_ranks", 0) for values in found.values()), default=0) or LARGEST_WINDOW
        return found

    async def fidelity(self) -> Fidelity:
        """How late the switch hands out frames, since whoever measures has asked for a new measurement."""
        return await self.manager.fidelity()

    def read(self) -> Reading:
        """One reading. The queues are read first: time and lengths are of one instant."""
        assert self._cells is not None, "look() comes first"
        report, entities = self.poll.read(self._request)
        reading = _reading(report, entities, self._cells, self.view)
        self._readings.append(reading)
        horizon = reading.time_ns - RATE_WINDOW_NS
        while len(self._readings) > 2 and self._readings[1].time_ns <= horizon:
            self._readings.popleft()
        return reading

    def rates(self, reading: Reading) -> dict[int, float]:
        """Bit/s of every user, up to this reading, which is the last one."""
        before = self._readings[0]
        seconds = (reading.time_ns - before.time_ns) / 1e9
        if seconds <= 0:
            return dict.fromkeys(reading.users, 0.0)
        return {user: _risen(before.users.get(user), sent) * 8 / seconds for user, sent in reading.users.items()}

    def flow(self, reading: Reading) -> dict[int, tuple[float, tuple[float, ...]]]:
        """Of every port: bit/s that leave it, and packets/s that it loses, by reason."""
        horizon = reading.time_ns - DROP_WINDOW_NS
        before = next((old for old in reversed(self._readings) if old.time_ns <= horizon), self._readings[0])
        seconds = (reading.time_ns - before.time_ns) / 1e9
        found: dict[int, tuple[float, tuple[float, ...]]] = {}
        for port, sent in reading.sent.items():
            bps = 0.0
            lost: tuple[float, ...] = (0.0, 0.0, 0.0)
            if seconds > 0 and port in before.sent:
                bps = _risen(before.sent[port], sent) * 8 / seconds
                pairs = zip(before.dropped[port], reading.dropped[port], strict=True)
                lost = tuple(_risen(*pair) / seconds for pair in pairs)
            found[port] = (bps, lost)
        return found


@asynccontextmanager
async def collecting(switches: Mapping[str, SwitchAddress]) -> AsyncIterator[dict[str, Collector]]:
    """Connections to these switches, closed at the end. Raises SessionError for a switch that is not there."""
    async with AsyncExitStack() as stack:
        found = {}
        for name, at in switches.items():
            reader = await stack.enter_async_context(watch(at.address, device_id=at.device_id))
            manager = EmbeddedTrafficManager(at.address)
            stack.push_async_callback(manager.close)
            poll = Poll(at.address)
            stack.callback(poll.close)
            found[name] = Collector(name, reader, manager, poll, SwitchView(name, None, "", (), {}))
            await found[name].look()
        yield found


def _reading(report: pb.GetStatsResponse, entities: Sequence[p4r.Entity], cells: Cells, view: SwitchView) -> Reading:
    lengths, sent, lost = {}, {}, {}
    for port in report.ports:
        found = [0] * QUEUES
        for queue in port.queues:
            found[queue.queue] = queue.depth_packets
        lengths[port.port], sent[port.port] = tuple(found), port.tx_bytes
        lost[port.port] = sum(queue.dropped_packets for queue in port.queues)
    refused, full, users = _counts(entities, cells)
    dropped = {port: (refused.get(port, 0), full.get(port, 0), lost[port]) for port in lengths}
    return Reading(report.now_ns, lengths, sent, dropped, users, _ranks(entities, cells, view))


def _counts(entities: Sequence[p4r.Entity], cells: Cells) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Packets refused by the rule and packets without room, by port; bytes delivered, by user."""
    refused: dict[int, int] = {}
    full: dict[int, int] = {}
    users: dict[int, int] = {}
    for entity in entities:
        if not entity.HasField("counter_entry"):
            continue
        entry = entity.counter_entry
        name, cell = cells.counters[entry.counter_id], entry.index.index
        if name == DEPARTURES:
            users[cell] = entry.data.byte_count
        elif name == TAIL_DROPS:
            full[cell] = entry.data.packet_count
        else:
            counts = refused if name == REFUSED else full
            counts[cell >> 3] = counts.get(cell >> 3, 0) + entry.data.packet_count
    return refused, full, users


def _ranks(entities: Sequence[p4r.Entity], cells: Cells, view: SwitchView) -> dict[int, dict[str, Any]]:
    """What the registers of each port say of ranks."""
    found: dict[int, dict[str, Any]] = {port.port: {} for port in view.busy}
    raised: dict[int, dict[int, int]] = {}
    for entity in entities:
        if not entity.HasField("register_entry"):
            continue
        entry = entity.register_entry
        kind, number = cells.registers[entry.register_id]
        value, port = int.from_bytes(entry.data.bitstring, "big"), entry.index.index
        if kind == "bound":
            raised.setdefault(port, {})[number] = value
        elif kind != "window":
            found[port][kind] = value
        elif value:
            # a cell holds the complement of a rank, 0 before the first one
            found[port].setdefault("window", {})[number] = LARGEST_RANK - value
    for port, bounds in raised.items():
        lowered = found[port].pop("lowered", 0)
        # the top bit says that the bound was set (p4/include/sp_pifo_mapping.p4)
        found[port]["bounds"] = {
            number: (value - lowered) & LARGEST_RANK if value >> 32 else 0 for number, value in sorted(bounds.items())
        }
    return found


def _risen(before: int | None, now: int) -> int:
    """How far a counter has risen. One that went down was reset."""
    return now - (before or 0) if before is None or now >= before else now


def quantiles(ranks: Sequence[int]) -> list[int]:
    """Smallest, lower quartile, median, upper quartile and largest of ascending ranks."""
    last = len(ranks) - 1
    return [ranks[last * quarter // 4] for quarter in range(5)] if ranks else []
