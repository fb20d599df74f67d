"""A program for Tofino, and the rule of its page: its counterexamples are packets and states for the engine."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from p4sched.constants import RECIRCULATION_PORT_TNA
from p4sched.p4rt.program import Program as Built
from p4sched.p4rt.target import Target
from p4sched.proofs import logarithms, tna, tna_engine, tna_theorem
from p4sched.proofs.comparison import Comparison, outcome
from p4sched.proofs.engine import START_NS, Example, Outcome, by_engine, commands
from p4sched.proofs.exact import Int, Truth, every, implies, some
from p4sched.proofs.example import value_in
from p4sched.proofs.folder import chip_rule_of
from p4sched.proofs.program import Json, Program
from p4sched.proofs.rules.tna_scheme import OnChip, TnaDecision
from p4sched.proofs.solver import Answer, is_true
from p4sched.proofs.theorem import Case, Claim, ask_all_tables
from p4sched.proofs.tna_arrival import TnaArrival

INGRESS_PORTS = (1, RECIRCULATION_PORT_TNA)
PORTS = 64
"""Ports of the first pipe that lead to other machines."""
WRITABLE_BITS = 63
"""Bits of a register that can be set."""
Taken = tuple[Int, Int]
"""Key and value of a table."""


@dataclass
class Numbers(Example, tna.TnaWorld):
    """A packet with numbers, and the values that constant tables give."""


@dataclass(frozen=True)
class TnaComparison(Comparison):
    """A program for TNA or T2NA."""

    rule: OnChip

    def of_tree(self, tree: Json) -> Program:
        return tna.of_tree(self.built.json, tree)

    def theorem(self, program: Program, broken: str = "") -> Iterator[Case]:
        return tna_theorem.theorem(program, self.p4info, self.rule, broken)

    def of_tables(self) -> Iterator[tuple[str, bool]]:
        return logarithms.claims(self.built.json, self.name) if self.rule.opaque else iter(())

    def by_engine(self, example: Example) -> Outcome:
        lines = commands(self.program, example.again(), tna.run)
        port = example.packet[tna.INGRESS_PORT]
        (engine,) = by_engine(self.built.json, self.p4info, lines, [example], self.program, port)
        return engine

    def by_rule(self, example: Example) -> Outcome:
        packet = self._packet(example)
        decision = self.rule.decide(packet)
        changes = tna_theorem.changes(packet, self.rule, decision)
        cells = {name: (index.low, value.low) for name, (index, value) in changes.items()}
        if isinstance(decision, TnaDecision) and every(packet.is_forwarded, decision.comes_back):
            brought = {f"push_down.{name}": value.low for name, value in decision.brought.items()}
            second = self.by_rule(tna_engine.second_pass(example, brought, cells))
            first = outcome(self.program, None, cells, example.cells)
            return Outcome(second.queue, first.changes | second.changes, first.counts | second.counts)
        admitted = every(packet.is_forwarded, decision.admitted)
        queue = (packet.port.low, decision.queue.low) if admitted else None
        return outcome(self.program, queue, cells, example.cells)

    def _packet(self, example: Example) -> TnaArrival:
        """The packet as the rule sees it, with the entries of the tables."""
        world = Numbers(packet=example.packet, calls=example.calls, cells=example.cells)
        step = tna.run(self.program, world)
        ask_all_tables(step)
        packet = tna_theorem.arrival(step, self.rule)
        for end, key in self.rule.keys(packet).items():
            for name, table in self.program.tables.items():
                if name.endswith(f".{end}"):
                    world.taken[name] = key, Int.of(logarithms.value_of(table, key.low))
        return packet

    def counterexample(self, case: Case, claim: Claim, answer: Answer, seconds: float) -> Example:
        """See `Comparison`. Entries of the tables of which any value is taken are looked up one after the other."""
        if not self.rule.opaque or case.packet.is_forwarded is not True:
            return super().counterexample(case, claim, answer, seconds)
        plain = case.plain or case
        asked, tables = self._with_entries(plain, claim)
        # the same key has the same value
        known = [implies(one[0].equals(two[0]), one[1].equals(two[1])) for _, one, two in tables]
        end = time.process_time() + seconds
        found = answer
        while time.process_time() < end:
            found = asked.answer(claim.name, seconds, [*self._possible(plain), *known])
            facts = self._facts(tables, found.model) if found.proved is False else []
            if not facts:
                break
            known += facts
        return self._example(plain, found.model if found.proved is False else answer.model)

    def _with_entries(self, case: Case, claim: Claim) -> tuple[Case, list[tuple[str, Taken, Taken]]]:
        """The case with a rule that asks these tables for the right keys. It has the claim, or all if it has no such.

        Also key and value of each table, for the program and for the rule.
        """
        asked, world = case.step.world, copy.copy(case.step.world)
        assert isinstance(asked, tna.TnaWorld)
        assert isinstance(world, tna.TnaWorld)
        packet = case.packet
        assert isinstance(packet, TnaArrival)
        tables = []
        for end, key in self.rule.keys(packet).items():
            for name, (of_program, value) in asked.taken.items():
                if name.endswith(f".{end}"):
                    range_of = value.high - value.low
                    right = world.variable(f"{name}: value of the rule", range_of.bit_length(), range_of) + value.low
                    tables.append((name, (of_program, value), (key, right)))
        world.taken = {name: right for name, _, right in tables}
        packet = replace(packet, world=world)
        claims = list(tna_theorem.decided(case.step, packet, self.rule, self.rule.decide(packet)))
        wanted = [one for one in claims if one.name == claim.name] or claims
        return replace(case, claims=[replace(one, name=claim.name) for one in wanted]), tables

    def _facts(self, tables: Sequence[tuple[str, Taken, Taken]], model: Any) -> list[Truth]:
        """Entries of tables that a model contradicts."""
        facts = [
            logarithms.fact(self.program.tables[name], key, value, value_in(model, key))
            for name, *both in tables
            for key, value in both
        ]
        return [fact for fact in facts if not is_true(model, fact)]

    def _possible(self, case: Case) -> Sequence[Truth]:
        packet, world = case.packet, case.step.world
        assert isinstance(packet, TnaArrival)
        found = [world.variables[tna.TIME] >= START_NS]
        if tna.INGRESS_PORT in world.variables:
            found.append(some(*(packet.field(tna.INGRESS_PORT).equals(port) for port in INGRESS_PORTS)))
        if packet.is_forwarded is True:
            found.append(packet.port < PORTS)
        if packet.is_second_pass is True:
            found.append(self.rule.after_first_pass(packet))
        for before in world.before.values():
            if before.bits > WRITABLE_BITS:
                found += [cell < 1 << WRITABLE_BITS for _, cell in before.read.values()]
        return found

    def _example(self, case: Case, model: Any) -> Example:
        packet = case.packet
        found = tna_engine.counterexample(case.step, model, packet)
        if not isinstance(packet, TnaArrival) or packet.is_second_pass is not True:
            return found
        before = {packet.full(name): cell for name, cell in self.rule.before_first_pass(packet).items()}
        return tna_engine.first_pass(found, model, before)


def comparison(name: str, built: Built, target: Target) -> TnaComparison:
    """A program for a Tofino with the rule of a scheme."""
    tree = tna.read_tree(built.json)
    program = tna.of_tree(built.json, tree)
    rule = chip_rule_of(name, program, target)
    return TnaComparison(name, built, built.p4info.read_text(encoding="utf-8"), tree, program, rule)
