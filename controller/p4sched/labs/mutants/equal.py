"""Compares a mutant with its solution on every packet, in every state, with all parameters.

Both are executed symbolically, and Z3 looks for a packet with different results. If there is none, decision and
registers are equal, so later decisions are also equal. The `assumptions` of a lab exclude states that a port cannot
have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import z3

from p4sched.constants import MAX_USERS
from p4sched.labs.mutants.cells import Cells
from p4sched.labs.mutants.meaning import INDEX, Meaning, Outside, Store, array, resize
from p4sched.labs.mutants.products import Products
from p4sched.labs.mutants.scope import Scope
from p4sched.labs.mutants.syntax import File

SECONDS = 40
"""Limit for each question to Z3."""
A_LITTLE = 10
UNSEEN = {"length"}
"""Values that only the histogram of the lengths uses. The labs give the line that computes them."""
TOTAL_BITS = 12
"""Bits of total_length that the check of lab 06 reads. In the lab, only the histogram uses it."""
LENGTH_BITS = 16
"""A queue's size has 16 bits, so its length also has 16."""
ADMITTED, REFUSED, FULL = 0, 1, 2

Terms = Mapping[str, Any]
"""Terms of the parameters, by name."""


@dataclass(frozen=True)
class Renaming:
    """A mapping of the solution's cells to other cells with the same content in the mutant."""

    there: Callable[[Any], Any]
    """Maps the number of a cell in the solution to its number in the mutant."""
    back: Callable[[Any], Any]


SAME = Renaming(lambda at: at, lambda at: at)
CELL = z3.BitVec("cell", INDEX)
"""Any cell."""


@dataclass(frozen=True)
class Step:
    """A packet that passes: its inputs, and the state before and after it."""

    inputs: Terms
    before: Store
    after: Store
    outputs: Sequence[str]
    """Parameters that the control writes."""
    renaming: Renaming

    def cell(self, name: str) -> Any:
        """Content of any cell of a register after the packet, by its number in the solution."""
        return z3.Select(self.after[name], self.renaming.there(CELL))


@dataclass(frozen=True)
class Question:
    """A question about a control of a lab."""

    control: str
    assumptions: Callable[[Step], Sequence[Any]]
    """Assumptions about the solution's step: the possible packets and states of a port."""
    decision_terms: Callable[[Step], Sequence[Any]]
    """Terms of the decision."""
    register_terms: Callable[[Step], Sequence[Any]]
    """Terms of the registers after the packet, as far as they matter."""
    parts: Mapping[str, Callable[[Step], Sequence[Any]]] = field(default_factory=dict)
    """Assumptions about each call of another control, by its name."""
    renamings: Sequence[Renaming] = ()
    ports: Sequence[int | None] = (None,)
    """Ports to ask about one by one, if a port is only a part of an index. None: any port."""


@dataclass(frozen=True)
class Answer:
    """An answer. `equivalent`: None if Z3 ran out of time. `example`: a packet with different results."""

    equivalent: bool | None
    example: str = ""


@dataclass(frozen=True)
class Effort:
    """Limits of a question to Z3. `steps`: Z3's own count, the same on each machine; 0: no limit."""

    seconds: int = SECONDS
    steps: int = 0


WHOLE = Effort()


def compare(question: Question, solution: File, mutant: File, part: str, effort: Effort = WHOLE) -> Answer:
    """Asks Z3, first about the control that differs: if this part is equivalent, so is the whole.

    `part`: name of this control. `effort`: limit of each question.
    """
    if part != question.control:
        alone = Question(part, question.parts.get(part, _nothing), _outputs, _registers)
        if _compare(
            alone, solution, mutant, None, SAME, replace(effort, seconds=min(effort.seconds, A_LITTLE)), exact=False
        ).equivalent:
            return Answer(True)
    first = _everywhere(question, solution, mutant, SAME, effort)
    for renaming in question.renamings if first.equivalent is not True else ():
        if _everywhere(question, solution, mutant, renaming, effort).equivalent:
            return Answer(True)
    return first


def _everywhere(question: Question, solution: File, mutant: File, renaming: Renaming, effort: Effort) -> Answer:
    for port in question.ports:
        answer = _compare(question, solution, mutant, port, renaming, effort)
        if not answer.equivalent:
            return answer
    return Answer(True)


def _outputs(step: Step) -> list[Any]:
    """Results of a control, except those that only counters use."""
    found = [step.after[name] for name in step.outputs if name not in {*UNSEEN, "verdict", "priority"}]
    if "verdict" in step.outputs:
        found.append(_verdict(step))
    if "priority" in step.outputs:
        found.append(_queue(step) if "verdict" in step.outputs else step.after["priority"])
    return found


def _registers(step: Step) -> list[Any]:
    return [step.cell(name) for name in step.before]


