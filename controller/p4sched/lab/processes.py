"""Processes of a run, identified by pid and start time, because pids are reused."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProcessIdentity:
    """Identity of a process, which a later process with the same pid does not share."""

    pid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat (proc(5)): clock ticks from boot to the start of the process."""

    def alive(self) -> bool:
        """True if this process exists and has not ended. A zombie has ended."""
        return start_ticks(self.pid) == self.start_ticks


def start_ticks(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None if there is none or it has ended."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else int(fields[19])


def cpu_seconds(processes: Iterable[ProcessIdentity]) -> float:
    """CPU time of those of the processes that still run."""
    found = [fields for process in processes if process.alive() and (fields := _stat(process.pid)) is not None]
    return sum(int(fields[11]) + int(fields[12]) for fields in found) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third (state) on (proc(5)); None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the program's name in parentheses; it may hold spaces and parentheses.
    return stat[stat.rindex(")") + 2 :].split()


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of a running process; None if there is none."""
    ticks = start_ticks(pid)
    return None if ticks is None else ProcessIdentity(pid, ticks)


def end(processes: Iterable[ProcessIdentity], patience: float = 3.0) -> list[ProcessIdentity]:
    """Ends the processes that still run: SIGTERM, then SIGKILL after `patience` seconds.

    Returns the processes that ran when it was called.
    """
    living = [process for process in processes if process.alive()]
    _signal(living, signal.SIGTERM)
    _wait(living, patience)
    _signal(living, signal.SIGKILL)
    _wait(living, patience)
    return living


def _signal(processes: Iterable[ProcessIdentity], number: signal.Signals) -> None:
    for process in processes:
        if process.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)


def _wait(processes: Iterable[ProcessIdentity], patience: float) -> None:
    deadline = time.monotonic() + patience
    remaining = [process for process in processes if process.alive()]
    while remaining and time.monotonic() < deadline:
        time.sleep(0.01)
        remaining = [process for process in remaining if process.alive()]
