"""PACKS's rule (algorithm 1 of the paper), as p4/include/packs_mapping.p4 states it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import Rule, Window
from p4sched.labs.rules.queues import Queue, present, told
from p4sched.labs.trace import Packet


@dataclass(frozen=True)
class State:
    """What the rule sees."""

    q: int
    window: int
    k: int
    queues: list[Queue]
    free: list[int]
    """B_j - b_j of each queue."""

    @property
    def total(self) -> int:
        """B."""
        return sum(queue.size for queue in self.queues)


Condition = Callable[[State, int], bool]
"""Whether the queue at this place (0: the most urgent) may take the packet, if it has room."""
Scan = Callable[[State, Condition], tuple[int | None, bool]]
"""The place of the packet's queue, None if it is refused, and whether it has room there."""


def condition(state: State, place: int) -> bool:
    """The rule without division."""
    free = sum(state.free[: place + 1])
    return state.q * state.total * (256 - state.k) <= state.window * free * 256


def scan(state: State, fits: Condition) -> tuple[int | None, bool]:
    """The rule: the first queue that the condition holds for and that has room; full, if none of them has."""
    fitting = [place for place in range(len(state.queues)) if fits(state, place)]
    roomy = [place for place in fitting if state.free[place] > 0]
    if roomy:
        return roomy[0], True
    return (fitting[-1], False) if fitting else (None, False)


class Packs(Rule):
    """One port. Parameters: the sizes of 8 queues, K, |W|, S."""

    def __init__(self, trial: Trial, condition: Condition = condition, scan: Scan = scan) -> None:
        *sizes, self._headroom, window, sampling = trial.parameters
        self.queues = present(sizes)
        self._window = Window(window, sampling)
        self._condition, self._scan = condition, scan
        self._last: tuple[int, State, Sequence[int]]

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        self._window.observe(packet.rank)
        free = [max(queue.size - lengths[queue.priority], 0) for queue in self.queues]
        q = self._window.smaller(packet.rank)
        state = State(q, self._window.size, self._headroom, self.queues, free)
        self._last = (packet.rank, state, lengths)
        place, room = self._scan(state, self._condition)
        if place is None:
            return "refused"
        return self.queues[place].priority if room else "full"

    def explain(self) -> list[tuple[str, str]]:
        rank, state, lengths = self._last
        needed = state.q * state.total * (256 - state.k)
        lines = [
            ("window", self._window.told(rank)),
            ("queues", told(self.queues, lengths)),
            ("rule", f"q B (256 - K) = {state.q} * {state.total} * {256 - state.k} = {needed}"),
        ]
        for place, queue in enumerate(self.queues):
            free = sum(state.free[: place + 1])
            offered = state.window * free * 256
            compared = "<=" if needed <= offered else ">"
            room = "" if needed > offered else ", has room" if state.free[place] else ", is full"
            lines.append(
                ("", f"queue {queue.number}: {needed} {compared} {state.window} * {free} * 256 = {offered}{room}")
            )
            if needed <= offered and state.free[place]:
                break
        return lines
