"""Score of a scheme in a phase: the share of PIFO's departures that the scheme matches in time.

An ideal scheduler, PIFO, gets the same packets. The *score* of a phase is the share of PIFO's departures that the
scheme matches. A packet matches a departure if it is at least as urgent and was delivered within the deadline; each
packet counts once. FIFO with arrivals at twice the link's rate gets 1/2, because half of its packets are as urgent as
PIFO's. A scheme that sends the most urgent packets in time and never idles gets 1. Packets belong to the phase of their
arrival.

A scheme with several queues orders packets, so it can do more than a single queue. Therefore the more urgent half of
PIFO's departures, up to the median rank, may have its own deadline.
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
    """Deadline of ranks up to the median rank of PIFO's departures in the phase."""


@dataclass(frozen=True)
class PhaseScore:
    """One scheme in one phase."""

    score: float
    throughput: float
    """Packets sent, as a share of PIFO's."""
    late: float
    """Share of the sent packets that were later than the deadline."""
    mean_delay_ms: float
    """Time from arrival to the last bit's departure."""


def matched(ideal: Sequence[int], sent: Sequence[int]) -> int:
    """Number of ranks in `ideal` that can be paired with a rank in `sent` that is at least as urgent."""
    found = 0
    available = sorted(sent)
    for rank in sorted(ideal):
        if found < len(available) and available[found] <= rank:
            found += 1
    return found


class Ideal:
    """The arrivals of the phases, and the departures of PIFO."""

    def __init__(self, arrivals: Sequence[Arrival], departures: Sequence[int]) -> None:
        """`departures`: time at which each arrival left PIFO; -1: never."""
        self._phases: list[list[tuple[int, Arrival]]] = [[] for _ in PHASES]
        for index, arrival in enumerate(arrivals):
            self._phases[arrival.flow - 1].append((index, arrival))
        self._ideal = [[each.rank for index, each in phase if departures[index] >= 0] for phase in self._phases]

    def scores(self, departures: Sequence[int], deadlines: Deadlines) -> list[PhaseScore]:
        """Scores of each phase. `departures`: time at which each arrival left, on the schedule's clock; -1: never."""
        return [
            phase_score(
                ideal,
                [(each.rank, departures[index] - each.at_ns) for index, each in phase if departures[index] >= 0],
                deadlines,
            )
            for phase, ideal in zip(self._phases, self._ideal, strict=True)
        ]

    def scores_of_received(self, received: Mapping[tuple[int, int], int], deadlines: Deadlines) -> list[PhaseScore]:
        """The same for received packets. `received`: delays by (flow, sequence)."""
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
