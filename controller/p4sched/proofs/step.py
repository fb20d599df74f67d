"""One packet through parser and ingress of a program: the symbolic step.

The packet, the tables and the registers come from a `World`. In the `World` of this module, all of them are variables;
with numbers in their places, the same code executes one packet.

The parser reads header by header; the packet may end before each one. A header that is not valid holds 0, as in BMv2,
and so do all other fields at the start of a packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import z3

from p4sched.proofs import whole_headers
from p4sched.proofs.cells import Before, Cells, equal_cells
from p4sched.proofs.exact import (
    PRODUCTS,
    Int,
    Truth,
    choose,
    every,
    implies,
    largest,
    negated,
    number,
    smallest,
    some,
    variables,
)
from p4sched.proofs.paths import LoopError, State, execute
from p4sched.proofs.program import PARSED, PARSER_ERROR, Json, Program, UnmodelledError, dotted, field_name
from p4sched.proofs.wire import Acts, WireParser

DROP_PORT = 511
A_MOMENT_MS = 2000
"""Limit for the question whether a path is possible."""
LARGEST_SHIFT = 255
LONGEST_FRAME = 65_535
"""Bytes."""
TIMESTAMP = "standard_metadata.ingress_global_timestamp"
LENGTH = "standard_metadata.packet_length"
EXIT = "$exit$"
"""1 if the packet executed `exit`: then it leaves ingress behind the table."""
CLONED, SESSION, KEPT = CLONE = ("$cloned$", "$session$", "$kept$")
"""1 if ingress asked for a clone; the session of the last request, and the number of the list of fields to keep."""
SESSION_BITS = 32
HEADER_PRIMITIVES = ("add_header", "remove_header", "assign_header")
OF_HEADERS = ("access_field", "access_union_header", "dereference_header_stack", "dereference_union_stack")


@dataclass(frozen=True)
class Answer:
    """Answer of a table to a key. Action i of the table is run if `action` is i, with the data of this action."""

    hit: Truth
    action: Int
    data: Mapping[str, Sequence[Int]]


@dataclass
class World:
    """All packets, tables and states. `prefix`: of the names of table answers."""

    prefix: str = ""
    variables: dict[str, Int] = field(default_factory=dict)
    """Fields of the packet, and answers of tables, by name."""
    before: dict[str, Before] = field(default_factory=dict)
    lookups: dict[str, tuple[Sequence[Int], Answer]] = field(default_factory=dict)
    """Key and answer of each table."""
    assumed: list[Truth] = field(default_factory=list)
    """The case of a proof: paths that contradict it are left out."""
    named: dict[str, tuple[Int, Int]] = field(default_factory=dict)
    """A variable in place of a value of a field, by the name of the field. The value itself comes first."""
    _decided: dict[int, tuple[Truth, Truth]] = field(default_factory=dict)
    _solver: Any = None

    def variable(self, name: str, bits: int, high: int | None = None) -> Int:
        """An input."""
        if name not in self.variables:
            self.variables[name] = Int.variable(name, bits, high)
        return self.variables[name]

    def decide(self, condition: Truth) -> Truth:
        """The condition, or its value if the assumptions leave only one."""
        if isinstance(condition, bool) or not self.assumed:
            return condition
        key = int(condition.get_id())
        if key not in self._decided:
            # keeps the condition alive: its id may be used again
            self._decided[key] = condition, self._decision(condition)
        return self._decided[key][1]

    def decide_case(self, condition: Truth) -> Truth:
        """As `decide`, if the condition is only about what the assumptions are about."""
        if isinstance(condition, bool) or not self.assumed:
            return condition
        known = {variable.get_id() for variable in variables(self.assumed)}
        about = {variable.get_id() for variable in variables([condition])}
        return self.decide(condition) if about <= known else condition

    def _decision(self, condition: Truth) -> Truth:
        if self._solver is None:
            self._solver = z3.SolverFor("QF_UFBV")
            self._solver.set("timeout", A_MOMENT_MS)
            self._solver.add(*self.assumed)
        limits = PRODUCTS.laws([condition], multiplied=False)
        for value in (False, True):
            if self._solver.check(negated(condition) if value else condition, *limits) == z3.unsat:
                return value
        return condition

    def longer(self, header: str) -> Truth:
        """True if the packet does not end before this header."""
        return self.variable(f"packet has {header}", 1).equals(1)

    def array(self, name: str, bits: int) -> Before:
        """An array before the packet."""
        return self.before.setdefault(name, Before(name, bits))

    def answer(self, table: Json, actions: Mapping[str, Json], key: Sequence[Int]) -> Answer:
        """Answer of a table; any entry, or any default action."""
        name = f"{self.prefix}{table['name']}"
        which = self.variable(f"{name}: action", 16, len(table["actions"]) - 1)
        data = {
            action: [
                self.variable(f"{name}: {action.rpartition('.')[2]}({one['name']})", one["bitwidth"])
                for one in actions[action]["runtime_data"]
            ]
            for action in table["actions"]
        }
        hit = self.variable(f"{name}: hit", 1).equals(1) if key else False
        self.lookups[table["name"]] = key, Answer(hit, which, data)
        return self.lookups[table["name"]][1]

    def hash(self, algorithm: str, data: Sequence[tuple[Int, int]]) -> Int:
        """A hash of fields, each with its bits."""
        word = z3.Concat(*(value.at(bits) for value, bits in data)) if len(data) > 1 else data[0][0].at(data[0][1])
        bits = {"crc32": 32, "crc16": 16, "csum16": 16}.get(algorithm)
        if bits is None:
            raise UnmodelledError(f"the hash '{algorithm}' is not modelled")
        function = z3.Function(f"{algorithm}_{word.size()}", word.sort(), z3.BitVecSort(bits))
        return Int(0, (1 << bits) - 1, function(word))

    def laws(self, terms: Sequence[Truth]) -> list[Truth]:
        """Facts about the cells that these terms read: equal indices have equal cells."""
        read = {str(variable) for variable in variables(terms)}
        found: list[Truth] = []
        waiting = [cells for cells in (before.cells(read) for before in self.before.values()) if len(cells) > 1]
        for cells in waiting:
            found += equal_cells(cells)
        return found


@dataclass(frozen=True)
class Step:
    """A packet that passed."""

    program: Program
    world: World
    state: State

    def field(self, name: str) -> Int:
        """Value of a field after ingress."""
        value: Int = self.state[name]
        return value

    def array(self, name: str) -> Cells:
        """A register or a counter after ingress. Counters count packets."""
        cells: Cells = self.state[name]
        return cells


def run(program: Program, world: World) -> Step:
    """Parser and ingress of one packet."""
    state: State = {name: Int.of(0) for name in program.fields}
    state["standard_metadata.ingress_port"] = world.variable("standard_metadata.ingress_port", 9, DROP_PORT - 1)
    state[LENGTH] = world.variable(LENGTH, 32, LONGEST_FRAME)
    for name in (TIMESTAMP, "standard_metadata.instance_type", "standard_metadata.checksum_error"):
        state[name] = world.variable(name, program.fields[name])
    if PARSER_ERROR in program.fields:
        state[PARSER_ERROR] = Int.of(program.errors["NoError"])
    if program.is_wire:
        return run_from(program, world, Machine(program, world).parsed_bytes({**state, PARSED: Int.of(0)}))
    return run_from(program, world, Machine(program, world).parsed(state))


def run_from(program: Program, world: World, parsed: State) -> Step:
    """Ingress of one packet. `parsed`: the fields after the parser; the others are 0."""
    state: State = {name: Int.of(0) for name in (*program.fields, EXIT, *CLONE)} | parsed
    for name, array in {**program.registers, **program.counters}.items():
        state[name] = Cells(world.array(name, array.bits))
    return Step(program, world, Machine(program, world).ingress(state))


class Machine:
    """Executes parser and ingress."""

    def __init__(self, program: Program, world: World) -> None:
        self._program, self._world = program, world

    def _unmodelled(self, what: str) -> UnmodelledError:
        return UnmodelledError(f"{self._program.name}: {what} is not modelled")

    # parser

    def parsed(self, state: State) -> State:
        states = self._program.parser

        def following(name: str) -> list[str | None]:
            return [transition["next_state"] for transition in states[name]["transitions"]] or [None]

        try:
            return execute(self._program.start, following, self._parse, state)
        except LoopError as error:
            raise self._unmodelled(f"the loop of parser state '{error.args[0]}'") from error

    def parsed_bytes(self, state: State) -> State:
        """As `parsed`, over the bytes of the packet."""
        acts = Acts(self._value, self._truth, self._assign, self._primitive, self._fits, self._unmodelled)
        return WireParser(self._program, self._world, self._world.variables[LENGTH], acts).parsed(state)

    def _parse(self, name: str, state: State) -> list[tuple[Truth, State, str | None]]:
        of = self._program.parser[name]
        ways: list[tuple[Truth, State, str | None]] = []
        for operation in of["parser_ops"]:
            first, *rest = operation["parameters"]
            match operation["op"]:
                case "extract" if first["type"] == "regular":
                    header = first["value"]
                    ways.append((self._world.decide(negated(self._world.longer(header))), self._ended(state), None))
                    for part in self._program.headers[header]:
                        state[part] = self._world.variable(part, self._program.fields[part])
                    state[f"{header}.$valid$"] = Int.of(1)
                case "set":
                    self._assign(state, first, self._value(state, rest[0], []))
                case other:
                    self._parser_operation(other, first, state)
        key = Int.of(0)
        for part in of["transition_key"]:
            if part["type"] != "field":
                raise self._unmodelled(f"the key of parser state '{name}'")
            # each field has whole bytes
            key = key << (self._program.fields[field_name(part)] + 7) // 8 * 8 | state[field_name(part)]
        for transition in of["transitions"]:
            match transition["type"]:
                case "default":
                    return [*ways, (True, state, transition["next_state"])]
                case _:
                    ways.append((self._world.decide(self._fits(transition, key)), state, transition["next_state"]))
        return [*ways, (True, state, None)]

    def _fits(self, transition: Json, key: Int) -> Truth:
        """True if the key of a parser state is one of this transition."""
        if transition["type"] != "hexstr":
            raise self._unmodelled(f"a parser value set ({transition['type']})")
        value = int(transition["value"], 16)
        mask = -1 if transition["mask"] is None else int(transition["mask"], 16)
        # the switch ignores bits of the value that the mask has not
        return (key if mask == -1 else key & Int.of(mask)).equals(value & mask)

    def _ended(self, state: State) -> State:
        """The state if the packet ends before a header. BMv2 goes on with ingress."""
        error = {PARSER_ERROR: Int.of(self._program.errors["PacketTooShort"])}
        return {**state, **error} if PARSER_ERROR in state else dict(state)

    def _parser_operation(self, name: str, _argument: Json, _state: State) -> None:
        """An operation of the parser that only some architectures have."""
        raise self._unmodelled(f"the parser operation '{name}'")

    # ingress

    def ingress(self, state: State) -> State:
        def following(name: str) -> list[str | None]:
            if name in self._program.conditionals:
                node = self._program.conditionals[name]
                return [node["true_next"], node["false_next"]]
            table = self._program.tables[name]
            return [*table["next_tables"].values(), table["base_default_next"]]

        try:
            return execute(self._program.first, following, self._node, state)
        except LoopError as error:
            raise self._unmodelled(f"the loop at '{error.args[0]}'") from error

    def _node(self, name: str, state: State) -> list[tuple[Truth, State, str | None]]:
        for named, (value, variable) in self._world.named.items():
            if state[named].same(value):
                state[named] = variable
        if name in self._program.conditionals:
            node = self._program.conditionals[name]
            holds = self._world.decide(self._truth(state, node["expression"], []))
            return [(holds, dict(state), node["true_next"]), (True, state, node["false_next"])]
        return self._table(self._program.tables[name], state)

    def _table(self, table: Json, state: State) -> list[tuple[Truth, State, str | None]]:
        following = table["next_tables"]
        # p4c gives one name to several copies of an action
        actions = {
            name: self._program.actions[of] for name, of in zip(table["actions"], table["action_ids"], strict=True)
        }

        def way(condition: Truth, name: str, data: Sequence[Int], hit: bool) -> list[tuple[Truth, State, str | None]]:
            to = following["__HIT__" if hit else "__MISS__"] if "__HIT__" in following else following[name]
            after = self._act(actions[name], data, dict(state))
            leaves: Truth = after[EXIT].equals(1)
            if leaves is False:
                return [(condition, after, to)]
            return [(self._world.decide(every(condition, leaves)), dict(after), None), (condition, after, to)]

        default = table["default_entry"]
        fixed = not table["key"] and (default["action_const"] or table["name"].startswith("tbl_"))
        ways: list[tuple[Truth, State, str | None]] = []
        if fixed or "entries" in table:
            for entry in _by_precedence(table.get("entries", ())):
                call = entry["action_entry"]
                name = self._program.actions[call["action_id"]]["name"]
                ways += way(self._matches(state, table, entry), name, _numbers(call["action_data"]), hit=True)
            name = self._program.actions[default["action_id"]]["name"]
            return [*ways, *way(True, name, _numbers(default["action_data"]), hit=False)]
        key = [_masked(state, part) for part in table["key"]]
        answer = self._world.answer(table, actions, key)
        hits: list[tuple[Truth, bool]] = (
            [(answer.hit, True), (True, False)] if "__HIT__" in following else [(True, True)]
        )
        for hit, is_hit in hits:
            for place, name in enumerate(table["actions"]):
                chosen = self._world.decide(every(hit, answer.action.equals(place)))
                ways += way(chosen, name, answer.data[name], is_hit)
        return [*ways[:-1], (True, *ways[-1][1:])]

    def _matches(self, state: State, table: Json, entry: Json) -> Truth:
        """True if the key matches an entry of the program."""
        fits: list[Truth] = []
        for part, pattern in zip(table["key"], entry["match_key"], strict=True):
            value = _masked(state, part)
            bits = self._program.fields[dotted(part["target"])]
            match pattern["match_type"]:
                case "exact":
                    fits.append(value.equals(int(pattern["key"], 16)))
                case "lpm":
                    rest = bits - pattern["prefix_length"]
                    fits.append((value >> rest).equals(int(pattern["key"], 16) >> rest))
                case "ternary":
                    mask = int(pattern["mask"], 16)
                    fits.append((value & Int.of(mask)).equals(int(pattern["key"], 16) & mask))
                case "range":
                    fits.append(every(value >= int(pattern["start"], 16), value <= int(pattern["end"], 16)))
                case other:
                    raise self._unmodelled(f"an entry with a key of type '{other}'")
        return every(*fits)

    # actions

    def _act(self, action: Json, data: Sequence[Int], state: State) -> State:
        body = action["primitives"]

        def targets(place: int) -> list[int]:
            if body[place]["op"] == "_jump":
                return [int(body[place]["parameters"][0]["value"], 16)]
            if body[place]["op"] == "_jump_if_zero":
                return [place + 1, int(body[place]["parameters"][1]["value"], 16)]
            return [place + 1]

        starts = {
            0,
            *(to for place in range(len(body)) if body[place]["op"].startswith("_jump") for to in targets(place)),
        }

        def end(place: int) -> int:
            """End of the block that starts here: at a jump, or before the next block."""
            while not body[place]["op"].startswith("_jump") and place + 1 < len(body) and place + 1 not in starts:
                place += 1
            return place

        def within(place: int) -> int | None:
            return place if place < len(body) else None

        def step(place: int, state: State) -> list[tuple[Truth, State, int | None]]:
            last = end(place)
            for one in body[place:last]:
                self._primitive(state, one, data)
            one = body[last]
            if one["op"] == "_jump":
                return [(True, state, within(targets(last)[0]))]
            if one["op"] == "_jump_if_zero":
                then, other = targets(last)
                holds = self._world.decide_case(self._value(state, one["parameters"][0], data).differs(0))
                return [(holds, state, within(then)), (True, dict(state), within(other))]
            self._primitive(state, one, data)
            return [(True, state, within(last + 1))]

        try:
            return execute(within(0), lambda place: [within(to) for to in targets(end(place))], step, state)
        except LoopError as error:
            raise self._unmodelled(f"the loop in action '{action['name']}'") from error

    def _primitive(self, state: State, one: Json, data: Sequence[Int]) -> None:  # noqa: PLR0912 one for each kind
        arguments = one["parameters"]
        if one["op"] in HEADER_PRIMITIVES and not all(isinstance(argument["value"], str) for argument in arguments):
            raise self._unmodelled("an element of a stack whose place varies")
        match one["op"]:
            case "assign":
                self._assign(state, arguments[0], self._value(state, arguments[1], data))
            case "register_read":
                array = self._program.registers[arguments[1]["value"]]
                index = self._value(state, arguments[2], data)
                value = state[arguments[1]["value"]].cell(index)
                self._assign(state, arguments[0], choose(index < array.size, value, 0))
            case "register_write":
                array = self._program.registers[arguments[0]["value"]]
                index, value = (self._value(state, argument, data) for argument in arguments[1:])
                self._write(state, arguments[0]["value"], array.size, index, value.lowest(array.bits))
            case "count":
                name = arguments[0]["value"]
                index = self._value(state, arguments[1], data)
                self._write(state, name, self._program.counters[name].size, index, state[name].cell(index) + 1)
            case "mark_to_drop":
                state["standard_metadata.egress_spec"] = Int.of(DROP_PORT)
                state["standard_metadata.mcast_grp"] = Int.of(0)
            case "modify_field_with_hash_based_offset":
                self._hash(state, arguments, data)
            case "add_header":
                whole_headers.add(self._program, state, arguments[0]["value"])
            case "remove_header":
                state[f"{arguments[0]['value']}.$valid$"] = Int.of(0)
            case "assign_header":
                whole_headers.copy(self._program, state, *(argument["value"] for argument in arguments))
            case "assign_header_stack" | "assign_union":
                whole_headers.copy_named(self._program, state, *(argument["value"] for argument in arguments))
            case "push" | "pop":
                by, forward = int(arguments[1]["value"], 16), one["op"] == "push"
                whole_headers.shift(self._program, state, arguments[0]["value"], by, forward=forward)
            case "clone_ingress_pkt_to_egress":
                session, kept = (self._value(state, argument, data) for argument in arguments)
                state |= {CLONED: Int.of(1), SESSION: session.lowest(SESSION_BITS), KEPT: kept}
            case "exit":
                state[EXIT] = Int.of(1)
            case "NoAction" | "no_op" | "log_msg":
                pass
            case other:
                raise self._unmodelled(f"the primitive '{other}'")

    def _write(self, state: State, name: str, size: int, index: Int, value: Int) -> None:
        cells: Cells = state[name]
        within = index < size
        state[name] = cells.with_cell(index, choose(within, value, cells.cell(index)) if within is not True else value)

    def _hash(self, state: State, arguments: Sequence[Json], data: Sequence[Int]) -> None:
        base, size = self._value(state, arguments[1], data), self._value(state, arguments[3], data)
        of = self._program.calculations[arguments[2]["value"]]
        parts = [
            (state[field_name(part)], self._program.fields[field_name(part)])
            for part in of["input"]
            if part["type"] == "field"
        ]
        if len(parts) != len(of["input"]) or not size.is_number:
            raise self._unmodelled("a hash of other things than fields, or with a size that varies,")
        hashed = self._world.hash(of["algo"], parts)
        self._assign(state, arguments[0], base + hashed % max(size.low, 1))

    def _assign(self, state: State, to: Json, value: Int) -> None:
        if to["type"] != "field":
            raise self._unmodelled(f"an assignment to a {to['type']}")
        state[field_name(to)] = value.lowest(self._program.fields[field_name(to)])

    # expressions

    def _value(self, state: State, json: Json, data: Sequence[Int]) -> Int:
        """The exact value of an expression."""
        match json["type"]:
            case "field":
                name = field_name(json)
                value: Int = state[name]
                return _signed(value, self._program.fields[name]) if name in self._program.signed else value
            case "hexstr":
                return Int.of(int(json["value"], 16))
            case "stack_field":
                return whole_headers.last(self._program, state, *json["value"])
            case "runtime_data" | "local":
                return data[json["value"]]
            case "expression":
                inner = json["value"]
                return self._operation(state, inner, data) if "op" in inner else self._value(state, inner, data)
            case other:
                raise self._unmodelled(f"a value of type '{other}'")

    def _operation(self, state: State, json: Json, data: Sequence[Int]) -> Int:  # noqa: PLR0911 one for each kind
        sign = json["op"]
        if sign == "b2d":
            return number(self._truth(state, json["right"], data))
        if sign == "?":
            condition = self._truth(state, json["cond"], data)
            return choose(condition, self._value(state, json["left"], data), self._value(state, json["right"], data))
        if sign in {"last_stack_index", "size_stack"}:
            number_of: Int = state[whole_headers.count(json["right"]["value"])]
            return number_of - 1 if sign == "last_stack_index" else number_of
        if sign in OF_HEADERS:
            raise self._unmodelled(f"the operator '{sign}'")
        right = self._value(state, json["right"], data)
        if sign == "~":
            return ~right
        left = self._value(state, json["left"], data) if json["left"] is not None else Int.of(0)
        if sign in {"<<", ">>"}:
            if right.low < 0 or right.high > LARGEST_SHIFT:
                raise self._unmodelled(f"a shift by more than {LARGEST_SHIFT} places")
            return left << right if sign == "<<" else left >> right
        if sign in CASTS and right.is_number:
            return CASTS[sign](left, right.low)
        operation = OPERATIONS.get(sign)
        if operation is None:
            raise self._unmodelled(f"the operator '{sign}'")
        found: Int = operation(left, right)
        return found

    def _truth(self, state: State, json: Json, data: Sequence[Int]) -> Truth:  # noqa: PLR0911 one for each kind
        if json["type"] == "bool":
            return bool(json["value"])
        if json["type"] != "expression":
            raise self._unmodelled(f"a condition of type '{json['type']}'")
        inner = json["value"]
        sign = inner.get("op")
        match sign:
            case None:
                return self._truth(state, inner, data)
            case "and" | "or":
                sides = (self._truth(state, inner[side], data) for side in ("left", "right"))
                return every(*sides) if sign == "and" else some(*sides)
            case "not":
                return negated(self._truth(state, inner["right"], data))
            case "valid" if inner["right"]["type"] == "header":
                return whole_headers.is_valid(state, inner["right"]["value"])
            case "valid":
                raise self._unmodelled("the validity of an element of a stack whose place varies")
            case "valid_union":
                return whole_headers.any_valid(state, self._program.unions[inner["right"]["value"]])
            case "d2b":
                return self._value(state, inner["right"], data).differs(0)
        comparison = COMPARISONS.get(sign)
        if comparison is None:
            raise self._unmodelled(f"the condition '{sign}'")
        return comparison(self._value(state, inner["left"], data), self._value(state, inner["right"], data))


def _signed(value: Int, bits: int) -> Int:
    """The lowest bits as a number with a sign."""
    lowest, half = value.lowest(bits), 1 << (bits - 1)
    return choose(lowest >= half, lowest - 2 * half, lowest)


CASTS: dict[str, Callable[[Int, int], Int]] = {
    "two_comp_mod": _signed,
    "usat_cast": lambda value, bits: smallest(largest(value, 0), (1 << bits) - 1),
}
OPERATIONS: dict[str, Any] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
}
COMPARISONS: dict[str, Any] = {
    "==": lambda left, right: left.equals(right),
    "!=": lambda left, right: left.differs(right),
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}


def _by_precedence(entries: Sequence[Json]) -> list[Json]:
    """Entries of the program, the one that wins over all others first: with the longest prefix, else with the smallest
    priority."""

    def precedence(entry: Json) -> tuple[int, int]:
        kinds = {part["match_type"] for part in entry["match_key"]}
        if kinds <= {"exact", "lpm"}:
            return -sum(part.get("prefix_length", 0) for part in entry["match_key"]), 0
        return 0, int(entry.get("priority", 0))

    return sorted(entries, key=precedence)


def _masked(state: State, part: Json) -> Int:
    """The value of a part of a key; a mask is part of the program."""
    value: Int = state[dotted(part["target"])]
    return value & Int.of(int(part["mask"], 16)) if part.get("mask") else value


def _numbers(words: Sequence[str]) -> list[Int]:
    return [Int.of(int(word, 16)) for word in words]


def same_answers(one: World, two: World) -> list[Truth]:
    """Two tables of one name, with the same entries, give the same answer to the same key."""
    laws: list[Truth] = []
    for name in one.lookups.keys() & two.lookups.keys():
        (key, answer), (other_key, other) = one.lookups[name], two.lookups[name]
        same = every(*(left.equals(right) for left, right in zip(key, other_key, strict=True)))
        pairs = [(answer.action, other.action), (number(answer.hit), number(other.hit))]
        for action, data in answer.data.items():
            pairs += zip(data, other.data.get(action, ()), strict=False)
        laws.append(implies(same, reduce(every, (left.equals(right) for left, right in pairs), True)))
    return laws
