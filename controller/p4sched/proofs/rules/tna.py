"""The rules of the programs for Tofino, as the pages in tofino-port/programs state them.

What a chip does not compute is part of the rule: RIFO's powers of two, AIFO's logarithms. How far such a rule is from
the paper's is proved apart from it (`p4sched.proofs.logarithms`), or is a theorem of the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, negated, number, some
from p4sched.proofs.rules.aifo import Aifo
from p4sched.proofs.rules.arrival import LARGEST_RANK, Arrival
from p4sched.proofs.rules.fifo import Fifo
from p4sched.proofs.rules.rifo import Rifo
from p4sched.proofs.rules.scheme import Cell, Decision, queue_cell, verdict
from p4sched.proofs.rules.tna_fdpa import TnaFdpa
from p4sched.proofs.rules.tna_scheme import OnChip
from p4sched.proofs.rules.tna_sp_pifo import TnaSpPifo
from p4sched.proofs.tna import TnaWorld

PLACES = 16
"""Of the window."""
SIZE_BITS = 16


def counted(packet: Arrival, size: Int) -> dict[str, tuple[Int, Int]]:
    """The length of queue 0, with this arrival, up to its size."""
    cell = queue_cell(packet.port, 0)
    length = packet.old("queue_depths", cell)
    return {"queue_depths": (cell, choose(length < size, length + 1, length))}


class TnaFifo(OnChip, Fifo):
    """FIFO. The length is that after the last departure, with the arrivals since then."""

    def decide(self, packet: Arrival) -> Decision:
        return replace(super().decide(packet), written=counted(packet, packet.parameters["depth"]))


class TnaRifo(OnChip, Rifo):
    """RIFO. B and B - L are rounded up to powers of two. The cell of Min holds its distance from the largest rank."""

    def decide(self, packet: Arrival) -> Decision:
        found = super().decide(packet)
        index, lowest = found.written[".rank_range.min_rank"]
        counts = counted(packet, packet.parameters["capacity_packets"])
        written = {**found.written, ".rank_range.min_rank": (index, LARGEST_RANK - lowest), **counts}
        size = packet.parameters["capacity_packets"]
        hints = {
            ".not_lowest": LARGEST_RANK - lowest,
            ".highest": found.written[".rank_range.max_rank"][1],
            ".length": self._length(packet),
            ".admission.guaranteed": product(packet.parameters["headroom_256"], size),
            ".admission.shift": self._shift(packet),
        }
        return replace(found, written=written, hints={**hints, **found.hints})

    def _lowest_before(self, packet: Arrival) -> Int:
        return LARGEST_RANK - packet.old(".rank_range.min_rank", packet.port)

    def _admits(self, packet: Arrival, rank: Int) -> Truth:
        size, length = packet.parameters["capacity_packets"], self._length(packet)
        lowest, highest = self._range(packet, rank)
        few = length * 256 <= product(packet.parameters["headroom_256"], size)
        urgent = scaled(highest - rank, self._shift(packet)) >= highest - lowest
        return some(few, highest.equals(lowest), length >= size, urgent)

    def _shift(self, packet: Arrival) -> Int:
        """a - b: 2^a is B rounded up, and 2^b is B - L."""
        size = packet.parameters["capacity_packets"]
        return largest(exponent(size) - exponent(size - self._length(packet)), 0)

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        """So the threshold (B - L) / B is wrong by less than a factor of 2."""
        size = packet.parameters["capacity_packets"]
        free = size - self._length(packet)
        rounded = {"B": size, "B - L": choose(free >= 1, free, 1)}
        return {
            **super().theorems(packet, decision),
            **{
                f"{name} is rounded up by less than a factor of 2": every(
                    value <= scaled(exact(1), exponent(value)), scaled(exact(1), exponent(value)) < value * 2
                )
                for name, value in rounded.items()
            },
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        port = packet.port
        lowest = LARGEST_RANK - cell(".rank_range.min_rank", port)
        begun = cell(".rank_range.arrivals", port).differs(0)
        return {"Min is not above Max": implies(begun, lowest <= cell(".rank_range.max_rank", port))}


def product(one: Int, two: Int) -> Int:
    """A product, by the binary digits of its first factor."""
    sums = [choose(((one >> digit) & exact(1)).equals(1), two << digit, 0) for digit in range(one.bits)]
    while len(sums) > 1:
        pairs = zip(sums[::2], [*sums[1::2], exact(0)], strict=False)
        sums = [left + right for left, right in pairs]
    return sums[0]


def exponent(number: Int) -> Int:
    """Exponent of the power of two that a number is rounded up to; 0 if there is no such power."""
    found = exact(SIZE_BITS)
    for power in reversed(range(SIZE_BITS)):
        found = choose(number <= 1 << power, power, found)
    return found


def scaled(value: Int, power: Int) -> Int:
    """A value times 2^power."""
    found = value
    for one in range(1, SIZE_BITS + 1):
        found = choose(power.equals(one), value << one, found)
    return found


class TnaAifo(OnChip, Aifo):
    """AIFO. Products are sums of logarithms, which four tables give."""

    def _length(self, packet: Arrival) -> Int:
        return packet.old("queue_depths", queue_cell(self.length_port(packet), 0))

    opaque = ("logarithms", "window_logs", "rest_logs", "quantile_logs")

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
        free, target, window, rest, of_smaller = (_value(packet, table) for table in self.keys(packet))
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
        return {"the queue does not grow beyond its size": implies(decision.admitted, has_room)}

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        fewer = (cell(".window.tagger", packet.port) >> 32) < LARGEST_RANK
        return {"fewer than 2^32 - 1 arrivals since the last written rank": fewer}


def _value(packet: Arrival, table: str) -> Int:
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
    for one in are_smaller(packet):
        smaller = smaller + one
    return smaller, cells


def are_smaller(packet: Arrival) -> list[Int]:
    """For each place of the window, 1 if its rank is smaller than the packet's."""
    is_sampled, following, _, _ = _turn(packet)
    found = []
    for place in range(1, PLACES + 1):
        held = LARGEST_RANK - packet.old(f".window.cell_{place - 1}.entry", packet.port)
        written = every(is_sampled, following.equals(place))
        found.append(number(every(place <= packet.parameters["window_ranks"], negated(written), held < packet.rank)))
    return found


def _turn(packet: Arrival) -> tuple[Truth, Int, Int, Int]:
    """Whether the rank is written, the place that follows; the arrivals and the last place."""
    tagger = packet.old(".window.tagger", packet.port)
    arrivals, last = (tagger >> 32) + 1, tagger.lowest(32)
    following = choose(last >= packet.parameters["window_ranks"], 1, last + 1)
    return arrivals >= packet.parameters["sampling"], following, arrivals, last


RULES: Mapping[str, type[OnChip]] = {
    "fifo": TnaFifo,
    "rifo": TnaRifo,
    "aifo": TnaAifo,
    "sp_pifo": TnaSpPifo,
    "fdpa": TnaFdpa,
}
