"""Runs the processes that read or run a student's files, with limits on time, memory, processes and output.

For grading, the processes are also isolated.
"""

import math
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from p4sched.errors import P4schedError
from p4sched.labs.syscalls import filter_program
from p4sched.paths import DATA_DIR, tool

MEGABYTE = 1 << 20
SHELL_SIGNAL = 128
"""Added to the number of a signal in the exit codes of a shell and of bubblewrap."""
FIRST_UID = 61_000
"""First of the unused user ids: each running submission has its own user, and so its own limit on processes."""
ENDING_S = 5
"""Time for an orderly end."""
SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/bin", "/etc/ld.so.cache")
VARIABLES = {"PATH": "/usr/bin:/bin"}
"""Environment of a closed sandbox, and of bubblewrap itself."""
MOST_ANSWERED = 4 * MEGABYTE
"""Largest standard output in bytes. The longest answer of a lab is a tenth of a megabyte."""
MOST_SAID = MEGABYTE
"""Bytes of standard error that are read: half of them from the beginning, half from the end."""
MOST_OPEN = 64
"""Largest number of open files, pipes and sockets. Each takes memory of the kernel."""
OUT_OF_MEMORY = ("memory allocation", "MemoryError", "Cannot allocate memory", "out of memory")
TOO_LARGE = ("File too large", "No space left on device")
NO_PROCESS = ("BlockingIOError", "Resource temporarily unavailable", "failed to spawn thread")


class SubmissionError(P4schedError):
    """A submission that cannot be checked. The message is for the student."""


@dataclass(frozen=True)
class Limits:
    """Limits of a submission."""

    seconds: float = 30
    """CPU time of each process. It does not depend on the load of the machine."""
    wall_seconds: float = 300
    """Elapsed time, for programs that wait."""
    memory_bytes: int = 2048 * MEGABYTE
    file_bytes: int = 64 * MEGABYTE
    """Size of the largest file, and of the output."""


@dataclass(frozen=True)
class Result:
    """Result of a command."""

    returncode: int
    stdout: str
    stderr: str


