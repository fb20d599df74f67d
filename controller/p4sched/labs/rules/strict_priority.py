"""The rule of lab 02: a queue for each eight ranks, and a quota for queue 1."""

from collections.abc import Callable, Sequence

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import MOST_URGENT, Rule
from p4sched.labs.trace import Packet

QUOTA = (16, 8)
"""Packets of a block, and how many of them are sent to queue 1, also if it is full."""


def priority_of(rank: int) -> int:
    """The rule: ranks 0 to 7 have priority 7, 8 to 15 priority 6; rank 56 and all above have priority 0."""
    return max(MOST_URGENT - rank // 8, 0)


class StrictPriority(Rule):
    """One port. Parameters: the sizes of 8 queues."""

    def __init__(
        self,
        trial: Trial,
        priority: Callable[[int], int] = priority_of,
        quota: tuple[int, int] | None = QUOTA,
        tail_drop: int | None = 0,
        counts_all: bool = True,
        counts_full: bool = True,
        by_place: bool = False,
        begun: int = 0,
        demoted: int = 0,
    ) -> None:
        """tail_drop: packets that a queue takes beyond its size; None: no end.

        counts_all: a block counts all packets, not those for queue 1 alone. counts_full: the quota counts packets that
        find queue 1 full. by_place: the quota counts all packets. begun: packets that the first block is short of.
        demoted: the priority beyond the quota.
        """
        self._sizes = trial.parameters
        self._priority, self._quota, self._tail_drop = priority, quota, tail_drop
        self._counts_all, self._counts_full, self._by_place = counts_all, counts_full, by_place
        self._demoted = demoted
        self._arrivals, self._urgent = begun, 0
        self._last: list[tuple[str, str]] = []

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        priority = self._priority(packet.rank)
        told = [("rule", f"rank {packet.rank} has priority {priority}")]
        if self._quota is not None:
            block, most = self._quota
            if self._arrivals == block:
                self._arrivals = self._urgent = 0
            if priority == MOST_URGENT:
                told.append(
                    ("quota", f"packet {self._arrivals + 1} of its {block}; {self._urgent} before it for queue 1")
                )
                if (self._arrivals if self._by_place else self._urgent) < most:
                    self._urgent += self._counts_full or lengths[priority] < self._sizes[0]
                else:
                    priority = self._demoted
                    told.append(("", f"the quota is {most}, so the packet gets priority {priority}"))
            self._arrivals += self._counts_all or packet.rank < 8
        length, size = lengths[priority], self._sizes[MOST_URGENT - priority]
        self._last = [*told, ("queue", f"queue {MOST_URGENT + 1 - priority}: {length} packets wait, size {size}")]
        full = self._tail_drop is not None and length >= size + self._tail_drop
        return "full" if full else priority

    def explain(self) -> list[tuple[str, str]]:
        return self._last
