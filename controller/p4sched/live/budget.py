"""Limits the rate of a page's updates, so that they take only a small share of a core."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SHARE = 0.045
"""Largest share of a core. The share in windows of a few seconds then stays below 5 %."""
WINDOW_S = 2.0
"""Time over which the share is measured."""
SLOWEST = 4
"""Longest period, in multiples of the shortest."""


@dataclass
class Budget:
    """The period that the CPU time of this process allows."""

    shortest_s: float
    cpu_s: Callable[[], float] = time.process_time
    wall_s: Callable[[], float] = time.monotonic
    factor: int = 1
    _since: tuple[float, float] | None = field(default=None)
    """Start of the window, and the CPU time then."""

    @property
    def every_s(self) -> float:
        """Time between two updates."""
        return self.factor * self.shortest_s

    def adapt(self) -> bool:
        """Reads the clocks; returns True if the period has changed. Twice the period costs about half."""
        now = (self.wall_s(), self.cpu_s())
        if self._since is None:
            self._since = now
        wall_s, cpu_s = (later - earlier for later, earlier in zip(now, self._since, strict=True))
        if wall_s < WINDOW_S:
            return False
        self._since = now
        before, share = self.factor, cpu_s / wall_s
        if share > SHARE:
            self.factor = min(2 * self.factor, SLOWEST)
        elif 2 * share < SHARE:
            self.factor = max(self.factor // 2, 1)
        return self.factor != before
