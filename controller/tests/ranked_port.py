"""An egress port in stepped time: counters as the ranked programs keep them, and the law that watches them. The same
counters on a switch, written over P4Runtime in place of packets."""

import random
from collections.abc import Mapping, Sequence

import finsy as fy

from p4sched.control.laws import ranked
from p4sched.control.laws.port_counters import BUCKETS, Sample
from p4sched.control.laws.ranked import Decision, State, decide
from p4sched.p4rt.reader import Count
from p4sched.p4rt.session import Session

MS = 1_000_000
POLL_MS = 100
FRAME = 1514
PORT = 3


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


class Clock:
    """A clock that moves by half a poll whenever it is looked at: once before and once after each Read."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += 50 * MS
        return self.now_ns


class Counters:
    """The program's counters, raised as packets to a port would raise them."""

    def __init__(self, session: Session, port: int = PORT) -> None:
        self._session = session
        self._port = port
        self._packets: dict[tuple[str, int], int] = {}

    async def arrive(self, admitted: int, refused: int, full: int) -> None:
        """Packets of rank 5 that find 9 packets waiting; one queue is used, the least urgent."""
        everything = admitted + refused + full
        await self._raise(
            {
                ("admitted", self._port << 3): admitted,
                ("dropped_by_admission", self._port << 3): refused,
                ("dropped_full", self._port << 3 | 7): full,
                ("rank_histogram", self._port << 6 | 3): everything,
                ("depth_histogram", self._port << 6 | 4): everything,
                # another port's packets are none of this law's business
                ("admitted", (self._port + 2) << 3): 77,
                ("rank_histogram", (self._port + 2) << 6 | 3): 77,
            }
        )

    async def _raise(self, packets: dict[tuple[str, int], int]) -> None:
        updates = []
        for (counter, cell), more in packets.items():
            now = self._packets[counter, cell] = self._packets.get((counter, cell), 0) + more
            data = fy.P4CounterData(packet_count=now, byte_count=now * FRAME)
            updates.append(~fy.P4CounterEntry(counter, index=cell, data=data))
        await self._session.finsy.write(updates)
