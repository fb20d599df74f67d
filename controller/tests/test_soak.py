"""The account of the soak: a packet that is missing anywhere is reported with its place."""

from collections.abc import Callable

import pytest

from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.soak.account import contradictions, totals


def stats() -> pb.GetStatsResponse:
    """10 frames came: the program dropped 4, a full queue 1, 1 was flushed, 1 waits, 2 were sent, 1 was refused."""
    queue = pb.QueueStats(
        queue=3, enqueued_packets=4, dequeued_packets=2, depth_packets=1, dropped_packets=2, flushed_packets=1
    )
    return pb.GetStatsResponse(
        ports=[
            pb.PortStats(port=1, rx_packets=10, taken_packets=10),
            pb.PortStats(port=2, tx_packets=2, tx_errors=1, left_packets=3, queues=[queue]),
        ],
        balance=pb.Balance(
            received=10, copies=0, transmitted=3, ingress_dropped=4, queue_dropped=1, flushed=1, queued=1
        ),
    )


def test_counts_that_add_up_are_not_reported() -> None:
    assert list(contradictions(stats())) == []
    found = totals(stats())
    assert (found.received, found.sent, found.refused, found.dropped, found.inside) == (10, 2, 1, 6, 1)


def change_balance(found: pb.GetStatsResponse) -> None:
    found.balance.ingress_dropped -= 1


def change_received(found: pb.GetStatsResponse) -> None:
    found.ports[0].rx_packets += 2


def change_sent(found: pb.GetStatsResponse) -> None:
    found.ports[1].tx_errors = 0


def change_queue(found: pb.GetStatsResponse) -> None:
    found.ports[1].queues[0].enqueued_packets += 1


def change_full(found: pb.GetStatsResponse) -> None:
    found.ports[1].queues[0].dropped_packets += 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (change_balance, "1 are missing"),
        (change_received, "port 1 received 12 frames, the program took 10"),
        (change_sent, "port 2 sent 2 frames and 0 were refused, 3 left"),
        (change_queue, "port 2, queue 3: 5 packets came, 4 left"),
        (change_full, "no room for 2 packets, the switch counts 1"),
    ],
)
def test_a_packet_that_is_missing_is_reported(change: Callable[[pb.GetStatsResponse], None], told: str) -> None:
    found = stats()
    change(found)
    (problem,) = contradictions(found)
    assert told in problem
