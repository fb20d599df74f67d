"""RIFO Fig. 3 for `p4sched reproduce`: how close Min and Max of a tracking range come to the ends of the distribution.

At the end of a range, Min and Max are the extremes of its T ranks (RIFO III). Nothing else of RIFO matters here.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from p4sched.reproducing.figure import Figure, Line, Metrics, Quantity

RANKS = 100
RANGES = 1000
"""Tracking ranges of a run."""


@dataclass(frozen=True)
class Run:
    """Uniform ranks, in tracking ranges of the same length."""

    tracking: int
    seed: int

    @property
    def inputs(self) -> str:
        """Hash of all inputs."""
        return sha256(json.dumps(["tracking", self.tracking, RANGES, self.seed]).encode()).hexdigest()[:16]

    @property
    def work(self) -> float:
        """A hundredth of a second, in the unit of a network's gigabytes."""
        return 0.02

    async def make(self, folder: Path) -> Metrics:
        """Means over the ranges."""
        ranks = np.random.default_rng(self.seed).integers(0, RANKS, (RANGES, self.tracking))
        least, most = ranks.min(axis=1), ranks.max(axis=1)
        return {
            "min": float(least.mean()),
            "max": float(most.mean()),
            "share": float((most - least).mean() / (RANKS - 1)),
        }


FIGURES = (
    Figure(
        "rifo-3",
        "Min and Max of the tracking range, uniform ranks",
        [Line("rifo", "RIFO", "rifo")],
        ("10", "50", "100", "1000"),
        "T",
        (
            Quantity("share", "tracked share of the range of ranks", linear=True),
            Quantity("min", "mean of Min", linear=True),
            Quantity("max", "mean of Max", linear=True),
        ),
        lambda _line, place, seed, _duration_ns: Run(int(place), seed),
        ("experiments/inversions/tracking.py",),
    ),
)
