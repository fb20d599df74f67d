"""A trace as an STF file: it fails on the program that decides wrongly, and passes on one that decides as expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from p4sched.proofs.bounded import Packet
from p4sched.proofs.engine import Call, Example, frame
from p4sched.proofs.example import counterexample
from p4sched.proofs.moment import LENGTHS
from p4sched.proofs.program import PARSED, Json, Program, length_of
from p4sched.proofs.rules.scheme import QUEUES
from p4sched.proofs.step import DROP_PORT, LENGTH, TIMESTAMP

CLONES = 510
"""Port of the clones."""


def script(trace: Sequence[Packet], about: str, *, bytewise: bool = False) -> str:
    """The file. `about`: a line for its head. `bytewise`: compares the bytes of packets as they leave ingress."""
    program = trace[0].step.program
    examples = [counterexample(packet.step, None) for packet in trace]
    sessions = {one["clone"] - 1 for packet in trace for one in (packet.expected, packet.shows) if one.get("clone")}
    lines = [
        f"# {about}",
        *(f"mirroring_add {session} {CLONES}" for session in sorted(sessions)),
        *dict.fromkeys(line for one in zip(trace, examples, strict=True) for line in _entries(*one)),
    ]
    written: set[int] = set()
    for number, (packet, example) in enumerate(zip(trace, examples, strict=True), 1):
        lines += ["", f"# packet {number}", *["wait"] * packet.waits]
        # the engine of the script keeps no packet back, so the lengths are set
        for cell in sorted(packet.lengths.keys() | written):
            lines.append(f"register_write {LENGTHS} {cell} {packet.lengths.get(cell, 0)}")
        written |= packet.lengths.keys()
        lines.append(
            f"packet {example.packet['standard_metadata.ingress_port']} {frame(program, example.packet).hex()}"
        )
        leaving = _bytes(program, example, packet.expected) if bytewise else "*"
        lines += _expectation(packet, leaving)
    return "\n".join(lines) + "\n"


def _bytes(program: Program, example: Example, seen: Mapping[str, int]) -> str:
    """The headers of a packet and what the parser left, in hexadecimal digits."""
    word = bits = 0
    for header in program.emitted:
        if seen.get(f"{header}.$valid$"):
            varying = program.varying.get(header)
            for part in program.headers[header]:
                if varying is None or part != length_of(varying):
                    width = seen[length_of(part)] if part == varying else program.fields[part]
                    word, bits = word << width | seen[part], bits + width
    return f"{word:0{bits // 4}x}"[: bits // 4] + frame(program, example.packet)[seen[PARSED] :].hex() + "$"


def _expectation(packet: Packet, leaving: str) -> Iterator[str]:
    if packet.expected["port"] != DROP_PORT:
        yield f"expect {packet.expected['port']} {leaving}"
    if packet.expected.get("clone"):
        yield f"expect {CLONES} *"
    for (name, cell), value in packet.counted.items():
        yield f"check_counter {name}({cell}) packets == {value}"


def _entries(packet: Packet, example: Example) -> Iterator[str]:
    """Entries and default actions that make the tables answer so."""
    program, world = packet.step.program, packet.step.world
    for name, call in example.calls.items():
        table = program.tables[name]
        action = f"{table['actions'][call.action]}({_arguments(program, table, call)})"
        if call.hit:
            pairs = zip(table["key"], world.lookups[name][0], strict=True)
            key = " ".join(f"{part['name']}:{hex(value.low)}" for part, value in pairs)
            yield f"add {name} {key} {action}"
        elif not _is_default(table, call):
            yield f"setdefault {name} {action}"


def _arguments(program: Program, table: Json, call: Call) -> str:
    action = program.actions[table["action_ids"][call.action]]
    names = [one["name"] for one in action["runtime_data"]]
    return ", ".join(f"{name}:{value}" for name, value in zip(names, call.data, strict=True))


def _is_default(table: Json, call: Call) -> bool:
    default = table["default_entry"]
    data = [int(word, 16) for word in default["action_data"]]
    return table["action_ids"].index(default["action_id"]) == call.action and data == list(call.data)


def lines(trace: Sequence[Packet], by: str, *, plain: bool = True) -> Iterator[str]:
    """The trace in words. `by`: what the program is compared with. `plain`: all packets are alike, but for few fields;
    of others, each field that is not 0 is told."""
    program = trace[0].step.program
    examples = [counterexample(packet.step, None) for packet in trace]
    shown = {
        f"{name}: {table['actions'][call.action].rpartition('.')[2]}({_arguments(program, table, call)})": None
        for example in examples
        for name, call in example.calls.items()
        for table in [program.tables[name]]
        if not _is_default(table, call)
    }
    yield from (f"table     {text}" for text in shown)
    last = len(trace)
    yield f"Packet {last} of {last} is the first one that the program decides differently."
    varied = [
        name
        for name in examples[0].packet
        if name in TOLD
        or (_is_told([example.packet.get(name, 0) for example in examples], plain) and name not in UNTOLD)
    ]
    for number, (packet, example) in enumerate(zip(trace, examples, strict=True), 1):
        inputs = [f"{name} {example.packet[name]}" for name in varied if name in example.packet]
        if program.is_wire:
            inputs = [frame(program, example.packet).hex()]
        inputs += [f"{example.packet[LENGTH]} bytes", f"at {example.packet[TIMESTAMP]} us"]
        yield f"packet {number}  {', '.join(inputs)}"
        if packet.lengths:
            yield f"  waiting   {', '.join(f'{length} in {_queue(cell)}' for cell, length in packet.lengths.items())}"
        if number == last:
            yield f"  {by:<9} {_decision(packet.expected, packet.grown[0])}"
            yield f"  program   {_decision(packet.shows, packet.grown[1])}"
        else:
            yield f"  both      {_decision(packet.expected, packet.grown[0])}"


def _is_told(values: Sequence[int], plain: bool) -> bool:
    """The packets have other values, or their field may matter."""
    return len(set(values)) > 1 or (not plain and values[0] != 0)


TOLD = ("rank.rank",)
UNTOLD = (LENGTH, TIMESTAMP, "ipv4.hdr_checksum")


def _queue(cell: int) -> str:
    return f"port {cell // QUEUES}, priority {cell % QUEUES}"


def _decision(seen: Mapping[str, int], grown: Mapping[str, int]) -> str:
    """A decision in words, with the counters that grew."""
    counters = [name.rpartition(".")[2] for name, by in grown.items() if by]
    counted = f"; counted as {' and '.join(counters)}" if counters else ""
    if seen["port"] == DROP_PORT:
        return f"dropped{counted}"
    fields = [f"{name} {value}" for name, value in seen.items() if value and "." in name]
    fields += [f"a clone for session {seen['clone'] - 1}"] if seen.get("clone") else []
    headers = f"; {', '.join(fields)}" if fields else ""
    return f"port {seen['port']}, priority {seen.get('queue', 0)}{counted}{headers}"
