"""Is a program equivalent to the solution of a lab? What each lab assumes of packets and ports, and what counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from p4sched.constants import MAX_USERS
from p4sched.json_records import parse_json
from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, some
from p4sched.proofs.example import value_in
from p4sched.proofs.likeness import META, ROUTES, Pair, Part, Renaming, cells, table
from p4sched.proofs.program import Program, of_json
from p4sched.proofs.restrictions import holds, restriction
from p4sched.proofs.rules import RULES as ALL
from p4sched.proofs.step import DROP_PORT, LENGTH, Step

RULES = {"02": "sp_pifo", "03": "sp_pifo", "04": "aifo", "05": "rifo", "06": "packs", "07": "fdpa", "11": "sp_pifo"}
"""Rule of each lab."""
NOT_COMPARED = ("rank_histogram", "depth_histogram", "user_departures")
QUEUES = 8
INDEX_BITS = 17
LENGTH_BITS = 16
"""A queue's size has 16 bits, so its length also has 16."""
TOTAL_BITS = 12
"""Bits of total_length that the check of lab 06 reads. In the lab, only the histogram uses it."""
LONGEST_FRAME = 9216
PORT, PRIORITY = "standard_metadata.egress_spec", "standard_metadata.priority"
CHIP_QUEUE = "ig_intr_md_for_tm.qid"


@dataclass(frozen=True)
class At:
    """The first program's step, as a lab sees it."""

    step: Step
    of: Mapping[str, Int]
    """The parameters."""
    port: Int

    def local(self, name: str) -> Int:
        """A variable of the ingress control after the packet."""
        (found,) = (field for field in self.step.program.fields if field.endswith(f"Ingress.{name}"))
        return self.step.field(found)

    def old(self, register: str, index: Int) -> Int:
        """A cell before the packet, of the register whose name ends so."""
        name = next(name for name in self.step.world.before if name.endswith(register))
        return self.step.world.before[name].cell(index)

    def of_queue(self, register: str, queue: int) -> Int:
        """A cell of (port, priority). Queue i has priority 8 - i."""
        return self.old(register, queue_cell(self.port, queue))

    @property
    def sizes(self) -> list[Int]:
        """Sizes of queues 1 to 8; 0: there is no such queue."""
        return [self.of[f"size_{queue}"] for queue in range(1, QUEUES + 1)]

    @property
    def lengths(self) -> list[Int]:
        """Lengths of queues 1 to 8."""
        return [self.of_queue("queue_depths", queue) for queue in range(1, QUEUES + 1)]

    @property
    def rank(self) -> Int:
        """The packet's rank."""
        return self.step.field(f"{META}rank")


def queue_cell(port: Int, queue: int) -> Int:
    """Number of the cell of (port, priority)."""
    return (port << 3) | exact(QUEUES - queue)


Facts = Callable[[At], Iterator[Truth]]
Normal = Callable[[At, str, Int, Int], Int]
"""What counts of a cell after the packet: by the end of the register's name, number of the cell, and value."""


@dataclass(frozen=True)
class _Lab:
    """What a lab assumes, and what counts in it."""

    facts: Facts
    cuts: Sequence[str] = ()
    """Variables that are computed before the student's part."""
    lemmas: Facts = lambda _: iter(())
    normal: Normal = lambda _at, _register, _cell, value: value
    renamings: Sequence[Renaming] = ()
    """Other numbers of cells that a right program may have."""
    inputs: Callable[[At], Mapping[str, Int]] | None = None
    """What the student's part sees besides the parameters, if it keeps no state: packets lead to any such values."""


def program(path: Path) -> Program:
    """A program for v1model; or the ingress of one for a chip."""
    tree = parse_json(path.read_text(encoding="utf-8"))
    first = {name: tree[name][:1] for name in ("parsers", "deparsers")}
    return of_json(path.stem, {**tree, **first})


@dataclass(frozen=True)
class Finding:
    """What the solvers find out about two programs."""

    is_equivalent: bool | None
    """True if it is proved, False if a packet and a state tell the programs apart, None if the solvers gave up.

    The state may be one that no packets lead to.
    """
    inputs: Mapping[str, int]
    """What the student's part sees in that state, if it keeps none of its own."""


def finding(number: str, solution: Program, program: Program, p4info: str, seconds: float) -> Finding:
    """Asks the solvers. `seconds`: of the processor, for each numbering of cells."""
    lab = LABS[number]
    pair = Pair(solution, program, partial(_part, number, p4info), seconds)
    found = pair.is_alike()
    if not found and any(pair.is_alike(renaming) for renaming in lab.renamings):
        return Finding(True, {})
    # a register of the student's own may hold what no packets lead to
    keeps_state = {*program.registers} != {*solution.registers}
    if found is not False or lab.inputs is None or keeps_state or pair.first is None:
        return Finding(found, {})
    model, at = pair.model(), _at(number, pair.first)
    if model is None:
        return Finding(False, {})
    return Finding(False, {name: value_in(model, term) for name, term in {**at.of, **lab.inputs(at)}.items()})


