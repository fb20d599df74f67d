"""Gearbox: approximate weighted fair queueing with levels of FIFOs.

Gao, Dalleggio, Xu, Chao, "Gearbox: A Hierarchical Packet Scheduler for Approximate Weighted Fair Queuing", NSDI 2022.
The rule is that of the authors' code: README.md names it, and says what differs.

    VC:        the virtual clock, in rounds of g bytes for a flow of weight 1
    level i:   FIFOs of N^i rounds each: N for the top level; two sets, A and B, of N for each other level
    arrival:   finish = max(VC g, finish of the flow) + bytes / weight;  round = finish / g
               level  = the finest one, such that the FIFO of the next level is the current or the next one there
               while the FIFO of the flow's last packet is not over: level = max(level, level of that packet)
               append to the FIFO round / N^level of the level
    departure: the lowest level first: all of level 0's FIFO; of the other levels' FIFOs in each round an equal share of
               what waits there; the last round of a FIFO empties it
               nothing left in this round: VC = next round in which a FIFO has a packet

With `whole_sets` = 0, the level is the position of the highest digit of round - VC that is not 0, in base N, as in the
hardware. Then packets of a flow can leave in another order than they came.
"""

from collections import deque
from typing import NamedTuple

from p4sched.model import FULL, Model, Packet, Queued, Verdict

UNIT_SCALE = 256
"""256 / weight for weight 1."""


class Last(NamedTuple):
    """A flow's last packet that was queued."""

    finish: int
    """Virtual finish time, in 1/256 byte of a flow of weight 1."""
    level: int


class Level:
    """The FIFOs of a level."""

    def __init__(self, rounds: int, fifos: int) -> None:
        self.rounds = rounds
        """Rounds that each FIFO is served for: the granularity N^i."""
        self.fifos: list[deque[Packet]] = [deque() for _ in range(fifos)]
        self.bytes = [0] * fifos
        """Bytes in each FIFO."""
        self.share = 0
        """Bytes that the current FIFO may still send in this round."""

    def fifo(self, turn: int) -> deque[Packet]:
        """The FIFO of the turn-th interval of N^i rounds."""
        return self.fifos[turn % len(self.fifos)]

    def append(self, packet: Packet, turn: int) -> None:
        """Appends a packet to a FIFO."""
        self.fifo(turn).append(packet)
        self.bytes[turn % len(self.fifos)] += packet.bytes

    def pop(self, turn: int) -> Packet:
        """Removes the oldest packet of a FIFO."""
        packet = self.fifo(turn).popleft()
        self.bytes[turn % len(self.fifos)] -= packet.bytes
        self.share -= packet.bytes
        return packet

    def begin(self, now: int) -> None:
        """Sets the share of the current FIFO, at the beginning of round `now`."""
        left = self.rounds - now % self.rounds
        self.share = -(-self.bytes[now // self.rounds % len(self.fifos)] // left)

    def may_send(self, now: int) -> bool:
        """True if the current FIFO has a packet for round `now`."""
        last = (now + 1) % self.rounds == 0
        return bool(self.fifo(now // self.rounds)) and (last or self.share > 0)

    def next(self, after: int) -> int | None:
        """The first round, from `after` on, in which a FIFO has a packet."""
        turn = after // self.rounds
        for ahead in range(turn, turn + len(self.fifos)):
            if self.fifo(ahead):
                return max(after, ahead * self.rounds)
        return None


class Gearbox(Model):
    """Levels of FIFOs behind one virtual clock. `levels`, `fifos` and `tick` stay as they are at the start."""

    levels: int
    """L"""
    fifos: int
    """N"""
    tick: int
    """g: bytes that a flow of weight 1 may send in a round."""
    burst: int
    """Rounds that a flow may be ahead of VC."""
    fifo_size: int
    size: int
    whole_sets: int
    """1: a level holds all packets of its current and its next set; 0: those less than N^(i+1) rounds ahead."""
    weights: int
    """1: the rank of a packet is 256 / weight of its flow."""

    def start(self) -> None:
        """Makes empty FIFOs; VC is 0."""
        self.base, self.unit = self.fifos, self.tick * UNIT_SCALE
        sets = [2] * (self.levels - 1) + [1]
        self.level = [Level(self.base**i, self.base * sets[i]) for i in range(self.levels)]
        self.clock = 0
        """VC, in rounds."""
        self.last: dict[int, Last] = {}
        self.waiting = 0

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Files a packet by its finish time. A dropped packet does not move its flow's finish."""
        last = self.last.get(packet.flow, Last(0, 0))
        scale = packet.rank if self.weights and packet.rank else UNIT_SCALE
        finish = max(self.clock * self.unit, last.finish) + packet.bytes * scale
        rounds = finish // self.unit
        top = self.level[-1].rounds
        if rounds - self.clock >= self.burst or rounds // top - self.clock // top >= self.base:
            return FULL
        number = max(self.natural_level(rounds), self.pinned_level(last))
        level = self.level[number]
        turn = rounds // level.rounds
        if self.waiting >= self.size or len(level.fifo(turn)) >= self.fifo_size:
            return FULL
        level.append(packet, turn)
        self.waiting += 1
        self.last[packet.flow] = Last(finish, number)
        return Queued(number)

    def natural_level(self, rounds: int) -> int:
        """The finest level that reaches a round."""
        for number, above in enumerate(self.level[1:]):
            if self.whole_sets:
                reached = rounds // above.rounds - self.clock // above.rounds <= 1
            else:
                reached = rounds - self.clock < above.rounds
            if reached:
                return number
        return len(self.level) - 1

    def pinned_level(self, last: Last) -> int:
        """The level that a flow must not go below, because its last packet may still wait there; else 0."""
        width = self.level[last.level].rounds
        over = last.finish // self.unit // width < self.clock // width
        return 0 if over else last.level

    def dequeue(self, now: int) -> Packet | None:
        """The next packet of this round, or of the next round that has one."""
        if not self.waiting:
            return None
        while True:
            for level in self.level:
                if level.may_send(self.clock):
                    self.waiting -= 1
                    return level.pop(self.clock // level.rounds)
            found = (level.next(self.clock + 1) for level in self.level)
            self.clock = min(number for number in found if number is not None)
            for level in self.level:
                level.begin(self.clock)

    def __len__(self) -> int:
        return self.waiting
