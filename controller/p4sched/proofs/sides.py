"""What a program is compared with, packet by packet: a rule, or another program."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from p4sched.proofs.cells import Before, Cells
from p4sched.proofs.elements import BEYOND
from p4sched.proofs.exact import Int, Truth, choose, every, implies, negated, number
from p4sched.proofs.moment import LENGTHS, Moment
from p4sched.proofs.program import COUNTER_BITS, PARSED, Program
from p4sched.proofs.requests import CLONED, SESSION, is_resubmitted
from p4sched.proofs.rules.scheme import Rule, expected, in_the_switch
from p4sched.proofs.step import DROP_PORT, Step, World, run
from p4sched.proofs.theorem import arrival, legal


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
        tables = same_entries([(step.world, world)])
        # a trace has no second pass, and nothing undefined
        plain = [
            every(one.field(BEYOND).equals(0), negated(is_resubmitted(one.state)), *one.world.drawn)
            for one in (step, mine)
        ]
        return replace(self, held=arrays(mine)), shown(mine, step.program), [*tables, *plain]


def _with_lengths(held: Mapping[str, Cells], world: Moment) -> Mapping[str, Cells]:
    """What a side holds; the queues are those of the switch, so both sides see the same lengths."""
    return {**held, LENGTHS: world.held[LENGTHS]} if LENGTHS in world.held else held


def arrays(step: Step) -> dict[str, Cells]:
    return {name: step.array(name) for name in {**step.program.registers, **step.program.counters}}


def shown(step: Step, other: Program) -> Seen:
    """What a program shows of a packet. `other`: the program that it is compared with."""
    port = step.field("standard_metadata.egress_spec")
    dropped = port.equals(DROP_PORT)
    values = {"port": port}
    if "standard_metadata.priority" in step.program.fields and "standard_metadata.priority" in other.fields:
        values["queue"] = choose(dropped, 0, step.field("standard_metadata.priority"))
    values["multicast group"] = step.field("standard_metadata.mcast_grp")
    values["clone"] = choose(step.field(CLONED).equals(1), step.field(SESSION) + 1, 0)
    if step.program.is_wire:
        values[PARSED] = step.field(PARSED)
    for header, parts in step.program.headers.items():
        if header in other.headers:
            valid = every(step.field(f"{header}.$valid$").equals(1), negated(dropped))
            values[f"{header}.$valid$"] = number(valid)
            values |= {part: choose(valid, step.field(part), 0) for part in parts}
    return Seen(values)


def same_entries(pairs: Sequence[tuple[World, World]]) -> list[Truth]:
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