def is_equivalent(number: str, solution: Program, program: Program, p4info: str, seconds: float) -> bool | None:
    """See `Finding`."""
    return finding(number, solution, program, p4info, seconds).is_equivalent


def _at(lab: str, step: Step) -> At:
    rule = ALL[RULES[lab]]
    return At(step, table(step, rule.table, rule.action), table(step, ROUTES, "forward")["port"])


def _part(lab: str, p4info: str, step: Step) -> Part:
    rule, at = ALL[RULES[lab]], _at(lab, step)
    legal = holds(restriction(p4info, f"{rule.control}.{rule.action}"), at.of)
    of = LABS[lab]
    ranked = [at.rank] if f"{META}rank" in step.program.fields else []
    cuts = [*(at.local(name) for name in of.cuts), *ranked]
    results = [name for name in step.program.fields if name.endswith("Ingress.verdict")]
    return Part([legal, *of.facts(at)], partial(_claims, of, at), list(of.lemmas(at)), cuts, results)


def _claims(lab: _Lab, at: At, one: Step, two: Step, renaming: Renaming) -> Iterator[Truth]:
    yield from _decisions(one, two)
    anywhere = Int.variable("any cell", INDEX_BITS)
    for name in [*one.program.registers, *one.program.counters]:
        if name.rpartition(".")[2] not in NOT_COMPARED:
            left, right = cells(one, name), cells(two, name)
            if left is None or right is None:
                yield False
            else:
                sides = (left.cell(anywhere), right.cell(renaming.of(name, anywhere)))
                own, other = (lab.normal(at, name.partition("Ingress.")[2] or name, anywhere, side) for side in sides)
                yield own.equals(other)


def _decisions(one: Step, two: Step) -> Iterator[Truth]:
    """The packet goes to the same queue of the same port, or is dropped.

    On the chip, its cost is the same, and so is the queue of a packet without a cost.
    """

    def same(name: str) -> Truth:
        return one.field(name).equals(two.field(name))

    if PORT in one.program.fields:
        yield same(PORT)
        yield implies(one.field(PORT).differs(DROP_PORT), same(PRIORITY))
    else:
        yield same(f"{META}cost")
        yield implies(one.field(f"{META}cost").equals(0), same(CHIP_QUEUE))
    total = next((name for name in one.program.fields if name.endswith("PacksIngress.length")), None)
    if total:
        yield one.field(total).lowest(TOTAL_BITS).equals(two.field(total).lowest(TOTAL_BITS))


# the labs


def _from_queue_1(at: At) -> Iterator[Truth]:
    """The sizes of the controllers: queue 1 exists, and no queue is missing between two others."""
    yield at.sizes[0].differs(0)
    yield from (implies(less.differs(0), more.differs(0)) for more, less in pairwise(at.sizes))


def _in_order(bounds: Sequence[Int], sizes: Sequence[Int]) -> Iterator[Truth]:
    """b_1 <= b_2 <= ... for the queues that exist."""
    for less in range(QUEUES):
        for more in range(less):
            yield implies(every(sizes[more].differs(0), sizes[less].differs(0)), bounds[more] <= bounds[less])


def _quota(at: At) -> Iterator[Truth]:
    """Limits of the counters of a block, and of lengths."""
    count, urgent = at.old("arrivals", at.port), at.old("urgent_arrivals", at.port)
    yield from (count <= 16, urgent <= 8, urgent <= count)
    yield from (length < 1 << LENGTH_BITS for length in at.lengths)


def _quota_normal(at: At, register: str, cell: Int, value: Int) -> Int:
    """After the last packet of a block, the number of urgent packets does not matter."""
    count = cells(at.step, "arrivals")
    if register != "urgent_arrivals" or count is None:
        return value
    return choose(count.cell(cell).equals(16), 0, value)


def _sp_pifo(at: At) -> Iterator[Truth]:
    yield from _from_queue_1(at)
    yield from _in_order([at.of_queue("bounds", queue) for queue in range(1, QUEUES + 1)], at.sizes)


def _sp_pifo_normal(at: At, register: str, cell: Int, value: Int) -> Int:
    """The bound of a queue that does not exist does not matter."""
    absent = (every(size.equals(0), cell.equals(queue_cell(at.port, queue))) for queue, size in enumerate(at.sizes, 1))
    return choose(some(*absent), 0, value) if register == "bounds" else value


def _rotated(by: int) -> Callable[[Int], Int]:
    """Rotates the cells of a port's queues."""
    return lambda index: ((index >> 3) << 3) | (index + by % 8).lowest(3)


def _reversed(index: Int) -> Int:
    return ((index >> 3) << 3) | (7 - index.lowest(3))


def _window(at: At) -> Iterator[Truth]:
    yield at.local("smaller") <= at.of["window_ranks"]


def _aifo(at: At) -> Iterator[Truth]:
    yield at.of_queue("queue_depths", 8) < 1 << LENGTH_BITS


def _rifo(at: At) -> Iterator[Truth]:
    yield at.of_queue("queue_depths", 8) <= at.of["capacity_packets"]


