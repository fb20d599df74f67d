"""A packet at ingress, before the rule: its port, its user and its rank.

The control plane's tables give route, user and rank. Here is what a program must make of their answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from p4sched.proofs.exact import Int, Truth, choose, every, exact, largest, smallest
from p4sched.proofs.step import LENGTH, TIMESTAMP, World

LARGEST_RANK = (1 << 32) - 1
USERS = 4096
STEP_BITS = 8
"""A rank of STFQ counts steps of 256 bytes."""
IPV4, UDP = 0x0800, 17
RANKED_DATAGRAM = 12
"""Bytes of a datagram with a rank, and nothing behind it."""
STATIC, HEADER, TOS, STFQ = range(4)
SOURCES = {"rank of the flow": STATIC, "rank header": HEADER, "TOS": TOS, "start time": STFQ}
"""Sources of ranks."""
PORT, USER, SCALE, RANK = (
    "standard_metadata.egress_spec",
    "scalars.userMetadata.user",
    "scalars.userMetadata.scale",
    "scalars.userMetadata.rank",
)
"""Fields of the program."""
FIVE_TUPLE = (("ipv4.src_addr", 32), ("ipv4.dst_addr", 32), ("ipv4.protocol", 8), ("source", 16), ("destination", 16))


@dataclass(frozen=True)
class Arrival:
    """A packet at ingress."""

    world: World
    control: str
    """Name of the program's ingress control."""
    parameters: Mapping[str, Int]

    def field(self, name: str) -> Int:
        """A field of the packet; 0 if it has no such header."""
        return self.world.variables.get(name, exact(0))

    def old(self, array: str, index: Int | int) -> Int:
        """A cell before the packet. `array`: its name; with a dot in front, below the ingress control."""
        return self.world.before[self.full(array)].cell(exact(index))

    def full(self, name: str) -> str:
        """A full name. A name with a dot in front is below the ingress control."""
        return f"{self.control}{name}" if name.startswith(".") else name

    def answer(self, table: str, action: str) -> tuple[Truth, list[Int]]:
        """True if the table's answer is this action, and its data."""
        _, answer = self.world.lookups[f"{self.control}.{table}"]
        names = list(answer.data)
        name = next(name for name in names if name.rpartition(".")[2] == action)
        return answer.action.equals(names.index(name)), list(answer.data[name])

    def hit(self, table: str) -> Truth:
        """True if the table has an entry for the packet."""
        return self.world.lookups[f"{self.control}.{table}"][1].hit

    def _named(self, field: str) -> Int | None:
        """The variable that a proof has in place of a value."""
        found = self.world.named.get(field)
        return found[1] if found is not None else None

    def _choose(self, condition: Truth, then: Int | int, other: Int | int) -> Int:
        return choose(self.world.decide(condition), then, other)

    # the packet

    def has(self, *headers: str) -> Truth:
        """True if the packet does not end before one of these headers."""
        return every(*(self.world.longer(header) for header in headers))

    @property
    def is_ip(self) -> Truth:
        """True for an IPv4 packet."""
        return every(self.has("ethernet", "ipv4"), self.field("ethernet.ether_type").equals(IPV4))

    @property
    def announces_ports(self) -> Truth:
        """True for a TCP or UDP packet without options, not a later fragment."""
        protocol = self.field("ipv4.protocol")
        fixed = every(self.field("ipv4.ihl").equals(5), self.field("ipv4.frag_offset").equals(0))
        transport = self._choose(protocol.equals(6), 1, self._choose(protocol.equals(UDP), 1, 0)).equals(1)
        return every(self.is_ip, fixed, transport)

    @property
    def has_ports(self) -> Truth:
        """True for such a packet if it does not end before the ports."""
        return every(self.announces_ports, self.has("l4_ports"))

    @property
    def to_rank_ports(self) -> Truth:
        """True for ports 5376 to 5631."""
        port = self.field("l4_ports.dst_port")
        return every(port >= 5376, port <= 5631)

    @property
    def has_rank(self) -> Truth:
        """True for a datagram to ports 5376 to 5631 that is long enough for a rank header."""
        wanted = every(self.field("ipv4.protocol").equals(UDP), self.to_rank_ports)
        long_enough = self.field("udp_rest.length") >= RANKED_DATAGRAM
        return every(self.has_ports, wanted, self.has("udp_rest", "rank"), long_enough)

    # the tables

    @property
    def is_forwarded(self) -> Truth:
        """True if the packet has a route: an IPv4 packet without options, a right checksum, and a hop left."""
        return self.world.decide(self._is_forwarded)

    @property
    def _is_forwarded(self) -> Truth:
        sound = every(
            self.is_ip,
            self.field("ipv4.ihl").equals(5),
            self.field("ipv4.ttl") >= 2,
            self.field("standard_metadata.checksum_error").equals(0),
        )
        to_port, _ = self.answer("forwarding.ipv4_routes", "forward")
        to_group, _ = self.answer("forwarding.ipv4_routes", "choose_path")
        path, _ = self.answer("forwarding.ecmp_paths", "forward")
        routed = self._choose(to_port, 1, self._choose(every(to_group, path), 1, 0)).equals(1)
        return every(sound, routed)

    @property
    def port(self) -> Int:
        """Port of the route."""
        return self._named(PORT) or self._port

    @property
    def _port(self) -> Int:
        direct, (port, _) = self.answer("forwarding.ipv4_routes", "forward")
        _, (of_path, _) = self.answer("forwarding.ecmp_paths", "forward")
        return self._choose(direct, port, of_path)

    @property
    def user(self) -> Int:
        """The user; 0 if no entry names one."""
        return self._named(USER) or self._of_user(0, 0)

    @property
    def scale(self) -> Int:
        """256 over the weight of the user."""
        return self._named(SCALE) or self._of_user(1, 256)

    def _of_user(self, place: int, default: int) -> Int:
        named, prefix = self.answer("users.users_by_prefix", "set_user")
        also, flow = self.answer("users.users_by_flow", "set_user")
        first = self._choose(named, prefix[place], default)
        return self._choose(self.hit("users.users_by_prefix"), first, self._choose(also, flow[place], first))

    @property
    def charge(self) -> Int:
        """Bytes of the packet over the weight of its user."""
        return (self.field(LENGTH) * self.scale) >> 8

    @property
    def now(self) -> Int:
        """Time in microseconds; the switch's clock has 32 bits."""
        return self.field(TIMESTAMP).lowest(32)

    # the rank

    @property
    def is_ranked(self) -> bool:
        """True if the program knows ranks."""
        return f"{self.control}.ranking.rank_sources" in self.world.lookups

    @property
    def source(self) -> Int:
        """Source of the rank."""
        return self.answer("ranking.rank_sources", "set_rank_source")[1][0]

    def hashed(self, cells: int) -> Int:
        """The cell of the packet's flow, out of `cells`, a power of two."""
        ports = {
            "source": self._choose(self.has_ports, self.field("l4_ports.src_port"), 0),
            "destination": self._choose(self.has_ports, self.field("l4_ports.dst_port"), 0),
        }
        parts = [(ports[name] if name in ports else self.field(name), bits) for name, bits in FIVE_TUPLE]
        return self.world.hash("crc32", parts).lowest(cells.bit_length() - 1)

    @property
    def flow(self) -> Int:
        """The flow's cell of STFQ."""
        return self.hashed(65536)

    @property
    def start_time(self) -> Int:
        """Virtual start time of STFQ: the later one of the port's virtual time and the flow's finish time."""
        return largest(self.old("virtual_time", self.port), self.old("finish_times", self.flow))

    @property
    def rank(self) -> Int:
        """The rank: the smaller, the more urgent."""
        return self._named(RANK) or self._rank

    @property
    def _rank(self) -> Int:
        of_header = self._choose(self.has_rank, self.field("rank.rank"), LARGEST_RANK)
        of_time = smallest(self.start_time >> STEP_BITS, LARGEST_RANK)
        _, (of_flow,) = self.answer("ranking.flow_ranks", "set_rank")
        source = self.source
        rank = self._choose(source.equals(STFQ), of_time, of_flow)
        rank = self._choose(source.equals(TOS), self.field("ipv4.tos"), rank)
        return self._choose(source.equals(HEADER), of_header, rank)
