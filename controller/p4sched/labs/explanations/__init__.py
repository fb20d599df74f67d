"""The numbers behind the decision on a packet, as lines that a check shows below the first difference.

Nothing here decides or gives marks; the models and the labs' solutions do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from p4sched.labs.decisions import Trial
from p4sched.labs.trace import Packet

MOST_URGENT = 7
"""The priority of queue 1."""
Line = tuple[str, str]
"""Name and value."""


@dataclass(frozen=True)
class Arrival:
    """A packet of a trial, and all packets before it."""

    trial: Trial
    packets: Sequence[Packet]
    """Packets up to this one."""
    lengths: Sequence[Sequence[int]]
    """Lengths of the queues before each packet, by priority."""

    @property
    def packet(self) -> Packet:
        """The packet."""
        return self.packets[-1]

    @property
    def length(self) -> Sequence[int]:
        """Lengths of the queues before the packet."""
        return self.lengths[-1]


Explain = Callable[[Arrival], list[Line]]
Who = Callable[[Packet], str]


def by_rank(packet: Packet) -> str:
    """The rank, which most rules use."""
    return f"rank {packet.rank}"


def by_user(packet: Packet) -> str:
    """The user, which FDPA uses."""
    return f"user {packet.user}"


def smaller(arrival: Arrival, window: int, sampling: int) -> tuple[int, Line]:
    """q, the number of ranks in the window that are smaller than the packet's, and the line that shows it."""
    rank = arrival.packet.rank
    ranks = [packet.rank for packet in arrival.packets[sampling - 1 :: sampling]][-window:]
    q = sum(one < rank for one in ranks)
    held = " ".join(map(str, ranks)) or "empty"
    return q, ("window", f"[{held}], |W| = {window}: q = {q} of them are smaller than {rank}")
