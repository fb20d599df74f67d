"""PACKS's control law: queue sizes B_i, sampling S and headroom k from the counters of one port.

PACKS (Alcoz et al., NSDI 2025) drops exactly the packets that AIFO drops with C = B (theorem 2). So its buffer, its
window and its headroom follow AIFO's law (`p4sched.control.laws.aifo`):

**B = drain rate * delay target / packet size**, at least one packet a queue and at most what the port's queues can
hold. It limits the number of waiting packets, and so the mean wait in overload. It does not limit the wait of a single
packet: later packets in a more urgent queue pass it (experiments/incast measured waits of a dozen delay targets).

**S = arrival rate * span / |W|**.

**k** is the smallest headroom that keeps the idling of a critically loaded link below the loss allowed.

**B_i = B / n**; the most urgent queues get the remainder. The sizes do not depend on the rank histogram. PACKS maps a
packet by its *quantile*, so sizes are shares of the packets and not of the ranks. Equal sizes are equal shares under
every distribution (section 4.2: the bounds that need no knowledge of the distribution). Sizes that give each queue the
same share of the *admitted* packets, or each distinct rank its own queue, make 0.8 to 12 times the inversions of equal
sizes (80 packets, 8 queues, |W| = 32; uniform, exponential, Poisson and four distinct ranks; loads 1.1 to 4).

**Limits.** Those of AIFO's law. A queue whose size shrinks below its length admits nothing until it fits, and drops
nothing. The queues of BMv2 do not share a link: the port drains up to n times the rate of one queue.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from p4sched.control.laws import ranked
from p4sched.control.laws.aifo import sampling
from p4sched.control.laws.arithmetic import close_to
from p4sched.control.laws.headroom import HEADROOM_UNIT, headroom_numerator, quantile_headroom
from p4sched.control.laws.ranked import MAX_COUNT, ranked_law
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.control.parameters import MAX_PACKETS, MAX_WINDOW, WINDOW, Comparison, queue_split, queues_label
from p4sched.errors import in_range
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import QUEUES


def queue_sizes(buffer_packets: int, queues: int) -> tuple[int, ...]:
    """B_1 .. B_n: equal shares of the buffer. The most urgent queues get the remainder."""
    in_range("number of queues n", queues, 1, QUEUES, "queues")
    return tuple(buffer_packets // queues + (place < buffer_packets % queues) for place in range(queues))


@dataclass(frozen=True)
class Parameters(ranked.Parameters):
    """Action data of `set_packs`. The defaults are those of the program: queues and k of PACKS 6.1, and the window of
    the Tofino 2 build (section 5). PACKS 6.1 itself has |W| = 1000."""

    table: ClassVar[str] = "packs_params"
    action: ClassVar[str] = "set_packs"
    symbols: ClassVar[Mapping[str, str]] = {
        "B": "sizes",
        "k": "headroom_256",
        WINDOW: "window_ranks",
        "S": "sampling",
    }

    sizes: tuple[int, ...] = (10,) * QUEUES
    """B_1 .. B_n, packets; queue 1 is the most urgent."""
    headroom_256: int = 0
    """K: k in 1/256."""
    window_ranks: int = 16
    """|W|."""
    sampling: int = 1
    """S: every S-th rank enters the window."""

    def __post_init__(self) -> None:
        in_range("number of queues n", len(self.sizes), 1, QUEUES, "queues")
        for number, size in enumerate(self.sizes, 1):
            in_range(f"queue size B_{number}", size, 1, MAX_PACKETS, "packets")
        in_range("headroom K", self.headroom_256, 0, HEADROOM_UNIT - 1, "in 1/256")
        in_range("window |W|", self.window_ranks, 1, MAX_WINDOW, "ranks")
        in_range("sampling S", self.sampling, 1, MAX_COUNT, "packets")

    def action_data(self) -> dict[str, int]:
        return {
            **queue_split(self.sizes),
            "headroom_256": self.headroom_256,
            "window_ranks": self.window_ranks,
            "sampling": self.sampling,
        }

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> Self:
        sizes = [data[f"size_{number}"] for number in range(1, QUEUES + 1)]
        return cls(
            sizes=tuple(size for size in sizes if size),
            headroom_256=data["headroom_256"],
            window_ranks=data["window_ranks"],
            sampling=data["sampling"],
        )

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def label(self) -> str:
        return f"{queues_label(self.sizes)}, |W| = {self.window_ranks}"

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        """Takes every rank into the window."""
        sizes = (comparison.buffer // comparison.queues,) * comparison.queues
        return cls(sizes, headroom_numerator(comparison.headroom), comparison.window, 1)

    def on(self, target: Target) -> Self:
        return replace(self, window_ranks=min(self.window_ranks, PROGRAMS[target].largest_window))

    @property
    def packets(self) -> int:
        return sum(self.sizes)

    @property
    def description(self) -> str:
        """For example "B 40 in 4 queues", if not in 8; "B 20+10+10", if sizes differ."""
        buffer = str(self.packets)
        if max(self.sizes) - min(self.sizes) > 1:
            buffer = "+".join(map(str, self.sizes))
        elif len(self.sizes) < QUEUES:
            buffer += f" in {len(self.sizes)} queues"
        window = f", |W| {self.window_ranks}" if self.window_ranks != Parameters.window_ranks else ""
        return f"B {buffer}, k {self.headroom_256 / HEADROOM_UNIT:.2g}, S {self.sampling}{window}"

    def near(self, wanted: Self) -> bool:
        """B within 10 %, S within 25 %, k within 1/16."""
        return (
            len(self.sizes) == len(wanted.sizes)
            and close_to(sum(self.sizes), sum(wanted.sizes), 0.1)
            and close_to(self.sampling, wanted.sampling, 0.25)
            and abs(self.headroom_256 - wanted.headroom_256) <= HEADROOM_UNIT // 16
            and self.window_ranks == wanted.window_ranks
        )


@dataclass(frozen=True)
class Config(ranked.Config):
    """Configuration of the law: the link and the goals."""

    fixable: ClassVar[Sequence[str]] = ("B", "S", "k")

    queues: int = 8
    """n."""
    window_ranks: int = 16
    """|W|."""

    @classmethod
    def for_port(cls, rate_bps: int, delay_ns: int, buffer_packets: int) -> Self:
        """Gives the queues equal shares of the buffer."""
        return cls(rate_bps, delay_ns, buffer_packets // QUEUES)

    def on(self, target: Target) -> Self:
        return replace(self, window_ranks=min(self.window_ranks, PROGRAMS[target].largest_window))

    def reconfigured(self, current: ranked.Parameters) -> ranked.Parameters:
        pinned = self.pinned(current)
        assert isinstance(pinned, Parameters)
        return replace(pinned, window_ranks=self.window_ranks)

    def parameters_for(self, traffic: Traffic) -> Parameters:
        """Parameters that fit this traffic."""
        in_range("number of queues n", self.queues, 1, QUEUES, "queues")
        most = self.queues * self.queue_packets
        buffer = self.fixed_packets("B")
        if buffer is None:
            buffer = max(self.queues, min(most, round(traffic.packets_in(self.delay_ns))))
        in_range("buffer B", buffer, self.queues, most, f"packets in {self.queues} queues")
        return Parameters(
            sizes=queue_sizes(buffer, self.queues),
            headroom_256=self.headroom_256(quantile_headroom(traffic.dispersion, buffer, self.loss, self.max_headroom)),
            window_ranks=self.window_ranks,
            sampling=sampling(self, traffic, self.window_ranks),
        )


LAW = Config.law = ranked_law("packs", Config, Parameters)
