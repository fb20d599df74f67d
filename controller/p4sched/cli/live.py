"""What may be seen of a run while it goes on: a page, and text in the terminal.

A process of its own reads the switches, so that the run itself has no more to do.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from threading import Thread
from typing import IO

from mininet_topos.nodes import dying_with_us, on_host_cpus
from p4sched.errors import P4schedError
from p4sched.live.text import TextView, following

END_S = 5.0
NO_TERMINALS = ("dumb", "unknown")


def in_terminal() -> bool:
    """Whether lines that were written can be written again."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in NO_TERMINALS


@contextmanager
def live_text(_say: Callable[[str], None]) -> Iterator[TextView]:
    """The queues of this process's networks, a few times a second."""
    view = TextView()
    with _reading(["-m", "p4sched.live.lines", str(os.getpid())]) as lines:
        Thread(target=view.take_lines, args=(lines,), daemon=True).start()
        yield view


@contextmanager
def live_page(say: Callable[[str], None], *, text: bool) -> Iterator[TextView | None]:
    """Serves the page of this process's networks, and says where it is. Gives the same as text, if that is wanted.
    Raises P4schedError if that cannot be."""
    with _reading(["-m", "p4sched.cli.start", "watch", "--run", str(os.getpid()), "--record"]) as lines:
        address = lines.readline().decode().strip()
        if not address:
            raise P4schedError("--live: the page cannot be served")
        say(f"live page: {address}")
        view = TextView() if text else None
        with nullcontext() if view is None else following(address, view):
            yield view


@contextmanager
def _reading(words: Sequence[str]) -> Iterator[IO[bytes]]:
    """What such a process says. It is ended with the block."""
    process = subprocess.Popen(
        dying_with_us(on_host_cpus([sys.executable, *words])),
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
