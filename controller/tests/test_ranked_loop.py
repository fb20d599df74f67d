"""The control loop of the ranked laws on real switches. Counters are written over P4Runtime in place of packets."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest
from conftest import program_of
from lab import PATIENCE_S
from ranked_port import FRAME, MS, PORT, Clock, Counters
from switches import RunningSwitch, found_parameters

from p4sched.control.laws import aifo, packs, ranked, rifo
from p4sched.control.ranked_loop import RankedLoop, RankedPortsLoop, port_cells, port_sample
from p4sched.control.replay import replay
from p4sched.errors import UsageError
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import Count
from p4sched.p4rt.session import connect, watch
from p4sched.p4rt.target import Target
from p4sched.schemes import LAWS, SCHEMES

CONFIGS: dict[str, ranked.Config] = {
    "aifo": aifo.Config(100_000_000, 5 * MS, 512),
    "rifo": rifo.Config(100_000_000, 5 * MS, 512),
    "packs": packs.Config(100_000_000, 5 * MS, 64),
}


@pytest.mark.parametrize(("name", "target"), [(name, each) for name in CONFIGS for each in SCHEMES[name].targets])
async def test_the_law_follows_the_counters_of_its_port(
    switch: RunningSwitch, name: str, target: Target, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.jsonl"
    config = CONFIGS[name].on(target)
    async with connect(switch.address, program_of(name, target, switch)) as session:
        counters = Counters(session)
        loop = RankedLoop(session, config, PORT, log=log, clock=Clock())
        first = await loop.step()
        assert first.written
        assert first.decision.parameters == config.parameters_for(config.at_first())
        written = 0
        for _ in range(15):
            await counters.arrive(413, 300, 113)
            written += (await loop.step()).written
        last = await loop.step()
        assert last.decision.traffic is not None
        assert last.decision.traffic.packet_bytes == FRAME
        assert last.decision.traffic.drain_bps == pytest.approx(413 * FRAME * 80)
        assert last.decision.traffic.load == pytest.approx(2)
        assert last.decision.traffic.ranks[3] > 0
        assert 1 <= written <= 2
        # what the law decided is what the switch has
        assert await found_parameters(session, CONFIGS[name].law.parameters) == last.decision.parameters
    entries = list(replay(log, LAWS))
    assert len(entries) == 17
    assert all(entry.agrees for entry in entries)


async def test_a_sample_is_one_ports_counters(
    embedded_switch: RunningSwitch, ranked_programs: dict[str, Program]
) -> None:
    async with connect(embedded_switch.address, ranked_programs["packs"]) as session:
        await Counters(session).arrive(10, 20, 30)
        sample = port_sample(await session.counters(port_cells(session, PORT)), PORT)
    assert sample.admitted == Count(10, 10 * FRAME)
    assert sample.refused == Count(20, 20 * FRAME)
    assert sample.full == Count(30, 30 * FRAME)
    assert sample.ranks == (0, 0, 0, 60, *(0,) * 29)
    assert sample.depths == (0, 0, 0, 0, 60, *(0,) * 28)
    assert sample.read_ns > 0


async def test_a_second_controller_goes_on_with_the_parameters_of_the_first(
    embedded_switch: RunningSwitch, ranked_programs: dict[str, Program]
) -> None:
    config = CONFIGS["aifo"]
    async with connect(embedded_switch.address, ranked_programs["aifo"]) as session:
        loop = RankedLoop(session, config, PORT, clock=Clock())
        assert (await loop.step()).written
    async with connect(embedded_switch.address, ranked_programs["aifo"]) as session:
        assert not session.loaded
        loop = RankedLoop(session, aifo.Config(200_000_000, 5 * MS, 512), PORT, clock=Clock())
        for _ in range(5):
            assert not (await loop.step()).written
        assert await found_parameters(session, aifo.Parameters) == config.parameters_for(config.at_first())


async def test_every_port_of_a_switch_has_parameters_of_its_own(
    switch: RunningSwitch, ranked_programs: dict[str, Program], tmp_path: Path
) -> None:
    configs = {PORT: CONFIGS["aifo"], PORT + 1: aifo.Config(20_000_000, 5 * MS, 64)}
    async with connect(switch.address, ranked_programs["aifo"]) as session:
        fast, slow = Counters(session, PORT), Counters(session, PORT + 1)
        loop = RankedPortsLoop(session, configs, logs=tmp_path, clock=Clock())
        first = await loop.step()
        assert all(update.written for update in first.values())
        for _ in range(15):
            await fast.arrive(826, 300, 113)
            await slow.arrive(165, 60, 23)
            last = await loop.step()
        entries = await session.port_actions("aifo_params")
        assert set(entries) == {PORT, PORT + 1}
        # C = drain rate * 5 ms, in packets: 8260 and 1650 packets/s
        assert (entries[PORT]["target_packets"], entries[PORT + 1]["target_packets"]) == (41, 8)
        for port, update in last.items():
            assert update.decision.parameters == aifo.Parameters.from_action_data(entries[port])
        # ports without a law keep the program's own default
        assert await found_parameters(session, aifo.Parameters) == aifo.Parameters()
    async with connect(switch.address, ranked_programs["aifo"]) as session:
        loop = RankedPortsLoop(session, configs, logs=tmp_path, clock=Clock())
        assert not any(update.written for update in (await loop.step()).values())
    for port in configs:
        replayed = list(replay(tmp_path / f"port-{port}.jsonl", LAWS))
        assert len(replayed) == 17
        assert all(entry.agrees for entry in replayed)


async def test_ports_of_different_laws_are_refused(
    embedded_switch: RunningSwitch, ranked_programs: dict[str, Program]
) -> None:
    async with connect(embedded_switch.address, ranked_programs["aifo"]) as session:
        with pytest.raises(UsageError, match="one law; given: aifo, rifo"):
            RankedPortsLoop(session, {1: CONFIGS["aifo"], 2: CONFIGS["rifo"]})


def test_a_port_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="egress port = 512 is out of range: 0 to 511"):
        RankedLoop(None, CONFIGS["aifo"], 512)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "target"), [(name, each) for name in CONFIGS for each in SCHEMES[name].targets])
async def test_the_controller_as_a_process(
    embedded_switch: RunningSwitch, name: str, target: Target, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.jsonl"
    process = await asyncio.create_subprocess_exec(
        *(Path(sys.prefix) / "bin" / "p4sched", "control", embedded_switch.address, "--scheme", name),
        *("--rate", "100mbit", "--delay", "2ms", "--port", str(PORT), "--fix", "k=0.25"),
        *("--program", program_of(name, target, embedded_switch).json.parent, "--log", log),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    assert b"program loaded" in await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)
    assert b"nothing measured yet: " in await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)
    process.send_signal(signal.SIGTERM)
    assert b"traffic continues with the last parameters" in await asyncio.wait_for(
        process.stdout.readline(), PATIENCE_S
    )
    assert await process.wait() == 130
    async with watch(embedded_switch.address) as reader:
        found = await found_parameters(reader, CONFIGS[name].law.parameters)
    assert found is not None
    assert found.action_data()["headroom_256"] == 64
    assert json.loads(log.read_text().splitlines()[0])["config"]["delay_ns"] == 2 * MS
    assert all(entry.agrees for entry in replay(log, LAWS))
