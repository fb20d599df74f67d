"""Bounded model checking: the shortest sequence of packets, from the reset state, that tells a program apart.

All registers are 0 before the first packet. Each packet meets the state that the packets before it left, on both sides:
that of the program, and that of the rule or of another program. The tables keep their entries. Between two packets
others may leave their queues, so a queue is at most as long as the packet before left it.
"""

from __future__ import annotations

import copy
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import combinations
from typing import Any, Protocol

from p4sched.proofs.cells import Before, Cells, equal_cells
from p4sched.proofs.exact import Int, Truth, choose, every, implies, negated, number, some
from p4sched.proofs.program import COUNTER_BITS, Json, Program
from p4sched.proofs.rules.arrival import HEADER
from p4sched.proofs.rules.scheme import QUEUES, Rule, expected, in_the_switch
from p4sched.proofs.solver import ask
from p4sched.proofs.step import DROP_PORT, LENGTH, TIMESTAMP, Answer, Step, World, run
from p4sched.proofs.theorem import arrival, legal

LENGTHS = "queue_depths"
LENGTH_BITS = 16
"""Bits of the length of a queue: its size has as many."""
LONGEST = 1514
"""Bytes of a frame; the shortest one has 64."""
SHORTEST = 64
STEP_US = 1000
"""Time between two statements of an STF file."""
FIRST_THAT_WAITS = 2
"""Place of the first packet that can meet another one in its queue."""
MOST_WAITS = 31
WAITS, MORE_BYTES = "waits", "bytes above 64"
COMPUTED = (TIMESTAMP, LENGTH)
PORT = 2
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
    "ipv4.dst_addr": 0x0A000002,
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
    "forwarding.ipv4_routes": (True, "forward", (PORT, 2)),
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
        return 1 if name.startswith("packet has ") else PLAIN.get(name)

    def array(self, name: str, bits: int) -> Before:
        if name not in self.before:
            self.before[name] = (
                self.lengths
                if name == LENGTHS and self.lengths is not None
                else Held(name, bits, self.held.get(name) or empty(name, bits))
            )
        return self.before[name]

    def answer(self, table: Json, actions: Mapping[str, Json], key: Sequence[Int]) -> Answer:
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


@dataclass(frozen=True)
class Seen:
    """What a side shows of a packet: numbers by name, and counters by name, each with a cell and its value."""

    values: Mapping[str, Int]
    counted: Mapping[str, tuple[Int, Int]] = field(default_factory=dict)


class Side(Protocol):
    """What a program is compared with. A side is a value: `after` is the side after one more packet."""

    def after(self, step: Step) -> tuple[Side, Seen, list[Truth]]:
        """The side after the packet of a step, what it shows, and what it assumes."""


class _OfRule(dict[str, Before]):
    """The arrays of a rule; it may have others than the program."""

    def __init__(self, world: Moment, bits: Mapping[str, int]) -> None:
        super().__init__()
        self._world, self._bits = world, bits

    def __missing__(self, name: str) -> Before:
        return self._world.array(name, self._bits.get(name, COUNTER_BITS))


@dataclass(frozen=True)
class RuleSide:
    """A rule, and the state that it keeps by itself."""

    rule: Rule
    p4info: str
    held: Mapping[str, Cells] = field(default_factory=dict)

    def after(self, step: Step) -> tuple[RuleSide, Seen, list[Truth]]:
        """See `Side`."""
        world = copy.copy(step.world)
        assert isinstance(world, Moment)
        arrays = {**step.program.registers, **step.program.counters}
        world.before = _OfRule(world, {name: array.bits for name, array in arrays.items()})
        world.held = _with_lengths(self.held, world)
        of_rule = Step(step.program, world, step.state)
        packet = arrival(of_rule, self.rule)
        decision = self.rule.decide(packet)
        assumed = {**legal(of_rule, self.p4info), **in_the_switch(self.rule, packet), **self.rule.assumptions(packet)}
        changes = expected(self.rule, packet, decision)
        admitted = every(packet.is_forwarded, decision.admitted)
        port = choose(admitted, packet.port, DROP_PORT)
        held = {name: Cells(before) for name, before in world.before.items()}
        held |= {name: held[name].with_cell(index, value) for name, (index, value) in changes.items()}
        counted = {name: cell for name, cell in changes.items() if name in step.program.counters}
        seen = Seen({"port": port, "queue": choose(admitted, decision.queue, 0)}, counted)
        return replace(self, held=held), seen, list(assumed.values())


