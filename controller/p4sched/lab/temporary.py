"""Temporary folders of a run. The next run removes those of a killed run.

p4sched-virtual gives its folders the same names (switch/guest/src/temporary.rs).
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p4sched.lab.processes import ProcessIdentity, identify

_NAME = re.compile(r"p4sched-(?P<pid>\d+)-(?P<ticks>\d+)-(?P<space>\d+)-.+")


@contextmanager
def run_folder() -> Iterator[Path]:
    """Makes a folder of this process, and removes it after the block."""
    remove_left()
    me = identify(os.getpid())
    assert me is not None, "this process lives"
    with tempfile.TemporaryDirectory(prefix=f"p4sched-{me.pid}-{me.start_ticks}-{_process_space()}-") as folder:
        yield Path(folder)


def remove_left() -> list[Path]:
    """Removes and returns the folders of this user's processes that ended without removing them."""
    space, removed = _process_space(), []
    for path in Path(tempfile.gettempdir()).glob("p4sched-*"):
        found = _NAME.fullmatch(path.name)
        # a container that shares /tmp has other processes with the same ids
        if found is None or int(found["space"]) != space:
            continue
        if not ProcessIdentity(int(found["pid"]), int(found["ticks"])).alive():
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                removed.append(path)
    return removed


def _process_space() -> int:
    """The namespace of the ids of processes (pid_namespaces(7))."""
    return Path("/proc/self/ns/pid").stat().st_ino