def _compare(
    question: Question,
    solution: File,
    mutant: File,
    port: int | None,
    renaming: Renaming,
    effort: Effort,
    *,
    exact: bool = True,
) -> Answer:
    one, two = _step(question, solution, port, SAME), _step(question, mutant, port, renaming)
    differs = [
        left != right
        for terms in (question.decision_terms, question.register_terms)
        for left, right in zip(terms(one), terms(two), strict=True)
        if not left.eq(right)
    ]
    if not differs:
        return Answer(True)
    cells = Cells()
    different = [cells.without(term) for term in (*question.assumptions(one), z3.Or(*differs))]
    different += cells.laws()
    if port is not None:
        # turns indices into numbers; of no use for products
        different = [z3.simplify(term) for term in different]
    products = Products()
    some = [products.without(term) for term in different]
    for laws in (products.bounds(), products.laws()) if products else ():
        if _solved(z3.Solver(), effort, *some, *laws)[0] == z3.unsat:
            return Answer(True)
    if products and not exact:
        return Answer(None)
    found, model = _solved(z3.SolverFor("QF_BV"), effort, *different)
    if found == z3.sat and exact:
        return Answer(False, _example(model, one, cells))
    return Answer(True if found == z3.unsat else None)


def _solved(solver: Any, effort: Effort, *terms: Any) -> tuple[Any, Any]:
    """Z3's answer, and its example."""
    solver.set("timeout", effort.seconds * 1000)
    solver.set("rlimit", effort.steps)
    solver.add(*terms)
    found = solver.check()
    return found, solver.model() if found == z3.sat else None


def _step(question: Question, file: File, port: int | None, renaming: Renaming) -> Step:
    lengths = z3.Array("lengths", z3.BitVecSort(INDEX), z3.BitVecSort(LENGTH_BITS))

    def read_length(_store: Store, arguments: Sequence[Any]) -> Any:
        port, priority = arguments
        return resize(z3.Select(lengths, resize(z3.Concat(port, priority), INDEX)), 32)

    outside: dict[str, Outside] = {"ReadLength": read_length}
    meaning = Meaning(file, outside)
    control = file.controls[question.control]
    names = Scope.of(file, control).names
    inputs = {"*lengths": lengths}
    inputs |= {
        name: z3.BitVec(name, kind.width)
        for name, kind in names.items()
        if not kind.struct and kind.width and name not in control.variables
    }
    if port is not None:
        inputs["port"] = z3.BitVecVal(port, inputs["port"].size())
    held: Store = {}
    for name, cell in meaning.registers(question.control).items():
        for part, width in meaning.cells(name, cell).items():
            held[part] = array(part, width)
            if renaming is not SAME:
                at = z3.BitVec("at", INDEX)
                held[part] = z3.Lambda([at], z3.Select(held[part], renaming.back(at)))
    outputs = [parameter.name for parameter in control.parameters if parameter.way in {"out", "inout"}]
    return Step(inputs, held, meaning.run(question.control, inputs, held), outputs, renaming)


def _example(model: Any, step: Step, cells: Cells) -> str:
    given = {name: term for name, term in step.inputs.items() if z3.is_bv(term)}
    shown = [(name, model.eval(term)) for name, term in (*given.items(), *cells.named(model))]
    return ", ".join(f"{name}={value}" for name, value in shown if z3.is_bv_value(value) and value.as_long())[:600]


# questions of the labs


def length_of(step: Step, priority: Any) -> Any:
    """Length of a queue of the packet's port; 16 bits."""
    number = z3.BitVecVal(priority, 3) if isinstance(priority, int) else priority
    at = z3.Concat(step.inputs["port"], number)
    return z3.Select(step.inputs["*lengths"], resize(at, INDEX))


def _verdict(step: Step) -> Any:
    """The verdict; an invalid one counts as full."""
    verdict = step.after["verdict"]
    return z3.If(z3.UGT(verdict, FULL), z3.BitVecVal(FULL, verdict.size()), verdict)


def _queue(step: Step) -> Any:
    """The priority, which matters only for an admitted packet."""
    return z3.If(step.after["verdict"] == ADMITTED, step.after["priority"], z3.BitVecVal(0, 3))


def _sizes(step: Step) -> list[Any]:
    return [step.inputs[f"sizes.size_{number}"] for number in range(1, 9)]


def _from_queue_1(step: Step) -> list[Any]:
    """Assumes the sizes of the controllers: queue 1 exists, and no queue is missing between two others."""
    sizes = _sizes(step)
    return [sizes[0] != 0, *(z3.Implies(less != 0, more != 0) for more, less in pairwise(sizes))]


def _no_longer_than_its_size(step: Step) -> list[Any]:
    return [z3.ULE(length_of(step, 8 - number), size) for number, size in enumerate(_sizes(step), 1)]


