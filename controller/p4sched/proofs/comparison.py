"""A rule, and how the programs of its target are read and compared with it. This module has those for v1model."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from p4sched.errors import P4schedError
from p4sched.p4rt.program import Program as Built
from p4sched.proofs import example as of_model
from p4sched.proofs.bounded import Search
from p4sched.proofs.engine import ARRIVES_AT, Example, Outcome, by_engine, commands, difference
from p4sched.proofs.exact import Int, Truth, every
from p4sched.proofs.folder import rule_of
from p4sched.proofs.program import Json, Program, of_json, read
from p4sched.proofs.refuting import SMALL
from p4sched.proofs.rules.scheme import Rule, expected
from p4sched.proofs.sides import RuleSide
from p4sched.proofs.solver import Answer
from p4sched.proofs.step import LENGTH, TIMESTAMP, run
from p4sched.proofs.theorem import NOT_COMPARED, Case, Claim, arrival, theorem

FEW = 3
"""Packets of a trace of a mutant that the solvers give up."""
START_US = 1000
SHORTEST_FRAME = 64


@dataclass(frozen=True)
class Comparison(ABC):
    """A program, and the rule that it should decide as."""

    name: str
    """Of the scheme."""
    built: Built
    p4info: str
    tree: Json
    """The program's JSON, as `of_tree` takes it."""
    program: Program
    rule: Rule

    @abstractmethod
    def of_tree(self, tree: Json) -> Program:
        """The program of other JSON."""

    @abstractmethod
    def theorem(self, program: Program, broken: str = "") -> Iterator[Case]:
        """The theorem about a program and the rule. `broken`: a limit of the parameters that is just exceeded."""

    @abstractmethod
    def by_rule(self, example: Example) -> Outcome:
        """The outcome that the rule demands."""

    @abstractmethod
    def by_engine(self, example: Example) -> Outcome:
        """The outcome in the engine."""

    def has_trace(self, program: Program, seconds: float) -> bool:
        """True if a few plain packets show that a program is wrong."""
        return False

    def of_tables(self) -> Iterator[tuple[str, bool]]:
        """Claims about the entries of constant tables, and whether they are true."""
        return iter(())

    def counterexample(self, case: Case, claim: Claim, answer: Answer, seconds: float) -> Example:
        """A packet and a state for which a claim is false. If there are some that the engine can have, one of these."""
        plain = case.plain or case
        asked = plain.answer(claim.name, seconds, self._possible(plain))
        return self._example(plain, asked.model if asked.proved is False else answer.model)

    def confirmed(self, example: Example) -> str:
        """What the engine does with a counterexample, and where the rule decides otherwise, in words."""
        try:
            engine, rule = self.by_engine(example.again()), self.by_rule(example.again())
        except P4schedError as error:
            return f"does not take this packet and state: {error}"
        return difference(compared(engine), rule, example.cells)

    @abstractmethod
    def _possible(self, case: Case) -> Sequence[Truth]:
        """What is true of a packet and a state that the engine can have."""

    @abstractmethod
    def _example(self, case: Case, model: Any) -> Example:
        """Packet and state of a model."""


class V1modelComparison(Comparison):
    """A program for v1model."""

    def of_tree(self, tree: Json) -> Program:
        return of_json(self.program.name, tree)

    def theorem(self, program: Program, broken: str = "") -> Iterator[Case]:
        return theorem(program, self.p4info, self.rule, broken)

    def has_trace(self, program: Program, seconds: float) -> bool:
        return has_trace(program, self.p4info, self.rule, seconds)

    def by_engine(self, example: Example) -> Outcome:
        lines = commands(self.program, example.again())
        (engine,) = by_engine(self.built.json, self.p4info, lines, [example], self.program)
        return engine

    def by_rule(self, example: Example) -> Outcome:
        packet = arrival(run(self.program, example), self.rule)
        decision = self.rule.decide(packet)
        admitted = every(packet.is_forwarded, decision.admitted)
        queue = (packet.port.low, decision.queue.low) if admitted else None
        changes = expected(self.rule, packet, decision)
        cells = {packet.full(name): (index.low, value.low) for name, (index, value) in changes.items()}
        return outcome(self.program, queue, cells, example.cells)

    def _possible(self, case: Case) -> Sequence[Truth]:
        of = case.step.world.variables
        at = of.get("standard_metadata.ingress_port", Int.of(ARRIVES_AT)).equals(ARRIVES_AT)
        first = of.get("standard_metadata.instance_type", Int.of(0)).equals(0)
        return at, first, of[TIMESTAMP] >= START_US, of[LENGTH] >= SHORTEST_FRAME

    def _example(self, case: Case, model: Any) -> Example:
        return of_model.counterexample(case.step, model)


def compared(of: Outcome) -> Outcome:
    """An outcome without what no rule knows."""
    registers, counts = (
        {cell: value for cell, value in cells.items() if cell[0].rpartition(".")[2] not in NOT_COMPARED}
        for cells in (of.changes, of.counts)
    )
    return Outcome(of.queue, registers, counts)


def outcome(
    program: Program,
    queue: tuple[int, int] | None,
    cells: Mapping[str, tuple[int, int]],
    before: Mapping[str, Mapping[int, int]],
) -> Outcome:
    """An outcome with these cells of registers and counters, each with its index and its value."""
    registers = {(name, index): value for name, (index, value) in cells.items() if name in program.registers}
    counts = {
        (name, index): value - before.get(name, {}).get(index, 0)
        for name, (index, value) in cells.items()
        if name in program.counters
    }
    return Outcome(queue, registers, {cell: count for cell, count in counts.items() if count})


def has_trace(program: Program, p4info: str, rule: Rule, seconds: float) -> bool:
    """True if a few plain packets with small numbers show that the program is wrong."""
    search = Search(program, RuleSide(rule, p4info), largest=SMALL)
    return search.is_possible and search.shortest(FEW, seconds)[0] is not None


def comparison(name: str, built: Built) -> V1modelComparison:
    """A program for v1model with the rule of a scheme."""
    program = read(built.json)
    text, tree = (path.read_text(encoding="utf-8") for path in (built.p4info, built.json))
    return V1modelComparison(name, built, text, json.loads(tree), program, rule_of(name, program))
