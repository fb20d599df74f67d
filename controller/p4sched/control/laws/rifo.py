"""RIFO's control law: buffer B, tracking range T and headroom k from the counters of one port.

RIFO admits iff L <= k B, or Max = Min, or (Max - r) / (Max - Min) >= (B - L) / B, with tail drop at B.

**B and k** are chosen together. Let F(x) be the share of arriving packets whose rank lies in the most urgent share x of
the range, and rho the load. With L packets waiting, RIFO admits everything up to L = k B, and beyond that the share
F(L/B). Where this share exceeds 1/rho, the queue grows. So it can stay at two lengths: about k B, and full. At neither
does RIFO admit exactly the right packets:

- Near k B, chance decides below and the rank decides above: the share rho F(k) of the departures is chosen by rank.
- In a full queue, which one packet leaves at a time, the share F((B-1)/B) is admitted: tail drop is the last step only.
  So a *small* queue is precise: B = 1 / (1 - x*), with F(x*) = 1/rho, just admits the most urgent 1/rho.

But a small queue idles. The law takes the B and k with the highest predicted *agreement*: the share of the packets of
an ideal PIFO that RIFO sends as well. The model is a birth-death chain over L with one more state, the idle link, which
admits everything. Arrivals have an index of dispersion I, and the share a of them is admitted. If each packet is
admitted independently, the admitted packets have the index v = 1 + a (I - 1). For I > 1, v = I: packets of a burst are
assumed to have one rank. Service times are constant. Detailed balance with the exponent of a diffusion gives the
stationary probabilities

    p(L+1) / p(L) = (rho a) ^ (2 / v).

The idle link stands for I/2 states: a diffusion of variance I spends I/2 times the probability of the state above at
its lower end. So behind a long queue the link idles 1 - rho of the time at a load just below 1. At rho = 1, with
everything admitted, it idles (I/2) / (I/2 + B + 1): states 0 to B, and the idle link.

Agreement is the share of time that the link is busy, times the share of the admitted packets that belong to the most
urgent 1/rho. That share is min(a, 1/rho) / a where the rank decides, and 1/rho where chance decides. In stepped time,
with B = 1 to 12, four values of k, and uniform ranks at a load of 2, the law's B = 2, k < 1/2 is the best. It is three
times as far above tail drop as B = 5. Bursts and loads near 1 need the longest queue, so

**B <= drain rate * delay target / packet size**: a full queue waits the delay target.

F comes from the rank histogram. The law assumes that the density of ranks in a bucket grows or falls exponentially, as
from the bucket below to this one. The same growth in the two buckets below the highest one gives the end of the ranks.

**T = arrival rate * span**: the range restarts after a set time of arrivals, by default 15 delay targets, like AIFO's
window. The paper's T = 50 for B = 20 spans 2.5 delay targets. Min and Max of 50 packets come close to those of all
packets (section III-C), but not right after a restart, when chance decides. After a change of the ranks, the old range
is gone within T arrivals, which is one span if the rate did not change. T is at least 2: with T = 1, Max = Min, and
everything is admitted.

Among settings with equal predictions, the law takes the shortest queue with the smallest headroom.

**Hysteresis.** B and k stay while their predicted agreement is within 3 % of the best.

**Limits.** The chain does not model the restarts. One packet of a far larger rank (no rank header: 2^32 - 1) makes the
range so wide that all other ranks look equal; then RIFO cannot tell packets apart with any parameters. If 1/rho of the
packets have the most urgent rank, chance decides among them, as in any scheme.
"""

import dataclasses
import functools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from p4sched.control.laws import ranked
from p4sched.control.laws.arithmetic import close_to, in_order
from p4sched.control.laws.headroom import HEADROOM_UNIT, headroom_numerator
from p4sched.control.laws.port_counters import BUCKETS
from p4sched.control.laws.ranked import MAX_COUNT, SPAN_DELAY_TARGETS, ranked_law
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.control.parameters import MAX_PACKETS, Comparison
from p4sched.errors import in_range

TOLERANCE = 0.03
"""B and k stay while their predicted agreement is within this share of the best."""
ALIKE = 1e-12
"""Predictions that differ by less than this share count as equal: mathematical libraries differ in logarithms by as
much."""
SIZE_STEP = 1.4
"""Ratio between two sizes that are tried for the queue."""
MIN_BUCKET = 4
"""Below this bucket, buckets hold single ranks and show exactly where the ranks end."""
FEW_RANKS = 32
"""Limit below which ranks are counted one by one."""
GRID = 240
"""Points of F; the number is divisible by many sizes."""
HEADROOM_STEPS = 4
"""Number of headrooms tried for each size."""


