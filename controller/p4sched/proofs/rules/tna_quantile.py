"""AIFO on Tofino 1 and 2, and PACKS on Tofino 2 (tofino-port/programs/aifo.md and packs.md): quantiles by logarithms.

A window has 16 places. A longer one continues behind its last place.
The tables of logarithms are unknown functions here; `p4sched.proofs.logarithms` proves what they give.

AIFO:   c <= C, and  log q + log C + log (256 - K) <= log |W| + log (C - c) + log 256 + 4 units, or q = 0
PACKS:  place = log q + log B + log (256 - K) + log n - log |W| - log (B - b) - log 256 - 4 units;  q = 0: below 0
        take the first queue i with  place <= log i;  no such queue, or it does not exist: the packet is refused
        n: queues that exist;  B: sum of their sizes;  b: packets in all of them;  the traffic manager drops
A unit is 2^-16. The logarithm of 0 is below all others.
"""

from __future__ import annotations

from collections.abc import Mapping

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, negated, number, some
from p4sched.proofs.logarithms import logarithms
from p4sched.proofs.rules.aifo import Aifo
from p4sched.proofs.rules.arrival import LARGEST_RANK, Arrival
from p4sched.proofs.rules.scheme import (
    ADMITTED,
    QUEUES,
    REFUSED,
    Cell,
    Decision,
    Rule,
    other_rank,
    queue_cell,
    sizes_of,
    verdict,
)
from p4sched.proofs.rules.tna_scheme import OnChip
from p4sched.proofs.tna import TnaWorld

PLACES = 16
"""Of the window."""
LOGARITHMS = ("logarithms", "window_logs", "rest_logs", "quantile_logs")
"""Tables, by the end of their names."""
LOG_BITS = 20
WORD_BITS, LENGTH_BITS = 16, 32
"""Bits of the numbers whose logarithms are taken, and of their sums."""


