"""Account of every packet: the statistics of a switch must add up."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from p4sched.proto import traffic_manager_pb2 as pb

DROPS = (
    "no_program",
    "ingress_dropped",
    "egress_dropped",
    "queue_dropped",
    "pushed_out",
    "flushed",
    "clone_depth_dropped",
    "recirculation_dropped",
    "delay_dropped",
)
"""Fields of Balance with the reasons why packets were not sent."""


@dataclass(frozen=True)
class Totals:
    """Frames of a switch, by their fate."""

    received: int
    sent: int
    refused: int
    """Refused by interfaces that were down."""
    rx_lost: int
    """Lost before the switch read them."""
    drops: Mapping[str, int]
    inside: int

    @property
    def dropped(self) -> int:
        """Dropped for any reason."""
        return sum(self.drops.values())

    @property
    def lost(self) -> int:
        """Not sent, for any reason."""
        return self.dropped + self.refused + self.rx_lost


def totals(stats: pb.GetStatsResponse) -> Totals:
    """The sums over all ports of a switch."""
    balance = stats.balance
    return Totals(
        received=sum(port.rx_packets for port in stats.ports),
        sent=sum(port.tx_packets for port in stats.ports),
        refused=sum(port.tx_errors for port in stats.ports),
        rx_lost=sum(port.rx_lost for port in stats.ports),
        drops={name: getattr(balance, name) for name in DROPS},
        inside=balance.queued + balance.recirculating + balance.delayed,
    )


def contradictions(stats: pb.GetStatsResponse) -> Iterator[str]:
    """Descriptions of counts that do not add up in the statistics of a switch at one instant."""
    balance, found = stats.balance, totals(stats)
    entered = balance.received + balance.packets_out + balance.copies
    left = balance.transmitted + balance.packets_in
    if entered != left + found.dropped + found.inside:
        yield (
            f"{entered} packets came to be, {left} were sent, {found.dropped} dropped, {found.inside} are inside:"
            f" {entered - left - found.dropped - found.inside} are missing"
        )
    for port in stats.ports:
        if port.rx_packets != port.taken_packets:
            yield f"port {port.port} received {port.rx_packets} frames, the program took {port.taken_packets}"
        if port.tx_packets + port.tx_errors != port.left_packets:
            yield (
                f"port {port.port} sent {port.tx_packets} frames and {port.tx_errors} were refused,"
                f" {port.left_packets} left"
            )
        for queue in port.queues:
            gone = queue.dequeued_packets + queue.pushed_out_packets + queue.flushed_packets + queue.depth_packets
            if queue.enqueued_packets != gone:
                yield (
                    f"port {port.port}, queue {queue.queue}: {queue.enqueued_packets} packets came, {gone} left, were"
                    " given up or wait"
                )
    queues = [queue for port in stats.ports for queue in port.queues]
    kept_out = sum(queue.dropped_packets - queue.pushed_out_packets - queue.flushed_packets for queue in queues)
    if kept_out != balance.queue_dropped:
        yield f"the queues had no room for {kept_out} packets, the switch counts {balance.queue_dropped}"
