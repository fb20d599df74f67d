"""The control loop of AIFO, RIFO and PACKS: the counters of one egress port as their laws want them."""

import time
from collections.abc import Callable
from pathlib import Path

from p4sched.laws import ranked
from p4sched.loop import POLL_S, ControlLoop, Round
from p4sched.reader import Reader
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

        async def read() -> ranked.Sample:
            return await port_sample(session, port, clock)

        super().__init__(session, config, read, log=log, poll_s=poll_s, on_update=on_update)


async def port_sample(reader: Reader, port: int, clock: Callable[[], int] = time.monotonic_ns) -> ranked.Sample:
    """What the program counted for the packets to this egress port, in one Read."""
    queues = [port << 3 | priority for priority in range(ranked.PRIORITIES)]
    buckets = [port << 6 | bucket for bucket in range(ranked.BUCKETS)]
    before = clock()
    found = await reader.counters({**dict.fromkeys(VERDICTS, queues), **dict.fromkeys(HISTOGRAMS, buckets)})
    after = clock()
    admitted, refused, full = (
        sum((ranked.Count(count.packets, count.bytes) for count in found[name].values()), ranked.Count())
        for name in VERDICTS
    )
    ranks, depths = (tuple(found[name][bucket].packets for bucket in buckets) for name in HISTOGRAMS)
    return ranked.Sample((before + after) // 2, after - before, admitted, refused, full, ranks, depths)
