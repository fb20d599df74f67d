"""Allows one run at a time, and cleans the machine after it."""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from p4sched.errors import UsageError
from p4sched.interrupts import interruptible, undisturbed
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import FOLDER, STATE_FILE, DamagedLedgerError, Ledger, read_ledger
from p4sched.lab.temporary import remove_left
from p4sched.paths import tool

PROGRAMS = ("mnexec", "ip", "ifconfig", "ethtool", "setpriv", "taskset")
"""Programs that every run and Mininet need. If one is missing, Mininet fails with a traceback or hangs."""

NAMESPACE = ("mnexec", "-n", "true")
"""Makes a network namespace."""
VETH = ("mnexec", "-n", "ip", "link", "add", "p4sched-a", "type", "veth", "peer", "name", "p4sched-b")
"""Makes a veth link in a namespace of its own."""


def require_root() -> None:
    """Raises LabError unless this process may make network namespaces."""
    if os.geteuid() != 0:
        raise LabError("the lab makes network namespaces and needs root: run the command with sudo")


def require_programs(further: Iterable[str] = ()) -> None:
    """Raises P4schedError unless the programs of every run, and further ones, are on the PATH."""
    for name in (*PROGRAMS, *further):
        tool(name, "'make setup' installs it")


def require_namespaces() -> None:
    """Raises LabError unless mnexec can make a network namespace; Mininet itself would wait for it forever."""
    if reason := _refusal(NAMESPACE):
        raise LabError(
            f"this machine allows no network namespaces (mnexec: {reason});"
            " a container must be privileged, a chroot must be a mount point"
        )


def require_links() -> None:
    """Raises LabError unless the kernel makes veth links."""
    if reason := _refusal(VETH):
        raise LabError(f"this kernel makes no veth links ({reason}): run 'modprobe veth', or take another kernel")


def _refusal(command: Sequence[str]) -> str | None:
    """Reason why a command fails."""
    made = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=10)
    return (" ".join(made.stderr.split()) or f"exit code {made.returncode}") if made.returncode != 0 else None


@contextmanager
def run_lock(what: str, folder: Path = FOLDER) -> Iterator[None]:
    """Holds the run lock of the machine. Raises LabError, with the name of the holder, if another process holds it.

    The kernel releases the lock when the process ends, so a crashed run does not block the next one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(_in_progress(file.name)) from None
        file.truncate(0)
        json.dump({"pid": os.getpid(), "what": what, "since": time.time()}, file)
        file.flush()
        yield
        file.truncate(0)


def _in_progress(lock: str) -> str:
    try:
        holder = json.loads(Path(lock).read_text())
        since = time.strftime("%H:%M:%S", time.localtime(holder["since"]))
        return f"{holder['what']} is running (process {holder['pid']}, since {since}): let it end or stop it"
    except (ValueError, KeyError):
        return "another run is in progress: let it end or stop it"


def require_lab(programs: Iterable[str] = ()) -> None:
    """Raises P4schedError unless this process can use the lab and these additional programs."""
    require_root()
    require_programs(programs)
    require_namespaces()
    require_links()


@contextmanager
def clean_run(
    what: str,
    folder: Path = FOLDER,
    *,
    begin: Callable[[], None] = lambda: None,
    programs: Iterable[str] = (),
) -> Iterator[Ledger]:
    """The block of a run. Checks root, programs and namespaces, takes the lock, removes the leftovers of a crashed run,
    and handles SIGTERM like Ctrl-C.

    `begin` is called when the run begins, but not if it is refused. Yields the ledger, in which the run records
    everything that it creates. The leftovers are removed at the end.
    """
    require_lab(programs)
    with run_lock(what, folder), interruptible():
        path = folder / STATE_FILE
        _undo_crashed(path)
        begin()
        ledger = Ledger(path)
        try:
            yield ledger
        finally:
            with undisturbed():
                ledger.undo()


def _undo_crashed(path: Path) -> None:
    try:
        crashed = read_ledger(path)
    except DamagedLedgerError as error:
        print(error, file=sys.stderr)
        return
    if crashed is not None:
        crashed.undo()


def clean(folder: Path = FOLDER) -> list[str]:
    """Removes the leftovers of a crashed run; returns a description of them.

    Raises LabError during a run, and if the ledger of a crashed run is damaged. The leftovers of runs in virtual time
    can be removed without root.
    """
    folders = [f"folder {path}" for path in remove_left()]
    if os.geteuid() != 0 and not (folder / STATE_FILE).exists():
        return folders
    require_root()
    with run_lock("p4sched clean", folder):
        crashed = read_ledger(folder / STATE_FILE)
        return folders + ([] if crashed is None else crashed.undo())


@contextmanager
def result_folder(path: Path) -> Iterator[None]:
    """Makes the folder for results and locks it. Raises UsageError if another run has the lock, or if the folder is not
    writable."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError(f"--out {path}: cannot write results there: a part of it is a file, not a folder") from error
    except OSError as error:
        raise UsageError(f"--out {path}: cannot write results there: {error.strerror}") from error
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"--out {path}: another run writes its results there") from None
        yield
    finally:
        os.close(folder)
