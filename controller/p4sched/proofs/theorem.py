"""The theorem about a program: for each packet, state and parameter it decides as its rule, and keeps its state."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from p4sched.errors import P4schedError
from p4sched.proofs import bitwuzla_terms
from p4sched.proofs.cells import Before, Cells, is_cell
from p4sched.proofs.exact import (
    PRODUCTS,
    Int,
    Truth,
    choose,
    conjuncts,
    every,
    exact,
    implies,
    negated,
    number,
    unknown,
    variables,
)
from p4sched.proofs.merging import merge
from p4sched.proofs.program import Program, UnmodelledError
from p4sched.proofs.restrictions import beyond, holds, limits, restriction
from p4sched.proofs.rules.arrival import LARGEST_RANK, PORT, RANK, SCALE, USER, USERS, Arrival
from p4sched.proofs.rules.scheme import Cell, Decision, Rule, expected, in_the_switch
from p4sched.proofs.solver import Answer, ask, by_z3, is_true
from p4sched.proofs.step import DROP_PORT, Step, World, run

NOT_COMPARED = ("rank_histogram", "depth_histogram", "user_prefix_counter", "user_flow_counter")
"""Counters that no rule knows."""
Question = Callable[[Sequence[Truth], Truth, float], Answer]
"""Premises, statement and seconds."""
Names = Mapping[str, tuple[Int, Int]]
"""Values with the variables in their place, by the name of a field."""
NO_NAMES: Names = {}
NAMED: Mapping[str, tuple[Callable[[Arrival], Int], int]] = {
    PORT: (lambda packet: packet.port, DROP_PORT),
    USER: (lambda packet: packet.user, USERS - 1),
    SCALE: (lambda packet: packet.scale, 0xFFFF),
    RANK: (lambda packet: packet.rank if packet.is_ranked else exact(0), LARGEST_RANK),
}
"""Values that program and rule compute before the decision, with their largest ones."""
BEFORE = "before the packet: "
SOON = 3.0
"""Seconds for a first question."""


class ContradictionError(P4schedError):
    """The assumptions of a case contradict each other: there is no packet of this kind."""


@dataclass(frozen=True)
class Claim:
    """A statement that must be true."""

    name: str
    statement: Truth
    any_of: Sequence[Int | Truth] = ()
    """It is true whatever these values are."""


@dataclass(frozen=True)
class Case:
    """The claims about one kind of packets, and what they assume."""

    name: str
    step: Step
    packet: Arrival
    assumptions: dict[str, Truth]
    claims: list[Claim]
    hints: list[tuple[Int, Int]]
    """Values of the program and of the rule that should be equal."""
    lemmas: Sequence[Truth] = ()
    """Statements that the claims assume if they are proved."""
    plain: Case | None = None
    """The same case, with values that have variables in their place here. A counterexample is one of it."""

    def premises(self, *statements: Truth) -> list[Truth]:
        """All assumptions, and what is known of the cells that they and the statements read."""
        assumed = [*self.step.world.assumed, *self.assumptions.values()]
        return [*assumed, *self.step.world.laws([*assumed, *statements])]

    def has_packets(self, seconds: float) -> bool:
        """False if the assumptions contradict each other."""
        return not ask(self.premises(), False, seconds).proved

    def answers(self, seconds: float) -> Iterator[tuple[Claim, Answer]]:
        """Each claim with the solver's answer. Ends after the first claim that is false.

        If the values of a hint are equal, a new variable takes their place: what is true for all its values is true for
        this one.
        """
        if not self.has_packets(seconds):
            raise ContradictionError(f"{self.name}: the assumptions contradict each other, so they prove everything")
        count = len(self.claims)
        statements = [claim.statement for claim in self.claims]
        hints = [(one, two) for one, two in self.hints if not one.is_number and not two.is_number]
        equal = [one.equals(two) for one, two in hints]
        assumed = [*self.step.world.assumed, *self.assumptions.values(), *self._proved_lemmas(seconds)]
        first, last = count + len(hints), count + len(hints) + len(assumed)
        terms = [*statements, *equal, *assumed, *self.step.world.laws([*assumed, *statements, *equal])]
        sides = [side.term for pair in hints for side in pair]
        for place, (one, two) in enumerate(hints):
            same = terms[count + place]
            premises = [*terms[first:last], *Laws(terms[last:]).about([same, *terms[first:last]])]
            if same is True or not decide(premises, same, seconds).proved:
                continue
            high = min(one.high, two.high)
            value = Int.variable(f"value {place}", high.bit_length(), high)
            left, right = sides[2 * place : 2 * place + 2]
            new = {left.get_id(): value.at(one.bits), right.get_id(): value.at(two.bits)}
            replaced = PRODUCTS.replaced([*terms, *sides], new)
            terms, sides = replaced[: len(terms)], replaced[len(terms) :]
        laws = Laws(terms[last:])
        for claim, statement in zip(self.claims, terms, strict=False):
            answer = self._general(claim, seconds)
            if not answer.proved:
                premises = [*terms[first:last], *laws.about([statement, *terms[first:last]])]
                answer = decide(premises, statement, seconds)
            if answer.proved is False:
                # the model has no values for what hints and names left out
                answer = (self.plain or self).answer(claim.name, seconds)
            yield claim, answer
            if answer.proved is False:
                return

    def false_claim(self, seconds: float) -> str:
        """Name of a claim that is false, from one question about all of them; empty if none was found."""
        plain = self.plain or self
        statement = every(*(claim.statement for claim in plain.claims))
        answer = ask(plain.premises(statement), statement, seconds)
        if answer.proved is not False:
            return ""
        false = [claim.name for claim in plain.claims if not is_true(answer.model, claim.statement)]
        # a product has another value in the model
        return false[0] if false else "a claim"

    def _proved_lemmas(self, seconds: float) -> list[Truth]:
        """The lemmas that are true. Each one assumes those before it."""
        proved: list[Truth] = []
        for lemma in self.lemmas:
            premises = [*self.premises(*proved, lemma), *proved]
            if decide(premises, lemma, seconds).proved:
                proved.append(lemma)
        return proved

    def _general(self, claim: Claim, seconds: float) -> Answer:
        """The answer with variables in the place of some values: without premises, then with the invariants."""
        if not claim.any_of:
            return Answer(None, 0.0)
        assumed = [truth for name, truth in self.assumptions.items() if name.startswith(BEFORE)]
        *premises, statement = PRODUCTS.replaced([*assumed, claim.statement], unknown(claim.any_of))
        alone = PROVED.ask([], statement, min(SOON, seconds))
        return alone if alone.proved else PROVED.ask(premises, statement, seconds)

    def answer(self, name: str, seconds: float, also: Sequence[Truth] = ()) -> Answer:
        """The answer to all claims of this name together, without hints. `also`: more premises."""
        statement = every(*(claim.statement for claim in self.claims if claim.name == name))
        return ask([*self.premises(statement, *also), *also], statement, seconds)


class Laws:
    """Laws about cells."""

    def __init__(self, laws: Sequence[Truth]) -> None:
        self._laws = [
            (law, {one.get_id() for one in variables([law]) if is_cell(str(one))})
            for law in laws
            if not isinstance(law, bool)
        ]

    def about(self, terms: Sequence[Truth]) -> list[Truth]:
        """Laws about the cells that the terms read."""
        read = {variable.get_id() for variable in variables(terms)}
        return [law for law, cells in self._laws if cells <= read]


class _Proved:
    """Questions that were answered with yes. They are not asked again: mutants have most claims in common."""

    def __init__(self) -> None:
        self._known: dict[tuple[frozenset[int], int], Sequence[Truth]] = {}
        """The terms of each question: while they live, no other term has their number."""

    def ask(self, premises: Sequence[Truth], statement: Truth, seconds: float, how: Question = ask) -> Answer:
        """The answer to a question, from memory if it is known. `how`: asks the solvers."""
        terms = [term for term in (*premises, statement) if not isinstance(term, bool)]
        if isinstance(statement, bool) or any(premise is False for premise in premises):
            return how(premises, statement, seconds)
        key = frozenset(term.get_id() for term in terms[:-1]), int(statement.get_id())
        if key in self._known:
            return Answer(True, 0.0)
        answer = how(premises, statement, seconds)
        if answer.proved:
            self._known[key] = terms
        return answer


PROVED = _Proved()


def decide(premises: Sequence[Truth], statement: Truth, seconds: float) -> Answer:
    """Asks Bitwuzla; if it gives up soon, both solvers, with the equal parts of the statement merged."""
    return PROVED.ask(premises, statement, seconds, _decided)


def _decided(premises: Sequence[Truth], statement: Truth, seconds: float) -> Answer:
    started = time.process_time()
    answer = ask(premises, statement, min(seconds, SOON))
    if answer.proved is not None:
        return answer
    (merged,) = merge(premises, [statement], seconds)
    for solver in (bitwuzla_terms.solved, by_z3):
        answer = ask(premises, merged, seconds, solver)
        if answer.proved is not None:
            break
    return Answer(answer.proved, time.process_time() - started, answer.model)


def theorem(program: Program, p4info: str, rule: Rule, broken: str = "") -> Iterator[Case]:
    """The theorem about a program and a rule, case by case. The cases cover all packets.

    `broken`: a limit of the parameters that is just exceeded.
    """
    everything = _Everything(program, p4info, rule, broken)
    forwarded = everything.packet({}).is_forwarded
    yield everything.case("no route", negated(forwarded))
    named = everything.named(forwarded)
    kinds, of_plain = (rule.cases(everything.packet(names)) for names in (named, {}))
    for kind, truth in kinds.items():
        name = f"route, {kind}" if kind else "route"
        plain = everything.case(name, forwarded, of_plain[kind])
        yield replace(everything.case(name, forwarded, truth, named=named), plain=plain)


class _Everything:
    """All packets of a program."""

    def __init__(self, program: Program, p4info: str, rule: Rule, broken: str) -> None:
        self._program, self._p4info, self._rule, self._broken = program, p4info, rule, broken
        self._world = run(program, World()).world

    def _step(self, named: Names, *conditions: Truth) -> Step:
        lookups = dict(self._world.lookups)
        world = World("", self._world.variables, {}, lookups, list(conditions), dict(named))
        return run(self._program, world)

    def packet(self, named: Names) -> Arrival:
        """A packet."""
        return arrival(self._step(named), self._rule)

    def named(self, forwarded: Truth) -> Names:
        """Variables in place of values that program and rule compute alike.

        What is true for all values of a variable is true for this one.
        """
        named: dict[str, tuple[Int, Int]] = {}
        for field, (wanted, most) in NAMED.items():
            step = self._step(named, forwarded)
            packet = arrival(step, self._rule)
            found = _value(step, field, f"{self._rule.control}.{self._rule.table}")
            of_rule = wanted(packet)
            if found is None or found.is_number or of_rule.is_number:
                continue
            same = every(found.equals(of_rule), of_rule <= most)
            assumed = [forwarded, *legal(step, self._p4info, self._broken).values()]
            if decide([*assumed, *step.world.laws([*assumed, same])], same, SOON).proved:
                bits = self._program.fields[field]
                named[field] = found, Int.variable(f"the {field.rpartition('.')[2]}", bits, min(most, (1 << bits) - 1))
        return named

    def case(self, name: str, *conditions: Truth, named: Names = NO_NAMES) -> Case:
        """The case of some packets."""
        rule, step = self._rule, self._step(named, *conditions)
        packet, world = arrival(step, rule), step.world
        assumptions = legal(step, self._p4info, self._broken) | in_the_switch(rule, packet)
        assumptions |= dict(rule.assumptions(packet))
        before = {name: Cells(array) for name, array in world.before.items()}
        for text, truth in rule.invariants(packet, Cell(before, rule.control)).items():
            assumptions[f"{BEFORE}{text}"] = truth
        decision = rule.decide(packet)
        claims = [*_claims(step, packet, rule, decision), *_induction(step, packet, rule, decision)]
        if packet.is_forwarded is not True:
            return Case(name, step, packet, assumptions, claims, [])
        claims += _theorems(rule, packet, decision)
        values = {full_name(rule, hint): value for hint, value in decision.hints.items()}
        hints = [(step.field(hint), value) for hint, value in values.items() if hint in self._program.fields]
        return Case(name, step, packet, assumptions, claims, hints, list(decision.lemmas.values()))


def _value(step: Step, field: str, table: str) -> Int | None:
    """A value that the rule's table may need: as it is in its key, or at the end."""
    (of,) = (one for one in step.program.tables.values() if one["name"] == table)
    key = [".".join(part["target"]) for part in of["key"]]
    if field in key:
        return step.world.lookups[table][0][key.index(field)]
    return step.field(field) if field != PORT and field in step.program.fields else None


