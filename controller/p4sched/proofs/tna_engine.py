"""One packet through a program for Tofino with numbers: the step, to be compared with the engine."""

from __future__ import annotations

from typing import Any

from p4sched.proofs import example
from p4sched.proofs.engine import Example, Outcome, changes
from p4sched.proofs.program import Program
from p4sched.proofs.step import Step
from p4sched.proofs.tna import PORT, QUEUE, RESUBMITTED, comes_back, is_dropped, run

BROUGHT = ("cost", "user", "scale")
"""Metadata that a packet brings into its second pass."""


def by_step(program: Program, example: Example) -> Outcome:
    """The outcome of ingress, with the second pass of a packet that comes back."""
    step = run(program, example)
    written, counts = changes(step, program.registers), changes(step, program.counters)
    if comes_back(step):
        brought = {f"push_down.{name}": step.field(f"scalars.userMetadata.{name}").low for name in BROUGHT}
        cells = {name: dict(of) for name, of in example.cells.items()}
        for (name, index), value in [*written.items(), *counts.items()]:
            cells.setdefault(name, {})[index] = value
        packet = {**example.packet, **brought, RESUBMITTED: 1}
        step = run(program, Example(packet=packet, calls=example.calls, cells=cells))
        written |= changes(step, program.registers)
        counts |= changes(step, program.counters)
    queue = None if is_dropped(step) else (step.field(PORT).low, step.field(QUEUE).low)
    return Outcome(queue, written, counts)


def counterexample(step: Step, model: Any) -> Example:
    """The packet and the state of a model."""
    parsed = {
        operation["parameters"][0]["value"]
        for state in step.program.parser.values()
        for operation in state["parser_ops"]
        if operation["op"] == "extract"
    }
    headers = [
        name
        for name in step.program.headers
        if name in parsed and example.value_in(model, step.field(f"{name}.$valid$"))
    ]
    return example.counterexample(step, model, headers)
