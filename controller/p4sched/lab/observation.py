"""Observes the machine, the switch and TCP while samples are taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from p4sched.control.ranked_loop import VERDICTS
from p4sched.lab.fidelity import AnyFidelity, Health
from p4sched.lab.network import Dumbbell
from p4sched.lab.schemes import Link
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.traffic_manager import QUEUES, TrafficManager
from p4sched.proto import traffic_manager_pb2 as pb

PORT_DROPPED = "port_dropped"
"""Counter of the programs of FIFO and FDPA."""


@dataclass(frozen=True)
class Observation:
    """Observations between start and end."""

    fidelity: AnyFidelity
    tcp: TcpCounters
    bottleneck: dict[str, Any]
    """Packets through the bottleneck port from `queue_counts`, if the switch counts them, and packets that the program
    dropped because of a full queue from `dropped_by_program`, if the program counts them."""

    def but(self, unmeasured: Sequence[str]) -> "Observation":
        """A copy that also lists these unmeasured values, a sentence for each."""
        return replace(self, fidelity=self.fidelity.but(unmeasured))


@dataclass(frozen=True)
class Observer:
    """Observes from `start` to `finish`."""

    network: Dumbbell
    traffic_manager: TrafficManager
    health: Health
    tcp: TcpCounters
    stats: Mapping[int, pb.PortStats] | None
    tail_drop: Reader | None = None
    """Reads the drops of the program because of a full queue."""
    dropped: int = 0

    @classmethod
    async def start(
        cls, network: Dumbbell, traffic_manager: TrafficManager, link: Link, tail_drop: Reader | None = None
    ) -> "Observer":
        """Starts to observe."""
        await traffic_manager.fidelity(reset=True)
        stats = await traffic_manager.stats()
        dropped = await dropped_by_program(tail_drop, network.bottleneck_port) if tail_drop else 0
        health = network.health(link.rtt_ns)
        return cls(network, traffic_manager, health, await network.tcp(network.senders), stats, tail_drop, dropped)

    async def finish(self) -> Observation:
        """Observations since the start."""
        self.health.end()
        tcp = await self.network.tcp(self.network.senders)
        reported = await self.traffic_manager.fidelity()
        stats = await self.traffic_manager.stats()
        fidelity = self.health.fidelity([] if reported is None else [reported])
        port = self.network.bottleneck_port
        counted: dict[str, Any] = {}
        if stats is not None and self.stats is not None:
            counted = queue_counts(self.stats[port], stats[port])
        if self.tail_drop is not None:
            counted["dropped_by_program"] = await dropped_by_program(self.tail_drop, port) - self.dropped
        return Observation(fidelity, tcp - self.tcp, counted)


async def dropped_by_program(reader: Reader, port: int) -> int:
    """Packets for a port that the program dropped so far because their queue was full. Programs without an admission
    rule count them by port, the others by queue."""
    if reader.schema.counters.get(PORT_DROPPED) is not None:
        return (await reader.counts(PORT_DROPPED, [port]))[port].packets
    *_, full = VERDICTS
    counts = await reader.counts(full, [(port << 3) | priority for priority in range(QUEUES)])
    return sum(count.packets for count in counts.values())


def queue_counts(earlier: pb.PortStats, later: pb.PortStats) -> dict[str, Any]:
    """Packets that each queue received, sent and dropped between two readings, without queues that had no traffic.

    A queue can send more packets than it receives: those that wait at the first reading. `dropped` counts drops of the
    traffic manager, not of the program. `max_depth` counts from the start of the switch.
    """
    queues = {}
    befores = {queue.queue: queue for queue in earlier.queues}
    for after in sorted(later.queues, key=lambda queue: queue.queue, reverse=True):
        before = befores[after.queue]
        counts = {
            "enqueued": after.enqueued_packets - before.enqueued_packets,
            "dequeued": after.dequeued_packets - before.dequeued_packets,
            "dropped": after.dropped_packets - before.dropped_packets,
        }
        if any(counts.values()):
            queues[str(after.queue)] = counts | {"max_depth": after.max_depth_packets}
    return {"queues": queues, "tx_packets": later.tx_packets - earlier.tx_packets}
