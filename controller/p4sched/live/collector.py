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
from p4sched.live.view import ARRIVALS, REFUSED, TAIL_DROPS, Cells, PortView, SwitchView, architecture, scheme_of
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.session import watch
from p4sched.p4rt.traffic_manager import QUEUES, EmbeddedTrafficManager, Fidelity
from p4sched.p4rt.users import DEPARTURES, UNIT_SCALE, user_counters
from p4sched.proto import traffic_manager_pb2 as pb

RATE_WINDOW_NS = 500_000_000
"""Over which rates of users are means: in a shorter time a slow user sends too few packets."""
DROP_WINDOW_NS = 200_000_000
COUNT_EVERY = 2
"""Rounds from one reading of the counters to the next: what is shown of them are means over longer times anyway."""
LARGEST_RANK = 0xFFFF_FFFF


@dataclass(frozen=True)
class Queues:
    """Queues and ports at one instant of the switch's own clock."""

    time_ns: int
    lengths: Mapping[int, tuple[int, ...]]
    """Packets in the queues of each port, by priority 0, 1, ..."""
    sent: Mapping[int, int]
    """Bytes that left each port so far."""
    lost: Mapping[int, int]
    """Packets that the queues of each port had no room for."""


@dataclass(frozen=True)
class Counts:
    """What the program has counted and remembered, just after an instant of the switch's own clock."""

    time_ns: int
    refused: Mapping[int, int]
    """Packets that the admission rule refused so far, by port."""
    full: Mapping[int, int]
    """Packets for which the program saw no room, by port."""
    users: Mapping[int, int]
    """Bytes delivered, by user."""
    arrived: Mapping[int, Mapping[int, int]]
    """Bytes that arrived for a port, by bucket of their rank."""
    ranks: Mapping[int, Mapping[str, Any]]
    """By port: "window", the ranks by cell; "lowest" and "highest"; "bounds" by queue."""


@dataclass(frozen=True)
class PortFlow:
    """What a port does now."""

    bps: float
    """Bit/s that leave it."""
    refused: float
    """Packets a second, here and below."""
    full: float
    lost: float


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
    _queues: deque[Queues] = field(default_factory=deque)
    _counts: deque[Counts] = field(default_factory=deque)
    _rounds: int = 0

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
            self.watch_again()
        return changed

    def watch_again(self) -> None:
        """From now on reads what the program has of this view."""
        self._cells = Cells.of(self.reader, self.view)
        self._request = self.reader.request(self._cells.entities) if self._cells.entities else None

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

    def read(self) -> None:
        """One round: the queues, and in every COUNT_EVERY-th round the counters and registers."""
        assert self._cells is not None, "look() comes first"
        counting = self._rounds % COUNT_EVERY == 0
        self._rounds += 1
        report, entities = self.poll.read(self._request if counting else None)
        _remember(self._queues, _queues(report), DROP_WINDOW_NS)
        if counting:
            _remember(self._counts, _counted(report.now_ns, entities, self._cells, self.view), RATE_WINDOW_NS)

    @property
    def lengths(self) -> Mapping[int, tuple[int, ...]]:
        """Packets in the queues of each port now."""
        return self._queues[-1].lengths

    @property
    def ranks(self) -> Mapping[int, Mapping[str, Any]]:
        """What the registers of each port say of ranks (`Counts.ranks`)."""
        return self._counts[-1].ranks

    def rates(self) -> dict[int, float]:
        """Bit/s of every user."""
        before, now = self._counts[0], self._counts[-1]
        seconds = (now.time_ns - before.time_ns) / 1e9
        if seconds <= 0:
            return dict.fromkeys(now.users, 0.0)
        return {user: _risen(before.users.get(user), sent) * 8 / seconds for user, sent in now.users.items()}

    def arrivals(self) -> dict[int, dict[int, float]]:
        """Bit/s that arrive for a port, by bucket of their rank; buckets without arrivals left out."""
        before, now = self._counts[0], self._counts[-1]
        seconds = max((now.time_ns - before.time_ns) / 1e9, 1e-9)
        found: dict[int, dict[int, float]] = {}
        for port, buckets in now.arrived.items():
            earlier = before.arrived.get(port, {})
            risen = {bucket: _risen(earlier.get(bucket), count) for bucket, count in buckets.items()}
            found[port] = {bucket: count * 8 / seconds for bucket, count in risen.items() if count}
        return found

    def flow(self) -> dict[int, PortFlow]:
        """Of every port."""
        before, now = self._queues[0], self._queues[-1]
        seconds = max((now.time_ns - before.time_ns) / 1e9, 1e-9)
        counted = self._counts[-1]
        since = next(
            (old for old in reversed(self._counts) if old.time_ns <= counted.time_ns - DROP_WINDOW_NS), self._counts[0]
        )
        counted_s = max((counted.time_ns - since.time_ns) / 1e9, 1e-9)
        return {
            port: PortFlow(
                _risen(before.sent.get(port, sent), sent) * 8 / seconds,
                _risen(since.refused.get(port, 0), counted.refused.get(port, 0)) / counted_s,
                _risen(since.full.get(port, 0), counted.full.get(port, 0)) / counted_s,
                _risen(before.lost.get(port, 0), now.lost[port]) / seconds,
            )
            for port, sent in now.sent.items()
        }


def _remember(past: deque[Any], now: Any, window_ns: int) -> None:
    """Adds a reading; of those before it, what a mean over the window needs stays."""
    past.append(now)
    while len(past) > 2 and past[1].time_ns <= now.time_ns - window_ns:
        past.popleft()


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


def _queues(report: pb.GetStatsResponse) -> Queues:
    lengths, sent, lost = {}, {}, {}
    for port in report.ports:
        found = [0] * QUEUES
        for queue in port.queues:
            found[queue.queue] = queue.depth_packets
        lengths[port.port], sent[port.port] = tuple(found), port.tx_bytes
        lost[port.port] = sum(queue.dropped_packets for queue in port.queues)
    return Queues(report.now_ns, lengths, sent, lost)


def _counted(time_ns: int, entities: Sequence[p4r.Entity], cells: Cells, view: SwitchView) -> Counts:
    return Counts(time_ns, *_counts(entities, cells), _ranks(entities, cells, view))


def _counts(
    entities: Sequence[p4r.Entity], cells: Cells
) -> tuple[dict[int, int], dict[int, int], dict[int, int], dict[int, dict[int, int]]]:
    """Packets refused by the rule and packets without room, by port; bytes delivered, by user; bytes that arrived, by
    port and bucket."""
    refused: dict[int, int] = {}
    full: dict[int, int] = {}
    users: dict[int, int] = {}
    arrived: dict[int, dict[int, int]] = {}
    for entity in entities:
        if not entity.HasField("counter_entry"):
            continue
        entry = entity.counter_entry
        name, cell = cells.counters[entry.counter_id], entry.index.index
        if name == DEPARTURES:
            users[cell] = entry.data.byte_count - cells.bridge_bytes * entry.data.packet_count
        elif name == ARRIVALS:
            arrived.setdefault(cell >> 6, {})[cell & 63] = entry.data.byte_count
        elif name == TAIL_DROPS:
            full[cell] = entry.data.packet_count
        else:
            counts = refused if name == REFUSED else full
            counts[cell >> 3] = counts.get(cell >> 3, 0) + entry.data.packet_count
    return refused, full, users, arrived


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
