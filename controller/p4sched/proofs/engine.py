"""Packets through the engine itself, with any state before each one: `p4sched-packet-trace`.

The encoding of a step is right if it and the engine agree. And a counterexample is one only if the engine agrees.

The engine lets nobody write a register annotated `@queue_depth`. Here the program runs without the annotation, so its
lengths can be set.
"""

from __future__ import annotations

import contextlib
import io
import json
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p4sched.bmv2.cli import Commands
from p4sched.bmv2.connection import connect
from p4sched.bmv2.program import Program as Names
from p4sched.errors import P4schedError
from p4sched.paths import rust_binary
from p4sched.proofs.cells import Before, Cells, Written
from p4sched.proofs.exact import Int, Truth
from p4sched.proofs.program import Json, Program, UnmodelledError
from p4sched.proofs.step import DROP_PORT, LENGTH, TIMESTAMP, Answer, Step, World, is_indirect, run
from p4sched.proofs.tna import TIME

ARRIVES_AT = 1
"""Port of all packets."""
START_NS = 1_000_000
"""Time at which the first packet of a capture arrives."""
FILLER = b"\0"
"""A packet that is too short for any header."""
PIPE = "pipe."
"""In front of the names of a program for Tofino."""
Changes = dict[tuple[str, int], int]
"""Content of the cells that were written, by array and index."""


@dataclass(frozen=True)
class Call:
    """Answer of a table: an action by its place in the table, and its data."""

    hit: bool
    action: int
    data: Sequence[int]