@dataclass(frozen=True)
class Parameters(ranked.Parameters):
    """Action data of `set_rifo`. The defaults are the paper's and the program's."""

    table: ClassVar[str] = "rifo_params"
    action: ClassVar[str] = "set_rifo"
    symbols: ClassVar[Mapping[str, str]] = {"B": "capacity_packets", "k": "headroom_256", "T": "tracking_packets"}

    capacity_packets: int = 20
    """B."""
    headroom_256: int = 26
    """K: k in 1/256."""
    tracking_packets: int = 50
    """T."""

    def __post_init__(self) -> None:
        in_range("queue size B", self.capacity_packets, 1, MAX_PACKETS, "packets")
        in_range("headroom K", self.headroom_256, 0, HEADROOM_UNIT - 1, "in 1/256")
        in_range("tracking range T", self.tracking_packets, 1, MAX_COUNT, "packets")

    @property
    def headroom_packets(self) -> int:
        """Longest queue at which every packet is admitted."""
        return self.headroom_256 * self.capacity_packets // HEADROOM_UNIT

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        return (self.capacity_packets,)

    @property
    def label(self) -> str:
        return f"B = {self.capacity_packets}, T = {self.tracking_packets}"

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        tracking = comparison.window if comparison.tracking is None else comparison.tracking
        return cls(comparison.buffer, headroom_numerator(comparison.headroom), tracking)

    @property
    def packets(self) -> int:
        return self.capacity_packets

    @property
    def description(self) -> str:
        return f"B {self.capacity_packets}, k {self.headroom_256 / HEADROOM_UNIT:.2g}, T {self.tracking_packets}"

    def near(self, wanted: Self) -> bool:
        """T within 25 %, and the same B and k, which `Config.keeps` compares by their agreement."""
        return close_to(self.tracking_packets, wanted.tracking_packets, 0.25) and (
            (self.capacity_packets, self.headroom_packets) == (wanted.capacity_packets, wanted.headroom_packets)
        )


