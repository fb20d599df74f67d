"""SP-PIFO with a table of flowlets: a flow keeps its queue until it pauses.

Alcoz et al., "SP-PIFO: Approximating Push-In First-Out Behaviors using Strict-Priority Queues", NSDI 2020. Flowlets:
Sinha, Kandula and Katabi, "Harnessing TCP's burstiness with flowlet switching", HotNets 2004.

    cell: one of 512, by the flow; it has the queue and the time of its last packet that was queued
    a packet less than the gap after that time: that queue, if it exists; no bound changes; tail drop
    any other packet: scan from queue n to queue 1; take the first queue i with b_i <= r;  if it has room, b_i = r
                      none: take queue 1, and lower every bound by the smallest bound - r

The number of a flow is its cell modulo 512. In a run of the program it is the program's hash.
"""

from typing import NamedTuple

from p4sched.model import FULL, Packet, Queues, Verdict

CLOCK = 2**32
"""The clock counts microseconds, and wraps."""
CELLS = 512


class Flowlet(NamedTuple):
    """The last packet of a cell that was queued."""

    queue: int
    at: int
    """Time in microseconds."""


class SpPifoFlowlet(Queues):
    """Strict-priority queues behind bounds, which only the first packet of a flowlet meets."""

    size_1: int
    size_2: int
    size_3: int
    size_4: int
    size_5: int
    size_6: int
    size_7: int
    size_8: int
    gap_us: int

    def start(self) -> None:
        """Bounds of 0, and no flowlet."""
        self.bounds = [0] * len(self.queues)
        self.flowlets: dict[int, Flowlet] = {}

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Takes the queue of the flowlet, or that of the bounds; tail drop."""
        cell, at = packet.flow % CELLS, now // 1000 % CLOCK
        queue = self.kept(cell, at)
        if queue is None:
            queue = self.mapped(packet.rank)
        if not self.has_room(queue):
            return FULL
        self.flowlets[cell] = Flowlet(queue, at)
        return self.put(packet, queue)

    def kept(self, cell: int, at: int) -> int | None:
        """The queue of the flowlet under way in a cell, if there is one."""
        last = self.flowlets.get(cell)
        if last is None or (at - last.at) % CLOCK >= self.gap_us or not self.sizes[last.queue]:
            return None
        return last.queue

    def mapped(self, rank: int) -> int:
        """The queue of SP-PIFO, whose bounds adapt to the rank."""
        existing = [queue for queue, size in enumerate(self.sizes) if size]
        self.bounds = [bound if size else 0 for bound, size in zip(self.bounds, self.sizes, strict=True)]
        for queue in reversed(existing):
            if self.bounds[queue] <= rank:
                if self.has_room(queue):
                    self.bounds[queue] = rank
                return queue
        cost = min(self.bounds[queue] for queue in existing) - rank
        for queue in existing:
            self.bounds[queue] -= cost
        return existing[0]

    def has_room(self, queue: int) -> bool:
        """True if a queue takes another packet."""
        return len(self.queues[queue]) < self.sizes[queue]

    @property
    def sizes(self) -> list[int]:
        """B_1 to B_8; 0: there is no such queue."""
        first = [self.size_1, self.size_2, self.size_3, self.size_4]
        return [*first, self.size_5, self.size_6, self.size_7, self.size_8]
