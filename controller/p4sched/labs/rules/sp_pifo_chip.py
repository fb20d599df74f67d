"""SP-PIFO's rule on a Tofino, as tofino-port/include/sp_pifo_mapping.p4 states it.

A word is what an access to a register returns: 0 if no queue of the register took the packet.
"""

from collections.abc import Callable, Sequence

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import MOST_URGENT, Rule
from p4sched.labs.rules.queues import present, told
from p4sched.labs.trace import Packet

ScanOne = Callable[[int, int], tuple[int, int]]
"""Of a bound and the rank: the bound afterwards, and the word that the access returns."""
ScanBoth = Callable[[int, int, int], tuple[int, int, int]]
"""Of the bounds of the less and the more urgent queue, and the rank: both afterwards, and the word."""
First = Callable[[int, int], tuple[int, int]]
"""Of the bound of queue 1 and the rank: the bound afterwards, and the cost."""
Lower = Callable[[int, int, int], int]
"""Of a bound, the cost and the place of the queue: the bound after the second pass."""
MoreUrgent = Callable[[int, int], bool]
"""Of the word and the rank: whether the more urgent queue of the pair took the packet."""

QUEUES = 8


def scan_one(bound: int, rank: int) -> tuple[int, int]:
    """The rule."""
    return (rank, rank) if bound <= rank else (bound, 0)


def scan_both(less: int, more: int, rank: int) -> tuple[int, int, int]:
    """The rule."""
    if less <= rank:
        return rank, more, rank
    return (less, rank, less) if more <= rank else (less, more, 0)


def first(bound: int, rank: int) -> tuple[int, int]:
    """The rule."""
    return rank, max(bound - rank, 0)


def lower(bound: int, cost: int, _place: int) -> int:
    """The rule: not below 0."""
    return max(bound - cost, 0)


def more_urgent(word: int, rank: int) -> bool:
    """The rule."""
    return word != rank


class SpPifoChip(Rule):
    """One port. Parameters: the sizes of 8 queues. The place of queue i is i - 1."""

    def __init__(
        self,
        trial: Trial,
        one: ScanOne = scan_one,
        both: ScanBoth = scan_both,
        first: First = first,
        lower: Lower = lower,
        more_urgent: MoreUrgent = more_urgent,
        second: ScanOne | None = None,
    ) -> None:
        """one: for the more urgent queue of a pair, if it is there alone. second: for queue 2, if it is another one."""
        self._sizes = trial.parameters
        self._bounds = [0] * QUEUES
        self._one, self._second, self._both, self._first = one, second or one, both, first
        self._lower, self._more_urgent = lower, more_urgent
        self._last: tuple[int, list[int], Sequence[int]] = (0, [], [])

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        self._last = (packet.rank, list(self._bounds), lengths)
        place = self._taken_by(packet.rank)
        if place is None:
            place = 0
            self._bounds[0], cost = self._first(self._bounds[0], packet.rank)
            # the packet comes back only if there is a cost
            for other in range(1, QUEUES) if cost else ():
                self._bounds[other] = self._lower(self._bounds[other], cost, other)
        priority = MOST_URGENT - place
        return priority if lengths[priority] < self._sizes[place] else "full"

    def _taken_by(self, rank: int) -> int | None:
        """The place of the queue that takes the packet, unless it is queue 1."""
        for less in (7, 5, 3):
            more = less - 1
            word, place = 0, less
            if self._sizes[less]:
                self._bounds[less], self._bounds[more], word = self._both(self._bounds[less], self._bounds[more], rank)
            elif self._sizes[more]:
                self._bounds[more], word = self._one(self._bounds[more], rank)
                place = more
            if word:
                return place - self._more_urgent(word, rank)
        if not self._sizes[1]:
            return None
        self._bounds[1], word = self._second(self._bounds[1], rank)
        return 1 - self._more_urgent(word, rank) if word else None

    def explain(self) -> list[tuple[str, str]]:
        rank, bounds, lengths = self._last
        queues = present(self._sizes)
        shown = ", ".join(f"b_{queue.number} = {bound}" for queue, bound in zip(queues, bounds, strict=False))
        lines = [("bounds", shown), ("queues", told(queues, lengths))]
        fitting = [queue for queue in queues if bounds[queue.number - 1] <= rank]
        if not fitting:
            return [
                *lines,
                ("rule", f"no bound is <= {rank}: queue 1, and its bound becomes {rank}"),
                ("", f"second pass: all other bounds fall by b_1 - r = {bounds[0] - rank}, but not below 0"),
            ]
        taker = f"b_{fitting[-1].number}"
        bound = bounds[fitting[-1].number - 1]
        return [*lines, ("rule", f"from the last queue on, {taker} = {bound} <= {rank}; push-up: {taker} = {rank}")]
