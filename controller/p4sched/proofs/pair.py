"""Two programs: do they decide alike for every packet, state and table entry?

Both get the same packet, the same registers, and the same answers of tables with the same name and key. They are
compared by port, by headers and priority of a packet that is sent, and by registers and counters of the same names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from p4sched.errors import UsageError
from p4sched.proofs.cells import Before, Cells
from p4sched.proofs.elements import BEYOND
from p4sched.proofs.exact import Int, Truth, every, implies, negated
from p4sched.proofs.program import PARSED, Program, as_compiled
from p4sched.proofs.requests import is_resubmitted, same_clone, same_digest, same_resubmission
from p4sched.proofs.solver import Answer
from p4sched.proofs.step import DROP_PORT, Step, World, is_indirect, looked_up, run, same_answers
from p4sched.proofs.theorem import Claim, decide

GROUP, PORT, PRIORITY = (f"standard_metadata.{name}" for name in ("mcast_grp", "egress_spec", "priority"))


def compare(one: Program, two: Program, seconds: float) -> Iterator[tuple[Claim, Answer, Step]]:
    """Each claim, with its answer and the step of the first program. Ends after the first claim that is false. Both are
    from `read_pair`, so they have the same names."""
    tables = one.tables.keys() & two.tables.keys()
    if any((name in one.direct_meters) != (name in two.direct_meters) for name in tables):
        raise UsageError(f"{one.name} and {two.name} have other direct meters: they cannot be compared")
    both = one.registers.keys() & two.registers.keys()
    if any(one.registers[name] != two.registers[name] for name in both) or _headers(one) != _headers(two):
        raise UsageError(f"{one.name} and {two.name} have other headers or registers: they cannot be compared")
    if _profiles(one) != _profiles(two):
        raise UsageError(f"{one.name} and {two.name} have other action profiles: they cannot be compared")
    if one.is_wire or two.is_wire:
        one, two = replace(one, is_wire=True), replace(two, is_wire=True)
    first = World()
    left = run(one, first)
    names = {name: term for name, term in first.variables.items() if ": " not in name}
    second = World("second ", names, first.before)
    right = run(two, second)
    # what is read beyond a stack is undefined
    is_defined = [step.field(BEYOND).equals(0) for step in (left, right)]
    same = [*same_answers(first, second), *first.drawn, *second.drawn, *is_defined]
    for claim in _claims(left, right):
        premises = [*same, *first.laws([claim.statement, *same])]
        answer = decide(premises, claim.statement, seconds)
        yield claim, answer, left
        if answer.proved is False:
            return


def _headers(program: Program) -> list[tuple[str, list[tuple[str, int]]]]:
    """The headers that the deparser writes, and name and bits of their fields."""
    with as_compiled(program.name):
        return [(one, [(name, program.fields[name]) for name in program.headers[one]]) for one in program.emitted]


def _profiles(program: Program) -> dict[str, list[object]]:
    """Profile, algorithm and bits of the selector's input of each table that has a profile."""
    found: dict[str, list[object]] = {}
    with as_compiled(program.name):
        for name, table in program.tables.items():
            if is_indirect(table):
                selector = program.profiles[table["action_profile"]].get("selector", {})
                parts = [part["value"] for part in selector.get("input", ())]
                bits = [program.fields.get(".".join(map(str, part))) for part in parts]
                found[name] = [table["action_profile"], selector.get("algo"), *bits]
    return found


def _same_lookup(one: Step, two: Step, names: Sequence[str]) -> Truth:
    """Both look up the packet with the same key, or none does."""
    pairs = [(step.state.get(name, Int.of(0)) for step in (one, two)) for name in names]
    (is_done, other), *keys = map(tuple, pairs)
    return every(
        is_done.equals(other), implies(is_done.equals(1), every(*(left.equals(right) for left, right in keys)))
    )


def _claims(one: Step, two: Step) -> Iterator[Claim]:
    left, right = (one.program, one.state), (two.program, two.state)
    leaves = negated(is_resubmitted(one.state))
    yield Claim("resubmission", same_resubmission(left, right))
    is_unicast = one.field(GROUP).equals(0)
    yield Claim(GROUP, implies(leaves, one.field(GROUP).equals(two.field(GROUP))))
    yield Claim(PORT, implies(every(leaves, is_unicast), one.field(PORT).equals(two.field(PORT))))
    is_sent = every(leaves, negated(every(is_unicast, one.field(PORT).equals(DROP_PORT))))
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
    yield Claim("clone", same_clone(left, right))
    yield Claim("digest", same_digest(left, right))
    for name, parts in {**one.program.remembering, **two.program.remembering}.items():
        yield Claim(f"lookup in {name}", _same_lookup(one, two, looked_up(name, parts)))
    anywhere = Int.variable("any cell", 17)
    for name, before in one.world.before.items():
        # an array that only one program has must not change
        left_cells, right_cells = (step.state.get(name, before) for step in (one, two))
        if all(isinstance(cells, Cells | Before) for cells in (left_cells, right_cells)):
            same: Truth = left_cells.cell(anywhere).equals(right_cells.cell(anywhere))
            yield Claim(name, same)
