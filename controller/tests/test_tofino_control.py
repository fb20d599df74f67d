"""The controller on the programs for a Tofino, which run in the project's own switch: all that the loops and the lab
need of their P4Info is there. test_loop.py and test_ranked_loop.py hold the loops themselves to every target."""

import asyncio
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import finsy as fy
import pytest
from lab import PATIENCE_S
from switches import RunningSwitch, start_switch

from p4sched.control.laws import fdpa
from p4sched.control.laws.port_counters import Sample
from p4sched.control.parameters import Comparison
from p4sched.control.ranked_loop import HISTOGRAMS, VERDICTS, port_cells, port_sample
from p4sched.lab.law_configs import LAW_SCHEMES
from p4sched.p4rt.compile import compile_program, compiled_program
from p4sched.p4rt.rank_source import RankSource, set_rank_source
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.routes import group_paths, group_route, route
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.users import departures, flow_user, prefix_user, user_counters
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES

COMPARISON = Comparison(48, 16, 0.1, queues=8, capacity_bps=10**8, rtt_ns=10**7, bands=fdpa.DEFAULT_BANDS)
TOFINO = [
    pytest.param(scheme, target, id=f"{name}-{target}")
    for name, scheme in SCHEMES.items()
    for target in scheme.targets
    if target is not Target.V1MODEL
]
WITH_LAW = [
    pytest.param(name, target, id=f"{name}-{target}")
    for name in LAW_SCHEMES
    for target in SCHEMES[name].targets
    if target is not Target.V1MODEL
]
PORT, CPU_PORT = 3, 509
MAC = "02:00:00:00:00:09"


@pytest.fixture
def reached_by_packets(tmp_path: Path) -> Iterator[RunningSwitch]:
    """A freshly started switch that takes packet-outs."""
    running = start_switch("embedded", tmp_path, cpu_port=CPU_PORT)
    yield running
    running.stop()


def frame(rank: int) -> bytes:
    """A UDP datagram with a rank header, from 10.0.0.1 to 10.0.0.9."""
    payload = struct.pack("!I", rank) + bytes(22)
    udp = struct.pack("!4H", 5000, 5376, 8 + len(payload), 0) + payload
    addresses = socket.inet_aton("10.0.0.1") + socket.inet_aton("10.0.0.9")
    header = bytearray(struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)
    return bytes.fromhex("020000000001020000000002") + b"\x08\x00" + bytes(header) + udp


async def decided(session: Session, packets: int) -> Sample:
    """The counters of the port as soon as so many packets have been decided on."""
    cells = port_cells(session, PORT)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        sample = port_sample(await session.counters(cells), PORT)
        if sample.admitted.packets + sample.refused.packets + sample.full.packets >= packets:
            return sample
        assert time.monotonic() < deadline, f"fewer than {packets} packets were decided on: {sample}"


@pytest.mark.parametrize(("scheme", "target"), TOFINO)
async def test_routes_users_and_parameters_are_those_of_the_other_programs(
    embedded_switch: RunningSwitch, scheme: Scheme, target: Target
) -> None:
    setup = scheme.for_comparison(COMPARISON).on(target)
    parameters = setup.parameters or fdpa.parameters_for(fdpa.Config(10**8, fdpa.DEFAULT_BANDS, 67_109, 10**7), 3)
    async with connect(embedded_switch.address, compiled_program(scheme.program, target=target)) as session:
        assert session.loaded
        assert session.schema.arch == target
        await session.insert([route("10.0.0.9/32", PORT, MAC), group_route("10.1.0.0/16", 1)])
        await session.insert(group_paths(1, [(PORT, MAC), (PORT + 1, MAC)]))
        await session.insert([prefix_user(7, "10.0.0.1/32", 2), flow_user(session, 8, "10.0.0.9", 80)])
        users = await user_counters(session)
        assert {number: user.scale for number, user in users.items()} == {7: 128, 8: 256}
        await session.set_default_action(parameters.table, parameters.action, parameters.action_data())
        found = await session.default_action(parameters.table)
        assert found is not None
        assert found[1] == parameters.action_data()
        await session.set_port_actions(parameters.table, parameters.action, {PORT: parameters.action_data()}, ())
        assert await session.port_actions(parameters.table) == {PORT: parameters.action_data()}
        assert (await departures(session, [7]))[7].packets == 0


@pytest.mark.parametrize(("name", "target"), WITH_LAW)
async def test_packets_of_every_rank_source_are_counted_where_the_loops_look(
    reached_by_packets: RunningSwitch, name: str, target: Target
) -> None:
    async with connect(reached_by_packets.address, compiled_program(name, target=target)) as session:
        await session.insert([route("10.0.0.9/32", PORT, MAC), prefix_user(7, "10.0.0.1/32")])
        ranks = {}
        for number, source in enumerate((RankSource.HEADER, RankSource.TOS, RankSource.STATIC), start=1):
            await set_rank_source(session, source)
            await session.packet_out(frame(rank=5))
            ranks[source] = (await decided(session, number)).ranks[:4]
        assert ranks == {
            RankSource.HEADER: (0, 0, 0, 1),
            RankSource.TOS: (1, 0, 0, 1),
            RankSource.STATIC: (2, 0, 0, 1),
        }
        assert (await user_counters(session))[7].sent_bytes == 3 * len(frame(5))
        with pytest.raises(SessionError, match="cannot set the default action of rank_sources"):
            await set_rank_source(session, RankSource.STFQ)
        for counter in (*VERDICTS, *HISTOGRAMS):
            assert session.schema.counters[counter].name.startswith("pipe.")


@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if Target.TNA in scheme.targets])
async def test_departures_of_a_tofino_1_report_to_its_recirculation_port(
    embedded_switch: RunningSwitch, name: str
) -> None:
    async with connect(embedded_switch.address, compiled_program(name, target=Target.TNA)) as session:
        (found,) = await session.read([fy.P4CloneSessionEntry(1)])
        assert isinstance(found, fy.P4CloneSessionEntry)
        assert found.replicas_str().startswith(f"{PROGRAMS[Target.TNA].recirculation_port}")
    async with connect(embedded_switch.address, compiled_program(name, target=Target.TNA)) as session:
        # a controller that takes over finds the session as it is
        assert not session.loaded


async def test_digests_and_registers_of_a_tofino_program_reach_the_controller(
    reached_by_packets: RunningSwitch, tmp_path: Path
) -> None:
    program = compile_program(Path(__file__).with_name("learning.p4"), tmp_path, target=Target.TNA)
    async with connect(reached_by_packets.address, program) as session:
        await session.finsy.insert([fy.P4DigestEntry("senders", max_list_size=1)])
        digests = session.finsy.read_digests("senders")
        first = asyncio.ensure_future(anext(digests))
        # the queue of the digests is open before the frame is sent
        await asyncio.sleep(0)
        await session.packet_out(frame(rank=5))
        found = await asyncio.wait_for(first, PATIENCE_S)
        assert [dict(each) for each in found.data] == [{"source": 0x020000000002, "port": CPU_PORT}]
        (cell,) = await session.read([fy.P4RegisterEntry("frames", index=2)])
        assert isinstance(cell, fy.P4RegisterEntry)
        assert cell.data == 1
