"""One packet through parser and ingress of a program: the symbolic step.

The packet, the tables and the registers come from a `World`. In the `World` of this module, all of them are variables;
with numbers in their places, the same code executes one packet.

The parser reads header by header; the packet may end before each one. A header that is not valid holds 0, as in BMv2,
and so do all other fields at the start of a packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import z3

from p4sched.proofs import elements, requests, whole_headers
from p4sched.proofs.cells import Before, Cells, equal_cells
from p4sched.proofs.elements import BEYOND
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
    remainder,
    smallest,
    some,
    variables,
)
from p4sched.proofs.paths import LoopError, State, execute
from p4sched.proofs.program import (
    PARSED,
    PARSER_ERROR,
    Json,
    Program,
    UnmodelledError,
    as_compiled,
    dotted,
    field_name,
    length_of,
)
from p4sched.proofs.requests import REQUESTS
from p4sched.proofs.wire import Acts, WireParser

DROP_PORT = 511
A_MOMENT_MS = 2000
"""Limit for the question whether a path is possible."""
LARGEST_SHIFT = 255
TIMESTAMP = "standard_metadata.ingress_global_timestamp"
LENGTH = "standard_metadata.packet_length"
OF_HEADERS = ("header", "header_stack", "header_union", "header_union_stack")
EXIT = "$exit$"
"""1 if the packet executed `exit`: then it leaves ingress behind the table."""
DRAWS = "$draws$"
"""Random numbers that the packet drew."""
DRAW_BITS = 16
RANDOM_BITS = 64
MOST_STEPS = 10_000
"""Primitives of an action with a loop."""
HASH_BITS = {"crc32": 32, "crc16": 16, "csum16": 16}


Way = tuple[Truth, State, str | None]


@dataclass(frozen=True)
class Answer:
    """Answer of a table to a key. Action i of the table is run if `action` is i, with the data of this action. A table
    with an action profile may have no default action; then `action` is the number of actions."""

    hit: Truth
    action: Int
    data: Mapping[str, Sequence[Int]]
    colour: Sequence[Int] = ()
    """Of a table with a direct meter: the colour, and 1 if a default action is metered, too."""


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
    members: list[tuple[str, Int, Truth]] = field(default_factory=list)
    """Value sets that the parser asked: name, key, and whether the set has the key."""
    drawn: list[Truth] = field(default_factory=list)
    """Limits of random numbers."""
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

    def answer(
        self, table: Json, actions: Mapping[str, Json], key: Sequence[Int], *, has_key: bool | None = None
    ) -> Answer:
        """Answer of a table; any entry, or any default action. `has_key`: False if the key is a selector's input."""
        name = f"{self.prefix}{table['name']}"
        which = self.variable(f"{name}: action", 16, len(table["actions"]) - (not is_indirect(table)))
        data = {
            action: [
                self.variable(f"{name}: {action.rpartition('.')[2]}({one['name']})", one["bitwidth"])
                for one in actions[action]["runtime_data"]
            ]
            for action in table["actions"]
        }
        hit = self.variable(f"{name}: hit", 1).equals(1) if (bool(key) if has_key is None else has_key) else False
        self.lookups[table["name"]] = key, Answer(hit, which, data)
        return self.lookups[table["name"]][1]

    def hash(self, algorithm: str, data: Sequence[tuple[Int, int]]) -> Int:
        """A hash of fields, each with its bits."""
        word = z3.Concat(*(value.at(bits) for value, bits in data)) if len(data) > 1 else data[0][0].at(data[0][1])
        bits = HASH_BITS.get(algorithm)
        if bits is None:
            raise UnmodelledError(f"the hash '{algorithm}' is not modelled")
        function = z3.Function(f"{algorithm}_{word.size()}", word.sort(), z3.BitVecSort(bits))
        return Int(0, (1 << bits) - 1, function(word))

    def member(self, name: str, bits: int, key: Int) -> Truth:
        """True if a value set has this key; any set."""
        sort = z3.BitVecSort(bits)
        is_in = z3.Function(f"in {name} {bits}", sort, z3.BitVecSort(1))(key.at(bits)) == 1
        self.members.append((name, key, is_in))
        return is_in

    def colour(self, table: str) -> tuple[Int, Int]:
        """The colour that a direct meter gives, and 1 if the default action is metered, too."""
        name = f"{self.prefix}{table}"
        return self.variable(f"{name}: colour", 2, 2), self.variable(f"{name}: metered default", 1)

    def draw(self, place: Int, low: Int, high: Int) -> Int:
        """The random number at this place, from `low` to `high`: both programs draw the same ones."""
        if max(low.bits, high.bits) > RANDOM_BITS:
            raise UnmodelledError(f"a random number with more than {RANDOM_BITS} bits is not modelled")
        words = [place.at(DRAW_BITS), low.at(RANDOM_BITS), high.at(RANDOM_BITS)]
        sorts = [word.sort() for word in words]
        found = Int(0, (1 << RANDOM_BITS) - 1, z3.Function("random", *sorts, z3.BitVecSort(RANDOM_BITS))(*words))
        self.drawn.append(implies(low <= high, every(found >= low, found <= high)))
        return found

    def laws(self, terms: Sequence[Truth]) -> list[Truth]:
        """Facts about random numbers, and about the cells that these terms read: equal indices have equal cells."""
        read = {str(variable) for variable in variables(terms)}
        found: list[Truth] = [*self.drawn]
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
    """Parser and ingress of one packet. Raises UsageError if the program is none that a compiler writes."""
    with as_compiled(program.name):
        return _run(program, world)