def arrival(step: Step, rule: Rule) -> Arrival:
    """The packet as the rule sees it."""
    name = f"{rule.control}.{rule.table}"
    if name not in step.world.lookups:
        raise P4schedError(f"{step.program.name}: no table '{name}'; the rule needs it")
    ask_all_tables(step)
    data = step.world.lookups[name][1].data[f"{rule.control}.{rule.action}"]
    (action,) = (one for one in step.program.actions.values() if one["name"] == f"{rule.control}.{rule.action}")
    names = [one["name"] for one in action["runtime_data"]]
    return Arrival(step.world, rule.control, dict(zip(names, data, strict=True)))


def ask_all_tables(step: Step) -> None:
    """Asks the tables that the packet does not reach: a rule may need their answer."""
    actions = {one["name"]: one for one in step.program.actions.values()}
    for table, of in step.program.tables.items():
        if of["key"] and "entries" not in of and table not in step.world.lookups:
            step.world.answer(of, actions, [])


def legal(step: Step, p4info: str, broken: str = "") -> dict[str, Truth]:
    """The parameters of all tables are legal; except that one limit is just exceeded."""
    found: dict[str, Truth] = {}
    for table, (_, answer) in step.world.lookups.items():
        for action, data in answer.data.items():
            text = restriction(p4info, action)
            if text:
                (of,) = (one for one in step.program.actions.values() if one["name"] == action)
                values = dict(zip([one["name"] for one in of["runtime_data"]], data, strict=True))
                kept = ";".join(limit for limit in limits(text) if limit != broken)
                past = beyond(broken, values) if broken in limits(text) else True
                found[f"{table}: {text}"] = every(holds(kept, values), past)
    return found


