"""Programs for Tofino (TNA, T2NA): the symbolic step of ingress.

Their JSON is that of BMv2, with the chip's metadata in headers of their own. What differs from v1model:

- The chip's metadata and those of the port are always in front of a packet.
- A packet that ends before a header that its parser state reads is dropped: it never gets to ingress.
- A packet is dropped if `drop_ctl` says so, or if no port was requested.
- A packet may come back once (`resubmit_type`). What it brings is a header in front of it.
- A table with constant entries is a function of its key. Of some of these tables (`opaque`), the step takes any value:
  the claims are then about the key and the value, and `logarithms` proves what the entries are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from p4sched.errors import MissingError, UsageError
from p4sched.proofs.cells import Cells
from p4sched.proofs.exact import Int, Truth, choose, every, negated, some
from p4sched.proofs.paths import State, execute
from p4sched.proofs.program import Json, Program, UnmodelledError, of_json
from p4sched.proofs.step import EXIT, Machine, Step, World

CHIP_METADATA = "ig_intr_md"
ALWAYS_THERE = (CHIP_METADATA, "push_down")
"""Headers that the chip puts in front of a packet."""
REPORT = "length_report"
PARSER_FAILED = "the parser failed"
TIME = "ig_intr_md_from_prsr.global_tstamp"
"""Nanoseconds."""
PORT = "ig_intr_md_for_tm.ucast_egress_port"
REQUESTED = "a port was requested"
DROP = "ig_intr_md_for_dprsr.drop_ctl"
QUEUE = "ig_intr_md_for_tm.qid"
RESUBMIT = "ig_intr_md_for_dprsr.resubmit_type"
RESUBMITTED = "ig_intr_md.resubmit_flag"
PUSH_DOWN = 1
"""SP-PIFO's reason to come back."""
INGRESS_PORT = "ig_intr_md.ingress_port"


def read(path: Path) -> Program:
    """Reads a program for TNA or T2NA.

    Raises:
        P4schedError: it is not such a program.
    """
    return of_tree(path, read_tree(path))


def read_tree(path: Path) -> Json:
    """The JSON of a program. Names lose their `pipe.`, as on the chip's own P4Info."""
    try:
        tree: Json = json.loads(path.read_text(encoding="utf-8").replace('"pipe.', '"'))
    except (OSError, UnicodeDecodeError) as error:
        raise MissingError(f"cannot read '{path}': {getattr(error, 'strerror', None) or 'it is not text'}") from error
    except ValueError as error:
        raise UsageError(f"'{path}' is not JSON") from error
    return tree


def of_tree(path: Path, tree: Json) -> Program:
    """The program of this JSON."""
    try:
        (ingress,) = (one for one in tree["parsers"] if one["name"] == "ingress_parser")
        if ingress.get("parser_errors_read"):
            raise UnmodelledError(f"{path.stem}: a program that reads the errors of the parser is not modelled")
        program = of_json(path.stem, {**tree, "parsers": [ingress]})
        # a report that comes back is in the order of no deparser; this parser takes whole headers only
        reports = tuple(name for name in program.headers if name == REPORT)
        return replace(program, emitted=(*reports, *program.emitted), is_wire=False)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise UsageError(
            f"'{path}' is not JSON of a program for Tofino; p4sched compile --arch tna makes it"
        ) from error


@dataclass
class TnaWorld(World):
    """All packets, tables and states."""

    opaque: Collection[str] = ()
    """Tables with constant entries of which any value is taken, by the end of their names."""
    taken: dict[str, tuple[Int, Int]] = field(default_factory=dict)
    """Key and value of these tables."""

    def longer(self, header: str) -> Truth:
        return header in ALWAYS_THERE or super().longer(header)


def run(program: Program, world: World) -> Step:
    """Parser and ingress of one packet."""
    state: State = {name: Int.of(0) for name in (*program.fields, EXIT)}
    state[TIME] = world.variable(TIME, program.fields[TIME])
    for name, array in {**program.registers, **program.counters}.items():
        state[name] = Cells(world.array(name, array.bits))
    state[REQUESTED] = state[PARSER_FAILED] = Int.of(0)
    machine = TnaMachine(program, world)

    def step(_: str, parsed: State) -> list[tuple[Truth, State, str | None]]:
        failed = world.decide(parsed[PARSER_FAILED].equals(1))
        return [(failed, parsed, None), *([] if failed is True else [(True, machine.ingress(dict(parsed)), None)])]

    return Step(program, world, execute("ingress", lambda _: [None], step, machine.parsed(state)))


