"""The rule of this folder in exact integers, for `p4sched prove sp_pifo_flowlet`: SP-PIFO's behind a table of flowlets.

A cell of the table has the queue and the time of its last packet that was queued. Each port has 512 cells, and a hash
of the flow selects one. A packet less than the gap after that time joins that queue, if it exists, and moves no bound.
Any other packet is SP-PIFO's. The clock counts microseconds and has 32 bits.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from p4sched.proofs.rule import (
    ADMITTED,
    QUEUES,
    Arrival,
    Cell,
    Decision,
    Int,
    Truth,
    choose,
    every,
    exact,
    implies,
    negated,
    queue_cell,
    verdict,
)
from p4sched.proofs.rules.fdpa import time_passed
from p4sched.proofs.rules.scheme import Kept
from p4sched.proofs.rules.sp_pifo import SpPifo

CELLS = 512
"""Cells of a port."""
LAST, QUEUE = "flowlet_last_queued", "flowlet_queue"
NUMBERS = "a flowlet has one of 8 queues"


class Flowlet(NamedTuple):
    """The flowlet in the cell of a packet."""

    number: Int
    """Its queue, 1 to 8; 0: none."""
    size: Int
    goes_on: Truth
    """True if the packet continues it."""


class SpPifoFlowlet(SpPifo):
    """SP-PIFO with a table of flowlets."""

    def maps(self, packet: Arrival) -> Truth:
        return negated(self._flowlet(packet).goes_on)

    def decide(self, packet: Arrival) -> Decision:
        number, size, goes_on = self._flowlet(packet)
        mapped = super().decide(packet)
        queue = choose(goes_on, QUEUES - number, mapped.queue)
        length = packet.old("queue_depths", queue_cell(packet.port, queue))
        decided = choose(goes_on, verdict(True, length < size), mapped.verdict)
        cell, admitted = self._cell(packet), decided.equals(ADMITTED)
        flowlet = {
            LAST: (cell, choose(admitted, packet.now, packet.old(LAST, cell))),
            QUEUE: (cell, choose(admitted, QUEUES - queue, packet.old(QUEUE, cell))),
        }
        hints = {".verdict": decided, "standard_metadata.priority": queue}
        return Decision(decided, queue, {**mapped.written, **flowlet}, hints)

    def cases(self, packet: Arrival) -> Mapping[str, Truth]:
        goes_on = self._flowlet(packet).goes_on
        return {"in a flowlet": goes_on, "the first of a flowlet": negated(goes_on)}

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        number, _, goes_on = self._flowlet(packet)
        found = {text: implies(negated(goes_on), truth) for text, truth in super().theorems(packet, decision).items()}
        unmoved = (value.equals(packet.old(name, at)) for name, (at, value) in decision.written.items() if "." in name)
        return found | {
            "a packet in a flowlet has its queue": implies(goes_on, decision.queue.equals(QUEUES - number)),
            "a packet in a flowlet moves no bound": implies(goes_on, every(*unmoved)),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return {**super().invariants(packet, cell), NUMBERS: cell(QUEUE, self._cell(packet)) <= QUEUES}

    def induction(self, packet: Arrival, after: Cell) -> Iterator[Kept]:
        yield from super().induction(packet, after)
        yield Kept(NUMBERS, self.invariants(packet, after)[NUMBERS])

    def _cell(self, packet: Arrival) -> Int:
        return packet.port * CELLS + packet.hashed(CELLS)

    def _flowlet(self, packet: Arrival) -> Flowlet:
        cell = self._cell(packet)
        number, size = packet.old(QUEUE, cell), exact(0)
        for place in range(1, QUEUES + 1):
            size = choose(number.equals(place), packet.parameters[f"size_{place}"], size)
        under_way = time_passed(packet, packet.old(LAST, cell)) < packet.parameters["gap_us"]
        return Flowlet(number, size, every(number.differs(0), size.differs(0), under_way))