def _window(step: Step) -> list[Any]:
    size, smaller = step.inputs["window_size"], step.inputs["smaller"]
    return [z3.UGE(size, 1), z3.ULE(size, 32), z3.ULE(smaller, size)]


def _aifo(step: Step) -> list[Any]:
    return [*_window(step), step.inputs["target"] != 0, z3.ULT(step.inputs["length"], 1 << LENGTH_BITS)]


def _rifo(step: Step) -> list[Any]:
    inputs = step.inputs
    return [
        inputs["size"] != 0,
        z3.ULE(inputs["length"], z3.ZeroExt(16, inputs["size"])),
        z3.ULE(inputs["lowest"], inputs["rank"]),
        z3.ULE(inputs["rank"], inputs["highest"]),
    ]


def _packs(step: Step) -> list[Any]:
    # a variable of the program, which is 0 at the start of a packet
    begun = step.inputs["total_length"] == 0
    return [*_window(step), *_from_queue_1(step), *_no_longer_than_its_size(step), begun]


def _packs_queue(step: Step) -> list[Any]:
    """Assumes that queue 1 exists. After it, a packet is refused so far if there is not enough room so far."""
    inputs = step.inputs
    window, free = inputs["window_size"], inputs["free"]
    offered = (z3.ZeroExt(56, window) * z3.ZeroExt(32, free)) << 8
    length = length_of(step, inputs["queue_priority"])
    return [
        z3.UGE(window, 1),
        z3.ULE(window, 32),
        z3.ULE(free, 7 * 0xFFFF),
        z3.ULE(inputs["needed"], 32 * 8 * 0xFFFF * 256),
        z3.ULE(inputs["verdict"], FULL),
        z3.ULE(length, inputs["size"]),
        z3.Or(
            z3.And(inputs["verdict"] == REFUSED, free == 0, inputs["size"] != 0),
            (inputs["verdict"] == REFUSED) == z3.UGT(inputs["needed"], offered),
        ),
    ]


def _bound(store: Store, step: Step, priority: int) -> Any:
    at = z3.Concat(step.inputs["port"], z3.BitVecVal(priority, 3))
    return z3.Select(store["bounds"], resize(at, INDEX))


