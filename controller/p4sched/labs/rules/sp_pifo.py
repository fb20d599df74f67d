"""SP-PIFO's rule, as p4/include/sp_pifo_mapping.p4 states it."""

from collections.abc import Callable, Sequence

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import Rule
from p4sched.labs.rules.queues import Queue, present, told
from p4sched.labs.trace import Packet

Fits = Callable[[int, int], bool]
"""Whether a queue with this bound takes this rank."""
PushUp = Callable[[int, int, bool], int]
"""The new bound of a queue: of its bound, the rank, and whether the packet has room."""
PushDown = Callable[[list[int], int, bool], list[int]]
"""The new bounds, that of queue 1 first: of the bounds, the rank, and whether the packet has room in queue 1."""
Order = Callable[[Sequence[int]], Sequence[int]]
"""The places of the queues in the order of the scan: of the places, the most urgent first."""


def fits(bound: int, rank: int) -> bool:
    """The rule."""
    return bound <= rank


def push_up(bound: int, rank: int, room: bool) -> int:
    """The rule: only if the packet has room."""
    return rank if room else bound


def push_down(bounds: list[int], rank: int, _room: bool) -> list[int]:
    """The rule: every bound falls by b_1 - r."""
    return [bound - (bounds[0] - rank) for bound in bounds]


def least_urgent_first(places: Sequence[int]) -> Sequence[int]:
    """The rule."""
    return places[::-1]


class SpPifo(Rule):
    """One port. Parameters: the sizes of 8 queues."""

    def __init__(
        self,
        trial: Trial,
        fits: Fits = fits,
        push_up: PushUp = push_up,
        push_down: PushDown = push_down,
        order: Order = least_urgent_first,
        inversion: int = 0,
    ) -> None:
        """inversion: the place of the queue that takes a packet which no bound lets in."""
        self.queues = present(trial.parameters)
        self._bounds = [0] * len(self.queues)
        self._fits, self._push_up, self._push_down, self._inversion = fits, push_up, push_down, inversion
        self._order = order(range(len(self.queues)))
        self._last: tuple[int, list[int], Sequence[int]] = (0, [], [])

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        self._last = (packet.rank, list(self._bounds), lengths)
        found = next((place for place in self._order if self._fits(self._bounds[place], packet.rank)), None)
        queue = self.queues[self._inversion if found is None else found]
        room = self.has_room(queue, lengths)
        if found is None:
            self._bounds = self._push_down(self._bounds, packet.rank, room)
        else:
            self._bounds[found] = self._push_up(self._bounds[found], packet.rank, room)
        return self.decision(queue, room)

    def has_room(self, queue: Queue, lengths: Sequence[int]) -> bool:
        """Whether the queue takes one packet more."""
        return lengths[queue.priority] < queue.size

    def decision(self, queue: Queue, room: bool) -> Decision:
        """Tail drop."""
        return queue.priority if room else "full"

    def explain(self) -> list[tuple[str, str]]:
        rank, bounds, lengths = self._last
        shown = ", ".join(f"b_{queue.number} = {bound}" for queue, bound in zip(self.queues, bounds, strict=True))
        lines = [("bounds", shown), ("queues", told(self.queues, lengths))]
        scanned = [place for place in range(len(bounds)) if bounds[place] <= rank]
        if not scanned:
            cost = bounds[0] - rank
            return [*lines, ("rule", f"no bound is <= {rank}: queue 1; push-down: every bound falls by {cost}")]
        place = scanned[-1]
        queue = self.queues[place]
        pushed = f"push-up: b_{queue.number} = {rank}" if self.has_room(queue, lengths) else "it is full: no push-up"
        return [*lines, ("rule", f"from the last queue on, b_{queue.number} = {bounds[place]} <= {rank}; {pushed}")]
