"""PACKS (algorithm 1): the first queue with room whose free room so far reaches the quantile of the rank.

q: smaller ranks in the window;  b_i: packets that wait in queue i;  B_i: its size, 0: no such queue;  B: sum of all B_i
k = K/256: headroom
take the first queue i with  q B (256 - K) <= |W| sum_{j<=i}(B_j - b_j) 256  and  b_i < B_i
a queue longer than its size, because the size was lowered, has no free room

A packet without a queue is full if the first condition held for one, else it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, negated, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import (
    ADMITTED,
    QUEUES,
    Cell,
    Decision,
    Rule,
    lengths_of,
    sizes_are_kept,
    sizes_of,
    verdict,
)
from p4sched.proofs.rules.window import counts, smaller_ranks, window_invariants, window_theorems


class Packs(Rule):
    """PACKS."""

    control, table, action = "PacksIngress", "packs_params", "set_packs"

    def decide(self, packet: Arrival) -> Decision:
        smaller, window = smaller_ranks(packet, self.window(packet))
        decided, queue = self._mapped(packet, smaller)
        hints = {".smaller": smaller, ".verdict": decided, "standard_metadata.priority": queue}
        return Decision(decided, queue, window, hints)

    def window(self, packet: Arrival) -> Int:
        """Number of the window: each port has one."""
        return packet.port

    def _mapped(self, packet: Arrival, smaller: Int) -> tuple[Int, Int]:
        """Verdict and priority of the queue of a packet with so many smaller ranks."""
        of, sizes, lengths = packet.parameters, sizes_of(packet), lengths_of(packet)
        total = exact(0)
        for size in sizes:
            total = total + size
        needed = smaller * total * (256 - of["headroom_256"])
        admitted: Truth = False
        reached: Truth = False
        free, queue = exact(0), exact(0)
        for place, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
            exists = size.differs(0)
            free = choose(exists, free + largest(size - length, 0), free)
            reaches = every(exists, needed <= of["window_ranks"] * free * 256)
            # of a packet without a queue: the last queue that it might have entered
            queue = choose(every(negated(admitted), reaches), QUEUES - 1 - place, queue)
            admitted = some(admitted, every(reaches, length < size))
            reached = some(reached, reaches)
        return verdict(reached, admitted), queue

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        fewer, smaller = counts(packet)
        one, of_one = self._mapped(packet, smaller)
        other, of_other = self._mapped(packet, fewer)
        admitted = every(fewer <= smaller, one.equals(ADMITTED))
        return {
            **window_theorems(packet, decision),
            "what is admitted with q is admitted with a smaller one": implies(admitted, other.equals(ADMITTED)),
            "its queue is then not less urgent": implies(admitted, of_other >= of_one),
            **sizes_are_kept(packet, decision),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return window_invariants(cell, self.window(packet))
