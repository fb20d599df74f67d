"""AIFO's rule (algorithm 1 of the paper), as p4/include/aifo_admission.p4 states it."""

from collections.abc import Callable, Sequence

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import Rule, Window
from p4sched.labs.trace import Packet

Admits = Callable[[int, int, int, int, int], bool]
"""Of q, |W|, c, C and K."""


def admits(q: int, w: int, c: int, target: int, k: int) -> bool:
    """The rule without division."""
    return c <= target and q * target * (256 - k) <= w * (target - c) * 256


class Aifo(Rule):
    """One port. Parameters: C, size of the queue, K, |W|, S."""

    def __init__(self, trial: Trial, rule: Admits = admits) -> None:
        self._target, self._size, self._headroom, window, sampling = trial.parameters
        self._window = Window(window, sampling)
        self._admits = rule
        self._last = (0, 0)

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        self._window.observe(packet.rank)
        length = lengths[0]
        self._last = (packet.rank, length)
        q = self._window.smaller(packet.rank)
        if not self._admits(q, self._window.size, length, self._target, self._headroom):
            return "refused"
        return "full" if length >= self._size else 0

    def explain(self) -> list[tuple[str, str]]:
        rank, c = self._last
        q, w, target, k = self._window.smaller(rank), self._window.size, self._target, self._headroom
        lines = [
            ("window", self._window.told(rank)),
            ("queue", f"c = {c} packets wait, C = {target}, size {self._size}, K = {k}"),
        ]
        if c > target:
            return [*lines, ("rule", f"c > C: {c} > {target}, so nothing is admitted")]
        if k == 0:
            needed, free = q * target, w * (target - c)
            compared = "<=" if needed <= free else ">"
            numbers = f"{q} * {target} = {needed} {compared} {free} = {w} * {target - c}"
            return [*lines, ("rule", "q C <= |W| (C - c)"), ("", numbers)]
        needed, free = q * target * (256 - k), w * (target - c) * 256
        compared = "<=" if needed <= free else ">"
        return [
            *lines,
            ("rule", "q C (256 - K) <= |W| (C - c) 256"),
            ("", f"{q} * {target} * {256 - k} = {needed} {compared} {free} = {w} * {target - c} * 256"),
        ]
