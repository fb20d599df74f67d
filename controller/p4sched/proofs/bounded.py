"""Bounded model checking: the shortest sequence of packets, from the reset state, that tells a program apart.

All registers are 0 before the first packet. Each packet meets the state that the packets before it left, on both sides:
that of the program, and that of the rule or of another program. The tables keep their entries. Between two packets
others may leave their queues, so a queue is at most as long as the packet before left it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations
from typing import Any

from p4sched.proofs.exact import Int, Truth, negated, some
from p4sched.proofs.moment import LENGTHS, Lengths, Moment, empty
from p4sched.proofs.program import Program
from p4sched.proofs.rules.scheme import QUEUES
from p4sched.proofs.sides import Seen, Side, arrays, same_entries, shown
from p4sched.proofs.solver import ask
from p4sched.proofs.step import DROP_PORT, LENGTH, TIMESTAMP, Step, World, run

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
LONG_WAITS = (1 << 24) - 1
"""More than four hours."""
ROUND_BITS = 4
WAITS, MORE_BYTES = "waits", "bytes above 64"
COMPUTED = (TIMESTAMP, LENGTH)


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
    is_round: bool = False
    """True if each input is at most 15, or at most 15 below its largest value, or has zeros behind its first 4 bits."""
    ports: int = 1
    """Plain packets go to so many ports in turn."""
    pauses: bool = False
    """True if hours may pass between two packets."""
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
        end, sure = time.process_time() + seconds, 0
        for count, sequence in enumerate(self.sequences(most), 1):
            left = end - time.process_time()
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
        held = arrays(before) if before else {}
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
            ports=self.search.ports,
        )
        # over bytes, a frame may be too short for its headers
        shortest = 1 if self.search.program.is_wire else SHORTEST
        most = max(min(LONGEST, self.search.program.most_bytes), shortest) - shortest
        more = moment.variable(MORE_BYTES, max(most.bit_length(), 1), most)
        moment.variables[LENGTH] = more + shortest
        waits = moment.variable(WAITS, (LONG_WAITS if self.search.pauses else MOST_WAITS).bit_length())
        passed = sum((world.variables[WAITS] for world in worlds), waits)
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
        laws: list[Truth] = same_entries(list(combinations(worlds, 2)))
        for world in reversed(worlds):
            if isinstance(world, Moment) and world.lengths is not None:
                laws += world.lengths.laws()
        if self.search.is_round:
            laws += [_is_round(variable) for variable in self._variables()]
        return [*self.assumed, *laws]

    def smallest(self, model: Any, end: float) -> list[Packet]:
        """The trace with small numbers: one variable after the other gets the smallest value that can be found."""
        fixed: list[Truth] = []
        assumptions = self.assumptions()
        for variable in self._variables():
            for most in _less(value_of(variable, model)):
                if time.process_time() > end:
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
    cells = range(world.port * QUEUES, (world.port + 1) * QUEUES)
    return {cell: world.before[LENGTHS].cell(Int.of(cell)).low for cell in cells}


def _order(name: str) -> int:
    return 1 if name == WAITS else 3 if ": " in name else 2


def _is_round(value: Int) -> Truth:
    small = (1 << ROUND_BITS) - 1
    rest = max(value.bits - ROUND_BITS, 0)
    return some(value <= small, value >= value.high - small, value.lowest(rest).equals(0))


def _less(value: int) -> Iterator[int]:
    """Numbers below a value: 0, 1, 3, 7, ..."""
    bits = 0
    while (1 << bits) - 1 < value:
        yield (1 << bits) - 1
        bits += 1


def value_of(term: Int, model: Any) -> int:
    """Value of an integer in a model."""
    return term.low if term.is_number else int(model.eval(term.term, model_completion=True).as_long())