def _run(program: Program, world: World) -> Step:
    state: State = {name: Int.of(0) for name in (*program.fields, BEYOND)}
    state["standard_metadata.ingress_port"] = world.variable("standard_metadata.ingress_port", 9, DROP_PORT - 1)
    state[LENGTH] = world.variable(LENGTH, 32, program.most_bytes)
    for name in (TIMESTAMP, "standard_metadata.instance_type", "standard_metadata.checksum_error"):
        state[name] = world.variable(name, program.fields[name])
    kept = [
        world.variable(f"resubmitted {place}", program.fields.get(str(name), 1))
        for place, name in enumerate(requests.kept_again(program))
    ]
    state |= requests.of_second_pass(program, state, kept)
    if PARSER_ERROR in program.fields:
        state[PARSER_ERROR] = Int.of(program.errors["NoError"])
    if program.is_wire:
        return run_from(program, world, Machine(program, world).parsed_bytes({**state, PARSED: Int.of(0)}))
    return run_from(program, world, Machine(program, world).parsed(state))


def run_from(program: Program, world: World, parsed: State) -> Step:
    """Ingress of one packet. `parsed`: the fields after the parser; the others are 0."""
    state: State = {name: Int.of(0) for name in (*program.fields, EXIT, BEYOND, DRAWS, *REQUESTS)} | parsed
    for name, parts in program.remembering.items():
        state |= dict.fromkeys(looked_up(name, parts), Int.of(0))
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

    def _parse(self, name: str, state: State) -> list[Way]:
        of = self._program.parser[name]
        ways: list[Way] = []
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
        key, bits = Int.of(0), 0
        for part in of["transition_key"]:
            if part["type"] != "field":
                raise self._unmodelled(f"the key of parser state '{name}'")
            # each field has whole bytes
            width = (self._program.fields[field_name(part)] + 7) // 8 * 8
            key, bits = key << width | state[field_name(part)], bits + width
        for transition in of["transitions"]:
            match transition["type"]:
                case "default":
                    return [*ways, (True, state, transition["next_state"])]
                case _:
                    ways.append(
                        (self._world.decide(self._fits(transition, key, bits)), state, transition["next_state"])
                    )
        return [*ways, (True, state, None)]

    def _fits(self, transition: Json, key: Int, bits: int) -> Truth:
        """True if the key of a parser state is one of this transition."""
        if transition["type"] == "parse_vset" and transition["mask"] is None:
            return self._world.member(transition["value"], bits, key)
        if transition["type"] != "hexstr":
            raise self._unmodelled(f"a transition of type '{transition['type']}', or a mask of a value set,")
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

    def _node(self, name: str, state: State) -> list[Way]:
        for named, (value, variable) in self._world.named.items():
            if state[named].same(value):
                state[named] = variable
        if name in self._program.conditionals:
            node = self._program.conditionals[name]
            holds = self._world.decide(self._truth(state, node["expression"], []))
            return [(holds, dict(state), node["true_next"]), (True, state, node["false_next"])]
        return self._table(self._program.tables[name], state)

    def _table(self, table: Json, state: State) -> list[Way]:
        following = table["next_tables"]
        names = looked_up(table["name"], len(table["key"]))
        if names[0] in state:
            state |= zip(names, [Int.of(1), *(_masked(state, part) for part in table["key"])], strict=True)
        # p4c gives one name to several copies of an action
        actions = {
            name: self._program.actions[of] for name, of in zip(table["actions"], table["action_ids"], strict=True)
        }

        def way(condition: Truth, name: str, data: Sequence[Int], hit: bool) -> list[Way]:
            to = following["__HIT__" if hit else "__MISS__"] if "__HIT__" in following else following[name]
            after = self._act(actions[name], data, dict(state))
            leaves: Truth = after[EXIT].equals(1)
            if leaves is False:
                return [(condition, after, to)]
            return [(self._world.decide(every(condition, leaves)), dict(after), None), (condition, after, to)]

        if is_indirect(table):
            return self._indirect(table, actions, state, way)
        default = table["default_entry"]
        fixed = not table["key"] and (default["action_const"] or table["name"].startswith("tbl_"))
        ways: list[Way] = []
        if (fixed or "entries" in table) and table["name"] in self._program.direct_meters:
            raise self._unmodelled(f"the meter of table '{table['name']}', which has constant entries,")
        if fixed or "entries" in table:
            for entry in _by_precedence(table.get("entries", ())):
                call = entry["action_entry"]
                name = self._program.actions[call["action_id"]]["name"]
                ways += way(self._matches(state, table, entry), name, _numbers(call["action_data"]), hit=True)
            name = self._program.actions[default["action_id"]]["name"]
            return [*ways, *way(True, name, _numbers(default["action_data"]), hit=False)]
        answer = self._world.answer(table, actions, [_masked(state, part) for part in table["key"]])
        answer = self._metered(table, answer, state)
        ways = self._answered(table, answer, way)
        return [*ways[:-1], (True, *ways[-1][1:])]

    def _answered(self, table: Json, answer: Answer, way: Callable[..., list[Way]]) -> list[Way]:
        """The ways out of a table with entries of the controller."""
        ways: list[Way] = []
        following = table["next_tables"]
        hits: list[tuple[Truth, bool]] = (
            [(answer.hit, True), (True, False)] if "__HIT__" in following else [(True, True)]
        )
        for hit, is_hit in hits:
            for place, name in enumerate(table["actions"]):
                chosen = self._world.decide(every(hit, answer.action.equals(place)))
                ways += way(chosen, name, answer.data[name], is_hit)
        return ways

    def _indirect(
        self, table: Json, actions: Mapping[str, Json], state: State, way: Callable[..., list[Way]]
    ) -> list[Way]:
        """The ways out of a table with an action profile. A selector chooses by its input, too."""
        if table.get("entries") or table.get("default_entry") or "__HIT__" in table["next_tables"]:
            what = f"a default action, an entry or the hit of table '{table['name']}', which has a profile,"
            raise self._unmodelled(what)
        key = [_masked(state, part) for part in table["key"]]
        for part in self._program.profiles[table["action_profile"]].get("selector", {}).get("input", ()):
            if part["type"] != "field":
                raise self._unmodelled("a selector of other things than fields")
            key.append(state[field_name(part)])
        answer = self._world.answer(table, actions, key, has_key=bool(table["key"]))
        answer = self._metered(table, answer, state)
        return [*self._answered(table, answer, way), (True, dict(state), table["base_default_next"])]

    def _metered(self, table: Json, answer: Answer, state: State) -> Answer:
        """The answer with a colour, if the table has a direct meter. The packet gets the colour before the action."""
        field_of = self._program.direct_meters.get(table["name"])
        if field_of is None:
            return answer
        colour, is_default = self._world.colour(table["name"])
        is_metered = some(answer.hit, is_default.equals(1))
        state[field_of] = choose(is_metered, colour, state[field_of]).lowest(self._program.fields[field_of])
        self._world.lookups[table["name"]] = (
            self._world.lookups[table["name"]][0],
            replace(answer, colour=(colour, is_default)),
        )
        return self._world.lookups[table["name"]][1]

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
            return self._looped(
                within(0), step, state, self._unmodelled(f"the loop in action '{action['name']}'"), error
            )

    def _looped(
        self,
        place: int | None,
        step: Callable[[int, State], list[tuple[Truth, State, int | None]]],
        state: State,
        unmodelled: UnmodelledError,
        error: LoopError,
    ) -> State:
        """An action with a loop, if all its conditions have known values."""
        for _ in range(MOST_STEPS):
            if place is None:
                return state
            (holds, state, place), *others = step(place, state)
            if holds is False:
                _, state, place = others[0]
            elif holds is not True:
                break
        raise unmodelled from error

    def _primitive(self, state: State, one: Json, data: Sequence[Int]) -> None:
        arguments = one["parameters"]
        match one["op"]:
            case "assign":
                self._assign(state, arguments[0], self._value(state, arguments[1], data), data)
            case "register_read":
                array = self._program.registers[arguments[1]["value"]]
                index = self._value(state, arguments[2], data)
                value = state[arguments[1]["value"]].cell(index)
                self._assign(state, arguments[0], choose(index < array.size, value, 0), data)
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
            case "assign_VL" if all(argument["type"] == "field" for argument in arguments):
                to, source = map(field_name, arguments)
                state |= {to: state[source], length_of(to): state[length_of(source)]}
            case "modify_field_rng_uniform" if DRAWS in state:
                low, high = (self._value(state, argument, data) for argument in arguments[1:])
                number_of: Int = state[DRAWS]
                drawn = self._world.draw(number_of, low, high)
                before = self._value(state, arguments[0], data)
                self._assign(state, arguments[0], choose(low <= high, drawn, before), data)
                state[DRAWS] = number_of + 1
            case op if op in requests.OPERATIONS and requests.DIGEST in state:
                state |= requests.asked(self._program, state, one, [self._value(state, of, data) for of in arguments])
            case "exit":
                state[EXIT] = Int.of(1)
            case "NoAction" | "no_op" | "log_msg":
                pass
            case _:
                self._header_primitive(state, one, data)

    def _header_primitive(self, state: State, one: Json, data: Sequence[Int]) -> None:
        """A primitive of whole headers."""
        arguments = one["parameters"]
        match one["op"]:
            case "add_header":
                add = partial(whole_headers.add, self._program)
                elements.change(state, self._header(state, arguments[0], data), add)
            case "remove_header":
                elements.change(state, self._header(state, arguments[0], data), whole_headers.remove)
            case "assign_header" if all(str(argument["value"]) in self._program.structs for argument in arguments):
                to, source = (self._program.structs[argument["value"]] for argument in arguments)
                state |= {one: state[other] for one, other in zip(to, source, strict=True)}
            case "assign_header":
                headers = [self._header(state, argument, data) for argument in arguments]
                elements.copy(self._program, state, *headers)
            case "assign_header_stack" | "assign_union" | "assign_union_stack":
                names = [argument["value"] for argument in arguments]
                if not all(name in {**self._program.rows, **self._program.unions} for name in names):
                    raise self._unmodelled("a union that an index chooses")
                whole_headers.copy_named(self._program, state, *names)
            case "push" | "pop" if arguments[0]["value"] in self._program.rows:
                by, forward = int(arguments[1]["value"], 16), one["op"] == "push"
                whole_headers.shift(self._program, state, arguments[0]["value"], by, forward=forward)
            case other:
                raise self._unmodelled(f"the primitive '{other}'")

    def _write(self, state: State, name: str, size: int, index: Int, value: Int) -> None:
        cells: Cells = state[name]
        within = index < size
        state[name] = cells.with_cell(index, choose(within, value, cells.cell(index)) if within is not True else value)

    def _hash(self, state: State, arguments: Sequence[Json], data: Sequence[Int]) -> None:
        base, size = self._value(state, arguments[1], data), self._value(state, arguments[3], data)
        of = self._program.calculations[arguments[2]["value"]]
        parts: list[tuple[Int, int]] = []
        for part in of["input"]:
            match part["type"]:
                case "field":
                    parts.append((state[field_name(part)], self._program.fields[field_name(part)]))
                case "hexstr" if "bitwidth" in part:
                    parts.append((Int.of(int(part["value"], 16)).lowest(part["bitwidth"]), part["bitwidth"]))
                case other:
                    raise self._unmodelled(f"a hash of a {other}")
        if any(name in self._program.varying.values() for name in map(_of_field, of["input"])):
            raise self._unmodelled("a hash of a field of variable length")
        if not parts:
            raise self._unmodelled("a hash of nothing")
        hashed = self._world.hash(of["algo"], parts)
        self._assign(state, arguments[0], base + remainder(hashed, largest(size, 1)), data)

    def _assign(self, state: State, to: Json, value: Int, data: Sequence[Int] = ()) -> None:
        if to["type"] == "expression":
            name_of = self._program.fields
            inner = self._field(state, to, data)
            return elements.write(state, inner, lambda name: value.lowest(name_of[name]))
        if to["type"] != "field":
            raise self._unmodelled(f"an assignment to a {to['type']}")
        state[field_name(to)] = value.lowest(self._program.fields[field_name(to)])
        return None

    def _header(self, state: State, json: Json, data: Sequence[Int]) -> elements.Chosen:
        """The header of an expression."""
        return elements.chosen(self._program, json, lambda index: self._value(state, index, data))

    def _field(self, state: State, json: Json, data: Sequence[Int]) -> tuple[tuple[Truth, str], ...]:
        """The field of an element that an index chooses."""
        inner = json["value"]
        if json["type"] == "expression" and "op" not in inner:
            return self._field(state, inner, data)
        if json["type"] != "expression" or inner["op"] != "access_field":
            raise self._unmodelled(f"a field of type '{json['type']}'")
        return self._header(state, inner["left"], data).field(self._program, inner["right"])

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
            then = elements.only_if(state, condition, lambda: self._value(state, json["left"], data))
            other = elements.only_if(state, negated(condition), lambda: self._value(state, json["right"], data))
            return choose(condition, then, other)
        if sign in {"last_stack_index", "size_stack"} and json["right"]["value"] in self._program.rows:
            number_of: Int = state[whole_headers.count(json["right"]["value"])]
            return number_of - 1 if sign == "last_stack_index" else number_of
        if sign == "access_field":
            fields = self._header(state, json["left"], data).field(self._program, json["right"])
            value, signed = elements.read(state, fields), self._program.signed.intersection(name for _, name in fields)
            return _signed(value, self._program.fields[min(signed)]) if signed else value
        if json["right"]["type"] in OF_HEADERS:
            raise self._unmodelled(f"the operator '{sign}' with a {json['right']['type']}")
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
                one = self._truth(state, inner["left"], data)
                is_needed = one if sign == "and" else negated(one)
                two = elements.only_if(state, is_needed, lambda: self._truth(state, inner["right"], data))
                return every(one, two) if sign == "and" else some(one, two)
            case "not":
                return negated(self._truth(state, inner["right"], data))
            case "valid":
                return elements.is_valid(state, self._header(state, inner["right"], data))
            case "valid_union":
                unions = elements.chosen_union(self._program, inner["right"], lambda one: self._value(state, one, data))
                elements.must_be(state, unions.is_there)
                return some(
                    *(
                        every(holds, whole_headers.any_valid(state, self._program.unions[name]))
                        for holds, name in unions.headers
                    )
                )
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
    "sat_cast": lambda value, bits: smallest(largest(value, -1 << (bits - 1)), (1 << (bits - 1)) - 1),
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