def _in_order(bounds: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    """b_1 <= b_2 <= ... for the queues that exist."""
    return [
        z3.Implies(z3.And(sizes[more] != 0, sizes[less] != 0), z3.ULE(bounds[more], bounds[less]))
        for less in range(8)
        for more in range(less)
    ]


def _sp_pifo(step: Step) -> list[Any]:
    bounds = [_bound(step.before, step, 8 - number) for number in range(1, 9)]
    return [*_from_queue_1(step), *_in_order(bounds, _sizes(step))]


def _sp_pifo_held(step: Step) -> list[Any]:
    """Excludes bounds of queues that do not exist."""
    absent = [
        z3.And(size == 0, resize(z3.Concat(step.inputs["port"], z3.BitVecVal(8 - number, 3)), INDEX) == CELL)
        for number, size in enumerate(_sizes(step), 1)
    ]
    return [z3.If(z3.Or(*absent), z3.BitVecVal(0, 32), step.cell("bounds"))]


def _rotation(by: int) -> Renaming:
    """A renaming that rotates the cells of a port's queues."""
    low = z3.BitVecVal(7, INDEX)
    return Renaming(lambda at: (at & ~low) | ((at + by) & low), lambda at: (at & ~low) | ((at - by) & low))


CHIP = {
    1: "queue_1.bound_1",
    2: "queue_2.bound_2",
    3: "queues_4_3.bounds.more_urgent",
    4: "queues_4_3.bounds.less_urgent",
    5: "queues_6_5.bounds.more_urgent",
    6: "queues_6_5.bounds.less_urgent",
    7: "queues_8_7.bounds.more_urgent",
    8: "queues_8_7.bounds.less_urgent",
}
"""Register of the bound of each queue."""


def _chip_bounds(store: Store, step: Step) -> list[Any]:
    port = resize(step.inputs["port"], INDEX)
    return [z3.Select(store[name], port) for name in CHIP.values()]


def _chip(step: Step) -> list[Any]:
    inputs, sizes = step.inputs, _sizes(step)
    bounds = _chip_bounds(step.before, step)
    second, cost = inputs["second_pass"] == 1, inputs["fell_by"]
    # The second pass follows at once: queue 1 has the rank as its bound, and all other bounds are unchanged.
    falls = [
        z3.Implies(sizes[place] != 0, z3.And(z3.UGE(bounds[place], cost), z3.UGE(bounds[place] - cost, inputs["rank"])))
        for place in range(1, 8)
    ]
    return [
        *_from_queue_1(step),
        inputs["rank"] != 0,
        *_in_order(bounds, sizes),
        z3.Implies(second, z3.And(cost != 0, bounds[0] == inputs["rank"], *falls)),
        z3.Implies(z3.Not(second), cost == 0),
        # a variable of the program, which is 0 at the start of a packet
        inputs["cost"] == 0,
    ]


def _chip_decided(step: Step) -> list[Any]:
    """The decision. A packet of the second pass has entered no queue before."""
    cost = step.after["cost"]
    return [cost, z3.If(cost == 0, step.after["priority"], z3.BitVecVal(0, 3))]


def _chip_held(step: Step) -> list[Any]:
    port = resize(step.inputs["port"], INDEX)
    zero = z3.BitVecVal(0, 32)
    sizes = _sizes(step)
    own = [z3.If(sizes[place] != 0, bound, zero) for place, bound in enumerate(_chip_bounds(step.after, step))]
    return [*own, *(z3.Select(z3.Store(step.after[name], port, zero), CELL) for name in CHIP.values())]


ESTIMATOR = ("average.interval_start", "average.interval_bytes", "average.last_rate")
LONGEST_FRAME = 9216


def _fdpa(step: Step) -> list[Any]:
    inputs = step.inputs
    edges = [inputs[f"params.edges.edge_{number}"] for number in range(1, 8)]
    user = resize(inputs["meta.user"], INDEX)
    charge = z3.LShR(inputs["standard_metadata.packet_length"] * resize(inputs["meta.scale"], 32), 8)
    charged = z3.Select(step.before["average.interval_bytes"], user)
    return [
        inputs["params.interval"] != 0,
        inputs["meta.scale"] != 0,
        z3.ULT(inputs["meta.user"], MAX_USERS),
        # the controllers set no edge of 0
        edges[0] != 0,
        z3.ULE(inputs["standard_metadata.packet_length"], LONGEST_FRAME),
        # the bytes of an interval have 32 bits
        z3.UGE(charged + charge, charged),
        *(z3.ULE(first, second) for first, second in pairwise(edges)),
    ]


def _fdpa_decided(step: Step) -> list[Any]:
    band = step.after["band"]
    last = z3.BitVecVal(8, 8)
    return [z3.If(z3.And(z3.UGE(band, 1), z3.ULE(band, 7)), band, last)]


def _fdpa_held(step: Step) -> list[Any]:
    """Excludes edges of 0, so no edge separates the rates 0 and 1."""
    rate = step.cell("average.last_rate")
    others = [step.cell(name) for name in ESTIMATOR if name != "average.last_rate"]
    return [*others, z3.If(rate == 0, z3.BitVecVal(1, 32), rate)]


def _nothing(_step: Step) -> list[Any]:
    return []


def _quota(step: Step) -> list[Any]:
    """Limits of the counters of a block."""
    port = resize(step.inputs["port"], INDEX)
    count, urgent = z3.Select(step.before["arrivals"], port), z3.Select(step.before["urgent_arrivals"], port)
    # variables of the program, which are 0 at the start of a packet
    begun = [step.inputs[name] == 0 for name in ("verdict", "priority")]
    return [z3.ULE(count, 16), z3.ULE(urgent, 8), z3.ULE(urgent, count), *begun]


def _quota_held(step: Step) -> list[Any]:
    """After the last packet of a block, the number of urgent packets does not matter."""
    count = step.cell("arrivals")
    return [count, z3.If(count == 16, z3.BitVecVal(0, 32), step.cell("urgent_arrivals"))]


def _packs_decided(step: Step) -> list[Any]:
    return [*_mapping(step), z3.Extract(TOTAL_BITS - 1, 0, step.after["total_length"])]


def _admission(step: Step) -> list[Any]:
    return [_verdict(step)]


def _mapping(step: Step) -> list[Any]:
    return [_verdict(step), _queue(step)]


PORTS = (0, 1, 0x155, 0x1FF)
QUESTIONS = {
    "02": Question("SpPifoMapping", _quota, _mapping, _quota_held),
    "03": Question(
        "SpPifoMapping", _sp_pifo, _mapping, _sp_pifo_held, renamings=[_rotation(1), _rotation(-1)], ports=PORTS
    ),
    "04": Question("AifoAdmission", _aifo, _admission, _nothing),
    "05": Question("RifoAdmission", _rifo, _admission, _nothing),
    "06": Question("PacksMapping", _packs, _packs_decided, _nothing, {"PacksQueue": _packs_queue}),
    "07": Question(
        "FdpaBands",
        _fdpa,
        _fdpa_decided,
        _fdpa_held,
        renamings=[Renaming(lambda at: at - 1, lambda at: at + 1)],
    ),
    "11": Question("SpPifoMapping", _chip, _chip_decided, _chip_held, ports=PORTS),
}
