"""Runs what reads or runs a student's files: with limits on time, memory, processes and output.

For grading, it is shut in as well.
"""

import math
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.paths import tool

MEGABYTE = 1 << 20
SHELL_SIGNAL = 128
"""A shell, and bubblewrap, give 128 plus the number of a signal as exit code."""
FIRST_UID = 61_000
"""Users that nobody is: each submission that runs at a time has one, so limits on processes are its own."""
ENDING_S = 5
"""Time to end in order."""
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache")
OUT_OF_MEMORY = ("memory allocation", "MemoryError", "Cannot allocate memory", "out of memory")
TOO_LARGE = ("File too large", "No space left on device")
NO_PROCESS = ("BlockingIOError", "Resource temporarily unavailable", "failed to spawn thread")


class SubmissionError(P4schedError):
    """A submission that cannot be checked: a sentence for the student."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use."""

    seconds: float = 30
    """Of CPU, for each process. A busy machine takes no marks."""
    wall_seconds: float = 300
    """Of time, for what waits and does not compute."""
    memory_bytes: int = 2048 * MEGABYTE
    file_bytes: int = 64 * MEGABYTE
    """Of the largest file, and of what it prints."""


@dataclass(frozen=True)
class Result:
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Sandbox:
    """On the student's own machine: limits only."""

    limits: Limits = Limits()

    def run(
        self,
        command: Sequence[str],
        given: str,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        readable: Sequence[Path] = (),
        processes: int | None = None,
        what: str = "your program",
    ) -> Result:
        """Runs a command in `folder`, with `given` at its standard input.

        readable: what else it needs, if it is shut in. processes: how many it may have then, itself included.
        what: its name in messages.

        Raises:
            SubmissionError: it went beyond a limit. The message says which.
        """
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            stdin.write(given.encode())
            stdin.seek(0)
            words = [*self._limited(), *command]
            try:
                process = subprocess.Popen(
                    self._shut_in(words, folder, readable, processes),
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=folder,
                    env=variables,
                    start_new_session=True,
                )
                code = self._ended(process, what)
            except OSError as error:
                raise SubmissionError(f"{what} could not be run: {error.strerror}") from error
            if max(os.fstat(file.fileno()).st_size for file in (stdout, stderr)) >= self.limits.file_bytes:
                raise SubmissionError(self._too_much(what))
            stdout.seek(0)
            stderr.seek(0)
            result = Result(code, stdout.read().decode(errors="replace"), stderr.read().decode(errors="replace"))
        self._check(result, what)
        return result

    def _ended(self, process: "subprocess.Popen[bytes]", what: str) -> int:
        """The exit code; ends the whole group when the time is over."""
        try:
            code = process.wait(self.limits.wall_seconds)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
            # an emulated run takes its network with it
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_S)
            if isinstance(error, KeyboardInterrupt):
                raise
            raise SubmissionError(
                f"{what} took longer than {self.limits.wall_seconds:g} s, and was ended. It computed for less than "
                f"{self.limits.seconds:g} s of them: either it waits for something, or the machine is busy; try again"
            ) from error
        finally:
            # whatever it started goes with it
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return SHELL_SIGNAL - code if code < 0 else code

    def _limited(self) -> list[str]:
        limits = self.limits
        words = [str(tool("prlimit", "it is part of util-linux")), f"--as={limits.memory_bytes}", "--core=0"]
        seconds = math.ceil(limits.seconds)
        # a signal that names the limit, and a second later one that nothing can ignore
        words.append(f"--cpu={seconds}:{seconds + 1}")
        return [*words, f"--fsize={limits.file_bytes}"]

    def _shut_in(
        self, words: Sequence[str], folder: Path, readable: Sequence[Path], processes: int | None
    ) -> Sequence[str]:
        del folder, readable, processes
        return words

    def _too_much(self, what: str) -> str:
        return f"{what} wrote more than {self.limits.file_bytes // MEGABYTE} MB, and was ended"

    def _check(self, result: Result, what: str) -> None:
        if result.returncode == SHELL_SIGNAL + signal.SIGXCPU:
            raise SubmissionError(f"{what} took longer than {self.limits.seconds:g} s of CPU time, and was ended")
        if result.returncode == SHELL_SIGNAL + signal.SIGXFSZ or any(text in result.stderr for text in TOO_LARGE):
            raise SubmissionError(self._too_much(what))
        if result.returncode == 0:
            return
        if any(text in result.stderr for text in OUT_OF_MEMORY):
            raise SubmissionError(
                f"{what} used more than {self.limits.memory_bytes // MEGABYTE} MB of memory, and was ended"
            )
        if any(text in result.stderr for text in NO_PROCESS):
            raise SubmissionError(f"{what} tried to start other processes, which it may not")


@dataclass(frozen=True)
class Closed(Sandbox):
    """For grading: no network, no other files, no other processes. Bubblewrap does this."""

    slot: int = 0
    """Another number for each that runs at a time."""

    def _shut_in(
        self, words: Sequence[str], folder: Path, readable: Sequence[Path], processes: int | None
    ) -> Sequence[str]:
        if processes is not None:
            words = [words[0], f"--nproc={processes}", *words[1:]]
        wrapped = [str(tool("bwrap", "it is in Debian's package bubblewrap"))]
        wrapped += ["--die-with-parent", "--new-session", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin"]
        wrapped += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        wrapped += ["--proc", "/proc", "--dev", "/dev", "--size", str(self.limits.file_bytes)]
        wrapped += ["--perms", "1777", "--tmpfs", "/tmp"]
        for path in map(Path, SYSTEM):
            wrapped += ["--ro-bind-try", str(path), str(path)]
        for path in (folder, *readable):
            # bubblewrap would make them for root alone
            above = [parent for parent in reversed(path.parents) if str(parent) not in {"/", "/tmp", *SYSTEM}]
            wrapped += [word for parent in above for word in ("--perms", "0755", "--dir", str(parent))]
            wrapped += ["--ro-bind", str(path), str(path)]
        wrapped += ["--chdir", str(folder)]
        if os.geteuid() != 0:
            return [*wrapped, "--unshare-user", *words]
        # The kernel bounds the processes of every user but root, so the command runs as another one.
        user = FIRST_UID + self.slot
        wrapped += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        wrapped += [str(tool("setpriv", "it is part of util-linux")), f"--reuid={user}", f"--regid={user}"]
        return [*wrapped, "--clear-groups", "--no-new-privs", *words]


def readable_tree(folder: Path) -> None:
    """Lets the user of a closed sandbox read a folder."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def has_bubblewrap() -> bool:
    """Whether `Closed` can work here."""
    return shutil.which("bwrap") is not None
