"""A packet of a sequence, before it is executed: its variables, and what earlier packets left."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from p4sched.proofs.cells import Before, Cells, equal_cells
from p4sched.proofs.exact import Int, Truth
from p4sched.proofs.program import Json, UnmodelledError
from p4sched.proofs.rules.arrival import HEADER
from p4sched.proofs.step import Answer, World, is_indirect

LENGTHS = "queue_depths"
PORT = 2
DESTINATION, ROUTES = "ipv4.dst_addr", "forwarding.ipv4_routes"
PLAIN = {
    "ethernet.dst_addr": 2,
    "ethernet.src_addr": 1,
    "ethernet.ether_type": 0x0800,
    "ipv4.version": 4,
    "ipv4.ihl": 5,
    "ipv4.tos": 0,
    "ipv4.total_len": 50,
    "ipv4.identification": 0,
    "ipv4.flags": 0,
    "ipv4.frag_offset": 0,
    "ipv4.ttl": 64,
    "ipv4.protocol": 17,
    "ipv4.hdr_checksum": 0,
    "ipv4.src_addr": 0x0A000001,
    DESTINATION: 0x0A000002,
    "l4_ports.src_port": 1000,
    "l4_ports.dst_port": 5376,
    "udp_rest.length": 30,
    "udp_rest.checksum": 0,
    "standard_metadata.ingress_port": 1,
    "standard_metadata.instance_type": 0,
    "standard_metadata.checksum_error": 0,
}
"""A datagram with a rank header."""
PLAIN_ANSWERS: Mapping[str, tuple[bool, str, tuple[int, ...] | None]] = {
    ROUTES: (True, "forward", (PORT, 2)),
    "users.users_by_prefix": (True, "set_user", None),
    "users.users_by_flow": (False, "NoAction", ()),
    "forwarding.ecmp_paths": (False, "drop", ()),
    "ranking.rank_sources": (True, "set_rank_source", (HEADER,)),
}
"""Hit, action and data of tables, for plain packets. None: any data."""
NO_USER = (False, "NoAction", ())
"""Answer about the user, for programs with ranks."""


class Held(Before):
    """The content that earlier packets left."""

    def __init__(self, name: str, bits: int, cells: Cells) -> None:
        super().__init__(name, bits)
        self._cells = cells

    def cell(self, index: Int) -> Int:
        return self._cells.cell(index)


class Lengths(Before):
    """Lengths of the queues before a packet: at most those that the packet before left. `left`: None if any."""

    def __init__(self, prefix: str, bits: int, left: Cells | None, known: Mapping[int, int] | None) -> None:
        super().__init__(f"{prefix}{LENGTHS}", bits, known)
        self._left = left

    def laws(self) -> list[Truth]:
        """Equal queues have equal lengths; and no packet came in between."""
        pairs = list(self.read.values())
        bound = [] if self._left is None else [cell <= self._left.cell(index) for index, cell in pairs]
        return [*equal_cells(pairs), *bound]


@dataclass
class Moment(World):
    """A packet of a sequence. `known`: values of its variables; if all have one, the packet is executed."""

    number: int = 0
    known: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, Cells] = field(default_factory=dict)
    lengths: Lengths | None = None
    answers: dict[tuple[str, tuple[int, ...]], Answer] = field(default_factory=dict)
    """Answers to known keys. All packets of a sequence share them."""
    plain: bool = True
    largest: int | None = None
    """Largest value of a variable: with small numbers, the solver is fast."""
    ranked: bool = False
    """True if the program knows ranks."""
    ports: int = 1
    """Plain packets go to so many ports in turn."""

    @property
    def port(self) -> int:
        """The port of a plain packet."""
        return PORT + self._turn

    @property
    def _turn(self) -> int:
        return (self.number - 1) % self.ports

    def variable(self, name: str, bits: int, high: int | None = None) -> Int:
        if name not in self.variables:
            fixed = self.known.get(name, self._plain(name))
            if fixed is not None:
                self.variables[name] = Int.of(fixed)
            else:
                most = [limit for limit in (high, self.largest) if limit is not None and limit < 1 << bits]
                high = min(most) if most else None
                self.variables[name] = Int.variable(f"packet {self.number}: {name}", bits, high)
        return self.variables[name]

    def _plain(self, name: str) -> int | None:
        if not self.plain:
            return None
        if name == DESTINATION:
            return PLAIN[DESTINATION] + self._turn
        return 1 if name.startswith("packet has ") else PLAIN.get(name)

    def array(self, name: str, bits: int) -> Before:
        if name not in self.before:
            self.before[name] = (
                self.lengths
                if name == LENGTHS and self.lengths is not None
                else Held(name, bits, self.held.get(name) or empty(name, bits))
            )
        return self.before[name]

    def member(self, name: str, bits: int, key: Int) -> Truth:
        """False: the value sets of a trace are empty."""
        return False

    def colour(self, table: str) -> tuple[Int, Int]:
        """Green: the meters of a trace have no rates."""
        return Int.of(0), Int.of(0)

    def draw(self, place: Int, low: Int, high: Int) -> Int:
        raise UnmodelledError("a random number of the engine is not modelled")

    def answer(
        self, table: Json, actions: Mapping[str, Json], key: Sequence[Int], *, has_key: bool | None = None
    ) -> Answer:
        place = table["name"], tuple(one.low for one in key)
        is_known = all(one.is_number for one in key)
        found = self.answers.get(place) if is_known else None
        if found is None:
            found = self._new_answer(table, actions, key)
            if is_known:
                self.answers[place] = found
        self.lookups[table["name"]] = key, found
        return found

    def _new_answer(self, table: Json, actions: Mapping[str, Json], key: Sequence[Int]) -> Answer:
        if is_indirect(table):
            # no entries: a trace fills no action profile
            data = {action: [Int.of(0)] * len(actions[action]["runtime_data"]) for action in table["actions"]}
            return Answer(False, Int.of(len(table["actions"])), data)
        name = f"{self.prefix}{table['name']}"
        short = table["name"].partition(".")[2]
        hit, wanted, numbers = self._plain_answer(short)
        which = self.variable(f"{name}: action", 16, len(table["actions"]) - 1)
        if hit is not None:
            place = next(at for at, action in enumerate(table["actions"]) if action.rpartition(".")[2] == wanted)
            which = Int.of(place)
        data = {
            action: [
                Int.of(numbers[at])
                if numbers is not None and at < len(numbers)
                else self.variable(f"{name}: {action.rpartition('.')[2]}({one['name']})", one["bitwidth"])
                for at, one in enumerate(actions[action]["runtime_data"])
            ]
            for action in table["actions"]
        }
        is_hit: Truth = False
        if key:
            is_hit = self.variable(f"{name}: hit", 1).equals(1) if hit is None else hit
        return Answer(is_hit, which, data)

    def _plain_answer(self, table: str) -> tuple[bool | None, str, tuple[int, ...] | None]:
        if not self.plain or table not in PLAIN_ANSWERS:
            return None, "", None
        if table == ROUTES:
            return True, "forward", (self.port, 2)
        return NO_USER if self.ranked and table == "users.users_by_prefix" else PLAIN_ANSWERS[table]

    def hash(self, algorithm: str, data: Sequence[tuple[Int, int]]) -> Int:
        if algorithm != "crc32" or not all(value.is_number for value, _ in data):
            return super().hash(algorithm, data)
        word = bits = 0
        for value, width in data:
            word, bits = word << width | value.low, bits + width
        return Int.of(zlib.crc32((word << -bits % 8).to_bytes((bits + 7) // 8, "big")))


def empty(name: str, bits: int) -> Cells:
    """An array of zeros."""
    return Cells(Before(name, bits, {}))
