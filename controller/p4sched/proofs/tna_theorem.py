"""The theorem about a program for Tofino: ingress decides as the rule of its page, for each packet and state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from p4sched.errors import P4schedError
from p4sched.proofs.cells import Before, Cells
from p4sched.proofs.exact import Int, Truth, choose, conjuncts, every, implies, negated, number, some
from p4sched.proofs.program import Program
from p4sched.proofs.rules.scheme import Cell, Decision, counted, queue_cell
from p4sched.proofs.rules.tna_scheme import OnChip, TnaDecision
from p4sched.proofs.step import Step
from p4sched.proofs.theorem import Case, Claim, cells_kept, full_name, legal
from p4sched.proofs.tna import PORT, QUEUE, TnaWorld, comes_back, is_dropped, run
from p4sched.proofs.tna_arrival import TnaArrival, report_cell


def theorem(program: Program, p4info: str, rule: OnChip) -> Iterator[Case]:
    """The theorem, case by case. The cases cover all packets."""
    first = TnaWorld(opaque=rule.opaque)
    packet = arrival(run(program, first), rule)
    direct, _ = packet.answer("forwarding.ipv4_routes", "forward")
    forwarded = packet.is_forwarded
    cases: dict[str, Truth] = {"a report of a length": packet.is_report} if packet.has_reports else {}
    cases["no route"] = every(negated(packet.is_report), negated(forwarded))
    for kind, truth in rule.cases(packet).items():
        of = f", {kind}" if kind else ""
        cases[f"route{of}"] = every(forwarded, direct, truth)
        cases[f"path of a group{of}"] = every(forwarded, negated(direct), truth)
    for name, condition in cases.items():
        world = TnaWorld("", first.variables, {}, dict(first.lookups), [condition], opaque=rule.opaque)
        step = run(program, world)
        yield _case(name, step, p4info, rule)


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


def _case(name: str, step: Step, p4info: str, rule: OnChip) -> Case:
    world = step.world
    packet = arrival(step, rule)
    assumptions = legal(step, p4info)
    if packet.has_reports or "queue_depths" in step.program.registers:
        length = packet.old("queue_depths", queue_cell(rule.length_port(packet), 0))
        assumptions["no queue has 2^24 packets"] = length < 1 << 24
    assumptions |= dict(rule.assumptions(packet))
    before = Cell({name: Cells(array) for name, array in world.before.items()}, rule.control)
    for text, truth in rule.invariants(packet, before).items():
        assumptions[f"before the packet: {text}"] = truth
    decision = rule.decide(packet)
    claims = [*_claims(step, packet, rule, decision), *_induction(step, packet, rule)]
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


def _claims(step: Step, packet: TnaArrival, rule: OnChip, decision: Decision) -> Iterator[Claim]:
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
    yield from cells_kept(step, _changes(packet, rule, decision))


def _changes(packet: TnaArrival, rule: OnChip, decision: Decision) -> Mapping[str, tuple[Int, Int]]:
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
