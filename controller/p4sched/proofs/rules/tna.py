"""The rules of the programs for Tofino, as the pages in tofino-port/programs state them.

What a chip does not compute is part of the rule: RIFO's powers of two, AIFO's logarithms. How far such a rule is from
the paper's is proved apart from it (`p4sched.proofs.logarithms`), or is a theorem of the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, some
from p4sched.proofs.rules.arrival import LARGEST_RANK, Arrival
from p4sched.proofs.rules.fifo import Fifo
from p4sched.proofs.rules.rifo import Rifo
from p4sched.proofs.rules.scheme import Cell, Decision, queue_cell
from p4sched.proofs.rules.tna_fdpa import TnaFdpa
from p4sched.proofs.rules.tna_quantile import TnaAifo, TnaPacks
from p4sched.proofs.rules.tna_scheme import OnChip
from p4sched.proofs.rules.tna_sp_pifo import TnaSpPifo

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


RULES: Mapping[str, type[OnChip]] = {
    "fifo": TnaFifo,
    "rifo": TnaRifo,
    "aifo": TnaAifo,
    "sp_pifo": TnaSpPifo,
    "fdpa": TnaFdpa,
    "packs": TnaPacks,
}
