"""Rules for the bounds of SP-PIFO's queues that its paper compares (Alcoz et al., NSDI 2020, figures 5 and 6)."""

from collections import deque
from enum import IntEnum
from itertools import accumulate, islice

from p4sched.model import FULL, Model, Packet, Queued, Verdict

PERIOD = 1000
"""Queued packets after which the greedy rule moves the bounds, as in the authors' simulation."""
LIFTED = 8
"""Queues whose first bound under the greedy rule is one above their number, as in the authors' simulation."""


class Rule(IntEnum):
    """What moves the bounds."""

    FIXED = 0
    """Nothing."""
    GREEDY = 1
    """Each bound moves by one occupied rank if this sorts the last packets better."""
    COST = 2
    """Each packet. At an inversion, the other bounds fall by its cost: SP-PIFO."""
    ONE = 3
    """As COST, but they fall by 1."""
    RANK = 4
    """As COST, but they fall by the rank of the packet."""
    BOUND = 5
    """As COST, but each falls to the bound of the next more urgent queue."""


class Bounds(Model):
    """Strict-priority queues. A packet enters the least urgent queue whose bound is not above its rank, else queue 0.

    A dropped packet moves no bound. The rules are those of SPPIFOQueue.java and GreedyQueue_Advanced.java.
    """

    rule: int
    queue_count: int
    size: int
    half_steps: int

    def start(self) -> None:
        """Empty queues. The bounds are those of the authors' simulation."""
        count = range(self.queue_count)
        self.queues: list[deque[Packet]] = [deque() for _ in count]
        self.seen: list[list[int]] = [[] for _ in count]
        """Ranks of the last packets by queue, for the greedy rule."""
        self.arrivals = 0
        match self.rule:
            case Rule.FIXED:
                self.bounds = [queue * self.half_steps // 2 for queue in count]
            case Rule.GREEDY:
                self.bounds = [queue + (queue < LIFTED) for queue in count]
            case _:
                self.bounds = [0 for _ in count]

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Chooses the queue; tail drop."""
        queue = next((queue for queue in reversed(range(self.queue_count)) if self.bounds[queue] <= packet.rank), 0)
        if len(self.queues[queue]) >= self.size:
            return FULL
        self.queues[queue].append(packet)
        if self.rule == Rule.GREEDY:
            self.note(queue, packet.rank)
        elif self.rule != Rule.FIXED:
            self.move(queue, packet.rank)
        return Queued(queue)

    def dequeue(self, now: int) -> Packet | None:
        """The oldest packet of the most urgent queue that is not empty."""
        return next((queue.popleft() for queue in self.queues if queue), None)

    def __len__(self) -> int:
        return sum(map(len, self.queues))

    def move(self, queue: int, rank: int) -> None:
        """Push-up, and at an inversion push-down."""
        cost = self.bounds[queue] - rank
        self.bounds[queue] = rank
        if cost <= 0:
            return
        for other in reversed(range(1, self.queue_count)):
            bound = self.bounds[other]
            steps = {Rule.COST: cost, Rule.ONE: 1, Rule.RANK: rank, Rule.BOUND: bound - self.bounds[other - 1]}
            self.bounds[other] = bound - steps[Rule(self.rule)]

    def note(self, queue: int, rank: int) -> None:
        """Remembers a packet. At the end of a period, moves the bounds."""
        self.seen[queue].append(rank)
        self.arrivals += 1
        if self.arrivals == PERIOD:
            for bounded in reversed(range(1, self.queue_count)):
                self.bounds[bounded] = self.better_bound(bounded)
            self.seen = [[] for _ in self.seen]
            self.arrivals = 0

    def better_bound(self, queue: int) -> int:
        """The bound after its lowest rank moved to the queue above it, or the highest rank of that queue into it.

        A move is good if the distances of the rank to those that it leaves exceed the distances to those that it
        joins. As in the authors' simulation, a rank that was the highest of its queue when it came leaves none.
        """
        bound, own, above = self.bounds[queue], self.seen[queue], self.seen[queue - 1]
        less_urgent = self.bounds[queue + 1 : queue + 2]
        higher = min((rank for rank in own if rank > bound), default=bound)
        if sum(bound - rank for rank in above) < sum(rank - bound for rank in own) and higher not in less_urgent:
            return higher
        least = self.bounds[queue - 1]
        lower = max([least, *above])
        highest = islice(accumulate(above, max, initial=least), 1, None)
        left = sum(lower - rank for rank, most in zip(above, highest, strict=True) if rank != most)
        return lower if left > sum(rank - lower for rank in own) and lower != least else bound