def is_dropped(step: Step) -> Truth:
    """True if the packet enters no queue, and does not come back either."""
    refused = some(step.field(REQUESTED).equals(0), step.field(DROP).lowest(1).equals(1))
    return every(refused, negated(comes_back(step)))


def comes_back(step: Step) -> Truth:
    """True if the packet passes through ingress a second time."""
    again = every(step.field(DROP).lowest(1).equals(0), step.field(RESUBMITTED).equals(0))
    return every(again, step.field(RESUBMIT).equals(PUSH_DOWN))


class TnaMachine(Machine):
    """Executes parser and ingress of a program for Tofino."""

    def __init__(self, program: Program, world: World) -> None:
        super().__init__(program, world)
        self._by_name = {action["name"]: action for action in program.actions.values()}
        self._taken, self._opaque = (world.taken, world.opaque) if isinstance(world, TnaWorld) else ({}, ())

    def _ended(self, state: State) -> State:
        """Ends a packet that is too short."""
        return {**state, PARSER_FAILED: Int.of(1)}

    def _parser_operation(self, name: str, argument: Json, state: State) -> None:
        """Skips the port's metadata, and computes checksums."""
        if name == "primitive":
            self._primitive(state, argument, [])
        elif name != "advance":
            super()._parser_operation(name, argument, state)

    def _assign(self, state: State, to: Json, value: Int, data: Sequence[Int] = ()) -> None:
        super()._assign(state, to, value, data)
        if to["type"] == "field" and ".".join(to["value"]) == PORT:
            state[REQUESTED] = Int.of(1)

    def _table(self, table: Json, state: State) -> list[tuple[Truth, State, str | None]]:
        if not table.get("entries"):
            return super()._table(table, state)
        default = table["default_entry"]
        calls = [(self._matches(state, table, one), one["action_entry"]) for one in table["entries"]]
        calls.append((True, default))
        names = [self._program.actions[call["action_id"]]["name"] for _, call in calls]
        ways: list[tuple[Truth, State, str | None]] = []
        for name in dict.fromkeys(names):
            of_name = [(fits, call) for (fits, call), one in zip(calls, names, strict=True) if one == name]
            numbers = [[int(word, 16) for word in call["action_data"]] for _, call in of_name]
            chosen = self._is_chosen(calls, [one == name for one in names])
            if any(table["name"].endswith(one) for one in self._opaque) and numbers[0]:
                data = [self._any(table["name"], state[".".join(table["key"][0]["target"])], numbers)]
            else:
                data = [self._first(column, [fits for fits, _ in of_name]) for column in zip(*numbers, strict=True)]
            to = table["next_tables"][name]
            after = self._act(self._by_name[name], data, dict(state))
            if after[EXIT].equals(1) is not False:
                raise self._unmodelled(f"exit in an action of table '{table['name']}', which has constant entries,")
            ways.append((self._world.decide(chosen), after, to))
        return [*ways[:-1], (True, *ways[-1][1:])]

    def _is_chosen(self, calls: Sequence[tuple[Truth, Json]], is_action: Sequence[bool]) -> Truth:
        """True if the first entry that fits has the action."""
        if all(is_action):
            return True
        found: Truth = is_action[-1]
        for (fits, _), here in reversed(list(zip(calls[:-1], is_action[:-1], strict=True))):
            found = some(fits, found) if here else every(negated(fits), found)
        return found

    def _first(self, values: Sequence[int], fits: Sequence[Truth]) -> Int:
        """The value of the first entry that fits."""
        found = Int.of(values[-1])
        for value, here in reversed(list(zip(values[:-1], fits[:-1], strict=True))):
            found = choose(here, value, found)
        return found

    def _any(self, table: str, key: Int, numbers: Sequence[Sequence[int]]) -> Int:
        """Any value that an entry has; as a number with a sign, and as the 32 bits of the program."""
        values = [signed(row[0]) for row in numbers]
        low, high = min(values), max(values)
        value = self._world.variable(f"{table}: value", (high - low).bit_length(), high - low) + low
        self._taken[table] = key, value
        return value.lowest(32)


def signed(word: int) -> int:
    """A word of 32 bits, as a number with a sign."""
    return word - (1 << 32) if word >> 31 else word
