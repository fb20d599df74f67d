"""SP-PIFO (PACKS, section 2.1): the queue whose bound is the largest one that is not above the rank.

Queue 1 is the most urgent;  b_i: bound of queue i, 0 at the start;  r: rank
scan from queue n to queue 1 and take the first queue with b_i <= r; if it has room, b_i = r  (push-up)
none: take queue 1, and lower every bound by b_1 - r  (push-down);  a full queue takes no packet

A packet that a full queue drops raises no bound. One that queue 1 drops lowers the bounds: section 2.1 does not say so,
and the authors' simulations do not. Section 2.1 gives neither the amount of a push-down nor the bounds at the start.
A queue of size 0 does not exist; its bound is 0. The registers hold b_i plus all push-downs so far, modulo 2^32, and a
bit that is 0 until the first push-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, negated, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import (
    QUEUES,
    Cell,
    Decision,
    Kept,
    Rule,
    lengths_of,
    other_rank,
    sizes_are_kept,
    sizes_of,
    verdict,
)

WORD = 32
ORDER = "b_1 <= b_2 <= ..., for the queues that exist"
Reader = Callable[[str, Int], Int]
"""Reads a cell of a register."""


def bounds(cell: Reader, port: Int) -> list[Int]:
    """b_1 .. b_8, from the registers."""
    lowered = cell(".mapping.lowered_by", port)
    return [_bound(value, (value.lowest(WORD) - lowered).lowest(WORD)) for value in _raised(cell, port)]


def _raised(cell: Reader, port: Int) -> list[Int]:
    return [cell(f".mapping.queue_{number}.raised_bound", port) for number in range(1, QUEUES + 1)]


def _bound(raised: Int, bound: Int) -> Int:
    """A bound; 0 until the first push-up."""
    return choose((raised >> WORD).equals(0), 0, bound)


class SpPifo(Rule):
    """SP-PIFO."""

    control, table, action = "SpPifoIngress", "sp_pifo_params", "set_sp_pifo"

    def maps(self, packet: Arrival) -> Truth:
        """True if the bounds choose the queue of the packet."""
        return True

    def decide(self, packet: Arrival) -> Decision:
        port, sizes, lengths = packet.port, sizes_of(packet), lengths_of(packet)
        takes, cost = self._scan(packet)
        admitted: Truth = False
        chosen: Truth = False
        queue = exact(0)
        for place in reversed(range(QUEUES)):
            # the last queue of the scan, queue 1, if no bound is small enough
            here = every(sizes[place].differs(0), negated(chosen))
            queue = choose(here, QUEUES - 1 - place, queue)
            has_room = choose(lengths[place] < sizes[place], 1, 0)
            admitted = choose(here, has_room, choose(admitted, 1, 0)).equals(1)
            chosen = some(chosen, takes[place])
        lowered = (packet.old(".mapping.lowered_by", port) + cost).lowest(WORD)
        written = {".mapping.lowered_by": (port, lowered)}
        for place in range(QUEUES):
            name = f".mapping.queue_{place + 1}.raised_bound"
            pushed = every(takes[place], lengths[place] < sizes[place])
            raised = choose(pushed, (packet.rank + lowered).lowest(WORD) + (1 << WORD), packet.old(name, port))
            written[name] = port, choose(every(self.maps(packet), sizes[place].equals(0)), 0, raised)
        decided = verdict(True, admitted)
        return Decision(decided, queue, written, {".verdict": decided, "standard_metadata.priority": queue})

    def _scan(self, packet: Arrival) -> tuple[list[Truth], Int]:
        """For each queue: does its bound take the packet? And the cost of a push-down."""
        old = bounds(packet.old, packet.port)
        chosen: Truth = False
        takes: list[Truth] = [False] * QUEUES
        for place in reversed(range(QUEUES)):
            takes[place] = every(sizes_of(packet)[place].differs(0), negated(chosen), old[place] <= packet.rank)
            chosen = some(chosen, takes[place])
        maps = self.maps(packet)
        cost = choose(every(maps, negated(chosen)), self._first(packet, old) - packet.rank, 0)
        return [every(maps, taken) for taken in takes], cost

    def _bounds_after(self, packet: Arrival, lowered: Sequence[Int]) -> list[Int]:
        """b_1 .. b_8 after a packet. `lowered`: all bounds after its push-down."""
        takes, _ = self._scan(packet)
        found = []
        for bound, size, length, taken in zip(lowered, sizes_of(packet), lengths_of(packet), takes, strict=True):
            raised = choose(every(taken, length < size), packet.rank, bound)
            found.append(choose(every(self.maps(packet), size.equals(0)), 0, raised))
        return found

    def _first(self, packet: Arrival, old: Sequence[Int]) -> Int:
        """b_1: bound of the most urgent queue that exists."""
        first = exact(0)
        for size, bound in reversed(list(zip(sizes_of(packet), old, strict=True))):
            first = choose(size.differs(0), bound, first)
        return first

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        other, old = other_rank(packet), bounds(packet.old, packet.port)
        queue: Int = exact(0)
        taken: Truth = False
        for place, size in reversed(list(enumerate(sizes_of(packet)))):
            here = every(size.differs(0), negated(taken))
            queue = choose(here, QUEUES - 1 - place, queue)
            taken = some(taken, every(here, old[place] <= other))
        return {
            "the queue of a smaller rank is not less urgent": implies(other <= packet.rank, queue >= decision.queue),
            **sizes_are_kept(packet, decision),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return {ORDER: every(*self._ordered(packet, bounds(cell, packet.port)))}

    def induction(self, packet: Arrival, after: Cell) -> Iterator[Kept]:
        old, sizes, (takes, cost) = bounds(packet.old, packet.port), sizes_of(packet), self._scan(packet)
        lowered, raised = packet.old(".mapping.lowered_by", packet.port), _raised(packet.old, packet.port)
        # short questions in place of a long one: the bound modulo 2^32 in two ways, and what the register holds
        words = [(value.lowest(WORD) - lowered - cost).lowest(WORD) for value in raised]
        others = [(value.lowest(WORD) - (lowered + cost).lowest(WORD)).lowest(WORD) for value in raised]
        new = self._bounds_after(packet, [bound - cost for bound in old])
        modulo, held = (self._bounds_after(packet, list(map(_bound, raised, of))) for of in (words, others))
        cells = bounds(after, packet.port)
        for place in range(QUEUES):
            fits = some(sizes[place].equals(0), every(cost >= 0, cost <= old[place]))
            name, any_of = f"b_{place + 1}", [takes[place], cost]
            yield Kept(f"{name} stays above 0", fits, old)
            yield Kept(f"{name} has {WORD} bits", implies(fits, new[place].equals(modulo[place])), any_of)
            yield Kept(f"{name} falls by the push-down", words[place].equals(others[place]), any_of)
            yield Kept(f"{name} is in its register", cells[place].equals(held[place]), any_of)
        for pair in self._ordered(packet, new):
            yield Kept(ORDER, pair, old)

    def _ordered(self, packet: Arrival, of: Sequence[Int]) -> Iterator[Truth]:
        exists = [size.differs(0) for size in sizes_of(packet)]
        for one, two in combinations(range(QUEUES), 2):
            yield implies(every(exists[one], exists[two]), of[one] <= of[two])