def _range(at: At) -> Iterator[Truth]:
    yield at.local("lowest") <= at.rank
    yield at.rank <= at.local("highest")


def _packs(at: At) -> Iterator[Truth]:
    yield from _from_queue_1(at)
    yield from (length <= size for length, size in zip(at.lengths, at.sizes, strict=True))


def _one_length(at: At) -> Mapping[str, Int]:
    return {"length": at.of_queue("queue_depths", QUEUES)}


def _of(at: At, *names: str) -> Mapping[str, Int]:
    return {name: at.local(name) for name in names}


def _lengths(at: At) -> Mapping[str, Int]:
    return {f"length_{queue}": length for queue, length in enumerate(at.lengths, 1)}


def _fdpa(at: At) -> Iterator[Truth]:
    user, scale, length = (at.step.field(name) for name in (f"{META}user", f"{META}scale", LENGTH))
    edges = [at.of[f"edge_{number}"] for number in range(1, QUEUES)]
    yield from (at.of["token_bucket"].equals(0), at.of["flowlet_gap_us"].equals(0), at.of["interval_us"].differs(0))
    # the controllers set no edge of 0, and edges that rise
    yield edges[0].differs(0)
    yield from (first <= second for first, second in pairwise(edges))
    yield from (user < MAX_USERS, scale.differs(0), length <= LONGEST_FRAME)
    # the bytes of an interval have 32 bits
    yield at.old(".interval_bytes", user) + ((length * scale) >> 8) < 1 << 32


def _fdpa_normal(_at: At, register: str, _cell: Int, value: Int) -> Int:
    """No edge is 0, so none separates the rates 0 and 1."""
    return largest(value, 1) if register.endswith(".last_rate") else value


CHIP = (
    *("queue_1.bound_1", "queue_2.bound_2"),
    *(name for pair in ("queues_4_3", "queues_6_5", "queues_8_7") for name in (f"{pair}.bounds",) * 2),
)
"""Register of the bound of each queue. Two bounds have one cell; the less urgent one is its upper half."""


def _chip_bounds(of: Callable[[str], Int]) -> list[Int]:
    bounds = [of(name) for name in CHIP[:2]]
    for name in CHIP[2::2]:
        bounds += [of(name).lowest(32), of(name) >> 32]
    return bounds


def _chip(at: At) -> Iterator[Truth]:
    second = at.step.world.variables["ig_intr_md.resubmit_flag"].equals(1)
    cost = at.step.world.variables["push_down.cost"]
    bounds = _chip_bounds(lambda name: at.old(name, at.port))
    yield from _from_queue_1(at)
    yield at.rank.differs(0)
    yield from _in_order(bounds, at.sizes)
    # the second pass follows at once: queue 1 has the rank as its bound, and all other bounds are unchanged
    falls = (
        implies(size.differs(0), every(bound >= cost, bound - cost >= at.rank))
        for size, bound in zip(at.sizes[1:], bounds[1:], strict=True)
    )
    yield implies(second, every(cost.differs(0), bounds[0].equals(at.rank), *falls))


def _chip_normal(at: At, register: str, cell: Int, value: Int) -> Int:
    """The bound of a queue that does not exist does not matter. A cell of two queues has the less urgent one above."""
    queues = [queue for queue, name in enumerate(CHIP, 1) if register == f"mapping.{name}"]
    if not queues:
        return value
    is_own = cell.equals(at.port)
    parts = [value.lowest(32), value >> 32] if len(queues) > 1 else [value]
    kept = [
        choose(every(is_own, at.sizes[queue - 1].equals(0)), 0, part) for queue, part in zip(queues, parts, strict=True)
    ]
    return kept[0] if len(kept) == 1 else (kept[1] << 32) + kept[0]


_DIRECTIONS = ((_rotated(1), _rotated(-1)), (_rotated(-1), _rotated(1)), (_reversed, _reversed))
_ESTIMATOR = (".interval_start", ".interval_bytes", ".last_rate")
LABS = {
    "02": _Lab(_quota, normal=_quota_normal),
    "03": _Lab(
        _sp_pifo,
        normal=_sp_pifo_normal,
        renamings=[Renaming(("bounds",), there, back) for there, back in _DIRECTIONS],
    ),
    "04": _Lab(_aifo, ("smaller",), _window, inputs=lambda at: {**_one_length(at), **_of(at, "smaller")}),
    "05": _Lab(
        _rifo,
        ("lowest", "highest"),
        _range,
        inputs=lambda at: {**_one_length(at), **_of(at, "lowest", "highest"), "rank": at.rank},
    ),
    "06": _Lab(_packs, ("smaller",), _window, inputs=lambda at: {**_lengths(at), **_of(at, "smaller")}),
    "07": _Lab(
        _fdpa,
        normal=_fdpa_normal,
        renamings=[Renaming(_ESTIMATOR, lambda index: (index - 1).lowest(12), lambda index: (index + 1).lowest(12))],
    ),
    "11": _Lab(_chip, normal=_chip_normal),
}
