"""RIFO (algorithm 1): a packet is admitted by the place of its rank in the range of the recent ranks.

r: rank;  Min, Max: range since the last reset;  L: packets that wait;  B: size of the queue;  k = K/256: headroom
admit iff  256 L <= K B  or  Max = Min  or  (Max - r) B >= (Max - Min) (B - L);  a full queue takes no packet
arrivals 1, T + 1, 2T + 1, ... set Min and Max to their rank
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, smallest, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import Cell, Decision, Rule, other_rank, queue_cell, verdict


class Rifo(Rule):
    """RIFO."""

    control, table, action = "RifoIngress", "rifo_params", "set_rifo"

    def decide(self, packet: Arrival) -> Decision:
        of, tracked = packet.parameters, self.tracked(packet)
        arrivals = packet.old(".rank_range.arrivals", tracked)
        lowest, highest = self._range(packet, packet.rank)
        range_after = {
            ".rank_range.arrivals": (tracked, choose(arrivals + 1 < of["tracking_packets"], arrivals + 1, 0)),
            ".rank_range.min_rank": (tracked, lowest),
            ".rank_range.max_rank": (tracked, highest),
        }
        has_room = self._length(packet) < of["capacity_packets"]
        decided = verdict(self._admits(packet, packet.rank), has_room)
        return Decision(decided, exact(0), range_after, {".verdict": decided})

    def tracked(self, packet: Arrival) -> Int:
        """Number of the range: each port has one."""
        return packet.port

    def _length(self, packet: Arrival) -> Int:
        return packet.old("queue_depths", queue_cell(packet.port, 0))

    def _range(self, packet: Arrival, rank: Int) -> tuple[Int, Int]:
        """Min and Max, with a rank."""
        tracked = self.tracked(packet)
        begins = packet.old(".rank_range.arrivals", tracked).equals(0)
        lowest = choose(begins, rank, smallest(self._lowest_before(packet), rank))
        return lowest, choose(begins, rank, largest(packet.old(".rank_range.max_rank", tracked), rank))

    def _lowest_before(self, packet: Arrival) -> Int:
        """Min before the packet."""
        return packet.old(".rank_range.min_rank", self.tracked(packet))

    def _admits(self, packet: Arrival, rank: Int) -> Truth:
        size, length = packet.parameters["capacity_packets"], self._length(packet)
        lowest, highest = self._range(packet, rank)
        few = length * 256 <= packet.parameters["headroom_256"] * size
        urgent = (highest - rank) * size >= (highest - lowest) * (size - length)
        return some(few, highest.equals(lowest), urgent)

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        size, length = packet.parameters["capacity_packets"], self._length(packet)
        lowest, _ = self._range(packet, packet.rank)
        admits, other = self._admits(packet, packet.rank), other_rank(packet)
        return {
            "a smaller rank is admitted where a larger one is": implies(
                every(other <= packet.rank, admits), self._admits(packet, other)
            ),
            "the smallest rank of the range is not refused": implies(packet.rank.equals(lowest), admits),
            "the queue does not grow beyond its size": implies(decision.admitted, length < size),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        tracked = self.tracked(packet)
        arrivals = cell(".rank_range.arrivals", tracked)
        lowest, highest = cell(".rank_range.min_rank", tracked), cell(".rank_range.max_rank", tracked)
        return {
            "fewer than 2^32 - 1 arrivals in the range": arrivals < (1 << 32) - 1,
            "Min is not above Max": implies(arrivals.differs(0), lowest <= highest),
        }
