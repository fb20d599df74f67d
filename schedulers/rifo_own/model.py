"""RIFO with a tracking range for each user.

Mostafaei, Pacut, Schmid: "RIFO: Pushing the Efficiency of Programmable Packet Schedulers", algorithm 1. The ranges of
users are the laboratory's.

    Min, Max: range of the ranks of the user; its arrivals 1, T + 1, 2T + 1, ... set both to their rank r
    L: packets that wait;  B: size of the queue;  k = K/256: headroom
    admit iff  256 L <= K B  or  Max = Min  or  (Max - r) B >= (Max - Min) (B - L)
"""

from p4sched.model import FULL, REFUSED, Packet, Queues, Verdict

RANGES = 8
"""Ranges of a port."""


class Range:
    """Min and Max of the ranks of a user."""

    def __init__(self) -> None:
        self.lowest = self.highest = self.arrivals = 0

    def follow(self, rank: int, tracking: int) -> None:
        """Takes a rank into the range. After `tracking` arrivals, the next one begins a new range."""
        begins = self.arrivals == 0
        self.lowest = rank if begins else min(self.lowest, rank)
        self.highest = rank if begins else max(self.highest, rank)
        self.arrivals = self.arrivals + 1 if self.arrivals + 1 < tracking else 0


class RifoOwn(Queues):
    """One FIFO queue behind an admission by the place of the rank in the range of its user."""

    capacity_packets: int
    headroom_256: int
    tracking_packets: int

    def start(self) -> None:
        """Makes the ranges: user u has number u modulo 8."""
        self.ranges = [Range() for _ in range(RANGES)]

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Admits by the range; tail drop."""
        of_user = self.ranges[packet.user % RANGES]
        of_user.follow(packet.rank, self.tracking_packets)
        span, size, waiting = of_user.highest - of_user.lowest, self.capacity_packets, len(self)
        urgent = (of_user.highest - packet.rank) * size >= span * max(size - waiting, 0)
        if not (waiting * 256 <= self.headroom_256 * size or span == 0 or urgent):
            return REFUSED
        if waiting >= size:
            return FULL
        return self.put(packet, 0)
