"""The rule of this folder in exact integers, for `p4sched prove fdpa_current`: FDPA's, with another rate.

rate = the larger one of: charges of the last complete interval (FDPA's rate), charges since the interval began
"""

from collections.abc import Mapping

from p4sched.proofs.rule import (
    QUEUES,
    Arrival,
    Decision,
    Rule,
    Truth,
    choose,
    every,
    implies,
    largest,
    negated,
    queue_cell,
    some,
    verdict,
)
from p4sched.proofs.rules.fdpa import EDGES, Average, average_rate, band_of, size_of


class FdpaCurrent(Rule):
    """FDPA in which the current interval counts."""

    def decide(self, packet: Arrival) -> Decision:
        average = self._average(packet)
        rate = largest(average.rate, average.current)
        band = choose(self._known(packet), band_of(packet, rate), 1)
        size, queue = size_of(packet, band), QUEUES - band
        length = packet.old("queue_depths", queue_cell(packet.port, queue))
        decided = verdict(True, some(size.equals(0), length < size))
        return Decision(
            decided,
            queue,
            average.written,
            hints={
                ".bands.charge": packet.charge,
                ".bands.rate": rate,
                ".bands.current": average.current,
                ".band": band,
                "standard_metadata.priority": queue,
                ".size": size,
                ".verdict": decided,
            },
            lemmas={"there are 8 bands": every(band >= 1, band <= QUEUES)},
        )

    def cases(self, packet: Arrival) -> Mapping[str, Truth]:
        known = self._known(packet)
        return {"user 0": negated(known), "a user": known}

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        known, average, band = self._known(packet), self._average(packet), QUEUES - decision.queue
        within = (
            implies(band <= place, average.current <= packet.parameters[f"edge_{place}"])
            for place in range(1, EDGES + 1)
        )
        return {
            "of an interval, bands 1 to q take what edge q is": implies(known, every(*within)),
            "no band is more urgent than FDPA's": implies(known, band >= band_of(packet, average.rate)),
        }

    def _known(self, packet: Arrival) -> Truth:
        return packet.user.differs(0)

    def _average(self, packet: Arrival) -> Average:
        return average_rate(packet, ".bands.average", self._known(packet))
