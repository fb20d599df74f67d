"""The step of a program for Tofino is that of the engine: random packets, parameters and states."""

import random
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from random_packets import number, parameters

from p4sched.constants import RECIRCULATION_PORT_TNA
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import Target
from p4sched.paths import SCHEDULERS_DIR
from p4sched.proofs import tna
from p4sched.proofs.engine import Call, Example, by_engine, checksum, commands
from p4sched.proofs.program import Program
from p4sched.proofs.step import LENGTH, TIMESTAMP
from p4sched.proofs.tna_engine import by_step

PACKETS = 100
FIRST_PORT, FIRST_USER = 100, 10
"""Ports below 256, since a Tofino 2 has one length for two ports that are 256 apart; none that recirculates."""
PROGRAMS: list[tuple[str | Path, Target]] = [
    *((name, Target.TNA) for name in ("fifo", "aifo", "rifo", "sp_pifo", "fdpa")),
    *((name, Target.T2NA) for name in ("aifo", "packs")),
    (SCHEDULERS_DIR / "exp_pifo" / "exp_pifo.tna.p4", Target.TNA),
]
HEADERS = ("ethernet", "ipv4", "l4_ports", "udp_rest", "rank")
UNIT_NS = 1 << 16


def random_packet(program: Program, place: int, source: random.Random) -> dict[str, int]:
    """A packet that often has a route and a rank; some are cut, or have an error in the header."""
    protocol, has_rank = source.choice((6, 17, 17, 17)), source.random() < 0.8
    packet = {
        **{"ethernet.dst_addr": 2, "ethernet.src_addr": 3, "ethernet.ether_type": 0x800},
        **{"ipv4.version": 4, "ipv4.ihl": 5, "ipv4.tos": number(source, 8), "ipv4.total_len": number(source, 16)},
        **{"ipv4.ttl": source.choice((1, 2, 64, 64, 64)), "ipv4.protocol": protocol},
        **{"ipv4.frag_offset": source.choice((0, 0, 0, 0, 0, 5))},
        **{"ipv4.src_addr": 0x0A000000 + place, "ipv4.dst_addr": 0x0B000000 + place},
        **{"l4_ports.src_port": 100, "l4_ports.dst_port": source.choice((5376, 5631)) if has_rank else 80},
        **{"udp_rest.length": source.choice((8, 11, 12, 80, 80)), "rank.rank": number(source, 32)},
    }
    right = checksum([(packet.get(part, 0), program.fields[part]) for part in program.headers["ipv4"]])
    packet["ipv4.hdr_checksum"] = right ^ (source.random() < 0.05)
    cut = source.choice((*HEADERS[1:], None, None, None, None, None, None, None, None, None))
    gone = HEADERS[HEADERS.index(cut) :] if cut else ()
    packet = {name: value for name, value in packet.items() if name.partition(".")[0] not in gone}
    return packet | {LENGTH: 0 if cut else 100}


def random_example(program: Program, control: str, p4info: str, place: int, source: random.Random) -> Example:
    """A packet for a port of its own, with the parameters and the state of this port."""
    port, user, now = FIRST_PORT + place, FIRST_USER + place, 1000 + place * 10**6
    packet = random_packet(program, place, source)
    packet |= {TIMESTAMP: now, tna.TIME: now * 1000, tna.INGRESS_PORT: 1}
    (table,) = (name for name in program.tables if name.endswith("_params"))
    of = parameters(program, table, p4info, source)
    prefix = source.choice((True, True, False))
    calls = {
        f"{control}.forwarding.ipv4_routes": Call(True, 0, (port, 1)),
        f"{control}.users.users_by_prefix": Call(
            prefix, 0 if prefix else 1, (user, 1 + number(source, 15))[: 2 * prefix]
        ),
        f"{control}.users.users_by_flow": Call(True, 0, (user, source.choice((1, 128, 256, 512)))),
        f"{control}.ranking.rank_sources": Call(True, 0, (source.randrange(3),)),
        f"{control}.ranking.flow_ranks": Call(True, 0, (number(source, 32),)),
        table: Call(True, 0, tuple(of.values())),
    }
    if source.random() < 0.2:
        calls[f"{control}.forwarding.ipv4_routes"] = Call(True, 1, (place,))
        calls[f"{control}.forwarding.ecmp_paths"] = Call(True, 0, (port, 1))
    cells: dict[str, dict[int, int]] = {}
    for name, register in program.registers.items():
        if name == "port_depths":
            cells[name] = {port: number(source, 9)}
        elif name == "queue_depths":
            cells[name] = {port * 8 + priority: number(source, 5) for priority in range(8)}
        elif "flowlets" not in name:
            low = source.randrange(17) if name.endswith("tagger") else number(source, 32)
            # register_write takes no 64th bit
            high = number(source, 31) if register.bits == 64 else 0
            cells[name] = {user if register.size == 4096 else port: high << 32 | low}
    if "interval_us" in of:
        cells |= rates(control, user, packet, of["interval_us"], of["flowlet_gap_us"], source)
    return Example(packet=packet, calls=calls, cells=cells)


