"""Views of a run: a live page, text in the terminal, and a recording.

A separate process reads the switches, so that the run itself has no extra work.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from threading import Thread
from typing import IO

from mininet_topos.nodes import on_host_cpus, with_death_signal
from p4sched.errors import P4schedError
from p4sched.live.text import TextView, following

END_S = 5.0
NO_TERMINALS = ("dumb", "unknown")


def in_terminal() -> bool:
    """True if the terminal can rewrite lines."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in NO_TERMINALS


@contextmanager
def live_text(_say: Callable[[str], None], *, text: bool = True, record: bool = False) -> Iterator[TextView | None]:
    """Shows the queues of this process's networks as text, or records them for `p4sched watch --replay`."""
    view = TextView() if text else None
    wanted = [*(["--text"] if text else []), *(["--record"] if record else [])]
    with _reading(["-m", "p4sched.live.lines", str(os.getpid()), *wanted]) as lines:
        if view is not None:
            Thread(target=view.take_lines, args=(lines,), daemon=True).start()
        yield view


@contextmanager
def live_page(say: Callable[[str], None], *, text: bool) -> Iterator[TextView | None]:
    """Serves the live page of this process's networks and prints its address; with `text`, also shows text. Raises
    P4schedError if the page cannot be served."""
    with _reading(["-m", "p4sched.cli.start", "watch", "--run", str(os.getpid()), "--record"]) as lines:
        address = lines.readline().decode().strip()
        if not address:
            raise P4schedError("--live: cannot serve the page")
        say(f"live page: {address}")
        view = TextView() if text else None
        with nullcontext() if view is None else following(address, view):
            yield view


@contextmanager
def _reading(words: Sequence[str]) -> Iterator[IO[bytes]]:
    """Output of a reading process, which ends with the block."""
    process = subprocess.Popen(
        with_death_signal(on_host_cpus([sys.executable, *words])),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
