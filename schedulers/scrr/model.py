"""SCRR: round robin whose quantum follows from the packets (Sharafzadeh et al., NSDI 2025).

Each flow has a FIFO queue and a virtual time in bytes, as in start-time fair queueing. The flows take turns. A packet
has a virtual start; the next packet of its flow starts where it ends. In its turn a flow sends at least one packet, and
goes on while its next packet starts at or before the *advance*. When all flows had their turn, the advance moves to
the latest start of the packets that were sent. So there is no quantum to set: large packets move the advance far, and
flows with small packets then send several of them in a turn.

The names are those of the authors' Linux qdisc, sch_scrr.c:

    here          there
    start         virtual_start, virtual_pkt
    finish        virtual_finish of a flow
    advance       virtual_advance
    latest        virtual_dequeue
    previous      virtual_previous
    turns_left    rounds_advance
"""

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

from p4sched.model import FULL, Model, Packet, Queued, Verdict


class Version(IntEnum):
    """The six qdiscs of the authors. Each adds to an earlier one."""

    BASIC = 0
    """A start is computed when the packet arrives. One list of flows; a flow without a packet leaves it."""
    SCRR = 1
    """New flows have a list of their own, which is served first. A flow without a packet keeps one more turn."""
    NPM = 2
    """No packet metadata: a start is computed when the packet leaves, so packets carry no time."""
    NMIA = 3
    """NPM with initial advance: a flow that was idle begins with the rest of the round before."""
    NMNE = 4
    """NPM with no empty turns: a flow without a packet leaves the lists, and its finish says where it comes back."""
    NEIA = 5
    """NPM with both."""


AT_ARRIVAL = {Version.BASIC, Version.SCRR}
INITIAL_ADVANCE = {Version.NMIA, Version.NEIA}
LEAVES_WHEN_EMPTY = {Version.BASIC, Version.NMNE, Version.NEIA}
MAY_COME_LATE = {Version.NMNE, Version.NEIA}


@dataclass(eq=False)
class Flow:
    """A flow: its waiting packets, and its virtual time."""

    finish: int
    """Virtual start of its next packet, if the flow stays busy. Bytes."""
    packets: deque[tuple[Packet, int | None]] = field(default_factory=deque)
    """Waiting packets with their starts; None: not yet known."""
    in_list: bool = False


class Scrr(Model):
    """Self-clocked round robin over flows."""

    size: int
    """Packets of all flows."""
    flow_size: int
    """Packets of one flow."""
    version: int

    def start(self) -> None:
        """No flow, and virtual time 0."""
        self.flows: dict[int, Flow] = {}
        self.new: deque[Flow] = deque()
        """Flows that have just become busy. They are served first."""
        self.old: deque[Flow] = deque()
        self.advance = self.latest = self.previous = 0
        self.turns_left = 0
        self.waiting = 0

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Appends the packet to its flow. A flow that is in no list joins one."""
        if self.waiting >= self.size:
            return FULL
        flow = self.flows.get(packet.flow)
        if flow is None:
            flow = self.flows[packet.flow] = Flow(self.previous)
        if len(flow.packets) >= self.flow_size:
            return FULL
        if not flow.in_list:
            self._join(flow)
        start = None
        if self.version in AT_ARRIVAL:
            start = max(self.advance, flow.finish)
            flow.finish = start + packet.bytes
        flow.packets.append((packet, start))
        self.waiting += 1
        return Queued()

    def _join(self, flow: Flow) -> None:
        flow.in_list = True
        others = self.new or self.old
        if self.version in MAY_COME_LATE and others and flow.finish > self.advance:
            # It has used its share of this round: it waits for the next one.
            self.old.append(flow)
        else:
            self.new.append(flow)
            self.turns_left += 1

    def dequeue(self, now: int) -> Packet | None:
        """The next packet of the flow whose turn it is."""
        while self.waiting:
            flows = self.new or self.old
            flow = flows[0]
            if flow.packets:
                return self._send(flow, flows)
            self._leave(flow, flows)
        return None

    def _send(self, flow: Flow, flows: deque[Flow]) -> Packet:
        packet, start = flow.packets.popleft()
        self.waiting -= 1
        if start is None:
            start = self._start_of(flow, packet)
            flow.finish = start + packet.bytes
        finish = start + packet.bytes
        if self.waiting == 0:
            # The port is empty. If this flow was behind, the clocks step back: so they do in the qdisc.
            self.latest = finish
            self._advance()
        else:
            self.latest = max(self.latest, start)
        if not flow.packets and self.version in LEAVES_WHEN_EMPTY:
            self._leave(flow, flows)
        elif not flow.packets or finish > self.advance:
            self._end_turn()
            flows.popleft()
            (self.new if self.version == Version.BASIC else self.old).append(flow)
        return packet

    def _start_of(self, flow: Flow, packet: Packet) -> int:
        """The start of a packet that leaves: the flow goes on, or was idle in the round before this one."""
        if flow.finish > self.previous:
            return flow.finish
        return self.previous + packet.bytes if self.version in INITIAL_ADVANCE else self.advance

    def _leave(self, flow: Flow, flows: deque[Flow]) -> None:
        flows.popleft()
        flow.in_list = False
        self._end_turn()

    def _end_turn(self) -> None:
        """Counts a turn. The first turn after the last one of a round begins a round."""
        if self.turns_left <= 0:
            if self.latest != self.advance:
                self._advance()
            self.turns_left = self._busy()
        self.turns_left -= 1

    def _advance(self) -> None:
        self.previous, self.advance = self.advance, self.latest

    def _busy(self) -> int:
        return len(self.new) + len(self.old)

    def __len__(self) -> int:
        return self.waiting
