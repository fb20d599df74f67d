"""A packet at ingress of a Tofino, before the rule: its port, its user and its rank."""

from __future__ import annotations

from dataclasses import dataclass

from p4sched.proofs.exact import Int, Truth, choose, every, negated
from p4sched.proofs.rules.arrival import HEADER, LARGEST_RANK, TOS, Arrival
from p4sched.proofs.tna import INGRESS_PORT

CHECKED = (
    *(("version", 4), ("ihl", 4), ("tos", 8), ("total_len", 16), ("identification", 16), ("flags", 3)),
    *(("frag_offset", 13), ("ttl", 8), ("protocol", 8), ("hdr_checksum", 16), ("src_addr", 32), ("dst_addr", 32)),
)
"""Fields of the header that its checksum covers, and their bits."""
RECIRCULATION = 68
"""Port whose packets are reports of lengths."""


@dataclass(frozen=True)
class TnaArrival(Arrival):
    """A packet at ingress. `has_reports`: packets from the recirculation port are reports."""

    has_reports: bool = False

    @property
    def is_report(self) -> Truth:
        """True for a report of a queue's length."""
        if not self.has_reports:
            return False
        return self.world.decide(every(self._from_recirculation, self.world.longer("length_report")))

    @property
    def _from_recirculation(self) -> Truth:
        return every(self.has_reports, self.field(INGRESS_PORT).equals(RECIRCULATION))

    def has(self, *headers: str) -> Truth:
        return every(negated(self._from_recirculation), super().has(*headers))

    @property
    def _is_forwarded(self) -> Truth:
        data = [(self.field(f"ipv4.{name}"), bits) for name, bits in CHECKED]
        # the complement of the sum of the words of a right header is 0
        right = self.world.hash("csum16", [(Int.of(0), 16), *data]).equals(0)
        return every(super()._is_forwarded, right)

    def _of_user(self, place: int, default: int) -> Int:
        named, prefix = self.answer("users.users_by_prefix", "set_user")
        also, flow = self.answer("users.users_by_flow", "set_flow_user")
        first = self._choose(named, prefix[place], default)
        return self._choose(self.hit("users.users_by_prefix"), first, self._choose(also, flow[place], first))

    @property
    def rank(self) -> Int:
        """The rank. There are no virtual start times on a Tofino."""
        of_header = self._choose(self.has_rank, self.field("rank.rank"), LARGEST_RANK)
        _, (of_flow,) = self.answer("ranking.flow_ranks", "set_rank")
        rank = self._choose(self.source.equals(TOS), self.field("ipv4.tos"), of_flow)
        return self._choose(self.source.equals(HEADER), of_header, rank)


def report_cell(packet: TnaArrival) -> tuple[Int, Int]:
    """The cell of the queue that a report names, and its length after the packet."""
    index = packet.field("length_report.queue").lowest(12)
    return index, choose(packet.is_report, packet.field("length_report.length"), packet.old("queue_depths", index))
