"""A port's configuration on the embedded switch, and what BMv2 can do of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from switches import RunningSwitch, start_switch

from mininet_topos.nodes import free_port
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.session import connect
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import (
    Bmv2TrafficManager,
    EmbeddedTrafficManager,
    Memory,
    PortSettings,
    QueueSettings,
    TrafficManagerError,
    bmv2_commands,
    bmv2_rate_pps,
)
from p4sched.proto.enums import Discipline, MemorySharing


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
        (PortSettings(3, discipline=Discipline.AFQ), "'afq'"),
        (PortSettings(3, discipline=Discipline.STFQ), "'stfq'"),
        (PortSettings(3, discipline=Discipline.PIFO), "'pifo'"),
    ],
)
def test_what_bmv2_cannot_do_is_refused_by_name(port: PortSettings, what: str) -> None:
    with pytest.raises(TrafficManagerError, match=rf"port 3: BMv2 cannot do .*{what}.*packets a second"):
        bmv2_commands(port)


@pytest.fixture
async def embedded(embedded_switch: RunningSwitch) -> AsyncIterator[EmbeddedTrafficManager]:
    traffic_manager = EmbeddedTrafficManager(embedded_switch.address)
    yield traffic_manager
    await traffic_manager.close()


async def test_a_wrong_port_is_one_sentence_that_names_it(embedded: EmbeddedTrafficManager) -> None:
    with pytest.raises(SessionError, match=r"cannot configure its ports: .*77") as caught:
        await embedded.set_ports([PortSettings(77, rate_bps=1_000_000)])
    assert "\n" not in str(caught.value)


async def test_a_switch_without_traffic_reports_no_departures(embedded: EmbeddedTrafficManager) -> None:
    fidelity = await embedded.fidelity(reset=True)
    assert (fidelity.departures, fidelity.rx_lost, fidelity.tx_errors) == (0, 0, 0)
    assert all(port.tx_packets == 0 for port in (await embedded.stats()).values())


async def test_the_memory_of_all_ports_is_set_and_read(embedded: EmbeddedTrafficManager) -> None:
    assert await embedded.memory() == Memory(0)
    await embedded.set_memory(Memory(120, MemorySharing.OCCAMY, 2048))
    assert await embedded.memory() == Memory(120, MemorySharing.OCCAMY, 2048)
    with pytest.raises(SessionError, match="alpha_256 is 0"):
        await embedded.set_memory(Memory(120, MemorySharing.ABM, 0))
    with pytest.raises(TrafficManagerError, match="packets"):
        await embedded.set_memory(Memory(-1))
    assert await embedded.memory() == Memory(120, MemorySharing.OCCAMY, 2048)


@pytest.mark.parametrize("target", Target)
async def test_the_recirculation_port_has_a_rate_as_any_other(embedded_switch: RunningSwitch, target: Target) -> None:
    port = PROGRAMS[target].recirculation_port
    async with connect(embedded_switch.address, compiled_program("aifo", target=target)):
        manager = EmbeddedTrafficManager(embedded_switch.address)
        try:
            await manager.set_ports([PortSettings(port, rate_bps=1_000_000)])
            with pytest.raises(SessionError, match=f"no port {port + 1}"):
                await manager.set_ports([PortSettings(port + 1, rate_bps=1_000_000)])
        finally:
            await manager.close()


async def test_no_switch_is_one_sentence() -> None:
    traffic_manager = EmbeddedTrafficManager(f"127.0.0.1:{free_port()}")
    with pytest.raises(SessionError, match="does not answer"):
        await traffic_manager.stats()
    await traffic_manager.close()


async def test_bmv2_takes_rates_and_depths_and_has_no_statistics(tmp_path: Path, fdpa: Program) -> None:
    switch = start_switch("bmv2", tmp_path)
    try:
        async with connect(switch.address, fdpa):
            traffic_manager = Bmv2TrafficManager(switch.thrift_port)
            await traffic_manager.set_ports([PortSettings(1, rate_bps=10_000_000, queues={7: QueueSettings(416)})])
            assert await traffic_manager.stats() is None
            assert await traffic_manager.fidelity() is None
    finally:
        switch.stop()
    with pytest.raises(TrafficManagerError, match="simple_switch_CLI: "):
        await traffic_manager.set_ports([PortSettings(1, rate_bps=10_000_000)])
