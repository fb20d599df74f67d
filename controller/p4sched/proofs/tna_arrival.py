"""A packet at ingress of a Tofino, before the rule: its port, its user and its rank."""

from __future__ import annotations

from dataclasses import dataclass

from p4sched.constants import RECIRCULATION_PORT_TNA
from p4sched.proofs.exact import Int, Truth, choose, every, implies, negated
from p4sched.proofs.rules.arrival import HEADER, IPV4, LARGEST_RANK, RANKED_DATAGRAM, TOS, UDP, USER, Arrival
from p4sched.proofs.rules.arrival import PORT as V1MODEL_PORT
from p4sched.proofs.tna import INGRESS_PORT, PORT, RESUBMITTED

CHECKED = (
    *(("version", 4), ("ihl", 4), ("tos", 8), ("total_len", 16), ("identification", 16), ("flags", 3)),
    *(("frag_offset", 13), ("ttl", 8), ("protocol", 8), ("hdr_checksum", 16), ("src_addr", 32), ("dst_addr", 32)),
)
"""Fields of the header that its checksum covers, and their bits."""


@dataclass(frozen=True)
class TnaArrival(Arrival):
    """A packet at ingress."""

    has_reports: bool = False
    """True if packets from the recirculation port are reports."""
    comes_back: bool = False
    """True if a packet may pass through ingress a second time."""

    @property
    def is_report(self) -> Truth:
        """True for a report of a queue's length."""
        if not self.has_reports:
            return False
        return self.world.decide(every(self._from_recirculation, self.world.longer("length_report")))

    @property
    def _from_recirculation(self) -> Truth:
        return every(self.has_reports, self.field(INGRESS_PORT).equals(RECIRCULATION_PORT_TNA))

    @property
    def is_second_pass(self) -> Truth:
        """True for a packet that has passed through ingress before."""
        return self.world.decide(every(self.comes_back, self.field(RESUBMITTED).equals(1)))

    def has(self, *headers: str) -> Truth:
        return every(negated(self._from_recirculation), super().has(*headers))

    @property
    def _is_whole(self) -> Truth:
        """True if the packet does not end before a header that the headers before it announce."""
        udp_rest = every(self.field("ipv4.protocol").equals(UDP), self.to_rank_ports)
        rank = self.field("udp_rest.length") >= RANKED_DATAGRAM
        return every(
            self.has("ethernet"),
            implies(self.field("ethernet.ether_type").equals(IPV4), self.has("ipv4")),
            implies(self.announces_ports, self.has("l4_ports")),
            implies(every(self.announces_ports, udp_rest), self.has("udp_rest")),
            implies(every(self.announces_ports, udp_rest, rank), self.has("rank")),
        )

    @property
    def has_right_checksum(self) -> Truth:
        """True if the header's checksum is right."""
        data = [(self.field(f"ipv4.{name}"), bits) for name, bits in CHECKED]
        # the complement of the sum of the words of a right header is 0
        return self.world.hash("csum16", [(Int.of(0), 16), *data]).equals(0)

    @property
    def _is_forwarded(self) -> Truth:
        return every(super()._is_forwarded, self.has_right_checksum, self._is_whole)

    @property
    def is_as_before(self) -> Truth:
        """True if a second pass brings the user and the weight that the tables say."""
        user, scale = self._of_user(0, 0), self._of_user(1, 256)
        return every(self.field("push_down.user").equals(user), self.field("push_down.scale").equals(scale))

    def _named(self, field: str) -> Int | None:
        return super()._named(PORT if field == V1MODEL_PORT else field)

    @property
    def user(self) -> Int:
        """The user. A second pass does not ask again."""
        return self._named(USER) or self._choose(self.is_second_pass, self.field("push_down.user"), self._of_user(0, 0))

    def _of_user(self, place: int, default: int) -> Int:
        named, prefix = self.answer("users.users_by_prefix", "set_user")
        also, flow = self.answer("users.users_by_flow", "set_flow_user")
        first = self._choose(named, prefix[place], default)
        return self._choose(self.hit("users.users_by_prefix"), first, self._choose(also, flow[place], first))

    @property
    def _rank(self) -> Int:
        """The rank. There are no virtual start times on a Tofino."""
        of_header = self._choose(self.has_rank, self.field("rank.rank"), LARGEST_RANK)
        _, (of_flow,) = self.answer("ranking.flow_ranks", "set_rank")
        rank = self._choose(self.source.equals(TOS), self.field("ipv4.tos"), of_flow)
        return self._choose(self.source.equals(HEADER), of_header, rank)


def report_cell(packet: TnaArrival) -> tuple[Int, Int]:
    """The cell of the queue that a report names, and its length after the packet."""
    index = packet.field("length_report.queue").lowest(12)
    return index, choose(packet.is_report, packet.field("length_report.length"), packet.old("queue_depths", index))
