"""Grades many submissions, several at the same time. A submission cannot affect another one.

Each submission has its own process, which reads, checks and describes it, within limits. The student's code runs in a
sandbox below this process. The process answers with one message of a known form and a limited size. Any other result
becomes a sentence in the row of this submission.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

from p4sched.errors import P4schedError
from p4sched.interrupts import undisturbed
from p4sched.labs import grading_process
from p4sched.labs.catalogue import Entry
from p4sched.labs.graded import Graded, from_message, ungraded
from p4sched.labs.sandbox import MEGABYTE, ClosedSandbox, Limits, Sandbox, SubmissionError
from p4sched.paths import rust_binary

OWN_SECONDS = 60
"""Limit of CPU time for reading, comparing and describing a submission. One second is usually enough."""
OWN_MEMORY_BYTES = 1024 * MEGABYTE
OWN_WALL_S = 300
RUNS = 3
"""Largest number of runs in the sandbox; each may use its whole time limit."""
WHAT = "the check"
NOT_GRADED = "not graded: the grading was interrupted"
"""Remark of a submission after an interrupt."""


@dataclass(frozen=True)
class _Own(Sandbox):
    """Runs the processes of submissions."""

    begun: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def _start(self, *arguments: Any) -> "subprocess.Popen[bytes]":
        process = super()._start(*arguments)
        self.begun.append(process)
        if self.over.is_set():
            process.terminate()
        return process

    def end(self) -> None:
        """Ends all processes, those that start later, and the processes below them."""
        self.over.set()
        for process in self.begun:
            process.terminate()


@dataclass(frozen=True)
class Grading:
    """Graded submissions."""

    submissions: list[Graded]
    """In the order in which they were named."""
    interrupted: bool
    """True if SIGINT or SIGTERM ended the grading; then some submissions were not graded."""


def grade(
    entry: Entry, found: Sequence[Path], called: Sequence[str], jobs: int, limits: Limits, *, closed: bool
) -> Grading:
    """Grades the submissions. After an interrupt, those that are not yet graded get a remark in place of marks.

    `called`: their names. `closed`: True for sandboxes, False for limits only.

    Raises:
        P4schedError: this machine cannot grade any submission.
    """
    for program in entry.load().needs():
        rust_binary(program)
    if closed:
        _try_sandbox(limits)
    own = _Own(_limits(limits))
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(jobs):
        slots.put(slot)

    def one(path: Path, name: str) -> Graded:
        slot = slots.get()
        try:
            return _graded(entry, path, name, own, limits, slot if closed else None)
        finally:
            slots.put(slot)

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, path, name) for path, name in zip(found, called, strict=True)]
        try:
            graded, interrupted = [future.result() for future in futures], False
        except KeyboardInterrupt:
            with undisturbed():
                graded, interrupted = _so_far(entry, futures, called), True
                own.end()
                pool.shutdown(cancel_futures=True)
    return Grading(_with_twins(graded), interrupted)


def _so_far(entry: Entry, futures: Sequence[Future[Graded]], names: Sequence[str]) -> list[Graded]:
    return [
        future.result() if future.done() else ungraded(entry, name, NOT_GRADED)
        for future, name in zip(futures, names, strict=True)
    ]


def _try_sandbox(limits: Limits) -> None:
    with tempfile.TemporaryDirectory() as made:
        result = ClosedSandbox(limits).run(["true"], "", Path(made), what="the sandbox")
    if result.returncode != 0:
        raise P4schedError(
            f"the sandbox does not work on this machine: {_last_line(result.stderr)}. docs/INSTRUCTORS.md says what "
            "grading needs; --trusted grades without a sandbox"
        )


def _graded(entry: Entry, path: Path, name: str, own: Sandbox, limits: Limits, slot: int | None) -> Graded:
    try:
        return from_message(entry, name, _message(entry, path, name, own, limits, slot))
    except Exception as error:
        return ungraded(entry, name, str(error) or type(error).__name__)


def _message(entry: Entry, path: Path, name: str, own: Sandbox, limits: Limits, slot: int | None) -> str:
    """Answer of the process of a submission. `limits`: limits on the student's code.

    Raises:
        SubmissionError: the process gave no answer.
    """
    asked = {
        "lab": entry.folder.name,
        "submission": str(path.absolute()),
        "name": name,
        "limits": asdict(limits),
        "slot": slot,
    }
    with tempfile.TemporaryDirectory(prefix="p4sched-grade-", ignore_cleanup_errors=True) as made:
        result = own.run(
            [sys.executable, "-P", "-m", grading_process.__name__],
            json.dumps(asked),
            Path(made),
            {**os.environ, "TMPDIR": made},
            what=WHAT,
        )
    if result.returncode != 0:
        raise SubmissionError(_last_line(result.stderr))
    return result.stdout


def _limits(limits: Limits) -> Limits:
    """Limits of the process of a submission. They are not below those of the sandbox, because a process cannot raise
    its limits."""
    return replace(
        limits,
        seconds=max(limits.seconds, OWN_SECONDS),
        wall_seconds=RUNS * limits.wall_seconds + OWN_WALL_S,
        memory_bytes=max(limits.memory_bytes, OWN_MEMORY_BYTES),
    )


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else f"{WHAT} ended without a word"


def _with_twins(graded: Sequence[Graded]) -> list[Graded]:
    """Adds a remark to submissions that are the same file on the disk (hard links)."""
    owners = defaultdict(list)
    for one in graded:
        for file in one.files:
            owners[file].append(one.name)
    return [
        _with_twin(one, [name for file in one.files for name in owners[file] if name != one.name]) for one in graded
    ]


def _with_twin(one: Graded, others: Sequence[str]) -> Graded:
    if not others:
        return one
    remark = f"on the disk this is the same file as that of {', '.join(others)}: a hard link"
    return replace(one, remark="; ".join(filter(None, (one.remark, remark))))
