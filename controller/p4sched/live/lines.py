"""What there is to see of a run, a message a line: `python -m p4sched.live.lines PID`.

A run that shows its queues as text starts this (p4sched.cli.live): its own process has no more to do than to draw.
"""

import asyncio
import sys
from contextlib import suppress

from p4sched.lab.processes import identify
from p4sched.live import source
from p4sched.live.hub import Hub
from p4sched.live.text import SPARK_S


def main(pid: int) -> None:
    """Until the process has ended."""
    run = identify(pid)
    if run is None:
        return
    hub = Hub()
    hub.taps.append(lambda _, text: print(text, flush=True))
    with suppress(KeyboardInterrupt):
        asyncio.run(source.run(hub, run, source.Manner(every_s=SPARK_S, whole=False)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
