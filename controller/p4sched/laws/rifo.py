"""RIFO's control law: buffer B, tracking range T and headroom k from the counters of one port.

RIFO admits iff L <= k B, or Max = Min, or (Max - r) / (Max - Min) >= (B - L) / B, with tail drop at B.

**B = drain rate * delay target / packet size**, at least 1 and at most the physical queue: a full queue waits the
delay target.

**T = arrival rate * span**: the range restarts after a set time of arrivals. The paper's default, T = 50 for B = 20,
spans 2.5 delay targets of a link loaded with 1; Min and Max of so few arrivals come close to those of all (section
III-C), and after a change of the ranks the old range is gone within twice the span. T is at least 2: with 1, Max =
Min always, and everything is admitted.

**k as large as it can be without the queue running full.** The free share is the threshold, so at a length L > k B a
packet is admitted if its rank lies in the most urgent share L/B of the range. Let F(x) be the share of arriving
packets whose rank lies in the most urgent share x of the range, and rho the load. The queue hovers at k B: below it
everything is admitted, just above it the share F(k). It is the packets between these two, admitted or not by mere
chance, that make RIFO imprecise, and they vanish as F(k) approaches 1/rho: then just the most urgent 1/rho are
admitted. But at x* with F(x*) = 1/rho the balance tips: a queue longer than x* B admits more than departs, runs full,
and from then on tail drop decides without regard to rank. So k must stay below x* by what fluctuations can climb. For
arrivals of index of dispersion I the queue is a diffusion with drift rho F(x) - 1 and variance rho (I F^2 + F (1 -
F)) a packet, and the time until it gets from k B to x* B grows like the exponential of

    2 B * integral from k to x* of (1/rho - F(x)) / (I F(x)^2 + F(x) (1 - F(x))) dx.

The law takes the largest k that leaves this at ESCAPE = 16. For uniform ranks, Poisson arrivals and B = 160 that is
0.31 at a load of 2, where 0.14 (near the paper's 0.1) loses 24 % of the most urgent quarter of packets, 0.32 none,
and 0.47 as many as tail drop; it is 0.18 at a load of 3. F comes from the rank histogram: linear within a bucket,
from the lowest to the highest bucket that arrivals fell into.

**But not so small that the link idles** for packets refused: near the critical load, with bursty arrivals or a small
B, the bound above may leave no room. Above h = k B the queue is drawn back, below it drifts up with rho - 1 and
variance rho I, so that it is empty the share (rho - 1) / (exp(2 (1 - 1/rho) h / I) - 1) of the time, I / (2 h) at rho
= 1 (which stands for all loads below as well). The headroom for `loss` of that is the least k; `max_headroom` is the
largest.

**Limits.** The histogram's buckets double, so Max may be overrated by up to 2 and x* underrated: safe, but k is
smaller than it could be. One packet of a far larger rank (no rank header: 2^32 - 1) makes the range so wide that all
others look alike; then RIFO cannot tell packets apart whatever its parameters. Where 1/rho of the packets share the
most urgent ranks (exponential ranks at a load of 2) no k is stable; the queue then runs full, as with any k. A load
that rises above the measured one may tip the queue until the next write.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from p4sched.laws.ranked import (
    BUCKETS,
    HEADROOM_UNIT,
    MAX_COUNT,
    MAX_PACKETS,
    Decision,
    Sample,
    State,
    Traffic,
    close_to,
    decide,
    in_range,
)
from p4sched.laws.ranked import Config as RankedConfig
from p4sched.laws.ranked import Parameters as RankedParameters

__all__ = ["ACTION", "TABLE", "Config", "Decision", "Parameters", "Sample", "State", "decide"]

TABLE = "rifo_params"
ACTION = "set_rifo"
SPAN_DELAY_TARGETS = 2.5
ESCAPE = 16.0
"""Exponent of the time until a queue runs full by chance."""
GRID = 256
"""Steps of the integral over the range of ranks."""


@dataclass(frozen=True)
class Parameters(RankedParameters):
    """Action data of `set_rifo`. The defaults are the paper's and the program's."""

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

    def near(self, wanted: Self) -> bool:
        """B within 10 %, T within 25 %, k within 1/32: above its bound k tips the queue."""
        return (
            close_to(self.capacity_packets, wanted.capacity_packets, 0.1)
            and close_to(self.tracking_packets, wanted.tracking_packets, 0.25)
            and abs(self.headroom_256 - wanted.headroom_256) <= HEADROOM_UNIT // 32
        )


@dataclass(frozen=True)
class Config(RankedConfig):
    """What the law needs to know, and what is asked of it."""

    law: ClassVar[str] = "rifo"
    symbols: ClassVar[tuple[str, ...]] = ("B", "T", "k")

    def parameters_for(self, traffic: Traffic) -> Parameters:
        """The law."""
        buffer = self.fixed_packets("B")
        if buffer is None:
            buffer = max(1, min(self.queue_packets, round(traffic.packets_in(self.delay_ns))))
        in_range("queue size B", buffer, 1, self.queue_packets, "packets")
        tracking = self.fixed_packets("T")
        if tracking is None:
            span_ns = self.span_ns or round(SPAN_DELAY_TARGETS * self.delay_ns)
            tracking = max(2, min(MAX_COUNT, round(traffic.arrivals_in(span_ns))))
        return Parameters(
            capacity_packets=buffer,
            headroom_256=self.headroom_256(
                min(self.max_headroom, max(stable_headroom(traffic, buffer), busy_headroom(traffic, buffer, self.loss)))
            ),
            tracking_packets=tracking,
        )


def stable_headroom(traffic: Traffic, buffer: int) -> float:
    """The largest k at which the queue does not run full by chance."""
    admitted_share = 1 / max(1.0, traffic.load)
    exponent = 0.0
    for place in range(GRID, -1, -1):
        share = urgent_share(traffic.ranks, place / GRID)
        if share >= admitted_share:
            exponent = 0.0
            continue
        variance = traffic.dispersion * share**2 + share * (1 - share)
        if variance == 0:
            # no packet has so urgent a rank: nothing is admitted here, and nothing climbs
            return place / GRID
        exponent += 2 * buffer * (admitted_share - share) / variance / GRID
        if exponent >= ESCAPE:
            return place / GRID
    return 0.0


def busy_headroom(traffic: Traffic, buffer: int, loss: float) -> float:
    """The smallest k at which the link idles for no more than the share `loss` of the time; may exceed 1."""
    overload = max(0.0, traffic.load - 1)
    if overload < 1e-3:
        return traffic.dispersion / (2 * loss) / buffer
    return traffic.dispersion / 2 * traffic.load / overload * math.log1p(overload / loss) / buffer


def urgent_share(ranks: tuple[int, ...], x: float) -> float:
    """F(x): the share of packets whose rank lies in the most urgent share x of the range, from the histogram."""
    filled = [bucket for bucket in range(BUCKETS) if ranks[bucket]]
    if not filled:
        return x
    low, high = bucket_range(filled[0])[0], bucket_range(filled[-1])[1]
    rank = low + x * (high - low)
    below = 0.0
    for bucket in filled:
        first, end = bucket_range(bucket)
        if rank >= end:
            below += ranks[bucket]
        elif rank > first:
            below += ranks[bucket] * (rank - first) / (end - first)
    return below / sum(ranks)


def bucket_range(bucket: int) -> tuple[int, int]:
    """Smallest rank of a histogram's bucket, and the smallest one beyond it."""
    return (0, 1) if bucket == 0 else (1 << (bucket - 1), 1 << bucket)
