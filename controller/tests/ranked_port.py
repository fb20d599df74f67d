"""An egress port in stepped time: counters as the ranked programs keep them, and the law that watches them."""

import random
from collections.abc import Mapping, Sequence

from p4sched.control.laws import ranked
from p4sched.control.laws.port_counters import BUCKETS, Sample
from p4sched.control.laws.ranked import Decision, State, decide
from p4sched.p4rt.reader import Count

MS = 1_000_000
POLL_MS = 100
FRAME = 1514


class Port:
    """Polls every 100 ms."""

    def __init__(self, config: ranked.Config, state: State | None = None) -> None:
        self.config = config
        self.state = State() if state is None else state
        self.now_ns = 0
        self.admitted = Count()
        self.refused = Count()
        self.full = Count()
        self.ranks = [0] * BUCKETS
        self.depths = [0] * BUCKETS
        self.writes = 0
        self.samples: list[Sample] = []
        self.decisions: list[Decision] = []
        self.look()

    def look(self, read_ns: int = 0) -> Decision:
        """The law sees the counters as they are."""
        sample = Sample(
            self.now_ns, read_ns, self.admitted, self.refused, self.full, tuple(self.ranks), tuple(self.depths)
        )
        decision = decide(self.config, self.state, sample)
        self.state = decision.state
        self.writes += decision.changed
        self.samples.append(sample)
        self.decisions.append(decision)
        return decision

    def poll(
        self,
        admitted: int,
        refused: int = 0,
        *,
        empty: int = 0,
        size: int = FRAME,
        ranks: Mapping[int, int] | None = None,
        read_ns: int = 0,
    ) -> Decision:
        """100 ms in which so many packets are admitted and refused, `empty` of which find the queue empty."""
        self.now_ns += POLL_MS * MS
        self.admitted += Count(admitted, admitted * size)
        self.refused += Count(refused, refused * size)
        self.depths[0] += empty
        self.depths[4] += admitted + refused - empty
        for bucket, packets in (ranks or {1: admitted + refused}).items():
            self.ranks[bucket] += packets
        return self.look(read_ns)

    def polls(self, count: int, admitted: int, refused: int = 0, **more: int) -> Decision:
        """The same, `count` times."""
        for _ in range(count):
            self.poll(admitted, refused, **more)  # type: ignore[arg-type]
        return self.decisions[-1]

    def reset(self) -> None:
        """The switch was restarted."""
        self.admitted = self.refused = self.full = Count()
        self.ranks = [0] * BUCKETS
        self.depths = [0] * BUCKETS


def poisson(mean: float, source: random.Random) -> int:
    """A Poisson number by its Gaussian limit, which is close for the hundreds of packets of a poll."""
    return max(0, round(source.gauss(mean, mean**0.5)))


class Queue:
    """One queue ahead of a link that sends a packet in time 1; a packet being sent does not wait."""

    def __init__(self) -> None:
        self.length = 0
        self.idle = 0.0
        self.now = 0.0
        self._free_at = 0.0

    def advance(self, gap: float) -> None:
        """Time passes; packets leave."""
        self.now += gap
        while self.length and self._free_at <= self.now:
            self.length -= 1
            self._free_at += 1

    def put(self) -> None:
        """A packet joins."""
        if self._free_at > self.now:
            self.length += 1
        else:
            self.idle += self.now - self._free_at
            self._free_at = self.now + 1


def gaps(load: float, batch: int, count: int, source: random.Random) -> list[float]:
    """Times between arrivals of Poisson batches: the index of dispersion is `batch`."""
    times: list[float] = []
    while len(times) < count:
        times += [source.expovariate(load / batch), *[0.0] * (batch - 1)]
    return times[:count]


def histogram(ranks: Sequence[int]) -> tuple[int, ...]:
    """Packets by bucket, as the program's `rank_buckets` counts them."""
    buckets = [0] * BUCKETS
    for rank in ranks:
        buckets[rank.bit_length()] += 1
    return tuple(buckets)
