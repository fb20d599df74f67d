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
        lowest, highest = self.follow(packet.rank)
        queue = self.queue_of(packet.rank - lowest, highest - lowest)
        if len(self.queues[queue]) >= self.size:
            return FULL
        return self.put(packet, queue)

    def follow(self, rank: int) -> tuple[int, int]:
        """The range of ranks with this one. Then both cells move towards the rank."""
        own = rank << FRACTION_BITS
        low, high = min(self.low, own), max(self.high, own)
        self.low = low + ((own - low) >> self.forget_shift)
        self.high = high - ((high - own) >> self.forget_shift)
        return low >> FRACTION_BITS, high >> FRACTION_BITS

    def queue_of(self, distance: int, span: int) -> int:
        """The table: how many places the first bit of the distance r - low is below that of the range high - low."""
        bins_down = min(7, span.bit_length() - distance.bit_length()) if distance else 7
        return max(0, self.queue_count - 1 - bins_down)


class ExpPifoOnChip(ExpPifo):
    """The rule of the program for a Tofino: a cell moves away from a rank all at once, after 2^F arrivals."""

    def start(self) -> None:
        """Sets the two cells and the number of arrivals in this range."""
        super().start()
        self.arrivals = 0

    def follow(self, rank: int) -> tuple[int, int]:
        """The range of ranks with this one. After 2^F arrivals, the next one begins a new range."""
        low, high = min(self.low, rank), max(self.high, rank)
        self.low, self.high = (rank, rank) if self.arrivals == 0 else (low, high)
        self.arrivals = (self.arrivals + 1) % 2**self.forget_shift
        return low, high
