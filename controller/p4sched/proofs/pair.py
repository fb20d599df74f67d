"""Two programs: do they decide alike for every packet, state and table entry?

Both get the same packet, the same registers, and the same answers of tables with the same name and key. They are
compared by port, by headers and priority of a packet that is sent, and by registers and counters of the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from p4sched.errors import UsageError
from p4sched.proofs.cells import Cells
from p4sched.proofs.exact import Int, Truth, every, implies, negated
from p4sched.proofs.program import PARSED, Program
from p4sched.proofs.solver import Answer
from p4sched.proofs.step import CLONED, DROP_PORT, KEPT, SESSION, Step, World, run, same_answers
from p4sched.proofs.theorem import Claim, decide

GROUP, PORT, PRIORITY = (f"standard_metadata.{name}" for name in ("mcast_grp", "egress_spec", "priority"))


def compare(one: Program, two: Program, seconds: float) -> Iterator[tuple[Claim, Answer, Step]]:
    """Each claim, with its answer and the step of the first program. Ends after the first claim that is false. Both are
    from `read_pair`, so they have the same names."""
    if one.registers != two.registers or _headers(one) != _headers(two):
        raise UsageError(f"{one.name} and {two.name} have other headers or registers: they cannot be compared")
    if one.is_wire or two.is_wire:
        one, two = replace(one, is_wire=True), replace(two, is_wire=True)
    first = World()
    left = run(one, first)
    names = {name: term for name, term in first.variables.items() if ": " not in name}
    second = World("second ", names, first.before)
    right = run(two, second)
    same = same_answers(first, second)
    for claim in _claims(left, right):
        premises = [*same, *first.laws([claim.statement, *same])]
        answer = decide(premises, claim.statement, seconds)
        yield claim, answer, left
        if answer.proved is False:
            return


def _headers(program: Program) -> list[tuple[str, list[tuple[str, int]]]]:
    """The headers that the deparser writes, and name and bits of their fields."""
    return [(one, [(name, program.fields[name]) for name in program.headers[one]]) for one in program.emitted]


def _same_clone(one: Step, two: Step) -> Truth:
    """Both ask for a clone of the same session, or none does. It keeps the same values, in their order."""
    is_cloned = one.field(CLONED).equals(1)
    facts = [
        one.field(CLONED).equals(two.field(CLONED)),
        implies(is_cloned, one.field(SESSION).equals(two.field(SESSION))),
    ]
    for (number, names), (other, others) in product(_lists(one), _lists(two)):
        chosen = every(is_cloned, one.field(KEPT).equals(number), two.field(KEPT).equals(other))
        # compilers may name fields differently
        pairs = zip(names, others, strict=False)
        same = every(len(names) == len(others), *(one.field(left).equals(two.field(right)) for left, right in pairs))
        facts.append(implies(chosen, same))
    return every(*facts)


def _lists(step: Step) -> list[tuple[int, tuple[str, ...]]]:
    """Lists of fields that a clone can keep. List 0 is empty."""
    return list({0: (), **step.program.field_lists}.items())


def _claims(one: Step, two: Step) -> Iterator[Claim]:
    is_unicast = one.field(GROUP).equals(0)
    yield Claim(GROUP, one.field(GROUP).equals(two.field(GROUP)))
    yield Claim(PORT, implies(is_unicast, one.field(PORT).equals(two.field(PORT))))
    is_sent = negated(every(is_unicast, one.field(PORT).equals(DROP_PORT)))
    validities = [f"{header}.$valid$" for header in one.program.emitted]
    for name in (PRIORITY, *validities):
        if name in one.program.fields and name in two.program.fields:
            yield Claim(name, implies(is_sent, one.field(name).equals(two.field(name))))
    for header in one.program.emitted:
        is_seen = every(is_sent, one.field(f"{header}.$valid$").equals(1))
        for name in one.program.headers[header]:
            yield Claim(name, implies(is_seen, one.field(name).equals(two.field(name))))
    if one.program.is_wire:
        yield Claim("bytes that the parser takes", implies(is_sent, one.field(PARSED).equals(two.field(PARSED))))
    yield Claim("clone", _same_clone(one, two))
    anywhere = Int.variable("any cell", 17)
    for name in one.world.before:
        left, right = one.state.get(name), two.state.get(name)
        if isinstance(left, Cells) and isinstance(right, Cells):
            same: Truth = left.cell(anywhere).equals(right.cell(anywhere))
            yield Claim(name, same)
