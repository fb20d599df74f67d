"""Messages of a run, without a page: `python -m p4sched.live.lines PID [--text] [--record]`.

`--text`: prints a message a line, for a run that shows its queues as text (p4sched.cli.live), so that the process of
the run only has to draw. `--record`: writes a recording into the folder of each network, for a replay.
"""

import asyncio
import sys
from contextlib import suppress

from p4sched.lab.processes import identify
from p4sched.live import source
from p4sched.live.budget import Budget
from p4sched.live.hub import Hub
from p4sched.live.text import SPARK_S

RECORDED_S = 0.1
"""Time between two frames of a recording."""


def main(pid: int, *, text: bool, record: bool) -> None:
    """Runs until the process has ended."""
    run = identify(pid)
    if run is None:
        return
    hub = Hub()
    if text:
        hub.taps.append(lambda _, line: print(line, flush=True))
    every_s = RECORDED_S if record else SPARK_S
    manner = source.SourceOptions(budget=Budget(every_s), decisions=record, commands=False, record=record)
    with suppress(KeyboardInterrupt):
        asyncio.run(source.run(hub, run, manner))


if __name__ == "__main__":
    main(int(sys.argv[1]), text="--text" in sys.argv, record="--record" in sys.argv)
