"""FDPA in which the current interval counts.

Cascone et al., "Towards Approximate Fair Bandwidth Sharing via Dynamic Priority Queuing", LANMAN 2017, section III. The
paper judges a packet by the interval before; README.md says what that leaves to a user who cheats.

    charge = bytes of the packet / weight of the user
    rate   = max(charges of the last complete interval, charges since the interval began)
    band   = first q with rate <= edge_q; band 8 is open
    user 0: band 1
"""

from dataclasses import dataclass

from p4sched.model import FULL, Packet, Queues, Verdict

CLOCK = 2**32
"""The clock counts microseconds, and wraps."""
UNIT_SCALE = 256
"""A program knows 256 / weight of a user."""
LARGEST_SUM = 2**32 - 1
SILENT = 16
"""Intervals of a pause after which the rate is 0."""


@dataclass
class User:
    """The estimator of a user."""

    start: int = 0
    """Time at which the current interval began, in microseconds."""
    current: int = 0
    """Charges since then."""
    last: int = 0
    """Rate: charges of the last complete interval."""

    def charge(self, charge: int, now: int, interval: int) -> int:
        """The rate, with this packet."""
        elapsed = (now - self.start) % CLOCK
        if elapsed < interval:
            self.current = min(self.current + charge, LARGEST_SUM)
        else:
            self.last = self.mean(elapsed // interval)
            self.start = (self.start + interval) % CLOCK if elapsed < 2 * interval else now
            self.current = charge
        return max(self.last, self.current)

    def mean(self, intervals: int) -> int:
        """The charges over the intervals since the first of them, whose number is rounded down to a power of two."""
        return self.current >> (intervals.bit_length() - 1) if intervals < SILENT else 0


class FdpaCurrent(Queues):
    """Rate bands for each user over strict priorities."""

    interval_us: int
    edge_1: int
    edge_2: int
    edge_3: int
    edge_4: int
    edge_5: int
    edge_6: int
    edge_7: int
    depth_1: int
    depth_2: int
    depth_3: int
    depth_4: int
    depth_5: int
    depth_6: int
    depth_7: int
    depth_8: int

    def start(self) -> None:
        """No user has sent yet."""
        self.users: dict[int, User] = {}

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Chooses the queue by the band of the user; tail drop."""
        band = self.band(packet, now // 1000 % CLOCK) if packet.user else 1
        size = self.sizes[band - 1]
        if size and len(self.queues[band - 1]) >= size:
            return FULL
        return self.put(packet, band - 1)

    def band(self, packet: Packet, now: int) -> int:
        """The band of a packet: 1 is the most urgent one."""
        charge = packet.bytes * round(UNIT_SCALE / packet.weight) // UNIT_SCALE
        rate = self.users.setdefault(packet.user, User()).charge(charge, now, self.interval_us)
        return next((band for band, edge in enumerate(self.edges, 1) if rate <= edge), 8)

    @property
    def edges(self) -> list[int]:
        """Upper edges of bands 1 to 7, in charges of an interval."""
        return [self.edge_1, self.edge_2, self.edge_3, self.edge_4, self.edge_5, self.edge_6, self.edge_7]

    @property
    def sizes(self) -> list[int]:
        """Sizes of the queues in packets; 0: the port has its own."""
        depths = [self.depth_1, self.depth_2, self.depth_3, self.depth_4]
        return [*depths, self.depth_5, self.depth_6, self.depth_7, self.depth_8]
