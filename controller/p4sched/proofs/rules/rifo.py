"""RIFO (algorithm 1): a packet is admitted by the place of its rank in the range of the recent ranks.

r: rank;  Min, Max: range since the last reset;  L: packets that wait;  B: size of the queue;  k = K/256: headroom
admit iff  256 L <= K B  or  Max = Min  or  (Max - r) B >= (Max - Min) (B - L);  a full queue takes no packet
arrivals 1, T + 1, 2T + 1, ... set Min and Max to their rank
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Truth, choose, exact, implies, largest, smallest, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import Cell, Decision, Rule, queue_cell, verdict


class Rifo(Rule):
    """RIFO."""

    control, table, action = "RifoIngress", "rifo_params", "set_rifo"

    def decide(self, packet: Arrival) -> Decision:
        of, port, rank = packet.parameters, packet.port, packet.rank
        size, headroom = of["capacity_packets"], of["headroom_256"]
        length = packet.old("queue_depths", queue_cell(port, 0))
        arrivals = packet.old(".rank_range.arrivals", port)
        begins = arrivals.equals(0)
        lowest = choose(begins, rank, smallest(packet.old(".rank_range.min_rank", port), rank))
        highest = choose(begins, rank, largest(packet.old(".rank_range.max_rank", port), rank))
        few = length * 256 <= headroom * size
        urgent = (highest - rank) * size >= (highest - lowest) * (size - length)
        admits = some(few, highest.equals(lowest), urgent)
        range_after = {
            ".rank_range.arrivals": (port, choose(arrivals + 1 < of["tracking_packets"], arrivals + 1, 0)),
            ".rank_range.min_rank": (port, lowest),
            ".rank_range.max_rank": (port, highest),
        }
        decided = verdict(admits, length < size)
        return Decision(decided, exact(0), range_after, {".verdict": decided})

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        port = packet.port
        arrivals = cell(".rank_range.arrivals", port)
        lowest, highest = cell(".rank_range.min_rank", port), cell(".rank_range.max_rank", port)
        return {
            "fewer than 2^32 - 1 arrivals in the range": arrivals < (1 << 32) - 1,
            "Min is not above Max": implies(arrivals.differs(0), lowest <= highest),
        }
