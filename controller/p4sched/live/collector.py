"""Reads everything that a page shows of a switch.

Reading changes no counter, no register and no queue.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from p4sched.control.controller import SwitchAddress
from p4sched.control.laws.port_counters import BUCKETS
from p4sched.control.loop import action_data_in_force
from p4sched.control.parameters import MAX_WINDOW as LARGEST_WINDOW
from p4sched.live.snapshots import Snapshots
from p4sched.live.view import ARRIVALS, FULL, REFUSED, TAIL_DROPS, Cells, PortView, SwitchView, architecture, scheme_of
from p4sched.p4rt.reader import Reader, SwitchGoneError
from p4sched.p4rt.session import watch
from p4sched.p4rt.traffic_manager import QUEUES, EmbeddedTrafficManager, Fidelity
from p4sched.p4rt.users import DEPARTURES, UNIT_SCALE, user_counters
from p4sched.proto import traffic_manager_pb2 as pb

RATE_WINDOW_NS = 500_000_000
"""Time over which rates of users are averaged. In a shorter time, a slow user sends too few packets."""
DROP_WINDOW_NS = 200_000_000
"""Time over which rates of ports are averaged."""
LARGEST_RANK = 0xFFFF_FFFF


@dataclass(frozen=True)
class Reading:
    """Content of a snapshot. Ports and users are in the order of the view. Counters count from the switch's start."""

    time_ns: int
    """Time on the switch's own clock."""
    lengths: Sequence[Sequence[int]]
    """Packets in the queues of each port, by priority 0, 1, ..."""
    sent: Sequence[int]
    """Bytes that left each port so far."""
    lost: Sequence[int]
    """Packets that did not fit into the queues of each port, so far."""
    refused: Sequence[int]
    """Packets that the admission rule refused so far, for each port whose counters are read; the same ports below."""
    full: Sequence[int]
    """Packets that the program dropped so far because of a full queue."""
    users: Sequence[int]
    """Bytes delivered to each user so far."""
    arrived: Sequence[int]
    """Bytes that arrived so far, for each bucket of ranks of each port; empty if not read."""
    ranks: Mapping[int, Mapping[str, Any]]
    """Ranks by port: "window", the ranks by cell; "lowest" and "highest"; "bounds" by queue."""

    @classmethod
    def of(cls, snapshot: pb.Snapshot, cells: Cells) -> "Reading":
        """Reading of a snapshot with these cells."""
        packets, octets = list(snapshot.packets), list(snapshot.bytes)
        lengths = list(snapshot.lengths)
        refused, full = (_by_port(packets[cells.counters[name]]) for name in (REFUSED, FULL))
        users, more = cells.counters[DEPARTURES], cells.bridge_bytes
        return cls(
            snapshot.now_ns,
            [lengths[first : first + QUEUES] for first in range(0, len(lengths), QUEUES)],
            list(snapshot.sent_bytes),
            list(snapshot.lost_packets),
            refused,
            full or packets[cells.counters[TAIL_DROPS]],
            [of - more * count for of, count in zip(octets[users], packets[users], strict=True)]
            if more
            else octets[users],
            octets[cells.counters[ARRIVALS]],
            _ranks(snapshot.values, cells),
        )


@dataclass(frozen=True)
class PortFlow:
    """Current traffic of a port."""

    bps: float
    """Bit/s that leave the port."""
    refused: float
    """Packets a second, also in the fields below."""
    full: float
    lost: float