class Conversation:
    """A program of the workspace that answers line by line. It has no limits: its input belongs to the project."""

    def __init__(self, binary: Path) -> None:
        self._process = subprocess.Popen([str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self, line: str) -> str:
        """The answer to a line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def close(self) -> None:
        """Ends the program."""
        with self._process:
            pass


@dataclass(frozen=True)
class Sandbox:
    """The sandbox on the student's own machine, which only sets limits."""

    limits: Limits = Limits()
    has_solver: bool = True
    """False: a check ends without the solver's question, as in a browser."""

    def converse(self, binary: Path) -> Conversation:
        """Starts a program of the workspace, outside the sandbox."""
        return Conversation(binary)

    def run(
        self,
        command: Sequence[str],
        stdin_text: str,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        readable: Sequence[Path] = (),
        processes: int | None = None,
        what: str = "your program",
        writable: Path | None = None,
    ) -> Result:
        """Runs a command in `folder`, with `stdin_text` at its standard input.

        `readable`: other files that it needs, `processes`: its largest number of processes, and `writable`: the folder
        that it may write to, all if it is isolated.
        `what`: its name in messages.

        Raises:
            SubmissionError: it exceeded a limit, which the message names.
        """
        with ExitStack() as files:
            stdin, stdout, stderr = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            stdin.write(stdin_text.encode())
            stdin.seek(0)
            try:
                process = self._start(
                    command, folder, variables, readable, processes, writable, (stdin, stdout, stderr)
                )
                code = self._wait(process, what)
            except OSError as error:
                raise SubmissionError(f"{what} could not be run: {error.strerror}") from error
            if max(os.fstat(file.fileno()).st_size for file in (stdout, stderr)) >= self.limits.file_bytes:
                raise SubmissionError(self._too_much(what))
            if os.fstat(stdout.fileno()).st_size > MOST_ANSWERED:
                raise SubmissionError(f"{what} wrote more than {MOST_ANSWERED // MEGABYTE} MB to its standard output")
            result = Result(code, _text(stdout, MOST_ANSWERED), _text(stderr, MOST_SAID))
        self._check(result, what)
        return result

    def _start(
        self,
        command: Sequence[str],
        folder: Path,
        variables: Mapping[str, str] | None,
        readable: Sequence[Path],
        processes: int | None,
        writable: Path | None,
        streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
    ) -> "subprocess.Popen[bytes]":
        """The command, with limits."""
        del readable, processes, writable
        words = [*self._limit_words(), *command]
        return _popen(words, streams, cwd=folder, env=variables)

    def _wait(self, process: "subprocess.Popen[bytes]", what: str) -> int:
        """Waits for the exit code; ends the whole process group when the time is over."""
        try:
            code = process.wait(self.limits.wall_seconds)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
            # SIGTERM first: an emulated run then removes its network
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
            # also ends the processes that it started
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return SHELL_SIGNAL - code if code < 0 else code

    def _limit_words(self) -> list[str]:
        limits = self.limits
        words = [str(tool("prlimit", "it is part of util-linux")), f"--as={limits.memory_bytes}", "--core=0"]
        seconds = math.ceil(limits.seconds)
        # SIGXCPU at the limit, and SIGKILL a second later
        words.append(f"--cpu={seconds}:{seconds + 1}")
        return [*words, f"--fsize={limits.file_bytes}"]

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
class ClosedSandbox(Sandbox):
    """The sandbox for grading: no network, no other files, no other processes, and no writable folder. Uses bubblewrap.

    There is no /proc, and bubblewrap has no environment, so the sandbox cannot see the teacher's environment.
    """

    slot: int = 0
    """Number of the sandbox, different for all that run at the same time."""

    def _start(
        self,
        command: Sequence[str],
        folder: Path,
        variables: Mapping[str, str] | None,
        readable: Sequence[Path],
        processes: int | None,
        writable: Path | None,
        streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
    ) -> "subprocess.Popen[bytes]":
        """See `Sandbox`. The only variable is PATH."""
        del variables
        limited = [*self._limit_words(), f"--nofile={MOST_OPEN}"]
        if processes is not None:
            limited.append(f"--nproc={processes}")
        with tempfile.TemporaryFile() as seccomp:
            seccomp.write(filter_program())
            seccomp.seek(0)
            number = seccomp.fileno()
            words = [*self._isolation_words(folder, readable, writable, number), *limited, *command]
            return _popen(words, streams, cwd=folder, env=VARIABLES, pass_fds=(number,))

    def _isolation_words(
        self, folder: Path, readable: Sequence[Path], writable: Path | None, seccomp: int
    ) -> list[str]:
        wrapped = [str(tool("bwrap", "it is in Debian's package bubblewrap")), "--die-with-parent", "--new-session"]
        wrapped += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        wrapped += ["--seccomp", str(seccomp), "--dev", "/dev", "--remount-ro", "/dev"]
        system = [path for path in map(Path, SYSTEM) if path.exists()]
        places = ["/"]
        for path in dict.fromkeys((*system, folder, *readable, *([writable] if writable else []))):
            # bubblewrap would create these folders for root only
            above = [parent for parent in reversed(path.parents) if parent not in {Path("/"), *system}]
            wrapped += [word for parent in above for word in ("--perms", "0755", "--dir", str(parent))]
            wrapped += ["--bind" if path == writable else "--ro-bind", str(path), str(path)]
            if DATA_DIR.is_relative_to(path):
                # hides the project, which contains the solutions
                wrapped += ["--perms", "0755", "--tmpfs", str(DATA_DIR)]
                places.append(str(DATA_DIR))
        wrapped += [word for place in places for word in ("--remount-ro", place)]
        wrapped += ["--chdir", str(folder)]
        if os.geteuid() != 0:
            return [*wrapped, "--unshare-user"]
        # The kernel limits the processes of every user but root, so the command runs as another user.
        user = FIRST_UID + self.slot
        wrapped += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        wrapped += [str(tool("setpriv", "it is part of util-linux")), f"--reuid={user}", f"--regid={user}"]
        return [*wrapped, "--clear-groups", "--no-new-privs"]


def _popen(
    words: Sequence[str],
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
    *,
    cwd: Path,
    env: Mapping[str, str] | None,
    pass_fds: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        words, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env, pass_fds=pass_fds, start_new_session=True
    )


def _text(file: IO[bytes], most: int) -> str:
    """A file as text. Of a file longer than `most`, half of `most` from the beginning and half from the end."""
    file.seek(0)
    text = file.read(most // 2)
    surplus = os.fstat(file.fileno()).st_size - most
    if surplus > 0:
        text += b"\n...\n"
        file.seek(-(most // 2), os.SEEK_END)
    return (text + file.read(most // 2)).decode(errors="replace")


def readable_tree(folder: Path) -> None:
    """Lets the user of a closed sandbox read a folder."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def has_bubblewrap() -> bool:
    """True if `ClosedSandbox` can work here."""
    return shutil.which("bwrap") is not None
