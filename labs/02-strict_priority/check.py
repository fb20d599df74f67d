"""Lab 02: which packets give which marks, and which mistakes have a name."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from p4sched.labs.decisions import Trial
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.strict_priority import StrictPriority, priority_of
from p4sched.labs.stepped import Mistake, SteppedLab, Task
from p4sched.labs.trace import Packet, bursts

FILE = "strict_priority.p4"
PLENTY = (4000,) * 8
SHORT = (4, 3, 5, 2, 6, 4, 3, 8)


def few_urgent(count: int, seed: int) -> list[Packet]:
    """Ranks up to 99. Two of 16 packets may be for queue 1, early in a block, so no quota holds them up."""
    packets = bursts(count, seed, range(100))
    return [
        packet if number % 16 in (0, 4) else packet._replace(rank=max(packet.rank, 8))
        for number, packet in enumerate(packets)
    ]


def mistake(name: str, says: str, **parts: Any) -> Mistake:
    return Mistake(name, says, partial(StrictPriority, **parts))


def mistakes(name: str, says: str, **parts: Any) -> Iterator[Mistake]:
    """A mistake in task 1, with task 3 done and without."""
    yield mistake(name, says, **parts)
    yield mistake(f"{name}, no quota", says, quota=None, **parts)


LAB = SteppedLab(
    title="Strict priority: queues, and a quota against starvation",
    minutes=60,
    files=(FILE,),
    # The program of SP-PIFO has the queues and their sizes; the choice of the queue is the student's.
    places={FILE: "include/sp_pifo_mapping.p4"},
    program="sp_pifo",
    scheme="sp_pifo",
    has_model=False,
    rule=StrictPriority,
    tasks=(
        Task("Task 1: from a rank to a priority", 40, (Trial(PLENTY, few_urgent(400, 1)),), "Task 1"),
        Task("Task 2: tail drop", 20, (Trial(SHORT, few_urgent(600, 2)),), "Task 2"),
        Task(
            "Task 3: a quota for queue 1",
            40,
            (Trial(PLENTY, bursts(500, 3, (0, 3, 7, 24, 72))), Trial(SHORT, bursts(500, 4, (0, 1, 2, 6, 7, 40)))),
            "Task 3",
        ),
    ),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        mistake(
            "nothing yet",
            "every packet goes to queue 8. Begin with task 1.",
            priority=lambda _: 0,
            quota=None,
            tail_drop=None,
        ),
        mistake("no quota", "queue 1 takes every packet of the ranks 0 to 7. Go on with task 3.", quota=None),
        mistake(
            "no tail drop, no quota", "no packet finds its queue full. Go on with task 2.", quota=None, tail_drop=None
        ),
        mistake("no tail drop", "no packet finds its queue full. Compare length with size.", tail_drop=None),
        mistake(
            "tail drop too late",
            "a queue of this size takes one packet too many: it is full at length = size.",
            tail_drop=1,
        ),
        mistake(
            "tail drop too early", "the last place of a queue stays empty. It is full at length = size.", tail_drop=-1
        ),
        *mistakes(
            "order reversed",
            "rank 0 is in the least urgent queue. Priority 7 is the most urgent one.",
            priority=lambda rank: 7 - priority_of(rank),
        ),
        *mistakes(
            "large ranks wrap",
            "ranks from 64 on do not fit: rank 64 goes to queue 1 again. They go to queue 8.",
            priority=lambda rank: 7 - (rank >> 3) % 8,
        ),
        *mistakes(
            "rank 64 wraps",
            "rank 64 goes to queue 1. It goes to queue 8, as all ranks from 56 on.",
            priority=lambda rank: 7 if rank == 64 else priority_of(rank),
        ),
        *mistakes(
            "four ranks share a queue",
            "four ranks share a queue. Eight do: ranks 0 to 7 go to queue 1.",
            priority=lambda rank: 7 - (rank >> 2) % 8 if rank < 56 else 0,
        ),
        *mistakes(
            "four ranks share a queue",
            "four ranks share a queue. Eight do: ranks 0 to 7 go to queue 1.",
            priority=lambda rank: max(7 - (rank >> 2), 0),
        ),
        mistake(
            "off by one",
            "your priorities are one too low. Rank 0 has priority 7.",
            priority=lambda rank: max(priority_of(rank) - 1, 0),
        ),
        *mistakes(
            "a queue for each rank",
            "each rank has a queue of its own. Eight ranks share one: ranks 0 to 7 go to queue 1.",
            priority=lambda rank: max(7 - rank, 0),
        ),
        mistake("quota off by one", "your quota lets 9 packets of a block into queue 1. It is 8.", quota=(16, 9)),
        mistake(
            "quota off by one, downwards", "your quota lets 7 packets of a block into queue 1. It is 8.", quota=(16, 7)
        ),
        mistake("block off by one", "your block has 17 packets. Begin a new one when 16 have arrived.", quota=(17, 8)),
        mistake("block off by one, downwards", "your block has 15 packets. It has 16.", quota=(15, 8)),
        mistake(
            "first block short",
            "your first block has 15 packets, and the others 16. Compare the count before you add 1.",
            begun=1,
        ),
        mistake(
            "quota by place",
            "only the first 8 packets of a block can go to queue 1. Count the packets that you send there.",
            by_place=True,
        ),
        mistake(
            "quota without full queues",
            "your quota does not count a packet that finds queue 1 full. It counts all that are sent to queue 1.",
            counts_full=False,
        ),
        mistake(
            "block of urgent packets",
            "your block counts packets for queue 1 only. It counts all that arrive.",
            counts_all=False,
        ),
        mistake(
            "quota never renewed",
            "after the first 8 packets, queue 1 gets nothing. Each block has a quota of its own.",
            quota=(1 << 40, 8),
        ),
        mistake("dropped by the quota", "what is above the quota goes to queue 7. It goes to queue 8.", demoted=1),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,sp_pifo"),
        "The lower panels are your program. The small flow ends later than behind FIFO: nearly all ranks are 56 "
        "and above, so all flows share queue 8, which holds 10 packets. FIFO's holds 80. Lab 03 uses all queues.",
    ),
)