def _induction(step: Step, packet: Arrival, rule: Rule, decision: Decision) -> Iterator[Claim]:
    """The invariants hold at the start, when all registers are 0, and a packet keeps them.

    The state after the packet is the rule's; other claims say that the program's is the same.
    """
    zero = {name: Cells(Before(name, array.bits, {})) for name, array in step.program.registers.items()}
    for text, truth in rule.invariants(packet, Cell(zero, rule.control)).items():
        yield Claim(f"at the start: {text}", truth)
    after = {name: Cells(array) for name, array in step.world.before.items()}
    for name, (index, value) in expected(rule, packet, decision).items():
        after[name] = after[name].with_cell(index, value)
    induction = rule.induction if packet.is_forwarded is True else partial(Rule.induction, rule)
    for kept in induction(packet, Cell(after, rule.control)):
        for part in conjuncts(kept.statement):
            yield Claim(f"after the packet: {kept.text}", part, kept.any_of)


def _theorems(rule: Rule, packet: Arrival, decision: Decision) -> Iterator[Claim]:
    """Statements about the rule; and that the counters of a queue add up to its packets."""
    for text, truth in rule.theorems(packet, decision).items():
        for part in conjuncts(truth):
            yield Claim(f"theorem: {text}", part)
    counted = number(decision.admitted) + number(decision.refused) + number(decision.full)
    yield Claim("theorem: admitted + refused + full = packets with a route", counted.equals(1))


