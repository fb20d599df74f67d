"""SP-PIFO Fig. 13 and 14 for `p4sched reproduce`: how the greedy rule for the bounds of its queues converges.

Fig. 13 has the unpifoness in each period of the rule: what the packets of a queue cost that are of different ranks.
It needs no network, as each arriving packet counts, also a dropped one. Fig. 14 has the ranks in each queue, in the
network of two_hosts.py. The rule of Fig. 13 (GreedyQueue.java) moves a bound by one rank, that of Fig. 14, as that of
Fig. 5 and 6, by one occupied rank (GreedyQueue_Advanced.java). The numbers of the figures are those of the authors'
README; their MainFromIntelliJ.java has them the other way round.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.completion_at_scale import two_hosts
from p4sched.reproducing.figure import Figure, Line, Metrics, Quantity

Counts = NDArray[np.int64]
"""Number of packets of each rank."""
PERIODS = (50, 250, 500, 1000, 2500, 5000, 7000)
QUEUES = (8, 12, 16, 20, 24, 28, 32)
RANKS = (100, 200, 400, 600, 800, 1000)
EARLY = ("1", "6", "11", "21", "41", "61", "81", "100")
LATE = ("1", "101", "251", "501", "751", "1000")
"""Periods that are compared; the published data have each."""
UNPIFONESS = Quantity("unpifoness_*", "unpifoness")
DRAWN = ("uniform", "exponential", "inverse-exponential", "poisson", "convex", "minmax")
GREEDY: two_hosts.Port = {"rule": 1, "queue_count": 8, "size": 20, "half_steps": 25}
SOURCES = ("experiments/completion_at_scale/greedy.py",)


def unpifoness(counts: Counts, bounds: Sequence[int], period: int) -> int:
    """What the packets of a period cost: for each pair of ranks in a queue their distance, times the distance of the
    lower one to the end of the ranks, times both counts, over `period ^ 2`. In the authors' code, as here, this is the
    exclusive or, not the square, and each pair is rounded down."""
    total = 0
    for low, high in zip(bounds, [*bounds[1:], len(counts)], strict=True):
        ranks = np.arange(low, high)
        pairs = np.outer(counts[low:high] * (len(counts) - ranks), counts[low:high])
        total += int(np.triu(pairs * (ranks[None, :] - ranks[:, None]) // (period ^ 2), 1).sum())
    return total


def move(counts: Counts, bounds: list[int]) -> None:
    """Moves each bound by one rank if that lowers the cost of the period: up, or else down."""
    end = len(counts)

    def moved(rank: int, first: int, last: int) -> int:
        """Cost of a rank in a queue with the ranks from `first` to before `last`."""
        others = np.arange(first, max(first, min(last, end)))
        return int((counts[others] * abs(others - rank)).sum() * counts[rank]) if 0 <= rank < end else 0

    for queue in reversed(range(1, len(bounds))):
        above, bound = bounds[queue - 1], bounds[queue]
        below = bounds[queue + 1] if queue + 1 < len(bounds) else end
        if moved(bound, above, bound) < moved(bound, bound + 1, below):
            bounds[queue] += 1
        elif moved(bound - 1, above, bound - 1) > moved(bound - 1, bound, below):
            bounds[queue] -= 1


@dataclass(frozen=True)
class Stream:
    """Packets of uniform ranks that arrive at the queues: a run of p4sched.reproducing."""

    period: int
    """Packets after which the bounds move."""
    queues: int
    ranks: int
    places: tuple[str, ...]
    """Periods that are measured, from 1 on."""
    seed: int
    work: float = 0.001

    @property
    def inputs(self) -> str:
        """Hash of all inputs."""
        return sha256(json.dumps(["greedy", *astuple(self)]).encode()).hexdigest()[:16]

    async def make(self, folder: Path) -> Metrics:
        """The unpifoness of each place."""
        return await asyncio.to_thread(self.measure)

    def measure(self) -> Metrics:
        """The unpifoness of each place."""
        random = np.random.default_rng(self.seed)
        bounds = list(range(self.queues))
        found: dict[str, float | None] = {}
        for number in range(1, int(self.places[-1]) + 1):
            counts = np.bincount(random.integers(0, self.ranks, self.period), minlength=self.ranks)
            if str(number) in self.places:
                found[UNPIFONESS.key.replace("*", str(number))] = unpifoness(counts, bounds, self.period)
            move(counts, bounds)
        return found


def _converging(name: str, title: str, lines: Mapping[str, tuple[int, int, int]], places: tuple[str, ...]) -> Figure:
    """A panel of Fig. 13; lines have the period, the number of queues, and the number of ranks."""

    def run(line: str, _place: str, seed: int, _duration_ns: int) -> Stream:
        return Stream(*lines[line], places, seed)

    shown = [Line(each, each, each) for each in lines]
    return Figure(name, title, shown, places, "period", (UNPIFONESS,), run, SOURCES)


def _ranks_of_queues(line: str, _place: str, seed: int, duration_ns: int) -> two_hosts.Run:
    return two_hosts.Run(GREEDY, line, two_hosts.STARTS_PER_S, seed, duration_ns)


FIGURES = (
    _converging(
        "sp_pifo-13a", "greedy bounds, packets in a period", {f"k={each}": (each, 8, 100) for each in PERIODS}, EARLY
    ),
    _converging(
        "sp_pifo-13b", "greedy bounds, number of queues", {f"Q={each}": (1000, each, 100) for each in QUEUES}, EARLY
    ),
    _converging(
        "sp_pifo-13c", "greedy bounds, number of ranks", {f"R={each}": (1000, 8, each) for each in RANKS}, LATE
    ),
    Figure(
        "sp_pifo-14",
        "greedy bounds, ranks in each queue",
        [Line(each, f"{each} ranks", each) for each in DRAWN],
        [str(queue) for queue in range(1, 9)],
        "queue",
        (
            Quantity("queue_*_mean", "mean of the ranks", linear=True),
            Quantity("queue_*_deviation", "standard deviation of the ranks", linear=True),
        ),
        _ranks_of_queues,
        two_hosts.SOURCES,
    ),
)