@dataclass(frozen=True)
class ProgramSide:
    """Another program."""

    program: Program
    held: Mapping[str, Cells] = field(default_factory=dict)

    def after(self, step: Step) -> tuple[ProgramSide, Seen, list[Truth]]:
        """See `Side`."""
        world = copy.copy(step.world)
        assert isinstance(world, Moment)
        world.prefix, world.before, world.lookups = "second ", {}, {}
        world.held = _with_lengths(self.held, world)
        mine = run(self.program, world)
        tables = _same_entries([(step.world, world)])
        return replace(self, held=_arrays(mine)), shown(mine, step.program), tables


def _with_lengths(held: Mapping[str, Cells], world: Moment) -> Mapping[str, Cells]:
    """What a side holds; the queues are those of the switch, so both sides see the same lengths."""
    return {**held, LENGTHS: world.held[LENGTHS]} if LENGTHS in world.held else held


def _arrays(step: Step) -> dict[str, Cells]:
    return {name: step.array(name) for name in {**step.program.registers, **step.program.counters}}


def shown(step: Step, other: Program) -> Seen:
    """What a program shows of a packet. `other`: the program that it is compared with."""
    port = step.field("standard_metadata.egress_spec")
    dropped = port.equals(DROP_PORT)
    values = {"port": port}
    if "standard_metadata.priority" in step.program.fields and "standard_metadata.priority" in other.fields:
        values["queue"] = choose(dropped, 0, step.field("standard_metadata.priority"))
    values["multicast group"] = step.field("standard_metadata.mcast_grp")
    for header, parts in step.program.headers.items():
        if header in other.headers:
            valid = every(step.field(f"{header}.$valid$").equals(1), negated(dropped))
            values[f"{header}.$valid$"] = number(valid)
            values |= {part: choose(valid, step.field(part), 0) for part in parts}
    return Seen(values)


def _same_entries(pairs: Sequence[tuple[World, World]]) -> list[Truth]:
    """Tables of one name with the same entries: the same key gets the same answer, and so do all keys without entry."""
    laws: list[Truth] = []
    for one, two in pairs:
        for name in one.lookups.keys() & two.lookups.keys():
            (key, answer), (other_key, other) = one.lookups[name], two.lookups[name]
            if answer is other:
                continue
            missed = every(negated(answer.hit), negated(other.hit))
            same = [(answer.action, other.action)]
            for action, data in answer.data.items():
                same += zip(data, other.data.get(action, ()), strict=False)
            equal = every(*(left.equals(right) for left, right in same))
            one_key = every(*(left.equals(right) for left, right in zip(key, other_key, strict=False)))
            one_hit = number(answer.hit).equals(number(other.hit))
            laws += [implies(one_key, every(equal, one_hit)), implies(missed, equal)]
    return laws


@dataclass(frozen=True)
class Packet:
    """A packet of a trace, in numbers."""

    step: Step
    """The step of the program."""
    expected: Mapping[str, int]
    """What the other side shows, by name."""
    shows: Mapping[str, int]
    """What the program shows."""
    counted: Mapping[tuple[str, int], int]
    """Counters of the other side after the packet, by name and cell."""
    grown: tuple[Mapping[str, int], Mapping[str, int]]
    """By how much these counters grew, of the other side and of the program."""
    lengths: Mapping[int, int]
    """Lengths of queues before the packet that are not 0."""
    waits: int
    """Statements of an STF file that pass before it."""


class Queues(Enum):
    """What is known of the lengths of the queues."""

    ANY = "no longer than the packet before left them"
    AT_ONCE = "all packets come at the same time; the first one is on the link"
    EMPTY = "each packet has left before the next one comes"


