"""Exp-PIFO, as far as its abstract describes it: bins of ranks that double, two cells and a table (PACMNET 2025)."""

from p4sched.model import FULL, Packet, Queues, Verdict

FRACTION_BITS = 16
"""A cell holds a rank and 16 bits of fraction."""


class ExpPifo(Queues):
    """Strict-priority queues. The least urgent one takes the upper half of the range of ranks, the next one half of the
    rest, and so on. README.md says what is the paper's and what is not."""

    queue_count: int
    """n: number of queues."""
    size: int
    """B: size of a queue, packets."""
    forget_shift: int
    """F: a packet draws each cell 1/2^F of the way to its rank."""

    def start(self) -> None:
        """Sets the two cells: both ends of the range of recent ranks."""
        self.low = self.high = 0

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Chooses the queue by the bin of the rank; tail drop."""
        rank = packet.rank << FRACTION_BITS
        low, high = min(self.low, rank), max(self.high, rank)
        self.low = low + ((rank - low) >> self.forget_shift)
        self.high = high - ((high - rank) >> self.forget_shift)
        lowest, highest = low >> FRACTION_BITS, high >> FRACTION_BITS
        queue = self.queue_of(packet.rank - lowest, highest - lowest)
        if len(self.queues[queue]) >= self.size:
            return FULL
        return self.put(packet, queue)

    def queue_of(self, distance: int, span: int) -> int:
        """The table: how many places the first bit of the distance r - low is below that of the range high - low."""
        bins_down = min(7, span.bit_length() - distance.bit_length()) if distance else 7
        return max(0, self.queue_count - 1 - bins_down)
