"""RIFO's rule (algorithm 1 of the paper), as p4/include/rifo_admission.p4 states it."""

from collections.abc import Callable, Sequence

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import Rule
from p4sched.labs.trace import Packet

Admits = Callable[[int, int, int, int, int, int], bool]
"""Of r, Min, Max, L, B and K."""


def admits(r: int, low: int, high: int, length: int, size: int, k: int) -> bool:
    """The rule without division."""
    return 256 * length <= k * size or high == low or (high - r) * size >= (high - low) * max(size - length, 0)


class Rifo(Rule):
    """One port. Parameters: B, K, T."""

    def __init__(self, trial: Trial, rule: Admits = admits) -> None:
        self._size, self._headroom, self._tracking = trial.parameters
        self._admits = rule
        self._count = self._low = self._high = 0
        self._last = (0, 0)

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        rank, length = packet.rank, lengths[0]
        fresh = self._count == 0
        self._low = rank if fresh else min(self._low, rank)
        self._high = rank if fresh else max(self._high, rank)
        self._count = (self._count + 1) % self._tracking
        self._last = (rank, length)
        if not self._admits(rank, self._low, self._high, length, self._size, self._headroom):
            return "refused"
        return "full" if length >= self._size else 0

    def explain(self) -> list[tuple[str, str]]:
        r, length = self._last
        low, high, size, k = self._low, self._high, self._size, self._headroom
        lines = [
            ("range", f"Min = {low}, Max = {high}, with the rank of this packet"),
            ("queue", f"L = {length} packets wait, B = {size}, K = {k}"),
        ]
        if 256 * length <= k * size:
            return [*lines, ("rule", f"256 L <= K B: {256 * length} <= {k * size}, so the packet is admitted")]
        if high == low:
            return [*lines, ("rule", "Max = Min, so the packet is admitted")]
        score, threshold = (high - r) * size, (high - low) * max(size - length, 0)
        compared = ">=" if score >= threshold else "<"
        return [
            *lines,
            ("rule", f"256 L > K B: {256 * length} > {k * size}; then (Max - r) B >= (Max - Min) (B - L)"),
            ("", f"{high - r} * {size} = {score} {compared} {threshold} = {high - low} * {max(size - length, 0)}"),
        ]