@dataclass(frozen=True)
class Config(ranked.Config):
    """Description of the link and goals of the law."""

    fixable: ClassVar[Sequence[str]] = ("B", "T", "k")

    def parameters_for(self, traffic: Traffic) -> Parameters:
        """Parameters that fit this traffic."""
        buffer, headroom = _best(traffic, self._settings(traffic))
        tracking = self.fixed_packets("T")
        if tracking is None:
            span_ns = self.span_ns or SPAN_DELAY_TARGETS * self.delay_ns
            tracking = max(2, min(MAX_COUNT, round(traffic.arrivals_in(span_ns))))
        return Parameters(buffer, self.headroom_256(headroom / buffer), tracking)

    def keeps(self, current: ranked.Parameters, wanted: ranked.Parameters, traffic: Traffic) -> bool:
        """True if `current` meets the delay target and predicts about the same agreement."""
        assert isinstance(current, Parameters)
        assert isinstance(wanted, Parameters)
        if current.near(wanted):
            return True
        if current.capacity_packets > 1.1 * self._longest(traffic):
            return False
        as_it_is, best = (
            agreement(traffic, each.capacity_packets, each.headroom_packets) for each in (current, wanted)
        )
        same_t = dataclasses.replace(wanted, tracking_packets=current.tracking_packets)
        return close_to(current.tracking_packets, wanted.tracking_packets, 0.25) and (
            current == same_t or as_it_is >= (1 - TOLERANCE) * best
        )

    def _longest(self, traffic: Traffic) -> int:
        return max(1, min(self.queue_packets, round(traffic.packets_in(self.delay_ns))))

    def _settings(self, traffic: Traffic) -> list[tuple[int, int]]:
        """Queue sizes and headrooms in packets to choose from."""
        pinned = self.fixed_packets("B")
        if pinned is not None:
            in_range("queue size B", pinned, 1, self.queue_packets, "packets")
        settings = []
        for buffer in _sizes(self._longest(traffic)) if pinned is None else [pinned]:
            if "k" in self.fixed:
                settings.append((buffer, self.headroom_256(0.0) * buffer // HEADROOM_UNIT))
                continue
            most = int(self.max_headroom * buffer)
            settings += [(buffer, most * step // HEADROOM_STEPS) for step in range(HEADROOM_STEPS + 1)]
        return list(dict.fromkeys(settings))


def _sizes(longest: int) -> list[int]:
    """1, 2, 3, 4, 6, ... and `longest`."""
    sizes = [1]
    while sizes[-1] < longest:
        sizes.append(min(longest, max(sizes[-1] + 1, round(sizes[-1] * SIZE_STEP))))
    return sizes


def _best(traffic: Traffic, settings: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The first of the settings with the highest agreement."""
    agreements = [agreement(traffic, *setting) for setting in settings]
    enough = (1 - ALIKE) * max(agreements)
    return next(setting for setting, found in zip(settings, agreements, strict=True) if not found < enough)


def agreement(traffic: Traffic, buffer: int, headroom: int) -> float:
    """Predicted share of PIFO's departures that RIFO also sends, for a queue of `buffer` packets that admits all
    packets up to a length of `headroom`."""
    load = max(traffic.load, 1e-3)
    ideal = min(1.0, 1 / load)
    dispersion, shares = traffic.dispersion, _urgent_shares(traffic.ranks)
    log_weight, weights, overlaps, admitted = 0.0, [dispersion / 2], [ideal], [1.0]
    for length in range(buffer + 1):
        share = admitted[-1]
        if share == 0:
            break
        log_weight += math.log(load * share) * 2 / (max(dispersion, 1 + share * (dispersion - 1)))
        # avoids overflow; beyond this limit the other weights do not matter
        weights.append(math.exp(min(log_weight, 600.0)))
        by_chance = length <= headroom
        share = 0.0 if length == buffer else 1.0 if by_chance else shares[length * GRID // buffer]
        admitted.append(share)
        overlaps.append(share * ideal if by_chance else min(share, ideal))
    passed = in_order(map(operator.mul, weights, admitted))
    busy = 1 - weights[0] / in_order(weights)
    chosen = in_order(map(operator.mul, weights, overlaps))
    return float(busy * chosen / passed)


@functools.lru_cache(maxsize=2)
def _urgent_shares(ranks: tuple[int, ...]) -> list[float]:
    """F at 0, 1/GRID, ..., 1."""
    return [urgent_share(ranks, place / GRID) for place in range(GRID + 1)]


def urgent_share(ranks: tuple[int, ...], x: float) -> float:
    """F(x): the share of packets whose rank lies in the most urgent share x of the range, from the histogram."""
    filled = [bucket for bucket in range(BUCKETS) if ranks[bucket]]
    if not filled:
        return x
    low, high = bucket_range(filled[0])[0], _highest(ranks, filled[-1])
    # includes the last whole rank in this share of the range
    rank = math.floor(low + x * (high - 1 - low)) + 1 if high - low < FEW_RANKS else low + x * (high - low)
    below = 0.0
    for bucket in filled:
        first, end = bucket_range(bucket)
        highest = bucket == filled[-1]
        reach = (high if highest else end) - first
        growth = _growth(ranks, bucket - 1 if highest else bucket)
        if rank < first + reach:
            inside = max(0.0, rank - first)
            part = math.expm1(growth * inside) / math.expm1(growth * reach) if growth else inside / reach
            return (below + ranks[bucket] * part) / sum(ranks)
        below += ranks[bucket]
    return 1.0


def _growth(ranks: tuple[int, ...], bucket: int) -> float:
    """Growth of the density of ranks from the bucket below to this one: the exponent for each rank."""
    if bucket < MIN_BUCKET or not (ranks[bucket] and ranks[bucket - 1]):
        return 0.0
    width = 2.0 ** (bucket - 1)
    # the bucket below is half as wide; the middles are 3/4 of a width apart
    return math.log(ranks[bucket] / ranks[bucket - 1] / 2) / (0.75 * width)


def _highest(ranks: tuple[int, ...], bucket: int) -> float:
    """End of the ranks in the highest bucket, if their density continues as in the two buckets below."""
    first, end = bucket_range(bucket)
    if bucket <= MIN_BUCKET or not ranks[bucket - 1]:
        return end
    width, growth = first / 2, _growth(ranks, bucket - 1)
    held = ranks[bucket] / (ranks[bucket - 1] / width * math.exp(growth * width / 2))
    # the integral of exp(growth * y) from 0 to the end is the content of the bucket
    grown = growth * held
    reach = held if growth == 0 else math.log1p(grown) / growth if grown > -1 else end - first
    return min(end, first + max(1.0, reach))


def bucket_range(bucket: int) -> tuple[int, int]:
    """Smallest rank of a bucket, and smallest rank above the bucket."""
    return (0, 1) if bucket == 0 else (1 << (bucket - 1), 1 << bucket)


LAW = Config.law = ranked_law("rifo", Config, Parameters)
