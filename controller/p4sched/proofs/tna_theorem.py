"""The theorem about a program for Tofino: ingress decides as the rule of its page, for each packet and state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from p4sched.errors import P4schedError
from p4sched.proofs.cells import Before, Cells
from p4sched.proofs.exact import Int, Truth, choose, conjuncts, every, exact, implies, negated, number, some
from p4sched.proofs.program import Program
from p4sched.proofs.rules.arrival import LARGEST_RANK, RANK, SCALE, USER, USERS
from p4sched.proofs.rules.scheme import Cell, Decision, counted, queue_cell
from p4sched.proofs.rules.tna_scheme import OnChip, TnaDecision
from p4sched.proofs.step import DROP_PORT, Step
from p4sched.proofs.theorem import NO_NAMES, SOON, Case, Claim, Names, cells_kept, decide, full_name, legal
from p4sched.proofs.tna import PORT, QUEUE, TnaWorld, comes_back, is_dropped, run
from p4sched.proofs.tna_arrival import TnaArrival, report_cell

INVERSE_RANK = "scalars.userMetadata.inverse_rank"
NAMED: Mapping[str, tuple[Callable[[TnaArrival], Int], int, int]] = {
    PORT: (lambda packet: packet.port, 0, DROP_PORT),
    USER: (lambda packet: packet.user, 0, USERS - 1),
    SCALE: (lambda packet: packet.scale, 1, 0xFFFF),
    INVERSE_RANK: (lambda packet: LARGEST_RANK - packet.rank if packet.is_ranked else exact(0), 0, LARGEST_RANK),
    RANK: (lambda packet: packet.rank if packet.is_ranked else exact(0), 0, LARGEST_RANK),
}
"""Values that program and rule compute before the decision, with their smallest and largest ones."""


def theorem(program: Program, p4info: str, rule: OnChip, broken: str = "") -> Iterator[Case]:
    """The theorem, case by case. The cases cover all packets. `broken`: a limit that is just exceeded."""
    everything = _Everything(program, p4info, rule, broken)
    packet = everything.packet({})
    forwarded = packet.is_forwarded
    if packet.has_reports:
        yield everything.case("a report of a length", packet.is_report)
    yield everything.case("no route", every(negated(packet.is_report), negated(forwarded)))
    for kind, truth in rule.cases(packet).items():
        name = f"route, {kind}" if kind else "route"
        named = everything.named(forwarded, truth)
        plain = everything.case(name, forwarded, truth)
        of_named = rule.cases(everything.packet(named))[kind]
        yield replace(everything.case(name, forwarded, of_named, named=named), plain=plain)


class _Everything:
    """All packets of a program."""

    def __init__(self, program: Program, p4info: str, rule: OnChip, broken: str) -> None:
        self._program, self._p4info, self._rule, self._broken = program, p4info, rule, broken
        self._world = run(program, TnaWorld(opaque=rule.opaque)).world

    def _step(self, named: Names, *conditions: Truth) -> Step:
        lookups = dict(self._world.lookups)
        opaque = self._rule.opaque
        world = TnaWorld("", self._world.variables, {}, lookups, list(conditions), dict(named), opaque=opaque)
        return run(self._program, world)

    def packet(self, named: Names) -> TnaArrival:
        """A packet."""
        return arrival(self._step(named), self._rule)

    def named(self, *conditions: Truth) -> Names:
        """Variables in place of values that program and rule compute alike."""
        named: dict[str, tuple[Int, Int]] = {}
        table = f"{self._rule.control}.{self._rule.table}"
        for field, (wanted, least, most) in NAMED.items():
            step = self._step(named, *conditions)
            if field not in step.program.fields:
                continue
            # the port stays what it is where the rule's table is asked
            found = step.world.lookups[table][0][0] if field == PORT else step.field(field)
            of_rule = wanted(arrival(step, self._rule))
            if found.is_number or of_rule.is_number:
                continue
            same = every(found.equals(of_rule), of_rule >= least, of_rule <= most)
            assumed = [*conditions, *legal(step, self._p4info, self._broken).values()]
            if not decide([*assumed, *step.world.laws([*assumed, same])], same, SOON).proved:
                continue
            if field == RANK and INVERSE_RANK in named:
                # the variable is that of the inverse rank
                named[field] = found, LARGEST_RANK - named[INVERSE_RANK][1]
            else:
                high = min(most, (1 << self._program.fields[field]) - 1) - least
                variable = Int.variable(f"the {field.rpartition('.')[2]}", high.bit_length(), high)
                named[field] = found, variable + least
        return named

    def case(self, name: str, *conditions: Truth, named: Names = NO_NAMES) -> Case:
        """The case of some packets."""
        step = self._step(named, *conditions)
        return _case(name, step, legal(step, self._p4info, self._broken), self._rule)


def arrival(step: Step, rule: OnChip) -> TnaArrival:
    """The packet as the rule sees it."""
    name = f"{rule.control}.{rule.table}"
    if name not in step.world.lookups:
        raise P4schedError(f"{step.program.name}: no table '{name}'; the rule needs it")
    by_name = {one["name"]: one for one in step.program.actions.values()}
    action = f"{rule.control}.{rule.action}"
    data = step.world.lookups[name][1].data[action]
    names = [one["name"] for one in by_name[action]["runtime_data"]]
    has_reports = "length_report" in step.program.headers
    return TnaArrival(step.world, rule.control, dict(zip(names, data, strict=True)), has_reports, rule.comes_back)


def _case(name: str, step: Step, assumptions: dict[str, Truth], rule: OnChip) -> Case:
    world = step.world
    packet = arrival(step, rule)
    if packet.has_reports or "queue_depths" in step.program.registers:
        length = packet.old("queue_depths", queue_cell(rule.length_port(packet), 0))
        assumptions["no queue has 2^24 packets"] = length < 1 << 24
    assumptions |= dict(rule.assumptions(packet))
    before = Cell({name: Cells(array) for name, array in world.before.items()}, rule.control)
    for text, truth in rule.invariants(packet, before).items():
        assumptions[f"before the packet: {text}"] = truth
    decision = rule.decide(packet)
    claims = [*decided(step, packet, rule, decision), *_induction(step, packet, rule)]
    hints: list[tuple[Int, Int]] = []
    if packet.is_forwarded is True:
        claims += [Claim(f"theorem: {text}", truth) for text, truth in rule.theorems(packet, decision).items()]
        claims += list(_keys(packet, rule))
        values = {full_name(rule, hint): value for hint, value in decision.hints.items()}
        hints = [(step.field(hint), value) for hint, value in values.items() if hint in step.program.fields]
    lemmas = list(decision.lemmas.values()) if packet.is_forwarded is True else []
    return Case(name, step, packet, assumptions, claims, hints, lemmas)


def _keys(packet: TnaArrival, rule: OnChip) -> Iterator[Claim]:
    """The tables of which any value is taken are asked for the right number."""
    assert isinstance(packet.world, TnaWorld)
    for table, wanted in rule.keys(packet).items():
        for name, (key, _) in packet.world.taken.items():
            if name.endswith(f".{table}"):
                yield Claim(f"key of {name}", key.equals(wanted))


def decided(step: Step, packet: TnaArrival, rule: OnChip, decision: Decision) -> Iterator[Claim]:
    """That the program decides so, and keeps its state so."""
    admitted = every(packet.is_forwarded, decision.admitted)
    again = every(packet.is_forwarded, decision.comes_back) if isinstance(decision, TnaDecision) else False
    yield Claim("verdict", number(is_dropped(step)).equals(number(negated(some(admitted, again)))))
    yield Claim("comes back", number(comes_back(step)).equals(number(again)))
    if isinstance(decision, TnaDecision):
        for name, value in decision.brought.items():
            brought = step.field(f"scalars.userMetadata.{name}")
            yield Claim(f"{name} for the second pass", implies(again, brought.equals(value)))
    yield Claim("port", implies(admitted, step.field(PORT).equals(packet.port)))
    yield Claim("queue", implies(admitted, step.field(QUEUE).equals(decision.queue)))
    yield Claim("header for egress", implies(admitted, step.field("bridge.$valid$").equals(1)))
    yield Claim("user for egress", implies(admitted, step.field("bridge.user").equals(packet.user)))
    yield from cells_kept(step, changes(packet, rule, decision))


def changes(packet: TnaArrival, rule: OnChip, decision: Decision) -> Mapping[str, tuple[Int, Int]]:
    """Index and value of each cell that changes."""
    if packet.is_report is True:
        return {"queue_depths": report_cell(packet)}
    forwarded = packet.is_forwarded
    cells = {packet.full(name): cell for name, cell in decision.written.items()}
    cells = {name: (index, choose(forwarded, value, packet.old(name, index))) for name, (index, value) in cells.items()}
    return {**cells, **counted(rule, packet, decision)}


def _induction(step: Step, packet: TnaArrival, rule: OnChip) -> Iterator[Claim]:
    """The invariants hold at the start, when all registers are 0, and a packet keeps them."""
    zero = {name: Cells(Before(name, array.bits, {})) for name, array in step.program.registers.items()}
    for text, truth in rule.invariants(packet, Cell(zero, rule.control)).items():
        yield Claim(f"at the start: {text}", truth)
    after = Cell({name: step.array(name) for name in step.world.before}, rule.control)
    for text, truth in rule.invariants(packet, after).items():
        for part in conjuncts(truth):
            yield Claim(f"after the packet: {text}", part)
