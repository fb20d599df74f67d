"""Lab 11: which packets give which marks, and which mistakes have a name."""

from collections.abc import Sequence

from p4sched.labs.chip import ChipLab, Limit
from p4sched.labs.decisions import Trial
from p4sched.labs.explanations.ports import by_rank_and_port, ported
from p4sched.labs.explanations.sp_pifo import explain_on_chip
from p4sched.labs.lab import Marks, TcpRun
from p4sched.labs.register_probe import SCALES
from p4sched.labs.stepped_lab import Task
from p4sched.labs.trace import Packet, bursts

FILE = "sp_pifo_mapping.p4"
PLENTY = 32_768
"""Packets that a queue holds: never full, and 0 if the number is cut to 15 bits or less."""
WIDE = 70_001
"""Ranks that are multiples of it do not fit into 16 bits."""
VERY_WIDE = 30_000_001
"""Ranks that are multiples of it need up to 32 bits."""
PORTS = (0, 1, 16, 128, 254)
"""Users, as `ports` counts: ports 1, 3, 33, 257, 509. Some differ in high bits only."""
CHANGED = (
    # the copy that is checked has a port for each user, also in a packet's second pass
    (
        """            if (ig_intr_md.resubmit_flag == 0) {
                users.apply(hdr, meta);""",
        """            users.apply(hdr, meta);
            if (ig_intr_md.resubmit_flag == 0) {""",
    ),
    (
        "mapping.apply(ig_tm_md.ucast_egress_port,",
        "mapping.apply(ig_tm_md.ucast_egress_port ^ ((bit<9>) meta.user << 1),",
    ),
)


def sizes(count: int, size: int = PLENTY) -> tuple[int, ...]:
    """Sizes of queues 1 to 8; 0: no such queue."""
    return (size,) * count + (0,) * (8 - count)


def without_inversions(queues: int, count: int, seed: int, factor: int = 1) -> Trial:
    """Ranks that rise slowly. Those below the bound of queue 1 are left out.

    Rank 0 is special on the chip: a word of 0 says that no queue took the packet. So there is none.
    """
    bounds, kept = [0] * queues, []
    for number, packet in enumerate(bursts(count, seed, range(1, 60))):
        rank = (packet.rank + number // 4) * factor
        fitting = [place for place in range(queues) if bounds[place] <= rank]
        if fitting:
            bounds[fitting[-1]] = rank
            kept.append(packet._replace(rank=rank))
    return Trial(sizes(queues), kept)


def ranks(*each: int) -> list[Packet]:
    """Packets at one instant."""
    return [Packet(0, rank) for rank in each]


def falling(first: int) -> range:
    """A rank for each of the queues 8 to 1."""
    return range(first, first - 8, -1)


def wide(packets: list[Packet]) -> list[Packet]:
    return [packet._replace(rank=packet.rank * WIDE) for packet in packets]


def of_ports(packets: Sequence[Packet]) -> list[Packet]:
    """Packets for one port after another."""
    return [packet._replace(user=PORTS[number % len(PORTS)]) for number, packet in enumerate(packets)]


LAB = ChipLab(
    title="SP-PIFO on a Tofino: one access, twelve stages",
    minutes=90,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="sp_pifo",
    scheme="sp_pifo",
    explain=ported(explain_on_chip, own_queues=False),
    who=by_rank_and_port,
    edits=CHANGED,
    tasks=(
        Task(
            "Task 1: one bound, one access",
            20,
            (without_inversions(2, 300, 1), without_inversions(3, 300, 2, WIDE), without_inversions(1, 60, 9)),
            "Task 1",
        ),
        Task(
            "Task 2: two bounds in one access",
            30,
            (
                without_inversions(8, 400, 3),
                without_inversions(5, 300, 4),
                without_inversions(8, 300, 5, WIDE),
                without_inversions(6, 200, 10, VERY_WIDE),
                without_inversions(4, 200, 11),
                # words that are not 0, but whose lower bits are
                without_inversions(8, 250, 14, 2**24),
                without_inversions(3, 150, 15, 2**24),
                Trial(sizes(8), ranks(*falling(2**31), 2**31 - 7)),
                # two numbers that differ in the highest bit only
                Trial(sizes(8), ranks(2**31 + 5, 5)),
            ),
            "Task 2",
        ),
        Task(
            "Task 3: push-down in the second pass",
            25,
            (
                Trial(sizes(8, 8), bursts(600, 6, range(1, 100))),
                Trial((2, 3, 2, 5, 4, 0, 0, 0), bursts(500, 7, range(1, 40))),
                Trial(sizes(8), wide(bursts(300, 8, range(1, 100)))),
                Trial(sizes(7), bursts(300, 12, range(1, 2**32, 2**24 + 77))),
                # a cost of 32 bits; then a packet for each queue
                Trial(sizes(8), ranks(*falling(2**32 - 1), 5, *falling(12))),
                Trial((3, 2, 4, 5, 2, 3, 4, 2), of_ports(bursts(800, 13, range(1, 1000))), SCALES, has_model=False),
            ),
            "Task 3",
        ),
    ),
    fits=Marks("Task 4: it fits the chip", 0, 25),
    limits=(
        Limit(
            "two accesses to one register",
            "is accessed twice",
            "a packet passes the stage of a register once, so it reads and writes it in one access. "
            "Put what you read, compute and write into one RegisterAction.",
        ),
        Limit(
            "a comparison outside of a register",
            "compared by size outside of a register|compares by size on",
            "only a stateful ALU compares two numbers by size. "
            "A difference that stops at 0 tells as much: a |-| b is not 0 if a > b.",
        ),
        Limit(
            "too many comparisons",
            "comparison",
            "a stateful ALU of Tofino 1 has two comparisons, each of a number of its cell with a field or a constant. "
            "Leave out what the other branch says already.",
        ),
        Limit(
            "two operations in one",
            "takes more than one operation|chooses in an action|multiplies|is computed in a condition",
            "an ALU does one operation on a field in each stage: no product, no choice, no sum of three. "
            "Use an if for the choice, or a table before it for a part of the sum.",
        ),
        Limit(
            "a result that the ALU does not have",
            "what is returned",
            "an access to a pair returns one of its two numbers, old or new, or 0. "
            "It computes nothing else for the answer.",
        ),
        Limit(
            "thirteen stages",
            "have no room for",
            "what uses a result must lie in a later stage. Let the access itself compute what you compute behind it.",
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,sp_pifo", "--target", "tna"),
        "The lower panels are your program, as a Tofino would run it. "
        "The small flow is the most urgent one, and ends in less than half the time that it takes with FIFO.",
    ),
)