@dataclass
class Example(World):
    """A packet with numbers, and the state before it."""

    packet: Mapping[str, int] = field(default_factory=dict)
    """Fields. Only the headers that have fields here are in the packet."""
    calls: Mapping[str, Call] = field(default_factory=dict)
    """Answers of tables. Other tables have no entries."""
    cells: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    sets: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Members of value sets."""

    def variable(self, name: str, bits: int, high: int | None = None) -> Int:
        self.variables[name] = Int.of(self.packet.get(name, 0))
        return self.variables[name]

    def longer(self, header: str) -> Truth:
        return any(name.startswith(f"{header}.") for name in self.packet)

    def array(self, name: str, bits: int) -> Before:
        return self.before.setdefault(name, Before(name, bits, self.cells.get(name, {})))

    def member(self, name: str, bits: int, key: Int) -> Truth:
        return key.low in self.sets.get(name, ())

    def colour(self, table: str) -> tuple[Int, Int]:
        return Int.of(0), Int.of(0)

    def draw(self, place: Int, low: Int, high: Int) -> Int:
        raise UnmodelledError("a random number of the engine is not modelled")

    def answer(
        self, table: Json, actions: Mapping[str, Json], key: Sequence[Int], *, has_key: bool | None = None
    ) -> Answer:
        call = self.calls.get(table["name"]) or _default(table)
        data = {name: [Int.of(0)] * len(actions[name]["runtime_data"]) for name in table["actions"]}
        if call.action < len(table["actions"]):
            data[table["actions"][call.action]] = [Int.of(value) for value in call.data]
        self.lookups[table["name"]] = key, Answer(call.hit, Int.of(call.action), data)
        return self.lookups[table["name"]][1]

    def hash(self, algorithm: str, data: Sequence[tuple[Int, int]]) -> Int:
        bits = sum(width for _, width in data)
        word = 0
        for value, width in data:
            word = word << width | value.low
        assert algorithm in {"crc32", "csum16"}
        if algorithm == "csum16":
            return Int.of(checksum([(value.low, width) for value, width in data]))
        return Int.of(crc32(word, bits))

    @property
    def time_ns(self) -> int:
        """Time of arrival."""
        return self.packet.get(TIME, self.packet[TIMESTAMP] * 1000)

    def again(self) -> Example:
        """The same packet and state, for another step."""
        return Example(packet=self.packet, calls=self.calls, cells=self.cells, sets=self.sets)


def crc32(word: int, bits: int) -> int:
    """The hash of a word with so many bits."""
    return zlib.crc32((word << -bits % 8).to_bytes((bits + 7) // 8, "big"))


def checksum(fields: Sequence[tuple[int, int]]) -> int:
    """The internet checksum of fields, each with its bits; a multiple of 16 in all."""
    word = bits = 0
    for value, width in fields:
        word, bits = word << width | value, bits + width
    total = sum(word >> place & 0xFFFF for place in range(0, bits, 16))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def _default(table: Json) -> Call:
    if is_indirect(table):
        return Call(False, len(table["actions"]), ())
    default = table["default_entry"]
    return Call(
        False, table["action_ids"].index(default["action_id"]), [int(word, 16) for word in default["action_data"]]
    )


def commands(program: Program, example: Example, execute: Callable[[Program, World], Step] = run) -> list[str]:
    """Commands of simple_switch_CLI that make the tables answer so, and set the registers. `execute`: the step."""
    lines = [
        f"register_write {name} {index} {value}"
        for name, cells in example.cells.items()
        if name in program.registers
        for index, value in cells.items()
    ]
    execute(program, example)
    for name, call in example.calls.items():
        if name not in example.lookups:
            continue
        table = program.tables[name]
        words = [table["actions"][call.action]]
        if not call.hit:
            lines.append(" ".join(["table_set_default", name, *words, *map(str, call.data)]))
            continue
        ternary = False
        for part, key in zip(table["key"], example.lookups[name][0], strict=True):
            bits = program.fields[".".join(part["target"])]
            ternary = ternary or part["match_type"] == "ternary"
            end = {"lpm": f"/{bits}", "ternary": f"&&&{hex((1 << bits) - 1)}"}.get(part["match_type"], "")
            words.append(f"{hex(key.low)}{end}")
        words += ["=>", *map(str, call.data), *(["1"] if ternary else [])]
        lines.append(" ".join(["table_add", name, *words]))
    return lines


@dataclass(frozen=True)
class Outcome:
    """Result of a packet at ingress."""

    queue: tuple[int, int] | None
    """Port and priority; None if it was dropped."""
    changes: Changes
    """Registers."""
    counts: Changes = field(default_factory=dict)
    """Packets that counters counted, by array and index."""


def by_step(program: Program, example: Example) -> Outcome:
    """The outcome of the step."""
    step = run(program, example)
    port = step.field("standard_metadata.egress_spec").low
    queue = None if port == DROP_PORT else (port, step.field("standard_metadata.priority").low)
    return Outcome(queue, changes(step, program.registers), changes(step, program.counters))


def changes(step: Step, arrays: Iterable[str]) -> Changes:
    """Cells that a step with numbers wrote."""
    found: Changes = {}
    for name in arrays:
        cells: Cells = step.array(name)
        written: list[tuple[int, int]] = []
        while isinstance(cells, Written):
            written.append((cells.index.low, cells.value.low))
            cells = cells.older
        found |= {(name, index): value for index, value in reversed(written)}
    return found


def by_engine(
    program: Path,
    p4info: str,
    commands: Sequence[str],
    packets: Sequence[Example],
    of: Program,
    arrives_at: int = ARRIVES_AT,
) -> list[Outcome]:
    """The outcomes of packets in the engine. `commands`: of simple_switch_CLI; they set tables and registers first.

    The first packet of a capture arrives 1 ms after the start. If that is too early, a packet without a header comes
    before it.
    """
    times, frames = [packet.time_ns - START_NS for packet in packets], [frame(of, one.packet) for one in packets]
    fillers = int(times[0] > 0)
    times, frames = [0] * fillers + times, [FILLER] * fillers + frames
    with tempfile.TemporaryDirectory() as folder:
        capture, info = Path(folder, "packets.pcap"), Path(folder, "program.p4info.txtpb")
        capture.write_bytes(_capture(times, frames))
        lines = [line for line in p4info.splitlines() if '"@queue_depth"' not in line]
        info.write_text("\n".join(lines), encoding="utf-8")
        words = [str(rust_binary("p4sched-packet-trace")), str(program), str(capture), "--json"]
        words += ["--port", str(arrives_at), "--p4info", str(info), "--await-entries"]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as bench:
            assert bench.stdin
            assert bench.stdout
            assert bench.stderr
            listening = bench.stdout.readline()
            if listening:
                names = Names(program.read_text(encoding="utf-8"))
                shell = Commands(connect("127.0.0.1", int(listening)), names)
                for command in commands:
                    said = io.StringIO()
                    with contextlib.redirect_stdout(said):
                        shell.onecmd(command)
                    if "Error" in said.getvalue() or "Invalid" in said.getvalue():
                        raise P4schedError(f"{command}: {said.getvalue().strip()}")
            bench.stdin.close()
            events = [json.loads(line) for line in bench.stdout]
            problem = bench.stderr.read().strip()
    if problem:
        raise P4schedError(problem)
    numbers = range(1 + fillers, len(frames) + 1)
    return [_outcome([event for event in events if event["packet"] == number], of) for number in numbers]


def _outcome(events: Sequence[Mapping[str, Any]], of: Program) -> Outcome:
    """Outcome of a packet from its events, up to the end of ingress."""
    written: Changes = {}
    counted: Changes = {}
    for event in events:
        match event["event"]:
            case "register_written" if event["value"] is not None:
                name = event["register"].removeprefix(PIPE)
                written[name, int(str(event["index"]), 0)] = int(event["value"], 16)
            case "counted" if (name := event["counter"].removeprefix(PIPE)) in of.counters:
                cell = name, int(event["index"])
                counted[cell] = counted.get(cell, 0) + 1
            case "dropped":
                return Outcome(None, written, counted)
            case "enqueued":
                return Outcome((int(event["port"]), int(event["queue"])), written, counted)
    raise P4schedError("the engine did not finish a packet")


def frame(program: Program, packet: Mapping[str, int]) -> bytes:
    """Bytes of a packet, with its headers in the order of the deparser."""
    if program.is_wire:
        return bytes(packet.get(f"byte {place}", 0) for place in range(packet.get(LENGTH, 0)))
    word = bits = 0
    for header in program.emitted:
        if any(name.startswith(f"{header}.") for name in packet):
            for part in program.headers[header]:
                width = program.fields[part]
                word, bits = word << width | packet.get(part, 0), bits + width
    made = word.to_bytes(bits // 8, "big")
    return made.ljust(packet.get(LENGTH, 0), b"\0")


def _capture(times: Sequence[int], frames: Sequence[bytes]) -> bytes:
    """A pcap file with nanoseconds."""
    made = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)]
    for time, one in zip(times, frames, strict=True):
        made.append(struct.pack("<IIII", *divmod(time - times[0], 10**9), len(one), len(one)))
        made.append(one)
    return b"".join(made)


def difference(engine: Outcome, wanted: Outcome, before: Mapping[str, Mapping[int, int]]) -> str:
    """What the engine did, and where the rule decides otherwise. `before`: the registers before the packet."""
    found = ["agrees with the rule on the queue"]
    if engine.queue != wanted.queue:
        found = [f"{_place(engine.queue)}, the rule: {_place(wanted.queue)}"]
    for name, index in sorted(engine.changes.keys() | wanted.changes.keys()):
        old = before.get(name, {}).get(index, 0)
        one, two = (of.changes.get((name, index), old) for of in (engine, wanted))
        if one != two:
            found.append(f"{name}[{index}] = {one}, the rule: {two}")
    for name, index in sorted(engine.counts.keys() | wanted.counts.keys()):
        one, two = (of.counts.get((name, index), 0) for of in (engine, wanted))
        if one != two:
            found.append(f"{name}[{index}] counts {one}, the rule: {two}")
    if len(found) == 1 and engine.queue == wanted.queue:
        return "agrees with the rule on queue, registers and counters: packet and state do not reproduce there"
    return "; ".join(found)


def _place(queue: tuple[int, int] | None) -> str:
    return "dropped" if queue is None else f"port {queue[0]}, priority {queue[1]}"