class TnaAifo(OnChip, Aifo):
    """AIFO. Products are sums of logarithms, which four tables give."""

    opaque = LOGARITHMS

    def _length(self, packet: Arrival) -> Int:
        return packet.old("queue_depths", queue_cell(self.length_port(packet), 0))

    def decide(self, packet: Arrival) -> Decision:
        smaller, window = smaller_of_16(packet)
        has_room = self._length(packet) < packet.parameters["capacity_packets"]
        decided = verdict(self._admits(packet, smaller), has_room)
        hints = {".smaller": smaller, ".verdict": decided}
        return Decision(decided, exact(0), window, hints)

    def _admits(self, packet: Arrival, smaller: Int) -> Truth:
        enough = some(smaller.equals(0), self.margin(packet) >= 0)
        return every(self._length(packet) <= packet.parameters["target_packets"], enough)

    def margin(self, packet: Arrival) -> Int:
        """The difference of the logarithms, in 2^-16."""
        free, target, window, rest, of_smaller = (taken(packet, table) for table in self.keys(packet))
        return free - target - window - rest + of_smaller

    def keys(self, packet: Arrival) -> Mapping[str, Int]:
        """The number whose logarithm a table gives."""
        of = packet.parameters
        free = of["target_packets"] - self._length(packet)
        smaller, _ = smaller_of_16(packet)
        return {
            "log_free.logarithms": choose(free >= 0, free, 0),
            "log_target.logarithms": of["target_packets"],
            "window_logs": of["window_ranks"],
            "rest_logs": 256 - of["headroom_256"],
            "quantile_logs": smaller,
        }

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        has_room = self._length(packet) < packet.parameters["capacity_packets"]
        other = packet.world.variable("logarithm of another q", LOG_BITS)
        with_other = self.margin(packet) - taken(packet, "quantile_logs") - other
        more_urgent = every(exact(0) - other >= taken(packet, "quantile_logs"), self.margin(packet) >= 0)
        return {
            **window_theorems(packet),
            "what is admitted with q is admitted with a smaller one": implies(more_urgent, with_other >= 0),
            "the queue does not grow beyond its size": implies(decision.admitted, has_room),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return window_invariants(packet, cell)


class TnaPacks(OnChip, Rule):
    """PACKS on Tofino 2."""

    control, table, action = "PacksIngress", "packs_params", "set_packs"
    opaque = LOGARITHMS

    def decide(self, packet: Arrival) -> Decision:
        smaller, window = smaller_of_16(packet)
        word = self._place(packet).lowest(LENGTH_BITS)
        priority, exists = self._mapped(packet, _signed(word))
        decided = choose(exists, ADMITTED, REFUSED)
        missing = exact(0)
        for count, size in enumerate(sizes_of(packet), 1):
            missing = choose(size.differs(0), (0xFF << count) & 0xFF, missing)
        hints = {
            ".smaller": smaller,
            ".mapping.missing": missing,
            ".mapping.total_size": self._total(packet),
            ".mapping.free": self.keys(packet)["log_free.logarithms"],
            ".mapping.needed": self._needed(packet).lowest(LENGTH_BITS),
            ".mapping.place": word,
            ".verdict": decided,
        }
        return Decision(decided, priority, window, hints)

    def _total(self, packet: Arrival) -> Int:
        """B."""
        total = exact(0)
        for size in sizes_of(packet):
            total = total + size
        return total

    def _length(self, packet: Arrival) -> Int:
        """b."""
        return packet.old("port_depths", self.length_port(packet))

    def _needed(self, packet: Arrival) -> Int:
        """The logarithm of the left side without q and B - b."""
        total, window, rest = (taken(packet, table) for table in ("log_total.logarithms", "window_logs", "rest_logs"))
        return self._log_count(packet) + window + rest + total

    def _place(self, packet: Arrival) -> Int:
        """The logarithm of the smallest i that the rule allows; -1 if q is 0."""
        free, of_smaller = taken(packet, "log_free.logarithms"), taken(packet, "quantile_logs")
        return choose(smaller_of_16(packet)[0].equals(0), -1, self._needed(packet) - free + of_smaller)

    def _log_count(self, packet: Arrival) -> Int:
        """log n. The queues that exist are the most urgent ones."""
        logs = logarithms()
        found = exact(0)
        for count, size in enumerate(sizes_of(packet), 1):
            found = choose(size.differs(0), logs[count], found)
        return found

    def _mapped(self, packet: Arrival, place: Int) -> tuple[Int, Truth]:
        """Priority of the queue for a place, and whether it exists. Without a queue, the priority is 0."""
        logs = logarithms()
        priority, exists = exact(0), exact(0)
        for count, size in reversed(list(enumerate(sizes_of(packet), 1))):
            here = place <= logs[count]
            priority = choose(here, QUEUES - count, priority)
            exists = choose(here, number(size.differs(0)), exists)
        return priority, exists.equals(1)

    def keys(self, packet: Arrival) -> Mapping[str, Int]:
        """The number whose logarithm a table gives."""
        total, of = self._total(packet), packet.parameters
        smaller, _ = smaller_of_16(packet)
        return {
            "log_total.logarithms": total,
            "log_free.logarithms": largest(total - self._length(packet), 0),
            "window_logs": of["window_ranks"],
            "rest_logs": 256 - of["headroom_256"],
            "quantile_logs": smaller,
        }

    def assumptions(self, packet: Arrival) -> Mapping[str, Truth]:
        return {
            "the sizes of the queues are together below 65536": self._total(packet) < 1 << WORD_BITS,
            "the queues hold together fewer than 65536 packets": self._length(packet) < 1 << WORD_BITS,
        }

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        place = packet.world.variable("place", LENGTH_BITS - 1) - (1 << (LENGTH_BITS - 2))
        less = place - packet.world.variable("difference of two logarithms of q", LOG_BITS)
        (priority, admitted), (of_less, also) = (self._mapped(packet, one) for one in (place, less))
        exists = exact(0)
        for count, size in enumerate(sizes_of(packet), 1):
            exists = choose(decision.queue.equals(QUEUES - count), number(size.differs(0)), exists)
        return {
            **window_theorems(packet),
            "what is admitted with q is admitted with a smaller one": implies(admitted, also),
            "its queue is then not less urgent": implies(admitted, of_less >= priority),
            "a packet is admitted to a queue that exists": implies(decision.admitted, exists.equals(1)),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return window_invariants(packet, cell)


def _signed(word: Int) -> Int:
    """A word as a number with a sign."""
    return choose(word >= 1 << (LENGTH_BITS - 1), word - (1 << LENGTH_BITS), word)


def window_invariants(packet: Arrival, cell: Cell) -> dict[str, Truth]:
    """Fewer arrivals than S wait for the next sample, and S is below 2^32."""
    fewer = (cell(".window.tagger", packet.port) >> 32) < LARGEST_RANK
    return {"fewer than 2^32 - 1 arrivals since the last written rank": fewer}


def window_theorems(packet: Arrival) -> dict[str, Truth]:
    """A smaller rank counts no place that a larger one does not count."""
    other = other_rank(packet)
    pairs = zip(are_smaller(packet, other), are_smaller(packet, packet.rank), strict=True)
    return {
        "q of a smaller rank is not larger": implies(other <= packet.rank, every(*(one <= two for one, two in pairs)))
    }


def taken(packet: Arrival, table: str) -> Int:
    """What a table gives for its key. A packet without a route does not ask it."""
    assert isinstance(packet.world, TnaWorld)
    return next((value for name, (_, value) in packet.world.taken.items() if name.endswith(f".{table}")), exact(0))


def smaller_of_16(packet: Arrival) -> tuple[Int, dict[str, tuple[Int, Int]]]:
    """q: how many ranks of the window are smaller than the packet's; and the window after the packet.

    A longer window continues behind its last place.
    """
    port, size = packet.port, packet.parameters["window_ranks"]
    is_sampled, following, arrivals, last = _turn(packet)
    after_last = choose(is_sampled, following, last).lowest(32)
    cells = {".window.tagger": (port, choose(is_sampled, 0, arrivals).lowest(32) << 32 | after_last)}
    for place in range(1, PLACES + 1):
        name = f".window.cell_{place - 1}.entry"
        written = every(place <= size, is_sampled, following.equals(place))
        cells[name] = port, choose(written, LARGEST_RANK - packet.rank, packet.old(name, port))
    smaller = exact(0)
    for one in are_smaller(packet, packet.rank):
        smaller = smaller + one
    return smaller, cells


def are_smaller(packet: Arrival, rank: Int) -> list[Int]:
    """For each place of the window, 1 if its rank is smaller than this one."""
    is_sampled, following, _, _ = _turn(packet)
    found = []
    for place in range(1, PLACES + 1):
        held = LARGEST_RANK - packet.old(f".window.cell_{place - 1}.entry", packet.port)
        written = every(is_sampled, following.equals(place))
        found.append(number(every(place <= packet.parameters["window_ranks"], negated(written), held < rank)))
    return found


def _turn(packet: Arrival) -> tuple[Truth, Int, Int, Int]:
    """Whether the rank is written, the place that follows; the arrivals and the last place."""
    tagger = packet.old(".window.tagger", packet.port)
    arrivals, last = (tagger >> 32) + 1, tagger.lowest(32)
    following = choose(last >= packet.parameters["window_ranks"], 1, last + 1)
    return arrivals >= packet.parameters["sampling"], following, arrivals, last