def rates(
    control: str, user: int, packet: dict[str, int], interval: int, gap: int, source: random.Random
) -> dict[str, dict[int, int]]:
    """A last packet of the user in this interval or before it, and of the flow about a gap ago."""
    units = packet[tna.TIME] // UNIT_NS
    intervals = [units >> places for places in range(17) if 48 << places <= interval < 96 << places]
    last = max(0, (intervals or [units])[0] - source.randrange(3))
    seen = max(0, units - (gap >> 6) + source.choice((-1, 0, 1)))
    return {
        f"{control}.bands.average.last_interval": {user: last},
        f"{control}.bands.flowlets.flowlet_last_seen": {flow(packet): seen},
        f"{control}.bands.flowlets.flowlet_band": {flow(packet): source.randrange(1, 9)},
    }


def flow(packet: Mapping[str, int]) -> int:
    """The cell of the packet's flow."""
    has_ports = packet.get("ipv4.frag_offset") == 0
    ports = [packet.get(f"l4_ports.{name}_port", 0) if has_ports else 0 for name in ("src", "dst")]
    fields = [(packet.get("ipv4.src_addr", 0), 4), (packet.get("ipv4.dst_addr", 0), 4)]
    fields += [(packet.get("ipv4.protocol", 0), 1), *((one, 2) for one in ports)]
    return zlib.crc32(b"".join(value.to_bytes(width, "big") for value, width in fields)) & 0xFFF


@pytest.mark.parametrize(("name", "target"), PROGRAMS)
def test_the_step_is_that_of_the_engine(name: str | Path, target: Target) -> None:
    built = compiled_program(name, target=target)
    program = tna.read(built.json)
    (control,) = {table.partition(".")[0] for table in program.tables if table.endswith("_params")}
    p4info, source = built.p4info.read_text(encoding="utf-8"), random.Random(1)
    drawn = [random_example(program, control, p4info, place, source) for place in range(PACKETS)]
    # one packet for each cell of a flow
    packets = sorted({flow(one.packet): one for one in drawn}.values(), key=lambda one: one.packet[TIMESTAMP])
    lines = [line for packet in packets for line in commands(program, packet, tna.run)]
    outcomes = by_engine(built.json, p4info, lines, packets, program)
    fresh = [Example(packet=one.packet, calls=one.calls, cells=one.cells) for one in packets]
    assert outcomes == [by_step(program, one) for one in fresh]
    assert {outcome.queue is None for outcome in outcomes} == {True, False}


@pytest.mark.parametrize("name", ["fifo", "aifo", "rifo"])
def test_the_step_of_a_report_is_that_of_the_engine(name: str) -> None:
    built = compiled_program(name, target=Target.TNA)
    program = tna.read(built.json)
    source = random.Random(1)
    packets = [
        Example(
            packet={
                **{f"length_report.{part}": number(source, bits) for part, bits in (("queue", 16), ("length", 32))},
                **{"length_report.kind": 2, LENGTH: 64, TIMESTAMP: 1000 + place, tna.TIME: 1000 * (1000 + place)},
                tna.INGRESS_PORT: RECIRCULATION_PORT_TNA,
            }
        )
        for place in range(PACKETS)
    ]
    p4info = built.p4info.read_text(encoding="utf-8")
    outcomes = by_engine(built.json, p4info, [], packets, program, RECIRCULATION_PORT_TNA)
    assert outcomes == [by_step(program, one) for one in packets]
    assert all(outcome.queue is None and len(outcome.changes) == 1 for outcome in outcomes)
