"""Records the messages to a page for a replay."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from p4sched.live.hub import Hub

RECORDING = "live.jsonl"
"""Name of a recording, in the folder of a scheme."""
LEFT_OUT = ("knobs", "pace", "end")


@contextmanager
def recording(hub: Hub, folder: Path) -> Iterator[None]:
    """Appends messages to the folder's recording, one a line, during the block. Does nothing if another process writes
    it."""
    with (folder / RECORDING).open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield
            return

        def write(message: Mapping[str, Any], text: str) -> None:
            if message["kind"] not in LEFT_OUT:
                file.write(f"{text}\n")

        hub.taps.append(write)
        try:
            yield
        finally:
            hub.taps.remove(write)
