"""A switch whose time cannot be stepped makes the models' decisions, packet by packet: BMv2, and the embedded one live.

The queue is paced slowly, and each burst of a trace is sent right behind a departure, so that all of it is decided
before the next one. What the counters say after each burst, and which packet departs next, must be what the model says.
A run in which a burst was not decided well before the next departure says nothing: it is repeated at a slower pace.
"""

import asyncio
import json
import os
import shutil
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import compiled_programs
from lab import PATIENCE_S
from switches import RunningSwitch, start_switch
from wires import OUT_PORT, Wires, wires

from p4sched.errors import P4schedError
from p4sched.p4rt import routes
from p4sched.p4rt.program import Program
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.traffic_manager import (
    Bmv2TrafficManager,
    EmbeddedTrafficManager,
    PortSettings,
    QueueSettings,
    TrafficManager,
)
from p4sched.paths import rust_binary

NEXT_HOP = "02:00:00:00:00:03"
GAPS_S = (0.02, 0.1, 0.5, 1.0)
"""Between departures: the first pace at which every burst is decided in time counts."""
SAFE_SHARE = 0.6
"""A burst that is decided within this share of the gap was decided before the next departure."""
PACKETS = {"embedded": 200, "bmv2": 2000}
COUNTERS = {
    "fifo": {"queued": ("band_admitted", OUT_PORT << 3), "full": ("port_dropped", OUT_PORT)},
    "ranked": {
        "queued": ("admitted", OUT_PORT << 3),
        "refused": ("dropped_by_admission", OUT_PORT << 3),
        "full": ("dropped_full", OUT_PORT << 3),
    },
}
"""Counter and cell of each decision."""


class TooSlowError(Exception):
    """A burst was not decided well before the next departure."""


def forwarded(frame: bytes) -> bytes:
    """The frame as a router passes it on: new addresses, one hop fewer, the checksum of that (RFC 1071)."""
    header = bytearray(frame[14:34])
    header[8] -= 1
    header[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)
    return bytes.fromhex(NEXT_HOP.replace(":", "")) + frame[:6] + frame[12:14] + bytes(header) + frame[34:]


class Replay:
    """A trace on its way through a switch."""

    def __init__(self, session: Session, wires: Wires, trace: Mapping[str, Any], gap_s: float) -> None:
        self._session = session
        self._wires = wires
        self._gap_s = gap_s
        self._steps: Sequence[Mapping[str, Any]] = trace["steps"]
        self._counters = COUNTERS["fifo" if trace["program"] == "fifo" else "ranked"]
        self._expected = Counter[str]()

    async def run(self) -> None:
        """Compares every burst and every departure."""
        free_until = time.monotonic() + PATIENCE_S
        for number, step in enumerate(self._steps):
            if step["set"] is not None:
                await self._set(**step["set"])
            for arrival in step["burst"]:
                self._wires.sender.send(bytes.fromhex(arrival["frame"]))
                self._expected[arrival["decision"]] += 1
            counted = await self._decisions()
            if time.monotonic() > free_until:
                raise TooSlowError
            assert counted == self._expected, f"step {number}: {step}"
            left = await self._wires.departure()
            free_until = time.monotonic() + SAFE_SHARE * self._gap_s
            assert left.hex() == forwarded(bytes.fromhex(step["departs"])).hex(), f"step {number}: {step}"

    async def _set(self, table: str, action: str, arguments: Sequence[int]) -> None:
        names = [parameter.name for parameter in self._session.schema.actions[action].params]
        await self._session.set_default_action(table, action, dict(zip(names, arguments, strict=True)))

    async def _decisions(self) -> Counter[str]:
        """What the switch counted, as soon as that is all that was sent."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            counted = Counter[str]()
            for decision, (counter, cell) in self._counters.items():
                counted[decision] = (await self._session.counts(counter, [cell]))[cell].packets
            if counted.total() >= self._expected.total():
                return counted
            assert time.monotonic() < deadline, f"the switch decided on {counted}, of {self._expected} that were sent"


def traffic_manager(switch: RunningSwitch) -> TrafficManager:
    """The switch's own."""
    if switch.kind == "bmv2":
        return Bmv2TrafficManager(switch.thrift_port)
    return EmbeddedTrafficManager(switch.address)


async def replay(switch: RunningSwitch, program: Program, trace: Mapping[str, Any], wires: Wires, gap_s: float) -> None:
    """Loads the program and sends it the trace."""
    manager = traffic_manager(switch)
    async with connect(switch.address, program, force=True) as session:
        try:
            paced = QueueSettings(rate_pps=round(1 / gap_s))
            await manager.set_ports([PortSettings(OUT_PORT, queues={0: paced})])
            await session.insert([routes.route(trace["prefix"], OUT_PORT, NEXT_HOP)])
            await session.set_default_action("rank_sources", "set_rank_source", {"rank_source": trace["rank_source"]})
            await Replay(session, wires, trace, gap_s).run()
        finally:
            await manager.close()


def written_trace(scheme: str, packets: int) -> Mapping[str, Any]:
    """What the model says to so many packets."""
    try:
        command = [str(rust_binary("p4sched-trace")), scheme, "--packets", str(packets)]
    except P4schedError as error:
        pytest.skip(str(error))
    found: Mapping[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip")
@pytest.mark.parametrize("scheme", ["fifo", "aifo", "rifo"])
@pytest.mark.parametrize("kind", ["embedded", "bmv2"])
def test_the_switch_decides_as_the_model(kind: str, scheme: str, tmp_path: Path) -> None:
    trace = written_trace(scheme, PACKETS[kind])
    program = compiled_programs(tmp_path, trace["program"])[trace["program"]]
    for gap_s in GAPS_S:
        with wires() as links:
            switch = start_switch(kind, tmp_path, links.near)
            try:
                asyncio.run(replay(switch, program, trace, links, gap_s))
                return
            except TooSlowError:
                continue
            finally:
                switch.stop()
    pytest.fail(f"this machine takes more than {SAFE_SHARE * GAPS_S[-1]:g} s for a burst of a few packets")
