"""In virtual time a controller that a switch asks acts at the instant at which it was asked, however slow it is."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import finsy as fy
from lab import IN_VIRTUAL_TIME, MACHINE, busy_machine

from mininet_topos.dumbbell import dumbbell_sides
from mininet_topos.stations import Station
from p4sched.clock import await_answer, now_ns
from p4sched.control.loop import run_loops
from p4sched.lab.virtual.client import in_lock_step
from p4sched.lab.virtual.loop import VirtualLoop
from p4sched.lab.virtual.process import virtual_process
from p4sched.lab.virtual.topology import describe
from p4sched.p4rt.compile import compile_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager, PortSettings
from p4sched.proto import simulation_pb2 as pb

MS = 1_000_000
DELAY_NS = 5 * MS
SENDERS = 6
Heard = list[tuple[str, int]]
"""What the controller was told, and when."""


pytestmark = IN_VIRTUAL_TIME


class Answering:
    """Tells the switch what it asks for. `pauses` are what it takes for an answer each time, in s of the wall clock."""

    def __init__(self, session: Session, stations: list[Station], pauses: list[float]) -> None:
        self._session = session
        self._places = {int.from_bytes(map(int, at.address.split("."))): at for at in stations}
        self._pauses = itertools.cycle(pauses)
        self._routed: set[int] = set()
        self.heard: Heard = []

    async def routes(self) -> None:
        """A packet to a destination without a route: the route, and the packet again."""
        async for packet in self._session.finsy.read_packets():
            time.sleep(next(self._pauses))
            destination = int.from_bytes(packet.payload[30:34])
            self.heard.append((f"packet to {destination:x} from port {packet['port']}", now_ns()))
            if destination not in self._routed:
                self._routed.add(destination)
                at = self._places[destination]
                match = fy.P4TableMatch({"hdr.ipv4.destination": destination})
                action = fy.P4TableAction("forward", port=at.port, mac=at.mac)
                await self._session.insert([fy.P4TableEntry("destinations", match=match, action=action)])
            await self._session.packet_out(packet.payload)

    async def senders(self) -> None:
        """A new source."""
        async for digest in self._session.finsy.read_digests("sender_t"):
            time.sleep(next(self._pauses))
            for each in digest.data:
                source = each["source"]
                self.heard.append((f"sender {source:x}", now_ns()))
                match = fy.P4TableMatch({"hdr.ipv4.source": source})
                known = fy.P4TableEntry("senders", match=match, action=fy.P4TableAction("NoAction"))
                await self._session.insert([known])
            await self._session.finsy.write([fy.P4DigestListAck(digest.digest_id, digest.list_id)])


@dataclass(frozen=True)
class Listening:
    """Goes on until cancelled."""

    run: Callable[[], Coroutine[Any, Any, None]]


async def one_second(program: Program, pauses: list[float]) -> tuple[Heard, str]:
    """What the controller heard, and what the server received, while each host sends to the server."""
    sides = dumbbell_sides(SENDERS, SENDERS)
    async with (
        virtual_process(describe(sides.structure(), cpu_port=True), []) as process,
        in_lock_step(process.address) as (client, _),
    ):
        (switch,) = (await client.describe()).switches
        async with connect(switch.address, program, force=True) as session:
            async with await_answer():
                await session.finsy.insert([fy.P4DigestEntry("sender_t", max_list_size=1, ack_timeout_ns=100 * MS)])
            manager = EmbeddedTrafficManager(switch.address)
            await manager.set_ports([PortSettings(port, delay_ns=DELAY_NS) for port in switch.ports])
            await manager.close()
            answering = Answering(session, sides.stations(), pauses)
            server = sides.far
            receive = pb.UdpReceive(address=server.address, ports=[5376], duration_ns=900 * MS, log=True)
            runs = [pb.Run(name="receive", host=server.name, udp_receive=receive)]
            for number, station in enumerate(sides.near):
                flow = {
                    "flow": number,
                    "src": station.address,
                    "dst": server.address,
                    "port": 5376,
                    "rate_bps": 1_000_000,
                    "frame_bytes": 500,
                    "ranks": {"fixed": number},
                    "start_s": 0.01 * number,
                    "stop_s": 0.5,
                }
                send = pb.UdpSend(flows=json.dumps([flow]), seed=1)
                runs.append(pb.Run(name=f"send {number}", host=station.name, udp_send=send))
            await client.start(runs)
            async with run_loops(Listening(answering.routes), Listening(answering.senders)):
                await asyncio.sleep(1)
            return answering.heard, (await client.log("receive")).decode()


@MACHINE
def test_a_slow_controller_on_a_busy_machine_acts_at_the_instants_of_a_fast_one(tmp_path: Path) -> None:
    program = compile_program(Path(__file__).with_name("reactive.p4"), tmp_path)

    def run(pauses: list[float]) -> tuple[Heard, str]:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(one_second(program, pauses))

    heard, received = run([0.0])
    # a frame of 500 bytes takes 40 ns on a host's link; both questions come at that instant
    assert heard[:2] == [("sender a0101fa", 40), ("packet to a020001 from port 1", 40)]
    assert [what for what, _ in heard[2:]] == [f"sender a01{number:02x}fa" for number in range(2, SENDERS + 1)]
    # no packet waits for the controller
    assert received.splitlines()[1] == f"0,0,0,0,{DELAY_NS + 40}"
    with busy_machine():
        assert run([0.02, 0.0, 0.005]) == (heard, received)
