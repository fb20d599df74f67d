"""Runs what reads or runs a student's files: with limits on time, memory and output."""

import resource
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.errors import P4schedError

GIGABYTE = 1 << 30


class SubmissionError(P4schedError):
    """A submission that cannot be checked: a sentence for the student."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use."""

    seconds: float = 30
    memory_bytes: int = 2 * GIGABYTE
    file_bytes: int = 256 << 20
    """Of the largest file."""


@dataclass(frozen=True)
class Sandbox:
    """On the student's own machine: limits only."""

    limits: Limits = Limits()

    def run(
        self, command: Sequence[str], given: str, folder: Path, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in `folder`, which it may write to, with `given` at its standard input.

        Raises:
            SubmissionError: it took too long.
        """
        limits = self.limits

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
            resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))

        try:
            return subprocess.run(
                command,
                input=given,
                cwd=folder,
                env=variables,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limits.seconds,
                check=False,
                preexec_fn=limit,
            )
        except subprocess.TimeoutExpired as error:
            raise SubmissionError(f"it took longer than {limits.seconds:g} s, and was ended") from error