def looked_up(table: str, parts: int) -> list[str]:
    """Fields with 1 if the packet was looked up in a table, and with its key."""
    return [f"$looked up$ {table}", *(f"$key {place}$ {table}" for place in range(parts))]


def is_indirect(table: Json) -> bool:
    """True if the entries of a table name members of an action profile."""
    return "action_profile" in table


def _masked(state: State, part: Json) -> Int:
    """The value of a part of a key; a mask is part of the program."""
    value: Int = state[dotted(part["target"])]
    return value & Int.of(int(part["mask"], 16)) if part.get("mask") else value


def _numbers(words: Sequence[str]) -> list[Int]:
    return [Int.of(int(word, 16)) for word in words]


def _of_field(part: Json) -> str:
    return field_name(part) if part["type"] == "field" else ""


def same_answers(one: World, two: World) -> list[Truth]:
    """Two tables of one name, with the same entries, give the same answer to the same key."""
    laws: list[Truth] = []
    for name in one.lookups.keys() & two.lookups.keys():
        (key, answer), (other_key, other) = one.lookups[name], two.lookups[name]
        if len(key) != len(other_key):
            continue
        same = every(*(left.equals(right) for left, right in zip(key, other_key, strict=True)))
        pairs = [(answer.action, other.action), (number(answer.hit), number(other.hit))]
        pairs += zip(answer.colour, other.colour, strict=False)
        for action, data in answer.data.items():
            pairs += zip(data, other.data.get(action, ()), strict=False)
        laws.append(implies(same, reduce(every, (left.equals(right) for left, right in pairs), True)))
    return laws
