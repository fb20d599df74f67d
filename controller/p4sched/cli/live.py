"""The live page of a run: `p4sched watch` in a process of its own, so that the run itself has no more to do."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from mininet_topos.nodes import dying_with_us, on_host_cpus
from p4sched.errors import P4schedError
from p4sched.live.text import TextView, following

END_S = 5.0


@contextmanager
def live_page(say: Callable[[str], None]) -> Iterator[TextView]:
    """Serves the page of this process's networks, and says where it is. Gives the same as text. Raises P4schedError if
    that cannot be."""
    words = [sys.executable, "-m", "p4sched.cli.start", "watch", "--run", str(os.getpid()), "--record"]
    process = subprocess.Popen(
        dying_with_us(on_host_cpus(words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().decode().strip()
        if not address:
            raise P4schedError("--live: the page cannot be served")
        say(f"live page: {address}")
        view = TextView()
        with following(address, view) if sys.stdout.isatty() else nullcontext():
            yield view
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
