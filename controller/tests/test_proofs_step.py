"""The step of a proof is the step of the engine: random packets, parameters and states."""

import random
import struct
import zlib
from collections.abc import Callable
from itertools import product
from operator import and_, or_, xor
from typing import Any

import pytest
import z3
from random_packets import number, parameters

from p4sched.p4rt.compile import compiled_program
from p4sched.paths import SCHEDULERS_DIR
from p4sched.proofs.engine import Call, Example, by_engine, by_step, checksum, commands
from p4sched.proofs.exact import Int
from p4sched.proofs.program import Program, read
from p4sched.proofs.step import LENGTH, TIMESTAMP

PACKETS = 100
FIVE_TUPLE = ("ipv4.src_addr", "ipv4.dst_addr", "ipv4.protocol", "l4_ports.src_port", "l4_ports.dst_port")
PARAMETERS = {
    "fifo": "fifo_params",
    "aifo": "aifo_params",
    "rifo": "rifo_params",
    "packs": "packs_params",
    "sp_pifo": "sp_pifo_params",
    "fdpa": "fdpa_params",
    "exp_pifo": "exp_pifo_params",
    "fdpa_current": "fdpa_current_params",
    "aifo_own": "aifo_own_params",
    "rifo_own": "rifo_own_params",
    "packs_own": "packs_own_params",
    "sp_pifo_flowlet": "sp_pifo_flowlet_params",
}


def random_example(program: Program, control: str, p4info: str, place: int, source: random.Random) -> Example:
    """A packet for a port of its own, with the parameters and the state of this port."""
    port, user, now = 10 + place, 10 + place, 1000 + place * 10**6
    table = f"{control}.{PARAMETERS[program.name]}"
    packet = {
        **{"ethernet.dst_addr": 2, "ethernet.src_addr": 3, "ethernet.ether_type": 0x800},
        **{"ipv4.version": 4, "ipv4.ihl": 5, "ipv4.tos": number(source, 8), "ipv4.total_len": 100},
        **{"ipv4.ttl": source.choice((1, 2, 64, 64, 64)), "ipv4.protocol": 17},
        **{"ipv4.src_addr": 0x0A000000 + place, "ipv4.dst_addr": 0x0B000000 + place},
        **{"l4_ports.src_port": 100, "l4_ports.dst_port": source.choice((5376, 5631))},
        **{"udp_rest.length": 80, "rank.rank": number(source, 32)},
        **{LENGTH: source.choice((100, 1000)), TIMESTAMP: now, "standard_metadata.ingress_port": 1},
    }
    packet["ipv4.hdr_checksum"] = checksum(
        [(packet.get(part, 0), program.fields[part]) for part in program.headers["ipv4"]]
    )
    calls = {
        f"{control}.forwarding.ipv4_routes": Call(True, 0, (port, 1)),
        f"{control}.users.users_by_prefix": Call(True, 0, (user, source.choice((1, 128, 256, 512)))),
        f"{control}.ranking.rank_sources": Call(True, 0, (source.randrange(4),)),
        f"{control}.ranking.flow_ranks": Call(True, 0, (number(source, 32),)),
        table: Call(True, 0, tuple(parameters(program, table, p4info, source).values())),
    }
    cells: dict[str, dict[int, int]] = {}
    for name, register in program.registers.items():
        if name == "queue_depths":
            cells[name] = {port * 8 + priority: number(source, 5) for priority in range(8)}
        elif name.endswith(".bands.average.interval_start"):
            cells[name] = {user: (now - number(source, 32)) % (1 << 32)}
        elif name.startswith("flowlet_"):
            flow = struct.pack("!IIBHH", *(packet[part] for part in FIVE_TUPLE))
            passed = min(number(source, 32), now)
            cells[name] = {
                port * 512 + zlib.crc32(flow) % 512: source.randrange(9) if "queue" in name else now - passed
            }
        elif program.name.endswith("_own") and register.size == 4096:
            cells[name] = {port * 8 + user % 8: number(source, register.bits)}
        elif register.size <= 4096 and "flowlets" not in name:
            cells[name] = {user if register.size == 4096 else port: number(source, min(register.bits, 62))}
    return Example(packet=packet, calls=calls, cells=cells)


def in_numbers(term: Int, **values: int) -> int:
    """The value of a term of variables of 4 bits."""
    pairs = [(z3.BitVec(name, 4), z3.BitVecVal(value, 4)) for name, value in values.items()]
    return int(z3.simplify(z3.substitute(term.at(12), *pairs)).as_signed_long())


@pytest.mark.parametrize("operator", [and_, or_, xor])
def test_bits_of_a_negative_number_are_those_of_python(operator: Callable[[Any, Any], Any]) -> None:
    term = operator(Int.variable("one", 4) - 8, Int.variable("two", 4))
    for one, two in product(range(16), repeat=2):
        assert in_numbers(term, one=one, two=two) == operator(one - 8, two)


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 8, 9, 15, 16, 17])
def test_a_remainder_is_that_of_python(divisor: int) -> None:
    term = Int.variable("one", 4) % divisor
    assert [in_numbers(term, one=one) for one in range(16)] == [one % divisor for one in range(16)]


def test_a_shift_by_a_variable_is_that_of_python() -> None:
    value, places = Int.variable("one", 4), Int.variable("two", 4)
    for one, two in product(range(16), repeat=2):
        assert in_numbers(value >> places, one=one, two=two) == one >> two
        assert in_numbers((value - 8) >> places, one=one, two=two) == (one - 8) >> two
        assert in_numbers((value << places).lowest(8), one=one, two=two) == (one << two) % 256


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_step_is_that_of_the_engine(name: str) -> None:
    folder = SCHEDULERS_DIR / name / f"{name}.p4"
    built = compiled_program(folder if folder.is_file() else name)
    program = read(built.json)
    (control,) = {table.partition(".")[0] for table in program.tables if table.endswith("_params")}
    p4info, source = built.p4info.read_text(encoding="utf-8"), random.Random(1)
    packets = [random_example(program, control, p4info, place, source) for place in range(PACKETS)]
    lines = [line for packet in packets for line in commands(program, packet)]
    outcomes = by_engine(built.json, p4info, lines, packets, program)
    fresh = [Example(packet=one.packet, calls=one.calls, cells=one.cells) for one in packets]
    assert outcomes == [by_step(program, one) for one in fresh]
    assert {outcome.queue is None for outcome in outcomes} == {True, False}
