"""The rule of this folder in exact integers, for `p4sched prove exp_pifo`. It is not the paper's rule (README.md).

low = min(low, r);  high = max(high, r);  i = place of the first bit of high - low, less that of r - low
r = low, or i > 7:  i = 7;  queue max(1, n - i)
low += (r - low) / 2^F;  high -= (high - r) / 2^F;  cells count 1/2^16 of a rank

On a Tofino, cells count ranks, and after 2^F arrivals the next one begins a new range: low = high = r
"""

from collections.abc import Mapping

from p4sched.proofs.rule import (
    ADMITTED,
    Arrival,
    Cell,
    Decision,
    Int,
    OnChip,
    Rule,
    Truth,
    choose,
    every,
    exact,
    largest,
    queue_cell,
    smallest,
    verdict,
)

FRACTION_BITS = 16
RANK_BITS = 32
MOST_URGENT_BIN = 7
LOW, HIGH, ARRIVALS = ".follow_ranks.low", ".follow_ranks.high", ".follow_ranks.arrivals"


def first_bit(value: Int) -> Int:
    """Place of the first bit of a number; 0 for 0."""
    place = exact(0)
    for bit in range(1, RANK_BITS):
        place = choose(value >= 1 << bit, bit, place)
    return place


def bins_down(distance: Int, span: Int) -> Int:
    """i, for a distance r - low in a range high - low."""
    down = first_bit(span) - first_bit(distance)
    return choose(distance.equals(0), MOST_URGENT_BIN, smallest(down, MOST_URGENT_BIN))


class ExpPifo(Rule):
    """Exp-PIFO."""

    def decide(self, packet: Arrival) -> Decision:
        of, port, own = packet.parameters, packet.port, packet.rank << FRACTION_BITS
        low, high = smallest(packet.old(LOW, port), own), largest(packet.old(HIGH, port), own)
        distance = largest(packet.rank - (low >> FRACTION_BITS), 0)
        span = largest((high >> FRACTION_BITS) - (low >> FRACTION_BITS), 0)
        down = bins_down(distance, span)
        queue = 8 - largest(of["queue_count"] - down, 1)
        length = packet.old("queue_depths", queue_cell(packet.port, queue))
        below, above = (largest(part, 0) >> of["forget_shift"] for part in (own - low, high - own))
        after = {LOW: (port, low + below), HIGH: (port, high - above)}
        decided = verdict(True, length < of["size"])
        return Decision(
            decided,
            queue,
            after,
            hints={
                ".lowest": low,
                ".highest": high,
                ".distance": distance,
                ".range": span,
                ".bin": down,
                "standard_metadata.priority": queue,
                ".verdict": decided,
            },
            lemmas={
                "the range holds the rank": every(low <= own, own <= high),
                "low does not pass the rank": low + below <= own,
                "nor does high": own <= high - above,
                "r - low is at most high - low": distance <= span,
            },
        )

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return {"low is not above high": cell(LOW, packet.port) <= cell(HIGH, packet.port)}


class ExpPifoOnChip(OnChip):
    """Exp-PIFO on Tofino 1. The traffic manager drops."""

    def decide(self, packet: Arrival) -> Decision:
        of, port, rank = packet.parameters, packet.port, packet.rank
        low, high = smallest(packet.old(LOW, port), rank), largest(packet.old(HIGH, port), rank)
        distance, span = largest(rank - low, 0), largest(high - low, 0)
        down = bins_down(distance, span)
        arrivals, last = packet.old(ARRIVALS, port), (exact(1) << of["forget_shift"]) - 1
        begins = arrivals.equals(0)
        after = {
            LOW: (port, choose(begins, rank, low)),
            HIGH: (port, choose(begins, rank, high)),
            ARRIVALS: (port, choose(arrivals >= last, 0, arrivals + 1)),
        }
        hints = {".distance": distance, ".range": span, ".bin": down}
        return Decision(exact(ADMITTED), 8 - largest(of["queue_count"] - down, 1), after, hints)

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return {"low is not above high": cell(LOW, packet.port) <= cell(HIGH, packet.port)}
