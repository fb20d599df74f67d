"""The parser over the bytes of the packet: stacks, lookahead, fields of variable length, and the parser's errors.

The other machine has a variable for each field of a header. Here the packet is bytes, so a program may look at the same
bytes twice. A path knows where it is in the packet, and how many elements of each stack it has extracted; so a loop of
the parser becomes a tree. Paths meet where both are equal.

An error ends the parser, as in BMv2, and ingress follows. Length and content of a field of variable length are
numbers; there is a path for each length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import z3

from p4sched.proofs.exact import Int, Truth, negated, some
from p4sched.proofs.paths import LoopError, State, execute
from p4sched.proofs.program import PARSED, PARSER_ERROR, Json, Program, UnmodelledError, field_name, length_of
from p4sched.proofs.whole_headers import count, last, make_valid

MOST_NODES = 4000
MOST_ADVANCED = 64
"""Bytes that an `advance` by a number that varies may take."""
Way = tuple[Truth, State, "Node | None"]


class Node(NamedTuple):
    """A place in a parser state, in the packet, and in the stacks."""

    state: str
    operation: int
    byte: int
    counts: tuple[int, ...]
    """Elements of each stack that were extracted."""

    def after(self, size: int = 0, stack: int | None = None) -> Node:
        """The next operation, so many bytes further on."""
        counts = tuple(number + (place == stack) for place, number in enumerate(self.counts))
        return Node(self.state, self.operation + 1, self.byte + size, counts)


class Packet(Protocol):
    """The packet, as the step has it."""

    def variable(self, name: str, bits: int, high: int | None = None) -> Int:
        """An input."""

    def decide(self, condition: Truth) -> Truth:
        """The condition, or its value if the assumptions leave only one."""


@dataclass(frozen=True)
class Acts:
    """What parser and ingress have in common."""

    value: Callable[[State, Json, Sequence[Int]], Int]
    truth: Callable[[State, Json, Sequence[Int]], Truth]
    assign: Callable[[State, Json, Int], None]
    primitive: Callable[[State, Json, Sequence[Int]], None]
    fits: Callable[[Json, Int, int], Truth]
    unmodelled: Callable[[str], UnmodelledError]


class WireParser:
    """Executes a parser. `length`: bytes of the packet."""

    def __init__(self, program: Program, packet: Packet, length: Int, acts: Acts) -> None:
        self._program, self._packet, self._length, self._acts = program, packet, length, acts
        self._rows = program.rows
        self._stacks = list(self._rows)
        self._seen: set[Node | None] = set()

    def parsed(self, state: State) -> State:
        """The state after the parser."""
        start = Node(self._program.start, 0, 0, (0,) * len(self._stacks))
        try:
            return execute(start, self._following, self._visit, state)
        except LoopError as error:
            raise self._acts.unmodelled(f"the loop of parser state '{error.args[0].state}'") from error

    # the tree of nodes

    def _following(self, node: Node) -> list[Node | None]:  # noqa: PLR0911 one for each kind
        self._seen.add(node)
        if len(self._seen) > MOST_NODES:
            raise self._acts.unmodelled(f"a parser with more than {MOST_NODES} steps (without --bytes N)")
        of = self._program.parser[node.state]
        if node.byte > self._program.most_bytes:
            return [None]
        if node.operation == len(of["parser_ops"]):
            return [self._begin(node, to["next_state"]) for to in of["transitions"]] + [None]
        operation = of["parser_ops"][node.operation]
        first = operation["parameters"][0]
        match operation["op"]:
            case "extract":
                header, stack = self._target(first, node)
                return [None] if header is None else [node.after(self._bytes(header), stack), None]
            case "extract_VL":
                header, stack = self._target(first, node)
                if header is None:
                    return [None]
                return [*(node.after(size, stack) for size in self._sizes(header)), None]
            case "advance":
                return [*(node.after(size) for size in self._advances(first)), None]
            case _:
                return [node.after(), None]

    def _begin(self, node: Node, name: str | None) -> Node | None:
        return None if name is None else Node(name, 0, node.byte, node.counts)

    def _target(self, json: Json, node: Node) -> tuple[str | None, int | None]:
        """The header to extract, None beyond the end of a stack; and the number of its stack."""
        match json["type"]:
            case "regular":
                return json["value"], None
            case "stack":
                elements, place = self._program.stacks[json["value"]], self._stacks.index(json["value"])
                next_one = node.counts[place]
                return (elements[next_one] if next_one < len(elements) else None), place
            case "union_stack":
                (stack, member), place = json["value"], self._stacks.index(json["value"][0])
                next_one, rows = node.counts[place], self._rows[stack]
                names = (one for one in rows[next_one] if one.endswith(f".{member}")) if next_one < len(rows) else ()
                return next(iter(names), None), place
            case other:
                raise self._acts.unmodelled(f"the extraction of a {other}")

    def _bytes(self, header: str) -> int:
        """Bytes of a header, without its field of variable length."""
        varying = self._program.varying.get(header)
        bits = sum(self._program.fields[part] for part in self._program.headers[header] if part not in _both(varying))
        if bits % 8:
            raise self._acts.unmodelled(f"header '{header}', which has no whole bytes,")
        return bits // 8

    def _sizes(self, header: str) -> range:
        """All sizes of a header with a field of variable length, in bytes."""
        fixed, varying = self._bytes(header), self._program.varying.get(header)
        return range(fixed, fixed + (self._program.fields[varying] // 8 if varying else 0) + 1)

    def _advances(self, json: Json) -> Sequence[int]:
        """By how many bytes an operation advances."""
        if json["type"] != "hexstr":
            return range(MOST_ADVANCED + 1)
        bits = int(json["value"], 16)
        if bits % 8:
            raise self._acts.unmodelled("an advance by other than whole bytes")
        return [bits // 8]

    # the steps

    def _visit(self, node: Node, state: State) -> list[Way]:
        of = self._program.parser[node.state]
        if node.operation == len(of["parser_ops"]):
            return self._transition(node, of, state)
        operation = of["parser_ops"][node.operation]
        first, *rest = operation["parameters"]
        match operation["op"]:
            case "extract" | "extract_VL":
                return self._extract(node, first, rest, state)
            case "set" if rest[0]["type"] == "lookahead":
                start, width = rest[0]["value"]
                short = self._short(8 * node.byte + start + width)
                failed = self._failed(node, state, "PacketTooShort")
                self._acts.assign(state, first, self._bits(8 * node.byte + start, width))
                return [(short, failed, None), (True, state, node.after())]
            case "set":
                self._acts.assign(state, first, self._acts.value(state, rest[0], []))
            case "verify":
                number = Int.of(rest[0]) if isinstance(rest[0], int) else self._acts.value(state, rest[0], [])
                failed = {**state, PARSER_ERROR: number, PARSED: Int.of(node.byte)}
                return [(negated(self._acts.truth(state, first, [])), failed, None), (True, state, node.after())]
            case "advance":
                return self._advanced(node, self._acts.value(state, first, []), self._advances(first), state)
            case "primitive":
                self._acts.primitive(state, first, [])
            case other:
                raise self._acts.unmodelled(f"the parser operation '{other}'")
        return [(True, state, node.after())]

    def _advanced(self, node: Node, bits: Int, sizes: Sequence[int], state: State) -> list[Way]:
        """A way for each number of bytes."""
        if bits.low < 0 or bits.high > 8 * sizes[-1]:
            raise self._acts.unmodelled(f"an advance by a number that may be above {8 * MOST_ADVANCED}")
        short = self._packet.decide(self._length * 8 < bits + 8 * node.byte)
        ways: list[Way] = [
            (bits.lowest(3).differs(0), self._failed(node, state, "ParserInvalidArgument"), None),
            (short, self._failed(node, state, "PacketTooShort"), None),
        ]
        ways += [(bits.equals(8 * size), dict(state), node.after(size)) for size in sizes]
        return [*ways[:-1], (True, *ways[-1][1:])]

    def _short(self, bit: int) -> Truth:
        """True if the packet ends before this bit."""
        return self._packet.decide(self._length * 8 < bit)

    def _failed(self, node: Node, state: State, name: str) -> State:
        """The state after an error of the parser."""
        return {**state, PARSER_ERROR: Int.of(self._program.errors[name]), PARSED: Int.of(node.byte)}

    def _extract(self, node: Node, target: Json, rest: Sequence[Json], state: State) -> list[Way]:
        header, stack = self._target(target, node)
        if header is None:
            return [(True, self._failed(node, state, "StackOutOfBounds"), None)]
        varying = self._program.varying.get(header)
        fixed = self._bytes(header)
        if varying is None or not rest:
            short = self._short(8 * (node.byte + fixed))
            failed = self._failed(node, state, "PacketTooShort")
            return [(short, failed, None), (True, self._read(node, state, header, 0), node.after(fixed, stack))]
        bits, most = self._acts.value(state, rest[0], []), self._program.fields[varying]
        ways: list[Way] = [
            (some(bits < 0, bits.lowest(3).differs(0)), self._failed(node, state, "ParserInvalidArgument"), None),
            (
                self._length * 8 < bits + 8 * (node.byte + fixed),
                self._failed(node, state, "PacketTooShort"),
                None,
            ),
            (bits > most, self._failed(node, state, "HeaderTooShort"), None),
        ]
        for size in range(most // 8 + 1):
            read = self._read(node, state, header, 8 * size)
            ways.append((bits.equals(8 * size), read, node.after(fixed + size, stack)))
        return [*ways[:-1], (True, *ways[-1][1:])]

    def _read(self, node: Node, state: State, header: str, varying_bits: int) -> State:
        """The state with a header from the packet."""
        after, bit = dict(state), 8 * node.byte
        varying = self._program.varying.get(header)
        for part in self._program.headers[header]:
            if varying is not None and part == length_of(varying):
                continue
            width = varying_bits if part == varying else self._program.fields[part]
            after[part] = self._bits(bit, width)
            bit += width
        if varying is not None:
            after[length_of(varying)] = Int.of(varying_bits)
        make_valid(self._program, after, header)
        for place, stack in enumerate(self._stacks):
            if any(header in row for row in self._rows[stack]):
                after[count(stack)] = Int.of(node.counts[place] + 1)
        return after

    def _bits(self, start: int, width: int) -> Int:
        """Bits of the packet."""
        if width == 0:
            return Int.of(0)
        end = start + width
        read = [self._packet.variable(f"byte {place}", 8) for place in range(start // 8, (end + 7) // 8)]
        if all(one.is_number for one in read):
            whole = int.from_bytes(bytes(one.low for one in read))
            return Int.of(whole >> -end % 8 & (1 << width) - 1)
        word = z3.Concat(*(one.at(8) for one in read)) if len(read) > 1 else read[0].at(8)
        low = -end % 8
        term = word if width == word.size() else z3.Extract(low + width - 1, low, word)
        return Int(0, (1 << width) - 1, term)

    def _transition(self, node: Node, of: Json, state: State) -> list[Way]:
        ends = {**state, PARSED: Int.of(node.byte)}
        ways: list[Way] = []
        transitions = of["transitions"]
        if any(one["type"] != "default" for one in transitions):
            key, bits, short = self._key(node, of, state)
            if short is not False:
                ways.append((short, self._failed(node, state, "PacketTooShort"), None))
        for one in transitions:
            to = self._begin(node, one["next_state"])
            if one["type"] == "default":
                return [*ways, (True, ends if to is None else state, to)]
            seen = self._packet.decide(self._acts.fits(one, key, bits))
            ways.append((seen, dict(ends if to is None else state), to))
        return [*ways, (True, ends, None)]

    def _key(self, node: Node, of: Json, state: State) -> tuple[Int, int, Truth]:
        """The key of a state, each part in whole bytes; its bits; and whether the packet ends before it."""
        key, width, end = Int.of(0), 0, 0
        for part in of["transition_key"]:
            value: Any = part["value"]
            match part["type"]:
                case "field":
                    bits, found = self._program.fields[field_name(part)], state[field_name(part)]
                case "stack_field":
                    bits = self._program.fields[f"{self._program.stacks[value[0]][0]}.{value[1]}"]
                    found = last(self._program, state, *value)
                case "lookahead":
                    bits, found = value[1], self._bits(8 * node.byte + value[0], value[1])
                    end = max(end, 8 * node.byte + value[0] + value[1])
                case other:
                    raise self._acts.unmodelled(f"a key of type '{other}' in the parser")
            whole = (bits + 7) // 8 * 8
            key, width = key << whole | found, width + whole
        return key, width, self._short(end) if end else False


def _both(varying: str | None) -> Iterator[str]:
    if varying is not None:
        yield from (varying, length_of(varying))
