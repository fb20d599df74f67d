"""One packet through a program for Tofino with numbers: the step, to be compared with the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from p4sched.proofs import example
from p4sched.proofs.engine import Example, Outcome, changes
from p4sched.proofs.exact import Int
from p4sched.proofs.program import Program
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.solver import is_true
from p4sched.proofs.step import LENGTH, TIMESTAMP, Step
from p4sched.proofs.tna import PORT, QUEUE, RESUBMITTED, TIME, comes_back, is_dropped, run
from p4sched.proofs.tna_arrival import TnaArrival

BROUGHT = ("cost", "user", "scale")
"""Metadata that a packet brings into its second pass."""
PUSH_DOWN = "push_down."
CHECKSUM = "ipv4.hdr_checksum"


def by_step(program: Program, example: Example) -> Outcome:
    """The outcome of ingress, with the second pass of a packet that comes back."""
    step = run(program, example)
    written, counts = changes(step, program.registers), changes(step, program.counters)
    if comes_back(step):
        brought = {f"{PUSH_DOWN}{name}": step.field(f"scalars.userMetadata.{name}").low for name in BROUGHT}
        cells = {name: (index, value) for (name, index), value in [*written.items(), *counts.items()]}
        step = run(program, second_pass(example, brought, cells))
        written |= changes(step, program.registers)
        counts |= changes(step, program.counters)
    queue = None if is_dropped(step) else (step.field(PORT).low, step.field(QUEUE).low)
    return Outcome(queue, written, counts)


def second_pass(example: Example, brought: Mapping[str, int], changed: Mapping[str, tuple[int, int]]) -> Example:
    """A packet that comes back with what it brings. `changed`: index and value of the cells of its first pass."""
    cells = {name: dict(of) for name, of in example.cells.items()}
    for name, (index, value) in changed.items():
        cells.setdefault(name, {})[index] = value
    return Example(packet={**example.packet, **brought, RESUBMITTED: 1}, calls=example.calls, cells=cells)


def first_pass(second: Example, model: Any, before: Mapping[str, tuple[Int, Int]]) -> Example:
    """The packet before its first pass. `before`: index and value of the cells that this pass changes."""
    packet = {name: value for name, value in second.packet.items() if not name.startswith(PUSH_DOWN)}
    cells = {name: dict(of) for name, of in second.cells.items()}
    for name, (index, value) in before.items():
        cells.setdefault(name, {})[example.value_in(model, index)] = example.value_in(model, value)
    return Example(packet={**packet, RESUBMITTED: 0}, calls=second.calls, cells=cells)


def counterexample(step: Step, model: Any, of: Arrival) -> Example:
    """The packet and the state of a model."""
    assert isinstance(of, TnaArrival)
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
    found = example.counterexample(step, model, headers)
    time = example.value_in(model, step.world.variables[TIME])
    # the frame has the bytes of its headers, and no more: behind them the packet ends
    packet = {**found.packet, TIME: time, TIMESTAMP: time // 1000, LENGTH: 0}
    if CHECKSUM in packet and not is_true(model, of.has_right_checksum):
        packet[CHECKSUM] ^= 1
    return Example(packet=packet, calls=found.calls, cells=found.cells)
