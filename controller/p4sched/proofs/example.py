"""A counterexample: a packet and a state for which a program does not decide as its rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from p4sched.proofs.engine import Call, Example
from p4sched.proofs.exact import Int, Truth
from p4sched.proofs.step import LENGTH, Step


def counterexample(step: Step, model: Any) -> Example:
    """The packet and the state of a model."""

    def value(term: Int) -> int:
        return term.low if term.is_number else int(model.eval(term.term, model_completion=True).as_long())

    def holds(condition: Truth) -> bool:
        return condition if isinstance(condition, bool) else str(model.eval(condition, model_completion=True)) == "True"

    world, program = step.world, step.program
    packet: dict[str, int] = {}
    for header in program.emitted:
        has = world.variables.get(f"packet has {header}")
        if has is None or not value(has):
            break
        packet |= {part: value(world.variables[part]) for part in program.headers[header] if part in world.variables}
    packet |= {name: value(term) for name, term in world.variables.items() if name.startswith("standard_metadata.")}
    shortest = sum(program.fields[part] for part in packet if not part.startswith("standard_metadata.")) // 8
    packet[LENGTH] = max(packet[LENGTH], shortest)
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
        data = [value(one) for one in answer.data[program.tables[name]["actions"][action]]]
        calls[name] = Call(holds(answer.hit), action, data)
    cells = {
        # a cell without a value has nothing to do with the claim
        name: {value(at): value(cell) for at, cell in before.read.values() if model[cell.term.decl()] is not None}
        for name, before in world.before.items()
    }
    return Example(packet=packet, calls=calls, cells=cells)


def checksum(fields: list[tuple[int, int]]) -> int:
    """The internet checksum of fields, each with its bits; a multiple of 16 in all."""
    word = bits = 0
    for value, width in fields:
        word, bits = word << width | value, bits + width
    total = sum(word >> place & 0xFFFF for place in range(0, bits, 16))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def lines(example: Example, step: Step) -> Iterator[str]:
    """Packet and state in words."""
    shown = {name: value for name, value in example.packet.items() if value}
    yield f"packet      {', '.join(f'{name} = {value}' for name, value in shown.items())}"
    for name, call in example.calls.items():
        action = step.program.tables[name]["actions"][call.action]
        yield f"table       {name}: {action.rpartition('.')[2]}({', '.join(map(str, call.data))})"
    for name, cells in example.cells.items():
        if name in step.program.registers and any(cells.values()):
            yield f"register    {name}: {', '.join(f'[{index}] = {value}' for index, value in cells.items() if value)}"
