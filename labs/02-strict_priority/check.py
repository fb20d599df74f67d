"""Lab 02: which packets give which marks, and which mistakes have a name."""

import random
from collections.abc import Sequence

from p4sched.labs.decisions import Trial
from p4sched.labs.explanations.ports import by_rank_and_port, ported
from p4sched.labs.explanations.strict_priority import explain
from p4sched.labs.lab import TcpRun
from p4sched.labs.register_probe import SCALES
from p4sched.labs.stepped_lab import SteppedLab, Task
from p4sched.labs.trace import Packet, bursts, by_hand

FILE = "strict_priority.p4"
PLENTY = (4000,) * 8
SHORT = (4, 3, 5, 2, 6, 9, 7, 8)
LONG = (300, 290, 280, 270, 350, 260, 330, 310)
"""Sizes and lengths that eight bits do not hold."""
ENDS = (
    *(0, 7, 8, 15, 16, 47, 48, 55, 56, 57, 63, 64, 65, 71, 72, 127, 128, 255, 256, 263, 512, 1023, 2047, 65_535),
    *(2**16, 2**16 + 9, 2**19, 2**24 + 17, 2**31 - 1, 2**31, 2**31 + 30, 2**32 - 64, 2**32 - 1),
)
"""Ranks where the priority changes, and ranks that need more bits."""


PORTS = (0, 1, 16, 128, 254)
"""Users, as `ports` counts: ports 1, 3, 33, 257, 509. Some differ in high bits only."""
CALL = "mapping.apply(standard_metadata.egress_spec,"


def of_ports(packets: Sequence[Packet], seed: int) -> list[Packet]:
    """Packets for ports in random order."""
    source = random.Random(seed)
    return [packet._replace(user=PORTS[int(source.random() * len(PORTS))]) for packet in packets]


def few_urgent(count: int, seed: int, ranks: Sequence[int] = range(100)) -> list[Packet]:
    """Two of 16 packets may be for queue 1, early in a block, so no quota holds them up."""
    packets = bursts(count, seed, ranks)
    return [
        packet if number % 16 in (0, 4) or packet.rank >= 8 else packet._replace(rank=packet.rank + 8)
        for number, packet in enumerate(packets)
    ]


def at_one_instant(packets: Sequence[Packet]) -> list[Packet]:
    """Packets that all arrive before any leaves."""
    return [packet._replace(at_ns=0) for packet in packets]


LAB = SteppedLab(
    title="Strict priority: queues, and a quota against starvation",
    minutes=60,
    files=(FILE,),
    # The program of SP-PIFO has the queues and their sizes; the choice of the queue is the student's.
    places={FILE: "include/sp_pifo_mapping.p4"},
    program="sp_pifo",
    scheme="sp_pifo",
    has_model=False,
    explain=ported(explain),
    who=by_rank_and_port,
    # a port for each user
    edits=((CALL, "mapping.apply(standard_metadata.egress_spec ^ ((bit<9>) meta.user << 1),"),),
    tasks=(
        Task(
            "Task 1: from a rank to a priority",
            40,
            (Trial(PLENTY, few_urgent(400, 1)), Trial(PLENTY, few_urgent(400, 5, ENDS))),
            "Task 1",
        ),
        Task(
            "Task 2: tail drop",
            20,
            (
                Trial(SHORT, few_urgent(600, 2)),
                Trial(SHORT, at_one_instant(few_urgent(200, 10, range(8, 64)))),
                Trial(LONG, at_one_instant(few_urgent(3000, 6, range(8, 64)))),
                # sizes and lengths need 16 bits
                Trial((32768,) * 8, at_one_instant([*few_urgent(200, 13), *by_hand(*[(0, 40)] * 32_800)])),
            ),
            "Task 2",
        ),
        Task(
            "Task 3: a quota for queue 1",
            40,
            (
                Trial(PLENTY, bursts(500, 3, (0, 3, 7, 24, 72))),
                Trial(SHORT, bursts(500, 4, (0, 1, 2, 6, 7, 40))),
                Trial(PLENTY, bursts(100, 7, range(8))),
                Trial(SHORT, bursts(500, 8, (0, 4, 7, 8, 15, 56))),
                Trial(LONG, at_one_instant(bursts(1000, 9, (0, 5, 7, 8)))),
                Trial(PLENTY, of_ports(bursts(800, 11, (0, 3, 7, 24, 72)), 12), SCALES, has_model=False),
            ),
            "Task 3",
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,sp_pifo"),
        "The lower panels show your program. The small flow ends later than with FIFO: nearly all ranks are 56 "
        "and above, so all flows share queue 8, which holds 10 packets. FIFO's holds 80. Lab 03 uses all queues.",
    ),
)
