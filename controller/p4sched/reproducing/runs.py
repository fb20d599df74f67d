"""The missing runs, the order in which they run, and how long they will take."""

import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.errors import P4schedError, unknown_name
from p4sched.reproducing.figure import Figure, Metrics, Run
from p4sched.reproducing.store import Measured, Store
from p4sched.sweep.workers import Work, on_dask

DEFAULT_S = 0.5
"""Seconds for a unit of work, if nothing is stored yet."""


@dataclass(frozen=True)
class Job:
    """A run, and the figure that stores it."""

    figure: Figure
    line: str
    published: bool
    """True: the published figure has this line."""
    place: str
    run: Run
    inputs: str
    """Hash of the inputs of the run."""
    duration_ns: int

    def __str__(self) -> str:
        """Name in messages."""
        return f"{self.figure.name}, {self.line}, {self.figure.axis} {self.place}, seed {self.run.seed}"

    def measured(self, metrics: Metrics, took_s: float, commit: str) -> Measured:
        """The row of the store."""
        duration_s = self.duration_ns / 1e9
        return Measured(self.line, self.place, self.run.seed, duration_s, self.inputs, commit, took_s, metrics)


def jobs(
    figures: Sequence[Figure],
    seeds: Sequence[int],
    duration_ns: int,
    lines: Collection[str] = (),
    places: Collection[str] = (),
) -> list[Job]:
    """All runs of the figures, or those of some lines and places. A run that several figures share is that of the first
    one.

    Raises UsageError, with a suggestion, if no figure has such a line or place.
    """
    _require_known("line", lines, (line.name for figure in figures for line in figure.lines))
    _require_known("place", places, (place for figure in figures for place in figure.places))
    found: dict[str, Job] = {}
    for figure in figures:
        for line in figure.lines:
            for place in figure.places:
                if (lines and line.name not in lines) or (places and place not in places):
                    continue
                for seed in seeds:
                    run = figure.run(line.name, place, seed, duration_ns)
                    inputs = run.inputs
                    found.setdefault(inputs, Job(figure, line.name, line.published, place, run, inputs, duration_ns))
    return list(found.values())


def _require_known(kind: str, names: Collection[str], known: Iterable[str]) -> None:
    valid = dict.fromkeys(known)
    for name in names:
        if name not in valid:
            raise unknown_name(kind, name, valid)


def missing(all_jobs: Sequence[Job], store: Store) -> list[Job]:
    """Jobs without stored numbers: all published lines before our own, of them all of the first seed before the second
    one, of them the shortest first."""
    left = [job for job in all_jobs if store.of_inputs(job.inputs) is None]
    return sorted(left, key=lambda job: (not job.published, job.run.seed, job.run.work))


class Clock:
    """Estimates how long runs take, from those that are stored or done."""

    def __init__(self, all_jobs: Sequence[Job], left: Sequence[Job], store: Store) -> None:
        stored = ((job, store.of_inputs(job.inputs)) for job in all_jobs)
        self._rates = [found.took_s / job.run.work for job, found in stored if found and job.run.work > 0]
        self._left = sum(job.run.work for job in left)

    def done(self, job: Job, took_s: float) -> None:
        """Notes a run."""
        self._left -= job.run.work
        if job.run.work > 0:
            self._rates.append(took_s / job.run.work)

    @property
    def second_of_work(self) -> float:
        """Seconds for a unit of work: the median of the runs."""
        return statistics.median(self._rates) if self._rates else DEFAULT_S

    @property
    def seconds_left(self) -> float:
        """Seconds of one processor for the runs that are left."""
        return max(0.0, self._left) * self.second_of_work


Done = tuple[Job, Metrics, float]
"""A job, its numbers, and the seconds that it took."""


async def processes(left: Sequence[Job], at_once: int) -> AsyncGenerator[Done, None]:
    """Makes the runs in processes of this machine, `at_once` at the same time; yields each when it is done."""
    waiting = iter(left)

    async def make(job: Job) -> Done:
        began = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="p4sched-reproduce-"))
        try:
            metrics = await job.run.make(folder)
        except P4schedError as error:
            raise P4schedError(f"{job}: {error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return job, metrics, time.monotonic() - began

    running = {asyncio.create_task(make(job)) for _, job in zip(range(at_once), waiting, strict=False)}
    try:
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            # asks each task for its exception, so that none is lost when the first one is raised
            for task in sorted(done, key=lambda each: each.exception() is not None):
                following = next(waiting, None)
                if following is not None:
                    running.add(asyncio.create_task(make(following)))
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def make_here(run: Run) -> tuple[Metrics, float]:
    """Makes a run in a worker of Dask."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="p4sched-reproduce-") as folder:
        metrics = asyncio.run(run.make(Path(folder)))
    return metrics, time.monotonic() - began


async def dask(left: Sequence[Job], at_once: int, address: str) -> AsyncGenerator[Done, None]:
    """Makes the runs on Dask; yields each when it is done."""
    work: list[Work] = [(make_here, (job.run,)) for job in left]
    async for place, result in on_dask(work, at_once, address):
        if isinstance(result, BaseException):
            raise P4schedError(f"{left[place]}: {result}") from result
        yield left[place], *result
