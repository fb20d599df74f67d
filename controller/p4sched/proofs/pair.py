"""Two programs: do they decide alike for every packet, state and table entry?

Both get the same packet, the same registers, and the same answers of tables with the same name and key. They are
compared by headers, port, priority, and the registers and counters that have the same names in both.
"""

from __future__ import annotations

from collections.abc import Iterator

from p4sched.errors import UsageError
from p4sched.proofs.cells import Cells
from p4sched.proofs.exact import Int, Truth
from p4sched.proofs.program import Program
from p4sched.proofs.solver import Answer
from p4sched.proofs.step import Step, World, run, same_answers
from p4sched.proofs.theorem import Claim, decide

OF_ANY_PROGRAM = ("standard_metadata.egress_spec", "standard_metadata.priority", "standard_metadata.mcast_grp")


def compare(one: Program, two: Program, seconds: float) -> Iterator[tuple[Claim, Answer, Step]]:
    """Each claim, with its answer and the step of the first program. Ends after the first claim that is false."""
    if one.registers != two.registers or one.headers != two.headers:
        raise UsageError(f"{one.name} and {two.name} have other headers or registers: they cannot be compared")
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


def _claims(one: Step, two: Step) -> Iterator[Claim]:
    for name in (*OF_ANY_PROGRAM, *(field for fields in one.program.headers.values() for field in fields)):
        if name in one.program.fields and name in two.program.fields:
            yield Claim(name, one.field(name).equals(two.field(name)))
    anywhere = Int.variable("any cell", 17)
    for name in one.world.before:
        left, right = one.array(name), two.state.get(name)
        if isinstance(right, Cells):
            same: Truth = left.cell(anywhere).equals(right.cell(anywhere))
            yield Claim(name, same)
