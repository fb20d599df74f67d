"""What BMv2 can do of a port's configuration."""

import pytest

from p4sched.traffic_manager import (
    Discipline,
    PortSettings,
    QueueSettings,
    TrafficManagerError,
    bmv2_commands,
    bmv2_rate_pps,
)


def test_a_rate_becomes_full_sized_packets_a_second() -> None:
    # 1514 bytes * 8 * 41281 / s = 499.995 Mbit/s
    assert bmv2_rate_pps(500_000_000) == 41281
    assert bmv2_rate_pps(1) == 1


def test_rates_and_depths_become_commands() -> None:
    port = PortSettings(
        2,
        rate_bps=12_112_000,
        discipline=Discipline.STRICT,
        queues={6: QueueSettings(104), 7: QueueSettings(416, 500)},
    )
    assert bmv2_commands(port) == [
        "set_queue_rate 1000 2",
        "set_queue_depth 104 2 6",
        "set_queue_rate 500 2 7",
        "set_queue_depth 416 2 7",
    ]


def test_one_buffer_is_every_queue_of_the_port() -> None:
    assert bmv2_commands(PortSettings(1, buffer_packets=416, discipline=Discipline.FIFO)) == ["set_queue_depth 416 1"]


@pytest.mark.parametrize(
    ("port", "what"),
    [
        (PortSettings(3, delay_ns=5_000_000), "a propagation delay"),
        (PortSettings(3, discipline=Discipline.DRR), "'drr'"),
        (PortSettings(3, discipline=Discipline.PIFO), "'pifo'"),
    ],
)
def test_what_bmv2_cannot_do_is_refused_by_name(port: PortSettings, what: str) -> None:
    with pytest.raises(TrafficManagerError, match=rf"port 3: BMv2 cannot do .*{what}.*packets a second"):
        bmv2_commands(port)
