"""The form of a rule, and what all programs do with its decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from p4sched.proofs.cells import Cells
from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, number
from p4sched.proofs.rules.arrival import STFQ, Arrival

QUEUES = 8
MOST_URGENT = QUEUES - 1
"""Priority of queue 1."""
RANK_BITS = 32


ADMITTED, REFUSED, FULL = range(3)


@dataclass
class Decision:
    """Decision of a rule."""

    verdict: Int
    queue: Int
    """Priority of the queue."""
    written: dict[str, tuple[Int, Int]] = field(default_factory=dict)
    """The rule's state after the packet: index and value of the cell that changes, for each register."""
    hints: dict[str, Int] = field(default_factory=dict)
    """Values that the program computes, too, by the name of its field. A hint makes a proof short, never wrong."""
    lemmas: dict[str, Truth] = field(default_factory=dict)
    """Statements about the rule, by a name. They are proved first; then the other claims assume them."""
    for_port: dict[str, Int] = field(default_factory=dict)
    """Fields that the port reads (`meta.flow`), if the packet is admitted."""

    @property
    def admitted(self) -> Truth:
        """True if the packet enters the queue."""
        return self.verdict.equals(ADMITTED)

    @property
    def refused(self) -> Truth:
        """True if the rule does not admit the packet."""
        return self.verdict.equals(REFUSED)

    @property
    def full(self) -> Truth:
        """True if the rule admits the packet, but its queue is full."""
        return self.verdict.equals(FULL)


def other_rank(packet: Arrival) -> Int:
    """Any rank."""
    return packet.world.variable("another rank", RANK_BITS)


def verdict(admits: Truth, has_room: Truth) -> Int:
    """The verdict of a rule."""
    return choose(admits, choose(has_room, ADMITTED, FULL), REFUSED)


@dataclass(frozen=True)
class Kept:
    """A part of an invariant after a packet. `any_of`: it is true whatever these values and conditions are."""

    text: str
    statement: Truth
    any_of: Sequence[Int | Truth] = ()


class Rule(ABC):
    """A scheduler's rule in exact integers."""

    control: str
    """Name of the program's ingress control."""
    table: str
    action: str
    has_admission = True
    """True if the rule can refuse a packet; the program counts these."""

    @abstractmethod
    def decide(self, packet: Arrival) -> Decision:
        """The decision on a packet."""

    def cases(self, packet: Arrival) -> Mapping[str, Truth]:
        """Kinds of packets with a route, which are proved one after the other. Each packet is of one kind."""
        return {"": True}

    def assumptions(self, packet: Arrival) -> Mapping[str, Truth]:
        """Conditions on packet and state, each with a sentence: facts about the switch, and the invariants."""
        return {}

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        """Statements about the state of the packet's port. They hold at the start, and a packet keeps them."""
        return {}

    def induction(self, packet: Arrival, after: Cell) -> Iterator[Kept]:
        """Statements that say together: a packet keeps the invariants. `after`: the state after the packet."""
        for text, truth in self.invariants(packet, after).items():
            yield Kept(text, truth)

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        """Statements about the rule itself, for packets with a route. The program has them because it is equal."""
        return {}


class Cell:
    """Reads the state before or after a packet."""

    def __init__(self, arrays: Mapping[str, Cells], control: str) -> None:
        self._arrays, self._control = arrays, control

    def __call__(self, array: str, index: Int | int) -> Int:
        """A cell. A name with a dot in front is below the ingress control."""
        name = f"{self._control}{array}" if array.startswith(".") else array
        return self._arrays[name].cell(exact(index))


def queue_cell(port: Int, priority: Int | int) -> Int:
    """The cell of a queue: eight for each port."""
    return port * QUEUES + priority


def sizes_of(packet: Arrival) -> list[Int]:
    """Sizes of queues 1 .. 8, the most urgent one first; 0: there is no such queue."""
    return [packet.parameters[f"size_{number}"] for number in range(1, QUEUES + 1)]


def lengths_of(packet: Arrival) -> list[Int]:
    """Lengths of queues 1 .. 8."""
    return [packet.old("queue_depths", queue_cell(packet.port, QUEUES - 1 - place)) for place in range(QUEUES)]


def sizes_are_kept(packet: Arrival, decision: Decision) -> dict[str, Truth]:
    """No queue grows beyond its size."""
    size, length = exact(0), exact(0)
    for place, (its_size, its_length) in enumerate(zip(sizes_of(packet), lengths_of(packet), strict=True)):
        here = decision.queue.equals(QUEUES - 1 - place)
        size, length = choose(here, its_size, size), choose(here, its_length, length)
    return {"no queue grows beyond its size": implies(decision.admitted, length < size)}


def expected(rule: Rule, packet: Arrival, decision: Decision) -> dict[str, tuple[Int, Int]]:
    """Index and value of each cell that changes, by the name of the register or counter."""
    forwarded = packet.is_forwarded
    queue = queue_cell(packet.port, decision.queue)
    admitted = every(forwarded, decision.admitted)
    cells = {packet.full(name): cell for name, cell in decision.written.items()}
    cells = {name: (index, choose(forwarded, value, packet.old(name, index))) for name, (index, value) in cells.items()}
    cells["queue_depths"] = queue, packet.old("queue_depths", queue) + number(admitted)
    cells |= counted(rule, packet, decision)
    if packet.is_ranked:
        charged = every(admitted, packet.world.decide(packet.source.equals(STFQ)))
        finish = packet.start_time + packet.charge
        cells["finish_times"] = packet.flow, choose(charged, finish, packet.old("finish_times", packet.flow))
    return cells


def counted(rule: Rule, packet: Arrival, decision: Decision) -> dict[str, tuple[Int, Int]]:
    """The counters that change, as in `expected`."""
    forwarded = packet.is_forwarded
    queue = queue_cell(packet.port, decision.queue)
    counts = (
        {
            ".carry_out.admitted": (queue, decision.admitted),
            ".carry_out.dropped_by_admission": (queue, decision.refused),
            ".carry_out.dropped_full": (queue, decision.full),
        }
        if rule.has_admission
        else {
            ".admit.port_admitted": (packet.port, decision.admitted),
            ".admit.port_dropped": (packet.port, decision.full),
            ".admit.band_admitted": (queue, decision.admitted),
        }
    )
    cells: dict[str, tuple[Int, Int]] = {}
    for name, (index, counts_it) in counts.items():
        cells[packet.full(name)] = index, packet.old(name, index) + number(every(forwarded, counts_it))
    return cells


def in_the_switch(rule: Rule, packet: Arrival) -> dict[str, Truth]:
    """Assumptions of all rules."""
    queue = queue_cell(packet.port, rule.decide(packet).queue)
    found: dict[str, Truth] = {"no queue has 2^24 packets": packet.old("queue_depths", queue) < 1 << 24}
    if packet.is_ranked:
        for name in ("virtual_time", "finish_times"):
            index = packet.port if name == "virtual_time" else packet.flow
            found[f"{name} is below 2^63 bytes"] = packet.old(name, index) < 1 << 63
    return found
