"""A tree of PIFOs with two levels (Sivaraman et al., SIGCOMM 2016, section 2.2): tenants by weight, then ranks."""

from bisect import insort
from typing import NamedTuple

from p4sched.model import FULL, Model, Packet, Queued, Verdict

WEIGHTS = (1, 1, 2, 4)
"""Weights of the tenants 1, 2, ..."""
ROOM = 20
"""Packets that the leaf of a tenant can hold."""


OTHERS = 1
"""The tenant whose leaf takes the packets of all other users."""


class Element(NamedTuple):
    """An element of a PIFO: the smallest rank leaves first, among equal ones the first that came."""

    rank: int
    arrival: int
    packet: Packet


class Turn(NamedTuple):
    """An element of the root: a turn of a tenant."""

    start: int
    """Virtual start time of the turn, in bytes of a tenant of weight 1."""
    arrival: int
    tenant: int


class PifoTree(Model):
    """The root is sorted by virtual start times of the tenants, each leaf by the ranks of its packets.

    An arriving packet adds an element to its leaf, and a turn of its tenant to the root. A turn belongs to the tenant,
    not to the packet: the leaf chooses its packet when the turn comes.
    """

    tenants: int
    """Users with a leaf of their own."""

    def start(self) -> None:
        self.leaves: dict[int, list[Element]] = {tenant: [] for tenant in range(1, len(WEIGHTS) + 1)}
        self.turns: list[Turn] = []
        self.finish = dict.fromkeys(self.leaves, 0)
        self.virtual_time = 0
        self.arrivals = 0

    def enqueue(self, packet: Packet, now: int) -> Verdict:
        """Puts the packet into the leaf of its user. A full leaf pushes out its packet with the largest rank."""
        tenant = packet.user if 1 <= packet.user <= self.tenants else OTHERS
        leaf = self.leaves[tenant]
        self.arrivals += 1
        element = Element(packet.rank, self.arrivals, packet)
        if len(leaf) >= ROOM:
            if element > leaf[-1]:
                return FULL
            victim = leaf.pop().packet
            insort(leaf, element)
            return Queued(pushed_out=victim)
        insort(leaf, element)
        self._add_turn(tenant, packet)
        return Queued()

    def _add_turn(self, tenant: int, packet: Packet) -> None:
        start = max(self.virtual_time, self.finish[tenant])
        self.finish[tenant] = start + packet.bytes // WEIGHTS[tenant - 1]
        insort(self.turns, Turn(start, self.arrivals, tenant))

    def dequeue(self, now: int) -> Packet | None:
        """The most urgent packet of the tenant whose turn starts first."""
        if not self.turns:
            return None
        turn = self.turns.pop(0)
        self.virtual_time = turn.start
        return self.leaves[turn.tenant].pop(0).packet

    def __len__(self) -> int:
        return len(self.turns)
