"""FIFO: a packet is admitted if the queue has room.

c: packets that wait;  C: size of the queue, 0: no limit;  admit iff  c < C
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Truth, every, exact, implies, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import Decision, Rule, queue_cell, verdict


class Fifo(Rule):
    """FIFO."""

    control, table, action = "FifoIngress", "fifo_params", "set_depth"
    has_admission = False

    def decide(self, packet: Arrival) -> Decision:
        size = packet.parameters["depth"]
        length = packet.old("queue_depths", queue_cell(packet.port, 0))
        decided = verdict(True, some(size.equals(0), length < size))
        return Decision(decided, exact(0), hints={".admit.verdict": decided})

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        size, length = packet.parameters["depth"], packet.old("queue_depths", queue_cell(packet.port, 0))
        return {
            "the queue does not grow beyond its size": implies(every(decision.admitted, size.differs(0)), length < size)
        }
