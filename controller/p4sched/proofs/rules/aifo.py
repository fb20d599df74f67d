"""AIFO (algorithm 1): a packet is admitted if few ranks of the window are smaller; the longer the queue, the fewer.

q: smaller ranks in the window;  c: packets that wait;  C: target;  k = K/256: headroom
admit iff  c <= C  and  q C (256 - K) <= |W| (C - c) 256;  a full queue takes no packet
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Truth, every, exact
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import Cell, Decision, Rule, queue_cell, verdict
from p4sched.proofs.rules.window import smaller_ranks, window_invariants


class Aifo(Rule):
    """AIFO."""

    control, table, action = "AifoIngress", "aifo_params", "set_aifo"

    def decide(self, packet: Arrival) -> Decision:
        of = packet.parameters
        target, size, headroom = of["target_packets"], of["capacity_packets"], of["headroom_256"]
        length = packet.old("queue_depths", queue_cell(packet.port, 0))
        smaller, window = smaller_ranks(packet, packet.rank, of["window_ranks"], of["sampling"])
        needed = smaller * target * (256 - headroom)
        free = of["window_ranks"] * (target - length) * 256
        admits = every(length <= target, needed <= free)
        decided = verdict(admits, length < size)
        return Decision(decided, exact(0), window, {".smaller": smaller, ".verdict": decided})

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return window_invariants(cell, packet.port)
