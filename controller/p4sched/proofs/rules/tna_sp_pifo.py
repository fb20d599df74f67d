"""SP-PIFO on Tofino 1 (tofino-port/programs/sp_pifo.md): a bound has one access in a pass.

b_i: bound of queue i, 0 at the start;  r: rank;  queue 1 is the most urgent
scan from queue n to queue 2 and take the first queue with b_i <= r;  b_i = r, whether the queue has room or not
none: take queue 1;  b_1 = r;  if b_1 was above r by a cost, the packet comes back before it enters queue 1; in its
second pass all other bounds fall by the cost, but not below 0
rank 0 does not enter queues 8, 6, 4 and 2, nor 7, 5 and 3 if the next less urgent queue has the bound 0 or does not
exist
a queue of size 0 does not exist; its bound falls with the others. The traffic manager drops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, negated, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import ADMITTED, MOST_URGENT, QUEUES, Cell, Decision, Rule, other_rank, sizes_of
from p4sched.proofs.rules.tna_scheme import COMES_BACK, OnChip, TnaDecision
from p4sched.proofs.tna_arrival import TnaArrival

WORD = 32
BOUND_1, BOUND_2 = ".mapping.queue_1.bound_1", ".mapping.queue_2.bound_2"
PAIRS = (4, 6, 8)
"""Less urgent queues of the pairs that share a register."""
ORDER = "b_1 <= b_2 <= ..., for the queues that exist"


def _pair(queue: int) -> str:
    return f".mapping.queues_{queue}_{queue - 1}.bounds"


def bounds(cell: Callable[[str, Int], Int], port: Int) -> list[Int]:
    """b_1 .. b_8, from the registers. Of a pair, the less urgent queue has the upper half."""
    found = [cell(BOUND_1, port), cell(BOUND_2, port)]
    for queue in PAIRS:
        pair = cell(_pair(queue), port)
        found += [pair.lowest(WORD), pair >> WORD]
    return found


class TnaSpPifo(OnChip, Rule):
    """SP-PIFO on Tofino 1."""

    control, table, action = "SpPifoIngress", "sp_pifo_params", "set_sp_pifo"
    comes_back = True

    def cases(self, packet: Arrival) -> Mapping[str, Truth]:
        assert isinstance(packet, TnaArrival)
        second = packet.is_second_pass
        return {"first pass": negated(second), "second pass": second}

    def decide(self, packet: Arrival) -> TnaDecision:
        assert isinstance(packet, TnaArrival)
        port, second = packet.port, packet.is_second_pass
        old, takes = self._bounds(packet), self._takes(packet, packet.rank)
        cost = self._cost(packet)
        new = []
        for place, bound in enumerate(old):
            in_first = choose(takes[place], packet.rank, bound)
            fallen = largest(bound - packet.field("push_down.cost"), 0) if place else bound
            new.append(choose(second, fallen, in_first))
        written = {BOUND_1: (port, new[0]), BOUND_2: (port, new[1])}
        written |= {_pair(queue): (port, new[queue - 1] << WORD | new[queue - 2]) for queue in PAIRS}
        again = every(negated(second), cost >= 1)
        return TnaDecision(
            choose(again, COMES_BACK, ADMITTED),
            choose(second, MOST_URGENT, self._priority(takes)),
            written,
            comes_back=again,
            brought={"cost": cost, "user": packet.user, "scale": packet.scale},
        )

    def _bounds(self, packet: Arrival) -> list[Int]:
        return bounds(packet.old, packet.port)

    def _takes(self, packet: Arrival, rank: Int) -> list[Truth]:
        """For each queue: does it take a packet of this rank in its first pass?"""
        old, exists = self._bounds(packet), [size.differs(0) for size in sizes_of(packet)]
        takes: list[Truth] = [False] * QUEUES
        taken: Truth = False
        for place in reversed(range(1, QUEUES)):
            fits = every(exists[place], old[place] <= rank, negated(every(rank.equals(0), self._hides(packet, place))))
            takes[place] = every(negated(taken), fits)
            taken = some(taken, fits)
        takes[0] = negated(taken)
        return takes

    def _hides(self, packet: Arrival, place: int) -> Truth:
        """True if a packet of rank 0 does not enter this queue."""
        if place % 2 or place + 1 == QUEUES:
            return True
        less_urgent = sizes_of(packet)[place + 1], self._bounds(packet)[place + 1]
        return some(*(one.equals(0) for one in less_urgent))

    def _priority(self, takes: Sequence[Truth]) -> Int:
        priority = exact(MOST_URGENT)
        for place in range(1, QUEUES):
            priority = choose(takes[place], MOST_URGENT - place, priority)
        return priority

    def _cost(self, packet: Arrival) -> Int:
        """Cost of the push-down of a first pass; 0 if there is none."""
        excess = largest(self._bounds(packet)[0] - packet.rank, 0)
        return choose(self._takes(packet, packet.rank)[0], excess, 0)

    def after_first_pass(self, packet: Arrival) -> Truth:
        assert isinstance(packet, TnaArrival)
        first, cost = self._bounds(packet)[0], packet.field("push_down.cost")
        return every(first.equals(packet.rank), cost >= 1, first + cost < 1 << WORD, packet.is_as_before)

    def before_first_pass(self, packet: Arrival) -> Mapping[str, tuple[Int, Int]]:
        return {BOUND_1: (packet.port, packet.old(BOUND_1, packet.port) + packet.field("push_down.cost"))}

    def assumptions(self, packet: Arrival) -> Mapping[str, Truth]:
        assert isinstance(packet, TnaArrival)
        first, *others = self._bounds(packet)
        fallen = first + packet.field("push_down.cost")
        above = self._above(packet, fallen, others)
        return {"no packet came between the passes: b_1 + cost <= b_i": implies(packet.is_second_pass, above)}

    def _above(self, packet: Arrival, bound: Int, others: Sequence[Int]) -> Truth:
        """True if the bounds of all other queues are not below this one."""
        sizes = sizes_of(packet)[1:]
        return every(*(implies(size.differs(0), bound <= other) for size, other in zip(sizes, others, strict=True)))

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        assert isinstance(packet, TnaArrival)
        assert isinstance(decision, TnaDecision)
        if packet.is_second_pass is True:
            return {}
        other, cost = other_rank(packet), decision.brought["cost"]
        queue, of_other = (self._priority(self._takes(packet, rank)) for rank in (packet.rank, other))
        after = self._above(packet, packet.rank + cost, self._bounds(packet)[1:])
        return {
            "the queue of a smaller rank is not less urgent": implies(other <= packet.rank, of_other >= queue),
            "a packet that comes back finds b_1 + cost <= b_i": implies(decision.comes_back, after),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return {ORDER: every(*self._ordered(packet, bounds(cell, packet.port)))}

    def _ordered(self, packet: Arrival, of: Sequence[Int]) -> Iterator[Truth]:
        exists = [size.differs(0) for size in sizes_of(packet)]
        for one, two in combinations(range(QUEUES), 2):
            yield implies(every(exists[one], exists[two]), of[one] <= of[two])
