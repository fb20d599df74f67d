"""AIFO with a window for each user.

Yu et al., "Programmable Packet Scheduling with a Single Queue", SIGCOMM 2021, algorithm 1. The windows of users are the
laboratory's.

    W_u: the last |W| ranks of user u, of which every S-th is written;  q: entries of W_u strictly smaller than the rank
    c: packets that wait;  C: target length;  k = K/256: headroom
    admit iff  c <= C  and  q C (256 - K) <= |W| (C - c) 256
"""

from p4sched.model import FULL, REFUSED, Packet, Queues, Verdict, Window

WINDOWS = 8
"""Windows of a port."""


class AifoOwn(Queues):
    """One FIFO queue behind an admission by the quantile of the rank among those of its user."""

    target_packets: int
    capacity_packets: int
    headroom_256: int
    window_ranks: int
    sampling: int

    def start(self) -> None:
        """Makes the windows: user u has number u modulo 8."""
        self.windows = [Window() for _ in range(WINDOWS)]

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Admits by the quantile; tail drop."""
        smaller = self.windows[packet.user % WINDOWS].smaller(packet.rank, self.window_ranks, self.sampling)
        waiting, target = len(self), self.target_packets
        needed = smaller * target * (256 - self.headroom_256)
        if waiting > target or needed > self.window_ranks * (target - waiting) * 256:
            return REFUSED
        if waiting >= self.capacity_packets:
            return FULL
        return self.put(packet, 0)
