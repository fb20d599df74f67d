"""Score of a scheme in a phase: the share of PIFO's departures that it equals, in time.

An ideal scheduler, PIFO, is given the same packets. The *score* of a phase is the share of PIFO's departures that the
scheme can set against: a packet at least as urgent, each counted once, that was delivered within the deadline. FIFO at
twice the link's rate gets 1/2, as half of what it sends is as urgent as what PIFO sends; a scheme that sends the most
urgent packets, loses no transmission and keeps nobody waiting gets 1. Packets belong to the phase they arrive in.

Of a scheme that orders packets more can be asked than of a FIFO queue that admits them: the more urgent half of what
PIFO sends, up to its median rank, may have a deadline of its own.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.control_laws.phases import PHASES, Arrival


@dataclass(frozen=True)
class Deadlines:
    """Latest departures that count, in ns after the arrival."""

    all_ns: int
    urgent_ns: int
    """Deadline of ranks up to the median of those that PIFO sends in the phase."""


@dataclass(frozen=True)
class PhaseScore:
    """One scheme in one phase."""

    score: float
    throughput: float
    """Packets sent, as a share of PIFO's."""
    late: float
    """Share of the packets sent that came after the deadline."""
    mean_delay_ms: float
    """Time from arrival to the last bit's departure."""


def matched(ideal: Sequence[int], sent: Sequence[int]) -> int:
    """Number of ranks in `ideal` that can be paired with a rank in `sent` that is as urgent or more."""
    found = 0
    available = sorted(sent)
    for rank in sorted(ideal):
        if found < len(available) and available[found] <= rank:
            found += 1
    return found


class Ideal:
    """The phases' arrivals, and what PIFO sends of them."""

    def __init__(self, arrivals: Sequence[Arrival], departures: Sequence[int]) -> None:
        """`departures`: when each arrival left PIFO, -1 if it never did."""
        self._phases: list[list[tuple[int, Arrival]]] = [[] for _ in PHASES]
        for index, arrival in enumerate(arrivals):
            self._phases[arrival.flow - 1].append((index, arrival))
        self._ideal = [[each.rank for index, each in phase if departures[index] >= 0] for phase in self._phases]

    def scores(self, departures: Sequence[int], deadlines: Deadlines) -> list[PhaseScore]:
        """Scores of each phase. `departures`: time at which each arrival left, -1 if never, on the schedule's clock."""
        return [
            phase_score(
                ideal,
                [(each.rank, departures[index] - each.at_ns) for index, each in phase if departures[index] >= 0],
                deadlines,
            )
            for phase, ideal in zip(self._phases, self._ideal, strict=True)
        ]

    def scores_of_received(self, received: Mapping[tuple[int, int], int], deadlines: Deadlines) -> list[PhaseScore]:
        """The same of packets that were received, with their delays, by (flow, sequence)."""
        found = []
        for phase, ideal in zip(self._phases, self._ideal, strict=True):
            arrived = [each for _, each in phase if (each.flow, each.sequence) in received]
            sent = [(each.rank, received[each.flow, each.sequence]) for each in arrived]
            found.append(phase_score(ideal, sent, deadlines))
        return found


def phase_score(ideal: Sequence[int], sent: Sequence[tuple[int, int]], deadlines: Deadlines) -> PhaseScore:
    """`ideal`: ranks that PIFO sends; `sent`: rank and delay in ns of each packet that the scheme sends."""
    median = statistics.median_low(ideal) if ideal else 0
    in_time = [
        rank for rank, delay_ns in sent if delay_ns <= (deadlines.urgent_ns if rank <= median else deadlines.all_ns)
    ]
    count = max(1, len(sent))
    return PhaseScore(
        score=matched(ideal, in_time) / max(1, len(ideal)),
        throughput=len(sent) / max(1, len(ideal)),
        late=(len(sent) - len(in_time)) / count,
        mean_delay_ms=sum(delay_ns for _, delay_ns in sent) / count / 1e6,
    )
