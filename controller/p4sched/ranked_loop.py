"""The control loop of AIFO, RIFO and PACKS: the counters of one egress port as their laws want them."""

import time
from collections.abc import Callable
from pathlib import Path

from p4sched.laws import ranked
from p4sched.loop import POLL_S, ControlLoop, Round
from p4sched.reader import CounterCells, Reader, TimedCounts
from p4sched.session import Session

VERDICTS = ("admitted", "dropped_by_admission", "dropped_full")
"""Counters by (port << 3) | priority."""
HISTOGRAMS = ("rank_histogram", "depth_histogram")
"""Counters by (port << 6) | bucket."""


class RankedLoop(ControlLoop[ranked.Sample, ranked.Decision]):
    """Control loop of a ranked scheme over one session. The traffic of `port` decides the parameters of all ports."""

    def __init__(
        self,
        session: Session,
        config: ranked.Config,
        port: int,
        *,
        log: Path | None = None,
        poll_s: float = POLL_S,
        on_update: Callable[[Round[ranked.Sample, ranked.Decision]], None] | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        ranked.in_range("egress port", port, 0, ranked.MAX_PORT, "")

        cells = port_cells(session, port)

        async def read() -> ranked.Sample:
            return port_sample(await session.counters(cells, clock), port)

        super().__init__(session, config, read, log=log, poll_s=poll_s, on_update=on_update)


def port_cells(reader: Reader, port: int) -> CounterCells:
    """Everything that the program counts of the packets to this egress port."""
    return reader.counter_cells({**dict.fromkeys(VERDICTS, _queues(port)), **dict.fromkeys(HISTOGRAMS, _buckets(port))})


def port_sample(read: TimedCounts, port: int) -> ranked.Sample:
    """The counters of a port as the laws want them."""
    admitted, refused, full = (
        sum((ranked.Count(count.packets, count.bytes) for count in read.counts[name].values()), ranked.Count())
        for name in VERDICTS
    )
    ranks, depths = (tuple(read.counts[name][bucket].packets for bucket in _buckets(port)) for name in HISTOGRAMS)
    time_ns = (read.before_ns + read.after_ns) // 2
    return ranked.Sample(time_ns, read.after_ns - read.before_ns, admitted, refused, full, ranks, depths)


def _queues(port: int) -> range:
    return range(port << 3, (port << 3) + ranked.PRIORITIES)


def _buckets(port: int) -> range:
    return range(port << 6, (port << 6) + ranked.BUCKETS)
