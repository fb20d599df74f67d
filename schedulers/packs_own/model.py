"""PACKS with a window for each user.

Alcoz et al., "Everything Matters in Programmable Packet Scheduling", NSDI 2025, algorithm 1. The windows of users are
the laboratory's.

    W_u: the last |W| ranks of user u, of which every S-th is written;  q: entries of W_u strictly smaller than the rank
    b_i: packets in queue i;  B_i: its size, 0: no such queue;  B: sum of all B_i;  k = K/256: headroom
    take the first queue i with  q B (256 - K) <= |W| sum_{j<=i}(B_j - b_j) 256  and  b_i < B_i
"""

from p4sched.model import FULL, REFUSED, Packet, Queues, Verdict, Window

WINDOWS = 8
"""Windows of a port."""


class PacksOwn(Queues):
    """Strict-priority queues behind an admission and a mapping by the quantile of the rank among those of its user."""

    size_1: int
    size_2: int
    size_3: int
    size_4: int
    size_5: int
    size_6: int
    size_7: int
    size_8: int
    headroom_256: int
    window_ranks: int
    sampling: int

    def start(self) -> None:
        """Makes the windows: user u has number u modulo 8."""
        self.windows = [Window() for _ in range(WINDOWS)]

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Takes the first queue with room whose free room so far reaches the quantile."""
        smaller = self.windows[packet.user % WINDOWS].smaller(packet.rank, self.window_ranks, self.sampling)
        needed = smaller * sum(self.sizes) * (256 - self.headroom_256)
        free, dropped = 0, REFUSED
        for queue, size in enumerate(self.sizes):
            waiting = len(self.queues[queue])
            free += max(size - waiting, 0)
            if size and needed <= self.window_ranks * free * 256:
                if waiting < size:
                    return self.put(packet, queue)
                dropped = FULL
        return dropped

    @property
    def sizes(self) -> list[int]:
        """B_1 to B_8."""
        first = [self.size_1, self.size_2, self.size_3, self.size_4]
        return [*first, self.size_5, self.size_6, self.size_7, self.size_8]
