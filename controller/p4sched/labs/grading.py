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
from p4sched.labs.graded_submission import GradedSubmission, from_message, unchecked_submission
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
class _SubmissionSandbox(Sandbox):
    """Runs the processes of submissions."""

    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    has_ended: Event = field(default_factory=Event)

    def _start(self, *arguments: Any) -> "subprocess.Popen[bytes]":
        process = super()._start(*arguments)
        self.processes.append(process)
        if self.has_ended.is_set():
            process.terminate()
        return process

    def end(self) -> None:
        """Ends all processes, those that start later, and the processes below them."""
        self.has_ended.set()
        for process in self.processes:
            process.terminate()


@dataclass(frozen=True)
class Grading:
    """Graded submissions."""

    submissions: list[GradedSubmission]
    """Submissions in the order in which they were named."""
    interrupted: bool
    """True if SIGINT or SIGTERM ended the grading; then some submissions were not graded."""


def grade(
    entry: Entry, paths: Sequence[Path], names: Sequence[str], jobs: int, limits: Limits, *, isolated: bool
) -> Grading:
    """Grades the submissions. After an interrupt, those that are not yet graded get a remark in place of marks.

    `names`: their names. `isolated`: True for sandboxes, False for limits only.

    Raises:
        P4schedError: this machine cannot grade any submission.
    """
    for program in entry.load().needs():
        rust_binary(program)
    if isolated:
        _try_sandbox(limits)
    own = _SubmissionSandbox(_limits(limits))
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(jobs):
        slots.put(slot)

    def grade_in_slot(path: Path, name: str) -> GradedSubmission:
        slot = slots.get()
        try:
            return _grade_path(entry, path, name, own, limits, slot if isolated else None)
        finally:
            slots.put(slot)

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(grade_in_slot, path, name) for path, name in zip(paths, names, strict=True)]
        try:
            submissions, interrupted = [future.result() for future in futures], False
        except KeyboardInterrupt:
            with undisturbed():
                submissions, interrupted = _so_far(entry, futures, names), True
                own.end()
                pool.shutdown(cancel_futures=True)
    return Grading(_with_twins(submissions), interrupted)


def _so_far(entry: Entry, futures: Sequence[Future[GradedSubmission]], names: Sequence[str]) -> list[GradedSubmission]:
    return [
        future.result() if future.done() else unchecked_submission(entry, name, NOT_GRADED)
        for future, name in zip(futures, names, strict=True)
    ]


def _try_sandbox(limits: Limits) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = ClosedSandbox(limits).run(["true"], "", Path(folder), what="the sandbox")
    if result.returncode != 0:
        raise P4schedError(
            f"the sandbox does not work on this machine: {_last_line(result.stderr)}. docs/INSTRUCTORS.md says what "
            "grading needs; --trusted grades without a sandbox"
        )


def _grade_path(
    entry: Entry, path: Path, name: str, own: Sandbox, limits: Limits, slot: int | None
) -> GradedSubmission:
    try:
        return from_message(entry, name, _message(entry, path, name, own, limits, slot))
    except Exception as error:
        return unchecked_submission(entry, name, str(error) or type(error).__name__)


def _message(entry: Entry, path: Path, name: str, own: Sandbox, limits: Limits, slot: int | None) -> str:
    """Answer of the process of a submission. `limits`: limits on the student's code.

    Raises:
        SubmissionError: the process gave no answer.
    """
    request = {
        "lab": entry.folder.name,
        "submission": str(path.absolute()),
        "name": name,
        "limits": asdict(limits),
        "slot": slot,
    }
    with tempfile.TemporaryDirectory(prefix="p4sched-grade-", ignore_cleanup_errors=True) as folder:
        result = own.run(
            [sys.executable, "-P", "-m", grading_process.__name__],
            json.dumps(request),
            Path(folder),
            {**os.environ, "TMPDIR": folder},
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


def _with_twins(submissions: Sequence[GradedSubmission]) -> list[GradedSubmission]:
    """Adds a remark to submissions that are the same file on the disk (hard links)."""
    owners = defaultdict(list)
    for submission in submissions:
        for file in submission.files:
            owners[file].append(submission.name)
    return [
        _with_twin(submission, [name for file in submission.files for name in owners[file] if name != submission.name])
        for submission in submissions
    ]


def _with_twin(submission: GradedSubmission, others: Sequence[str]) -> GradedSubmission:
    if not others:
        return submission
    remark = f"on the disk this is the same file as that of {', '.join(others)}: a hard link"
    return replace(submission, remark="; ".join(filter(None, (submission.remark, remark))))
