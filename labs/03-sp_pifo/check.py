"""Lab 03: which packets give which marks, and which mistakes have a name."""

from collections.abc import Sequence

from p4sched.labs.decisions import Trial
from p4sched.labs.explanations.ports import by_rank_and_port, port, ported
from p4sched.labs.explanations.queues import present_queues
from p4sched.labs.explanations.sp_pifo import explain
from p4sched.labs.lab import TcpRun
from p4sched.labs.register_probe import SCALES, Probe, edit
from p4sched.labs.stepped_lab import SteppedLab, Task
from p4sched.labs.trace import Packet, at_once, bursts, by_hand

FILE = "sp_pifo_mapping.p4"
PLENTY = 4000
# Sizes of queues 1 to 8; 0: there is no such queue.
FOUR = (PLENTY,) * 4 + (0,) * 4
EIGHT = (PLENTY,) * 8


WIDE = 31_000_001
"""Ranks that are multiples of it need up to 32 bits."""
PORTS = (0, 1, 16, 128, 254)
"""Users, as `ports` counts: ports 1, 3, 33, 257, 509. Some differ in high bits only."""
FIRST = port(0)
CALL = "mapping.apply(standard_metadata.egress_spec, meta.rank, sizes, length, standard_metadata.priority, verdict);"


def without_inversions(count: int, seed: int, factor: int = 1, queues: int = 4) -> list[Packet]:
    """Ranks that rise slowly. Those below the bound of queue 1 are left out."""
    bounds, kept = [0] * queues, []
    for number, packet in enumerate(bursts(count, seed, range(60))):
        rank = (packet.rank + number // 4) * factor
        fitting = [place for place in range(queues) if bounds[place] <= rank]
        if fitting:
            bounds[fitting[-1]] = rank
            kept.append(packet._replace(rank=rank))
    return kept


def of_ports(packets: Sequence[Packet]) -> list[Packet]:
    """Packets for one port after another."""
    return [packet._replace(user=PORTS[number % len(PORTS)]) for number, packet in enumerate(packets)]


def bounds_text(trial: Trial, held: Sequence[int]) -> str:
    bounds = [f"b_{queue.number} = {held[queue.number - 1]}" for queue in present_queues(trial.parameters)]
    return f"in your program: {', '.join(bounds)}"


LAB = SteppedLab(
    title="SP-PIFO: write push-up and push-down",
    minutes=75,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="sp_pifo",
    scheme="sp_pifo",
    explain=ported(explain),
    who=by_rank_and_port,
    edits=(edit(CALL, CALL.replace("egress_spec,", "egress_spec ^ ((bit<9>) meta.user << 1),"), "bounds"),),
    probe=Probe("bounds", [FIRST << 3 | 8 - number for number in range(1, 9)], bounds_text),
    tasks=(
        # Equal ranks: after the first packet, no bound changes.
        Task("Task 1: the scan finds a queue", 20, (Trial(FOUR, by_hand(*[(700, 5)] * 30)),), "Task 1"),
        Task(
            "Task 2: tail drop",
            20,
            (
                Trial((3, 5, 0, 0, 0, 0, 0, 0), by_hand(*[(200, 5)] * 30)),
                Trial((300, 300, 0, 0, 0, 0, 0, 0), by_hand(*[(2, 5)] * 320)),
                # size and length need 16 bits
                Trial((32768, 32768, 0, 0, 0, 0, 0, 0), by_hand(*[(0, 5)] * 32_773)),
            ),
            "Task 2",
        ),
        Task(
            "Task 3: push-up",
            30,
            (
                Trial(FOUR, without_inversions(300, 1)),
                Trial(EIGHT, without_inversions(300, 4, WIDE, 8)),
            ),
            "Task 3",
        ),
        Task(
            "Task 4: push-down",
            30,
            (
                Trial((8,) * 8, bursts(700, 2, range(100))),
                Trial((2, 3, 2, 5, 0, 0, 0, 0), bursts(700, 3, range(40))),
                Trial((2, 3, 4, 6, 5, 7, 8, 9), bursts(500, 5, range(0, 2**32, 2**24 + 77), (100, 300, 900))),
                # costs and ranks of 32 bits
                Trial(FOUR[:2] + (0,) * 6, [Packet(0, rank) for rank in (2**32 - 1, 2**32 - 2, 5, 100)]),
                Trial(FOUR[:2] + (0,) * 6, [Packet(0, rank) for rank in (2**32 - 1, 2**32 - 2, 2**31 + 5, 100)]),
                Trial((3, 2, 4, 5, 1, 2, 0, 0), bursts(300, 6, range(30))),
                Trial((3, 0, 0, 0, 0, 0, 0, 0), bursts(100, 7, range(30))),
                # the largest rank, for each number of queues
                *(
                    Trial((9,) * n + (0,) * (8 - n), [Packet(0, rank) for rank in (2**32 - 1, 5, 2**32 - 1)])
                    for n in range(3, 8)
                ),
                # few ranks: many are equal to a bound
                Trial(EIGHT, bursts(1500, 9, range(12))),
                # each queue fills
                Trial((300, 290, 280, 270, 350, 260, 330, 310), at_once(4000, 10, range(64))),
                Trial((6, 4, 5, 3, 2, 1, 3, 4), of_ports(bursts(800, 8, range(1000))), SCALES, has_model=False),
            ),
            "Task 4",
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,sp_pifo"),
        "The small flow is the most urgent one. "
        "With SP-PIFO it ends in half the time that it takes with FIFO. "
        "Some segments overtake others: a flow changes its queue.",
    ),
)
