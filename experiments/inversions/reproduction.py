"""The figures of this experiment for `p4sched reproduce`: PACKS Fig. 3, 9 and 10, in stepped time. tracking.py has RIFO
Fig. 3."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from experiments.inversions import tracking
from experiments.inversions.stepped_stream import Stream, run_model
from p4sched.reproducing.figure import Figure, Line, Metrics, Quantity
from p4sched.schemes import title

QUEUES, QUEUE_SIZE, WINDOW = 8, 10, 1000
PACKETS_PER_S = 916_666
"""Packets of 1500 bytes in a second at 11 Gbit/s."""
SCHEMES = ("fifo", "aifo", "sp_pifo", "packs", "pifo")
WORK = 1e-6
"""Unit of work for a packet: as much as a megabyte in a network."""
SOURCES = ("experiments/inversions/stepped_stream.py", "switch/simulator/src", "switch/schedulers/src")
INVERSIONS = Quantity("inversions", "inversions")
LOWEST = Quantity("lowest_rank_dropped", "lowest rank dropped", linear=True)
DROPS = Quantity("drops", "drops", linear=True)


@dataclass(frozen=True)
class Run:
    """A stream through one scheme."""

    scheme: str
    stream: Stream

    @property
    def seed(self) -> int:
        """The seed."""
        return self.stream.seed

    @property
    def inputs(self) -> str:
        """Hash of stream and scheme."""
        each = self.stream
        record = [self.scheme, each.ranks, each.window, each.packets, each.seed, each.queues, each.queue_size]
        return sha256(json.dumps(record).encode()).hexdigest()[:16]

    @property
    def work(self) -> float:
        """Packets, in the unit of a network's gigabytes."""
        return self.stream.packets * WORK

    async def make(self, folder: Path) -> Metrics:
        """Inversions, drops, and the lowest rank that was dropped."""
        found = await asyncio.to_thread(run_model, self.stream, self.scheme, folder / "model.json")
        return {name: found[name] for name in ("inversions", "drops", "lowest_rank_dropped")}


def _run(line: str, place: str, seed: int, duration_ns: int) -> Run:
    return Run(line, _stream(place, WINDOW, seed, duration_ns))


def _stream(ranks: str, window: int, seed: int, duration_ns: int) -> Stream:
    return Stream(ranks, window, PACKETS_PER_S * duration_ns // 10**9, seed, QUEUES, QUEUE_SIZE)


def _window_run(line: str, place: str, seed: int, duration_ns: int) -> Run:
    return Run(line, _stream("uniform", int(place), seed, duration_ns))


def _lines(schemes: Sequence[str]) -> list[Line]:
    return [Line(name, title(name), name) for name in schemes]


def _distribution(name: str, ranks: str) -> Figure:
    shown = (INVERSIONS, LOWEST, DROPS)
    return Figure(name, f"{ranks} ranks", _lines(SCHEMES), (ranks,), "ranks", shown, _run, SOURCES)


FIGURES = (
    _distribution("packs-3", "uniform"),
    _distribution("packs-9a", "poisson"),
    _distribution("packs-9b", "inverse-exponential"),
    Figure(
        "packs-10",
        "window of PACKS",
        _lines(("sp_pifo", "packs")),
        ("15", "100", "1000", "10000"),
        "|W|",
        (INVERSIONS, LOWEST),
        _window_run,
        SOURCES,
    ),
    *tracking.FIGURES,
)