def full_name(rule: Rule, hint: str) -> str:
    """A field of the program. A name with a dot in front is a variable below the ingress control."""
    return f"scalars.{rule.control}{hint}" if hint.startswith(".") else hint


def _claims(step: Step, packet: Arrival, rule: Rule, decision: Decision) -> Iterator[Claim]:
    admitted = every(packet.is_forwarded, decision.admitted)
    port = choose(step.world.decide(admitted), packet.port, DROP_PORT)
    yield Claim("verdict", step.field("standard_metadata.egress_spec").equals(port))
    yield Claim("queue", implies(admitted, step.field("standard_metadata.priority").equals(decision.queue)))
    for field, value in decision.for_port.items():
        name = field.replace("meta.", "scalars.userMetadata.")
        if name not in step.program.fields:
            raise UnmodelledError(f"{step.program.name}: no field '{field}'; the rule needs it")
        yield Claim(f"{field} for the port", implies(admitted, step.field(name).equals(value)))
    changes = expected(rule, packet, decision)
    unknown = changes.keys() - step.world.before.keys()
    if unknown:
        raise UnmodelledError(f"{step.program.name}: no register or counter '{min(unknown)}'; the rule needs it")
    yield from cells_kept(step, changes)


def cells_kept(step: Step, changes: Mapping[str, tuple[Int, Int]]) -> Iterator[Claim]:
    """That each changed cell, given as index and value, holds its value, and all others stay as they were."""
    anywhere = Int.variable("any cell", 17)
    for name in step.world.before:
        if name.rpartition(".")[2] in NOT_COMPARED:
            continue
        after = step.array(name)
        cell = after.before.cell(anywhere)
        if name in changes:
            index, value = changes[name]
            yield Claim(f"{name} of the packet", after.cell(index).equals(value))
            other = negated(anywhere.equals(index))
            yield Claim(f"other cells of {name}", implies(other, after.cell(anywhere).equals(cell)))
        else:
            yield Claim(f"{name} is unchanged", after.cell(anywhere).equals(cell))
