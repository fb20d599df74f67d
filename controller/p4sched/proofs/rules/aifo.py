"""AIFO (algorithm 1): a packet is admitted if few ranks of the window are smaller; the longer the queue, the fewer.

q: smaller ranks in the window;  c: packets that wait;  C: target;  k = K/256: headroom
admit iff  c <= C  and  q C (256 - K) <= |W| (C - c) 256;  a full queue takes no packet

The paper's first condition, c <= k C, follows from the second one (section 4.2). So does c <= C, as q is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Int, Truth, every, exact, implies
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import Cell, Decision, Rule, queue_cell, verdict
from p4sched.proofs.rules.window import counts, smaller_ranks, window_invariants, window_theorems


class Aifo(Rule):
    """AIFO."""

    control, table, action = "AifoIngress", "aifo_params", "set_aifo"

    def decide(self, packet: Arrival) -> Decision:
        smaller, window = smaller_ranks(packet, self.window(packet))
        has_room = self._length(packet) < packet.parameters["capacity_packets"]
        decided = verdict(self._admits(packet, smaller), has_room)
        return Decision(decided, exact(0), window, {".smaller": smaller, ".verdict": decided})

    def window(self, packet: Arrival) -> Int:
        """Number of the window: each port has one."""
        return packet.port

    def _length(self, packet: Arrival) -> Int:
        return packet.old("queue_depths", queue_cell(packet.port, 0))

    def _admits(self, packet: Arrival, smaller: Int) -> Truth:
        of, length = packet.parameters, self._length(packet)
        target = of["target_packets"]
        needed = smaller * target * (256 - of["headroom_256"])
        free = of["window_ranks"] * (target - length) * 256
        return every(length <= target, needed <= free)

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        fewer, smaller = counts(packet)
        admits = self._admits(packet, smaller)
        has_room = self._length(packet) < packet.parameters["capacity_packets"]
        return {
            **window_theorems(packet, decision),
            "what is admitted with q is admitted with a smaller one": implies(
                every(fewer <= smaller, admits), self._admits(packet, fewer)
            ),
            "the queue does not grow beyond its size": implies(decision.admitted, has_room),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return window_invariants(cell, self.window(packet))
