"""Flows as Netbench draws them from the seed of a run file.

Netbench draws with `java.util.Random`, whose numbers its documentation defines: a linear congruential generator of 48
bits. It makes a generator for each purpose, from the seed and the name of the purpose (`RandomManager.java`). The flows
are those of `PoissonArrivalPlanner.java`, with sizes of `ParetoFSD.java`, `PFabricWebSearchLowerBoundFSD.java` and
`PFabricDataMiningLowerBoundFSD.java`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import log
from typing import Protocol

MULTIPLIER, INCREMENT, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
FIRST_SERVER = 157
"""Number of the first server in Netbench, behind those of the 144 racks, 9 leaves and 4 spines."""
BUCKETS = 16
"""Netbench goes through the servers of a rack in the order of a Java HashSet."""


def _signed(value: int) -> int:
    """The low 32 bits, as Java's int."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _hash(text: str) -> int:
    """`String.hashCode`."""
    found = 0
    for character in text:
        found = 31 * found + ord(character)
    return _signed(found)


class JavaRandom:
    """`java.util.Random`."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ MULTIPLIER) & MASK

    @classmethod
    def named(cls, seed: int, purpose: str) -> "JavaRandom":
        """Netbench's generator for a purpose."""
        return cls(997 * seed ^ _signed(991 * _hash(purpose)))

    def bits(self, count: int) -> int:
        """The highest bits of the next state."""
        self._state = (self._state * MULTIPLIER + INCREMENT) & MASK
        return self._state >> (48 - count)

    def below(self, bound: int) -> int:
        """`nextInt(bound)`."""
        if bound & (bound - 1) == 0:
            return (bound * self.bits(31)) >> 31
        while True:
            drawn = self.bits(31)
            # the last numbers would make the small ones more likely
            if drawn - drawn % bound + bound <= 1 << 31:
                return drawn % bound

    def double(self) -> float:
        """`nextDouble()`."""
        return ((self.bits(26) << 27) + self.bits(27)) / (1 << 53)


def rack_shares(seed: int, racks: int) -> list[tuple[int, float]]:
    """Racks and their shares of the traffic, from the smallest one: a Pareto distribution of shape 1."""
    random = JavaRandom.named(seed, "skew_pareto_distribution")
    order = list(range(racks))
    # Collections.shuffle
    for size in range(racks, 1, -1):
        other = random.below(size)
        order[size - 1], order[other] = order[other], order[size - 1]
    masses = [10 / random.double() for _ in order]
    total = sum(masses)
    return list(zip(order, sorted(mass / total for mass in masses), strict=True))


Pairs = tuple[Sequence[tuple[int, int]], Sequence[float]]
"""Pairs of servers, source first, and for each the probability of it and all before it."""


class Sizes(Protocol):
    """A distribution of sizes."""

    def drawn(self, outcome: float) -> int:
        """The size in bytes for a number between 0 and 1."""


def flows(
    seed: int, pairs: Pairs, starts_per_s: int, end_ns: int, sizes: Sizes, all_gaps: bool = False
) -> Iterator[tuple[int, int, int, int]]:
    """Start in ns, source, destination and bytes of each flow. `all_gaps`: the second flow starts after the first
    random interval, as in SP-PIFO's Netbench; that of AIFO and of RIFO throws this interval away."""
    gaps = JavaRandom.named(seed, "poisson_inter_arrival")
    drawn_sizes = JavaRandom.named(seed, "flow_size")
    drawn_pairs = JavaRandom.named(seed, "pair_probabilities_draw")
    ends, bounds = pairs
    if not all_gaps:
        gaps.double()
    start = 0
    while start <= end_ns:
        source, destination = ends[bisect_left(bounds, drawn_pairs.double())]
        yield start, source, destination, sizes.drawn(drawn_sizes.double())
        start += int(-log(gaps.double()) / (starts_per_s / 1e9))


class StepSizes:
    """Sizes with a share each."""

    def __init__(self, shares: Mapping[int, float]) -> None:
        self._sizes = list(shares)
        # the bounds are written as decimals there
        self._bounds = [round(bound, 9) for bound in accumulate(shares.values())]

    def drawn(self, outcome: float) -> int:
        """The size for a number between 0 and 1."""
        return self._sizes[bisect_left(self._bounds, outcome)]


class ParetoSizes:
    """Pareto sizes in bytes."""

    def __init__(self, shape: float, mean: int, largest: int) -> None:
        self._shape, self._least, self._largest = shape, mean * (shape - 1) / shape, largest

    def drawn(self, outcome: float) -> int:
        """The size for a number between 0 and 1."""
        return min(int(self._least / outcome ** (1 / self._shape)), self._largest)


def all_to_all(servers: int) -> Pairs:
    """All pairs of this many servers, each with the same probability."""
    pairs = [(source, destination) for source in range(servers) for destination in range(servers)]
    pairs = [(source, destination) for source, destination in pairs if source != destination]
    return pairs, list(accumulate([1 / len(pairs)] * len(pairs)))


def between_racks(shares: Sequence[tuple[int, float]], servers: int) -> Pairs:
    """All pairs of servers of two racks. `shares`: those of the racks in the traffic; `servers`: those of each rack."""
    same_rack = sum(share * share for _, share in shares)
    pairs, likely = [], []
    for source, first in shares:
        for destination, second in shares:
            if source != destination:
                ends = [(a, b) for a in _servers(source, servers) for b in _servers(destination, servers)]
                pairs += ends
                likely += [first * second / (1 - same_rack) / servers**2] * len(ends)
    return pairs, list(accumulate(likely))


def _servers(rack: int, count: int) -> list[int]:
    """The servers of a rack, in Netbench's order."""
    return sorted(
        range(rack * count, (rack + 1) * count), key=lambda server: ((server + FIRST_SERVER) % BUCKETS, server)
    )
