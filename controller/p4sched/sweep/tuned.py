"""The best setting of each thing that is compared, and its figures with other seeds.

A comparison of schemes needs the parameters of each. Every candidate runs with the tuning seeds. For each group, the
candidate with the smallest mean objective is chosen. It alone then runs with the seeds of the result. So the choice
does not favour a group with many candidates: the seeds of the result have no part in it.

A finished run is stored in DIR/points, so an interrupted experiment continues.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from p4sched import simulate
from p4sched.errors import P4schedError
from p4sched.json_records import MALFORMED
from p4sched.paths import rust_binary
from p4sched.results.intervals import over_seeds, paired_ratio
from p4sched.results.whole_file import write_whole

POINTS, SCRATCH = "points", "running"
Group = Mapping[str, str | int | float]
"""Names and values of what is compared, such as the scheme and the load."""
Figures = Mapping[str, float]
Tell = Callable[[str], None]


class Run(Protocol):
    """A run with one seed."""

    def inputs(self) -> Any:
        """All inputs, for JSON: equal inputs give equal figures."""

    def figures(self, folder: Path) -> Coroutine[Any, Any, Figures]:
        """Runs it, with files in an empty folder."""


@dataclass(frozen=True)
class Simulation:
    """A run of a scenario."""

    scenario: simulate.Scenario
    measure: Callable[..., Figures]
    """Figures of the result, and of the arguments."""
    arguments: Mapping[str, int | float | str] = field(default_factory=dict)

    def inputs(self) -> Any:
        """The scenario, the function that measures, its arguments, and the simulator."""
        return [
            binary_hash(simulate.BINARY),
            f"{self.measure.__module__}.{self.measure.__qualname__}",
            self.scenario.to_json(),
            *([dict(self.arguments)] if self.arguments else []),
        ]

    async def figures(self, folder: Path) -> Figures:
        """Runs the simulator."""
        return self.measure(await simulate.run_async(self.scenario, folder), **self.arguments)


def binary_hash(name: str) -> str:
    """Hash of a program of `switch/`, which is read again if it has changed."""
    path = rust_binary(name)
    now = path.stat()
    return _hash(path, now.st_mtime_ns, now.st_size)


@cache
def _hash(path: Path, _changed_ns: int, _size: int) -> str:
    return sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Candidate:
    """A setting that a group may have."""

    group: Group
    parameters: Group
    run: Callable[[int], Run]
    """Its run with a seed."""


@dataclass(frozen=True)
class Measured:
    """Figures of a candidate, one for each seed."""

    candidate: Candidate
    seeds: Sequence[Figures]

    def mean(self, key: str) -> float:
        """Mean over the seeds."""
        return fmean(figures[key] for figures in self.seeds)

    def means(self, keys: Sequence[str]) -> dict[str, Any]:
        """Group, parameters, and the mean of each figure."""
        return {**self.candidate.group, **self.candidate.parameters, **{key: self.mean(key) for key in keys}}

    def record(self, keys: Sequence[str]) -> dict[str, Any]:
        """Group, parameters, and the mean of each figure with the bounds of its interval of 95 %; None with one
        seed."""
        found: dict[str, Any] = {**self.candidate.group, **self.candidate.parameters}
        for key in keys:
            low, high = over_seeds([figures[key] for figures in self.seeds]) or (None, None)
            found |= {key: self.mean(key), f"{key}_low": low, f"{key}_high": high}
        return found


def ratio(measured: Measured, other: Measured, key: str, other_key: str | None = None) -> dict[str, float | None]:
    """Ratio of a figure to that (or to another figure) of a candidate with the same seeds, with the bounds of its
    interval of 95 %."""
    value, interval = paired_ratio(
        [figures[key] for figures in measured.seeds], [figures[other_key or key] for figures in other.seeds]
    )
    low, high = interval or (None, None)
    return {"ratio": value, "ratio_low": low, "ratio_high": high}


def shown_ratio(found: Mapping[str, float | None] | None) -> str:
    """The cell of a table for the result of `ratio`; None: there is none."""
    if found is None or found["ratio"] is None:
        return "-"
    if found["ratio_low"] is None or found["ratio_high"] is None:
        return f"{found['ratio']:.2f}"
    return f"{found['ratio']:.2f} ({found['ratio_low']:.2f}-{found['ratio_high']:.2f})"


@dataclass(frozen=True)
class Seeds:
    """Seeds of the choice, and of the result."""

    tuning: Sequence[int]
    result: Sequence[int]

    @classmethod
    def of(cls, first: int, tuning: int, result: int) -> "Seeds":
        """Consecutive seeds."""
        return cls(range(first, first + tuning), range(first + tuning, first + tuning + result))


@dataclass(frozen=True)
class Tuned:
    """Result of a comparison."""

    objective: str
    grid: Sequence[Measured]
    """All candidates, with the tuning seeds."""
    chosen: Sequence[Measured]
    """The chosen candidate of each group, with the tuning seeds."""
    best: Sequence[Measured]
    """The same candidates, with the seeds of the result."""

    def best_of(self, suits: Callable[[Group], bool]) -> Measured:
        """The best of several groups, by the tuning seeds, with the seeds of the result."""
        places = [place for place, each in enumerate(self.chosen) if suits(each.candidate.group)]
        return self.best[min(places, key=lambda place: self.chosen[place].mean(self.objective))]


async def tune(candidates: Sequence[Candidate], objective: str, seeds: Seeds, folder: Path, tell: Tell) -> Tuned:
    """Runs all candidates, as many runs at the same time as this process has CPUs. `objective`: the figure whose mean
    is smallest for the best candidate."""
    points = _Points(folder)
    grid = await points.measure(candidates, seeds.tuning, "choosing parameters", tell)
    chosen: dict[str, Measured] = {}
    for each in grid:
        group = json.dumps(each.candidate.group)
        if group not in chosen or each.mean(objective) < chosen[group].mean(objective):
            chosen[group] = each
    best = await points.measure([each.candidate for each in chosen.values()], seeds.result, "measuring", tell)
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    return Tuned(objective, grid, list(chosen.values()), best)


async def repeat(candidates: Sequence[Candidate], seeds: Sequence[int], folder: Path, tell: Tell) -> list[Measured]:
    """Runs all candidates with these seeds, and chooses none."""
    found = await _Points(folder).measure(candidates, seeds, "measuring", tell)
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    return found


class _Points:
    """Finished runs of a folder."""

    def __init__(self, folder: Path) -> None:
        self._stored = folder / POINTS
        self._scratch = folder / SCRATCH
        self._stored.mkdir(parents=True, exist_ok=True)
        self._turns: dict[str, asyncio.Lock] = {}
        """One for each run: settings that round to the same one wait for each other."""
        self._free = asyncio.Semaphore(len(os.sched_getaffinity(0)))

    async def measure(
        self, candidates: Sequence[Candidate], seeds: Sequence[int], what: str, tell: Tell
    ) -> list[Measured]:
        left = len(candidates) * len(seeds)

        async def one(run: Run) -> Figures:
            nonlocal left
            async with self._free:
                figures = await self._figures(run)
            left -= 1
            tell(f"{what}: {left} runs are left")
            return figures

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [[group.create_task(one(each.run(seed))) for seed in seeds] for each in candidates]
        except BaseExceptionGroup as failed:
            # the first one ends all other runs, so its sentence is the reason
            for error in failed.exceptions:
                if isinstance(error, P4schedError):
                    raise error from None
            raise
        return [
            Measured(each, [task.result() for task in of_each]) for each, of_each in zip(candidates, tasks, strict=True)
        ]

    async def _figures(self, run: Run) -> Figures:
        key = sha256(json.dumps(run.inputs(), sort_keys=True).encode()).hexdigest()[:32]
        async with self._turns.setdefault(key, asyncio.Lock()):
            return await self._stored_or_made(key, run)

    async def _stored_or_made(self, key: str, run: Run) -> Figures:
        path = self._stored / f"{key}.json"
        try:
            stored: Figures = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(stored, dict):
                return stored
        except (OSError, *MALFORMED):
            pass
        folder = self._scratch / key
        folder.mkdir(parents=True, exist_ok=True)
        try:
            figures = await run.figures(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        write_whole(path, json.dumps(figures) + "\n")
        return figures
