"""The ranked schemes in the lab: program, parameters, queues, and the source of the ranks."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from p4sched.control.ranked_loop import VERDICTS
from p4sched.lab.network import Dumbbell
from p4sched.lab.programming import Testbed, program_network
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.scheme import Setup
from p4sched.schemes import schemes_of
from p4sched.traits import ComparisonKind

NAMES = schemes_of(ComparisonKind.RANKS)
FAIR_IDEALS = schemes_of(ComparisonKind.FLOWS)
"""Schemes that are fair without ranks: they know the flow of each packet, from `RankSource.STFQ`."""


def ranked_testbed(
    network: Dumbbell, ranked: Setup, link: Link, source: RankSource, users: Sequence[int]
) -> AbstractAsyncContextManager[Testbed]:
    """Programs the switch with the scheme and its parameters, and with ranks from `source`, on every port."""
    weights = dict.fromkeys(users, 1.0)
    return program_network(network, ranked, link, weights, source=source, parameters=ranked.parameters)


async def decisions(reader: Reader, port: int) -> dict[str, int]:
    """Packets for a port that the program admitted and dropped so far; empty for a program that drops none."""
    if reader.schema.counters.get(VERDICTS[0]) is None:
        return {}
    cells = [(port << 3) | priority for priority in range(QUEUES)]
    counted = {}
    for counter in VERDICTS:
        counts = await reader.counts(counter, cells)
        counted[counter] = sum(count.packets for count in counts.values())
    return counted