@dataclass(frozen=True)
class Search:
    """A search for the shortest sequence. `side`: what the program is compared with, before the first packet."""

    program: Program
    side: Side
    plain: bool = True
    filled: bool = False
    """True if packets of before may wait in the queues. Else the queues are empty at the start."""
    queues: Queues = Queues.ANY
    largest: int | None = None
    """Largest value of each input; None for all values."""
    extra: Callable[[Step], Sequence[Truth]] | None = None
    """More assumptions about each packet."""

    @property
    def is_possible(self) -> bool:
        """True if the program has the tables of the lab's programs, so a packet can be plain."""
        return any(name.endswith("forwarding.ipv4_routes") for name in self.program.tables)

    def sequences(self, most: int) -> Iterator[_Sequence]:
        """Symbolic sequences of 1, 2, ... packets."""
        sequence = _Sequence(self, [], self.side, [], False)
        for _ in range(most):
            sequence = sequence.longer()
            yield sequence

    def shortest(self, most: int, seconds: float) -> tuple[list[Packet] | None, int]:
        """The shortest trace; None if there is none. And the number of packets for which there is surely none."""
        end, sure = time.monotonic() + seconds, 0
        for count, sequence in enumerate(self.sequences(most), 1):
            left = end - time.monotonic()
            if left <= 0:
                break
            answer = ask(sequence.assumptions(), negated(sequence.differs), left)
            if answer.proved is False:
                return sequence.smallest(answer.model, end), sure
            sure = count if answer.proved and sure == count - 1 else sure
        return None, sure


@dataclass(frozen=True)
class _Sequence:
    search: Search
    steps: list[Step]
    side: Side
    assumed: list[Truth]
    differs: Truth
    seen: tuple[Seen, ...] = ()

    def longer(self, known: _Values | None = None) -> _Sequence:
        """One packet more. `known`: its values, for an execution."""
        moment = self._moment(known)
        step = run(self.search.program, moment)
        side, seen, assumed = self.side.after(step)
        assumed = [*assumed, *(self.search.extra(step) if self.search.extra else ())]
        if len(self.steps) == 1 and self.search.queues is Queues.AT_ONCE and not self.search.filled:
            assumed.append(self.steps[0].field("standard_metadata.egress_spec").differs(DROP_PORT))
        differs = some(*self._differences(step, seen))
        return replace(
            self,
            steps=[*self.steps, step],
            side=side,
            assumed=[*self.assumed, *assumed],
            differs=differs,
            seen=(*self.seen, seen),
        )

    def _moment(self, known: _Values | None) -> Moment:
        place = len(self.steps)
        before = self.steps[-1] if self.steps else None
        worlds = [step.world for step in self.steps]
        held = _arrays(before) if before else {}
        bits = self.search.program.registers[LENGTHS].bits if LENGTHS in self.search.program.registers else 0
        lengths = None
        filled = self.search.filled
        if bits and self.search.queues is not Queues.ANY and not (filled and place == 0):
            if self.search.queues is Queues.EMPTY or (place < FIRST_THAT_WAITS and not filled):
                held = {**held, LENGTHS: empty(LENGTHS, bits)}
        elif bits:
            left = held.get(LENGTHS) or (None if self.search.filled else empty(LENGTHS, bits))
            lengths = Lengths(f"packet {place + 1}: ", min(bits, LENGTH_BITS), left, known.lengths if known else None)
        moment = Moment(
            number=place + 1,
            known=known.variables if known else {},
            held=held,
            lengths=lengths,
            answers=worlds[0].answers if worlds and isinstance(worlds[0], Moment) else {},
            plain=self.search.plain,
            largest=self.search.largest,
            ranked=any(name.endswith("ranking.rank_sources") for name in self.search.program.tables),
        )
        more = moment.variable(MORE_BYTES, (LONGEST - SHORTEST).bit_length(), LONGEST - SHORTEST)
        moment.variables[LENGTH] = more + SHORTEST
        waits = moment.variable(WAITS, MOST_WAITS.bit_length())
        passed = exact_sum([world.variables[WAITS] for world in worlds], waits)
        moment.variables[TIMESTAMP] = (passed + place + 1) * STEP_US
        return moment

    def _differences(self, step: Step, seen: Seen) -> Iterator[Truth]:
        mine = shown(step, step.program)
        for name, value in seen.values.items():
            yield mine.values[name].differs(value)
        for name, (index, value) in seen.counted.items():
            yield step.array(name).cell(index).differs(value)

    def assumptions(self) -> list[Truth]:
        """What is assumed of all packets."""
        worlds = [step.world for step in self.steps]
        laws: list[Truth] = _same_entries(list(combinations(worlds, 2)))
        for world in reversed(worlds):
            if isinstance(world, Moment) and world.lengths is not None:
                laws += world.lengths.laws()
        return [*self.assumed, *laws]

    def smallest(self, model: Any, end: float) -> list[Packet]:
        """The trace with small numbers: one variable after the other gets the smallest value that can be found."""
        fixed: list[Truth] = []
        assumptions = self.assumptions()
        for variable in self._variables():
            for most in _less(value_of(variable, model)):
                if time.monotonic() > end:
                    break
                answer = ask([*assumptions, *fixed, self.differs, variable <= most], False, 5)
                if answer.proved is False:
                    model = answer.model
                    break
            fixed.append(variable.equals(value_of(variable, model)))
        return self._trace(model)

    def _variables(self) -> list[Int]:
        """Variables, those first that should be small first."""
        found: list[tuple[int, Int]] = []
        seen: set[int] = set()
        for step in self.steps:
            world = step.world
            assert isinstance(world, Moment)
            cells = [] if world.lengths is None else [cell for _, cell in world.lengths.read.values()]
            named = [(_order(name), variable) for name, variable in world.variables.items()]
            for first, variable in [*((0, cell) for cell in cells), *named]:
                if not variable.is_number and variable.term.num_args() == 0 and variable.term.get_id() not in seen:
                    seen.add(variable.term.get_id())
                    found.append((first, variable))
        return [variable for _, variable in sorted(found, key=lambda one: one[0])]

    def _trace(self, model: Any) -> list[Packet]:
        """The sequence in numbers, executed again."""
        again = _Sequence(self.search, [], self.search.side, [], False)
        for step in self.steps:
            again = again.longer(_Values.of(step.world, model))
        packets = []
        for place, (step, seen) in enumerate(zip(again.steps, again.seen, strict=True)):
            mine = shown(step, step.program)
            world, symbolic = step.world, self.steps[place].world
            assert isinstance(world, Moment)
            assert isinstance(symbolic, Moment)
            lengths = _Values.of(symbolic, model).lengths or _lengths(world)
            grown: tuple[dict[str, int], dict[str, int]] = {}, {}
            for name, (index, value) in seen.counted.items():
                old = world.before[name].cell(index).low
                grown[0][name], grown[1][name] = value.low - old, step.array(name).cell(index).low - old
            packets.append(
                Packet(
                    step,
                    {name: value.low for name, value in seen.values.items()},
                    {name: mine.values[name].low for name in seen.values},
                    {(name, index.low): value.low for name, (index, value) in seen.counted.items()},
                    grown,
                    {index: length for index, length in lengths.items() if length},
                    world.variables[WAITS].low,
                )
            )
        return packets