@dataclass
class Collector:
    """Follows one switch."""

    name: str
    reader: Reader
    manager: EmbeddedTrafficManager
    snapshots: Snapshots
    view: SwitchView
    window: int = LARGEST_WINDOW
    """|W|: cells of the window that are in use."""
    _cookie: int | None = None
    """Cookie of the program that the P4Info belongs to."""
    _cells: Cells | None = None
    _past: deque[Reading] = field(default_factory=deque)

    async def look(self) -> bool:
        """Reads which program, ports and users there are. Returns True if something has changed."""
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
            await self.read_cells(Cells.of(self.reader, view))
        return changed

    async def read_cells(self, cells: Cells) -> None:
        """Adds these cells to future snapshots."""
        self._cells = cells
        self._past.clear()
        await self.snapshots.ask_for(cells.request)

    async def parameters(self) -> dict[int | None, dict[str, int]]:
        """The action data in force, by port; None: that of all other ports."""
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
        """Lateness of the switch's frames since the last reset by a measurement."""
        return await self.manager.fidelity()

    async def read(self, *, wait: bool = True) -> None:
        """Takes the next snapshot; without `wait`, the last received snapshot. Raises SessionError."""
        assert self._cells is not None, "look() comes first"
        found = await (self.snapshots.next() if wait else self.snapshots.newest())
        past = self._past
        if past and found.now_ns == past[-1].time_ns:
            return
        past.append(Reading.of(found, self._cells))
        # keeps one reading that is older than the window, for means over the whole window
        while len(past) > 2 and past[1].time_ns <= found.now_ns - RATE_WINDOW_NS:
            past.popleft()

    @property
    def newest(self) -> Reading:
        """The last reading."""
        return self._past[-1]

    def rates(self) -> list[float]:
        """Bit/s of every user of the view."""
        before, now, per_s = self._since(RATE_WINDOW_NS)
        return [risen * 8 * per_s for risen in _risen(before.users, now.users)]

    def arrivals(self) -> dict[int, dict[int, float]]:
        """Bit/s that arrive for a port, by bucket of their rank, without empty buckets."""
        assert self._cells is not None
        before, now, per_s = self._since(RATE_WINDOW_NS)
        found: dict[int, dict[int, float]] = {}
        if now.arrived:
            risen = _risen(before.arrived, now.arrived)
            for place, port in enumerate(self._cells.ports):
                of_port = risen[place * BUCKETS : (place + 1) * BUCKETS]
                found[port] = {bucket: count * 8 * per_s for bucket, count in enumerate(of_port) if count}
        return found

    def flow(self) -> dict[int, PortFlow]:
        """Traffic of every port."""
        assert self._cells is not None
        before, now, per_s = self._since(DROP_WINDOW_NS)
        refused = dict(zip(self._cells.ports, _risen(before.refused, now.refused), strict=False))
        full = dict(zip(self._cells.ports, _risen(before.full, now.full), strict=False))
        sent, lost = _risen(before.sent, now.sent), _risen(before.lost, now.lost)
        return {
            port.port: PortFlow(
                sent[place] * 8 * per_s,
                refused.get(port.port, 0) * per_s,
                full.get(port.port, 0) * per_s,
                lost[place] * per_s,
            )
            for place, port in enumerate(self.view.ports)
        }

    def _since(self, window_ns: int) -> tuple[Reading, Reading, float]:
        """The newest reading, the reading a window earlier (or else the oldest), and 1 / their distance in s."""
        now = self._past[-1]
        before = next((old for old in reversed(self._past) if old.time_ns <= now.time_ns - window_ns), self._past[0])
        return before, now, 1e9 / max(now.time_ns - before.time_ns, 1)


@asynccontextmanager
async def collecting(switches: Mapping[str, SwitchAddress], every_s: float) -> AsyncIterator[dict[str, Collector]]:
    """Connects to these switches for a block. `every_s`: see Snapshots. Raises SessionError for a missing switch."""
    async with AsyncExitStack() as stack:
        found = {}
        for name, at in switches.items():
            try:
                reader = await stack.enter_async_context(watch(at.address, device_id=at.device_id, tls=at.tls))
            except SwitchGoneError as error:
                raise at.why_gone(error) from error
            manager = EmbeddedTrafficManager(at.address, at.tls)
            stack.push_async_callback(manager.close)
            snapshots = Snapshots(at.address, every_s, at.tls)
            stack.push_async_callback(snapshots.close)
            found[name] = Collector(name, reader, manager, snapshots, SwitchView(name, None, "", (), {}))
            await found[name].look()
        yield found


async def read_all(collectors: Sequence[Collector]) -> None:
    """Waits for a new snapshot of the first switch, and takes the newest of the others, which saves CPU time."""
    await asyncio.gather(*(collector.read(wait=place == 0) for place, collector in enumerate(collectors)))


def _by_port(packets: Sequence[int]) -> list[int]:
    """Sums of cells by port, from cells by (port << 3) | priority."""
    return [sum(packets[first : first + QUEUES]) for first in range(0, len(packets), QUEUES)]


def _ranks(values: Sequence[int], cells: Cells) -> dict[int, dict[str, Any]]:
    """Ranks in the registers of each port."""
    found: dict[int, dict[str, Any]] = {port: {} for port in cells.ports}
    place = 0
    for kind, number in cells.registers:
        for port in cells.ports:
            value, of_port = values[place], found[port]
            place += 1
            if kind == "bound":
                of_port.setdefault("bounds", {})[number] = value
            elif kind != "window":
                of_port[kind] = value
            elif value:
                # a cell holds the complement of a rank; 0: no rank yet
                of_port.setdefault("window", {})[number] = LARGEST_RANK - value
    for of_port in found.values():
        lowered = of_port.pop("lowered", 0)
        if "bounds" in of_port:
            # the top bit means that the bound was set (p4/include/sp_pifo_mapping.p4)
            of_port["bounds"] = {
                number: (value - lowered) & LARGEST_RANK if value >> 32 else 0
                for number, value in sorted(of_port["bounds"].items())
            }
    return found


def _risen(before: Sequence[int], now: Sequence[int]) -> list[int]:
    """Increments of counters. A counter that went down was reset."""
    return [later - earlier if later >= earlier else later for earlier, later in zip(before, now, strict=True)]


def quantiles(ranks: Sequence[int]) -> list[int]:
    """Smallest, lower quartile, median, upper quartile and largest of ascending ranks."""
    last = len(ranks) - 1
    return [ranks[last * quarter // 4] for quarter in range(5)] if ranks else []
