"""A counterexample: a packet and a state for which a program does not decide as its rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

import z3

from p4sched.proofs.engine import Call, Example, checksum, crc32
from p4sched.proofs.exact import Int, parts
from p4sched.proofs.solver import is_true
from p4sched.proofs.step import LENGTH, Step


def value_in(model: Any, term: Int) -> int:
    """Value of a term in a model."""
    return term.low if term.is_number else int(model.eval(term.term, model_completion=True).as_long())


def index_in(model: Any, index: Int) -> int:
    """Number of a cell in a model. A hash is an unknown function there; here it is what the engine computes."""
    if index.is_number:
        return index.low
    term = index.term
    while hashes := [one for one in parts([term]) if one.num_args() and one.decl().name().startswith("crc32_")]:
        # the innermost one first: its word has no hash
        of = hashes[0].arg(0)
        word = model.eval(of, model_completion=True).as_long()
        term = z3.substitute(term, (hashes[0], z3.BitVecVal(crc32(word, of.size()), hashes[0].size())))
    return int(model.eval(term, model_completion=True).as_long())


def counterexample(step: Step, model: Any, headers: Sequence[str] | None = None) -> Example:
    """The packet and the state of a model. `headers`: of the packet; None: all before the first that is missing."""
    value = partial(value_in, model)

    world, program = step.world, step.program
    if headers is None:
        has = {name: world.variables.get(f"packet has {name}") for name in program.emitted}
        headers = list(takewhile(lambda name: (one := has[name]) is not None and value(one), program.emitted))
    packet = {
        part: value(world.variables[part])
        for header in headers
        for part in program.headers[header]
        if part in world.variables
    }
    shortest = sum(program.fields[part] for part in packet) // 8
    packet |= {name: value(term) for name, term in world.variables.items() if name.startswith("standard_metadata.")}
    packet |= {name: value(term) for name, term in world.variables.items() if name.startswith("byte ")}
    packet[LENGTH] = max(packet.get(LENGTH, 0), shortest)
    if "ipv4.hdr_checksum" in packet:
        right = checksum(
            [(packet[part], program.fields[part]) for part in program.headers["ipv4"][:-3]]
            + [(packet[part], program.fields[part]) for part in program.headers["ipv4"][-2:]]
        )
        wrong = packet.get("standard_metadata.checksum_error", 0)
        packet["ipv4.hdr_checksum"] = right ^ (1 if wrong else 0)
    calls = {}
    for name, (_, answer) in world.lookups.items():
        action = value(answer.action)
        if action == len(program.tables[name]["actions"]):
            continue
        data = [value(one) for one in answer.data[program.tables[name]["actions"][action]]]
        calls[name] = Call(is_true(model, answer.hit), action, data)
    arrays = {**program.registers, **program.counters}
    cells = {
        # a cell without a value has nothing to do with the claim, and behind the last one there is none
        name: {
            index: value(cell)
            for at, cell in before.read.values()
            if model[cell.term.decl()] is not None and (index := index_in(model, at)) < arrays[name].size
        }
        for name, before in world.before.items()
        if name in arrays
    }
    sets: dict[str, list[int]] = {}
    for name, key, is_in in world.members:
        sets.setdefault(name, [])
        if is_true(model, is_in):
            sets[name].append(value(key))
    return Example(packet=packet, calls=calls, cells=cells, sets=sets)


def lines(example: Example, step: Step) -> Iterator[str]:
    """Packet and state in words."""
    shown = {name: value for name, value in example.packet.items() if value}
    yield f"packet      {', '.join(f'{name} = {value}' for name, value in shown.items())}"
    for name, call in example.calls.items():
        action = step.program.tables[name]["actions"][call.action]
        yield f"table       {name}: {action.rpartition('.')[2]}({', '.join(map(str, call.data))})"
    for name, members in example.sets.items():
        yield f"value set   {name}: {', '.join(map(hex, dict.fromkeys(members))) or 'without the key of this packet'}"
    for name, cells in example.cells.items():
        if name in step.program.registers and any(cells.values()):
            yield f"register    {name}: {', '.join(f'[{index}] = {value}' for index, value in cells.items() if value)}"