@dataclass(frozen=True)
class _Values:
    """Values of the variables of a packet."""

    variables: dict[str, int]
    lengths: dict[int, int]

    @staticmethod
    def of(world: World, model: Any) -> _Values:
        assert isinstance(world, Moment)
        lengths: dict[int, int] = {}
        for index, cell in [] if world.lengths is None else world.lengths.read.values():
            # a cell that was read after the question has any value
            lengths.setdefault(value_of(index, model), value_of(cell, model))
        return _Values(
            {name: value_of(variable, model) for name, variable in world.variables.items() if name not in COMPUTED},
            lengths,
        )


def _lengths(world: Moment) -> dict[int, int]:
    """Lengths of the queues of the port of plain packets."""
    if not world.plain or LENGTHS not in world.before or world.lengths is not None:
        return {}
    cells = range(PORT * QUEUES, (PORT + 1) * QUEUES)
    return {cell: world.before[LENGTHS].cell(Int.of(cell)).low for cell in cells}


def _order(name: str) -> int:
    return 1 if name == WAITS else 3 if ": " in name else 2


def _less(value: int) -> Iterator[int]:
    """Numbers below a value: 0, 1, 3, 7, ..."""
    bits = 0
    while (1 << bits) - 1 < value:
        yield (1 << bits) - 1
        bits += 1


def exact_sum(parts: Sequence[Int], first: Int) -> Int:
    """A sum."""
    total = first
    for part in parts:
        total = total + part
    return total


def value_of(term: Int, model: Any) -> int:
    """Value of an integer in a model."""
    return term.low if term.is_number else int(model.eval(term.term, model_completion=True).as_long())
