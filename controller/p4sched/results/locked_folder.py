"""A folder to which one process writes at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p4sched.errors import P4schedError, UsageError

LOCK = ".lock"


@contextmanager
def locked_folder(folder: Path, made: Path, lock_in: Path, writer: str) -> Iterator[None]:
    """Makes the folder `made` below `folder`, and holds a lock in `lock_in`.

    Raises:
        UsageError: the folder cannot be written to.
        P4schedError: another process holds the lock. `writer` names it in the message.
    """
    try:
        made.mkdir(parents=True, exist_ok=True)
        lock = (lock_in / LOCK).open("w")
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written to: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise P4schedError(f"{folder}: another {writer} writes to it now") from error
        yield
