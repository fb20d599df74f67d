"""AIFO's control law: target length C, sampling S and headroom k from the counters of one port.

AIFO (Yu et al., SIGCOMM 2021) admits iff c <= k C or q/|W| <= 1/(1-k) (C-c)/C. Its authors set the parameters by hand.
Here they follow the traffic:

**C = drain rate * delay target / packet size**, at least 1 and at most what the port's queue can hold. A queue of C
packets of the mean size waits just the delay target. So the delay stays the same when the link's rate or the packets
change. In overload the queue settles at (1 - (1-k) drain/arrivals) C (theorem 1), below the target.

**S = arrival rate * span / |W|**. The window has |W| entries, and each stands for S arrivals. Together they span a set
time of arrivals. The paper's default, 20 * 15 arrivals for C = 20, spans 15 delay targets of a link at a load of 1
(PACKS 6.1: 1000 arrivals for 80 packets, 12.5). The span must be long against the delay target: the ranks that compete
for the queue are those that arrive while it empties several times. The window also needs one span to see a change of
the ranks in full.

**k** follows from the burstiness of arrivals. The admission rule reacts to the queue within the time in which
C (1-k) packets arrive: near the headroom h = k C its relaxation time. In that time arrivals exceed or miss the drain
rate by about sqrt(I C (1-k)) packets, where I is the index of dispersion. The queue must have room for this number, or
the rule refuses packets that the link lacks a moment later. Precisely: near the critical load, the worst case, the
queue is a diffusion of variance I a packet. Below h it has no drift. Above h the share (c-h)/(C-h) of arrivals is
refused. Its stationary density is flat up to h and falls off above like a Gaussian of variance I (C-h) / 2. The link
idles the share

    loss = (I / 2) / (h + sqrt(pi I (C - h)) / 2)

of the time. The law takes the smallest k whose loss is allowed, by default 5 %, because a larger k only lengthens the
queue (paper, Fig. 8). A constant bit rate gets k = 0, as PACKS 6.1 chose. Poisson arrivals get 0.34 at
C = 20 (the paper's 0.1 allows 8.7 %) and 0.03 at C = 80. The law sets at most `max_headroom`, 0.5. Burstier arrivals
(at C = 20 from I = 1.33 on) lose more than allowed, for I = 6 18 %.

**Limits.** Heavy overload needs less headroom than the critical load. The law still grants it, since flows may end at
any time. Above h, AIFO refuses ranks that differ from all ranks in the window. This lasts until the window has seen
them, up to one span; no k below 1 prevents it. S is at least 1: with fewer than |W| arrivals in the span, the window
covers a longer time. C counts packets, so packets of mixed sizes wait for the delay target only on average.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from p4sched.control.laws import ranked
from p4sched.control.laws.arithmetic import close_to
from p4sched.control.laws.headroom import HEADROOM_UNIT, headroom_numerator, quantile_headroom
from p4sched.control.laws.ranked import MAX_COUNT, SPAN_DELAY_TARGETS, ranked_law
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.control.parameters import MAX_PACKETS, MAX_WINDOW, SIZE, WINDOW, Comparison
from p4sched.errors import in_range
from p4sched.p4rt.target import PROGRAMS, Target


@dataclass(frozen=True)
class Parameters(ranked.Parameters):
    """Action data of `set_aifo`. The defaults are the paper's and the program's."""

    table: ClassVar[str] = "aifo_params"
    action: ClassVar[str] = "set_aifo"
    symbols: ClassVar[Mapping[str, str]] = {
        "C": "target_packets",
        SIZE: "capacity_packets",
        "k": "headroom_256",
        WINDOW: "window_ranks",
        "S": "sampling",
    }

    target_packets: int = 20
    """C."""
    capacity_packets: int = 20
    headroom_256: int = 26
    """K: k in 1/256."""
    window_ranks: int = 20
    """|W|."""
    sampling: int = 15
    """S: every S-th rank enters the window."""

    def __post_init__(self) -> None:
        in_range("target length C", self.target_packets, 1, MAX_PACKETS, "packets")
        in_range("queue size", self.capacity_packets, 1, MAX_PACKETS, "packets")
        in_range("headroom K", self.headroom_256, 0, HEADROOM_UNIT - 1, "in 1/256")
        in_range("window |W|", self.window_ranks, 1, MAX_WINDOW, "ranks")
        in_range("sampling S", self.sampling, 1, MAX_COUNT, "packets")

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        return (self.capacity_packets,)

    @property
    def label(self) -> str:
        return f"C = {self.target_packets}, |W| = {self.window_ranks}"

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        """Takes every rank into the window."""
        buffer = comparison.buffer
        return cls(buffer, buffer, headroom_numerator(comparison.headroom), comparison.window, 1)

    def on(self, target: Target) -> Self:
        """Adapts to the target: if departures report the queue length, the queue gets room for the packets that are
        admitted between two departures."""
        programs = PROGRAMS[target]
        room = min(2 * self.target_packets, MAX_PACKETS) if programs.length_reports else 0
        return replace(
            self,
            capacity_packets=max(self.capacity_packets, room),
            window_ranks=min(self.window_ranks, programs.largest_window),
        )

    @property
    def packets(self) -> int:
        return self.target_packets

    @property
    def description(self) -> str:
        """For example "C 20 in 30": the queue can hold 30 packets."""
        room = f" in {self.capacity_packets}" if self.capacity_packets != self.target_packets else ""
        return f"C {self.target_packets}{room}, k {self.headroom_256 / HEADROOM_UNIT:.2g}, S {self.sampling}"

    def near(self, wanted: Self) -> bool:
        """C within 10 %, S within 25 %, k within 1/16."""
        return (
            close_to(self.target_packets, wanted.target_packets, 0.1)
            and close_to(self.sampling, wanted.sampling, 0.25)
            and abs(self.headroom_256 - wanted.headroom_256) <= HEADROOM_UNIT // 16
            and self.capacity_packets == wanted.capacity_packets
            and self.window_ranks == wanted.window_ranks
        )


@dataclass(frozen=True)
class Config(ranked.Config):
    """Configuration of the law: the link and the goals."""

    fixable: ClassVar[Sequence[str]] = ("C", "S", "k")

    window_ranks: int = 20
    """|W|."""

    def on(self, target: Target) -> Self:
        return replace(self, window_ranks=min(self.window_ranks, PROGRAMS[target].largest_window))

    def reconfigured(self, current: ranked.Parameters) -> ranked.Parameters:
        pinned = self.pinned(current)
        assert isinstance(pinned, Parameters)
        return replace(
            pinned,
            target_packets=min(pinned.target_packets, self.queue_packets),
            capacity_packets=self.queue_packets,
            window_ranks=self.window_ranks,
        )

    def parameters_for(self, traffic: Traffic) -> Parameters:
        """Parameters that fit this traffic."""
        target = self.fixed_packets("C")
        if target is None:
            target = max(1, min(self.queue_packets, round(traffic.packets_in(self.delay_ns))))
        in_range("target length C", target, 1, self.queue_packets, "packets")
        return Parameters(
            target_packets=target,
            capacity_packets=self.queue_packets,
            headroom_256=self.headroom_256(quantile_headroom(traffic.dispersion, target, self.loss, self.max_headroom)),
            window_ranks=self.window_ranks,
            sampling=sampling(self, traffic, self.window_ranks),
        )


def sampling(config: ranked.Config, traffic: Traffic, window_ranks: int) -> int:
    """S for which the window spans the configured time of arrivals."""
    fixed = config.fixed_packets("S")
    if fixed is not None:
        return fixed
    span_ns = config.span_ns or SPAN_DELAY_TARGETS * config.delay_ns
    return max(1, min(MAX_COUNT, round(traffic.arrivals_in(span_ns) / max(1, window_ranks))))


LAW = Config.law = ranked_law("aifo", Config, Parameters)
