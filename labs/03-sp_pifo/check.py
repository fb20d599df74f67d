"""Lab 03: which packets give which marks, and which mistakes have a name."""

from functools import partial
from typing import Any

from p4sched.labs.decisions import Trial
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.sp_pifo import SpPifo, push_down
from p4sched.labs.stepped import Mistake, SteppedLab, Task
from p4sched.labs.trace import Packet, bursts, by_hand

FILE = "sp_pifo_mapping.p4"
PLENTY = 4000
# Sizes of queues 1 to 8; 0: there is no such queue.
FOUR = (PLENTY,) * 4 + (0,) * 4


def without_inversions(count: int, seed: int) -> list[Packet]:
    """Ranks that rise slowly. Those below the bound of queue 1 are left out."""
    bounds, kept = [0] * 4, []
    for number, packet in enumerate(bursts(count, seed, range(60))):
        rank = packet.rank + number // 4
        fitting = [place for place in range(4) if bounds[place] <= rank]
        if fitting:
            bounds[fitting[-1]] = rank
            kept.append(packet._replace(rank=rank))
    return kept


def mistake(name: str, says: str, marker: str = "", **parts: Any) -> Mistake:
    return Mistake(name, says, partial(SpPifo, **parts), marker)


class Reversed(SpPifo):
    def decide(self, packet, lengths):
        decision = super().decide(packet, lengths[::-1])
        return 7 - decision if isinstance(decision, int) else decision


class Endless(SpPifo):
    def has_room(self, queue, lengths):
        return True


LAB = SteppedLab(
    title="SP-PIFO: write push-up and push-down",
    minutes=75,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="sp_pifo",
    scheme="sp_pifo",
    rule=SpPifo,
    tasks=(
        # Equal ranks: after the first packet, no bound changes.
        Task("Task 1: the scan finds a queue", 20, (Trial(FOUR, by_hand(*[(700, 5)] * 30)),), "Task 1"),
        Task("Task 2: tail drop", 20, (Trial((3, 5, 0, 0, 0, 0, 0, 0), by_hand(*[(200, 5)] * 30)),), "Task 2"),
        Task("Task 3: push-up", 30, (Trial(FOUR, without_inversions(300, 1)),), "Task 3"),
        Task(
            "Task 4: push-down",
            30,
            (Trial((8,) * 8, bursts(700, 2, range(100))), Trial((2, 3, 2, 5, 0, 0, 0, 0), bursts(700, 3, range(40)))),
            "Task 4",
        ),
    ),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        Mistake(
            "nothing yet",
            "no queue takes a packet in the scan, so all go to queue 1. Begin with task 1.",
            partial(Endless, fits=lambda *_: False, push_down=lambda bounds, *_: bounds),
        ),
        mistake(
            "strict comparison",
            "you compare with <. A queue takes a packet whose rank is equal to its bound: b_i <= r.",
            fits=lambda bound, rank: bound < rank,
        ),
        mistake(
            "comparison the wrong way",
            "your queue takes a packet whose rank is below its bound. It is b_i <= r.",
            fits=lambda bound, rank: bound >= rank,
        ),
        mistake(
            "no push-up",
            "the least urgent queue takes every packet: its bound stays 0, or you do not compare with it.",
            push_up=lambda bound, *_: bound,
        ),
        mistake(
            "push-up of a full queue",
            "the bound rises also when the packet is dropped. Push-up is for packets that have room only.",
            push_up=lambda _bound, rank, _room: rank,
            marker="Task 3",
        ),
        mistake(
            "push-up adds",
            "push-up adds the rank to the bound. The rank is the new bound.",
            push_up=lambda bound, rank, room: bound + rank if room else bound,
        ),
        mistake(
            "forgotten push-down",
            "after an inversion, the bounds of queues 2 to n stay. All bounds fall by b_1 - r.",
            push_down=lambda bounds, *_: bounds,
        ),
        mistake(
            "push-down without queue 1",
            "after an inversion, the bound of queue 1 stays. It falls like all others.",
            push_down=lambda bounds, rank, room: [
                bounds[0],
                *(bound % 2**32 for bound in push_down(bounds, rank, room)[1:]),
            ],
        ),
        mistake(
            "push-down to the rank",
            "after an inversion, every bound becomes r. Every bound falls by b_1 - r, so their distances stay.",
            push_down=lambda bounds, rank, _: [rank] * len(bounds),
        ),
        mistake(
            "push-down upwards",
            "after an inversion, your bounds rise. They fall by b_1 - r.",
            push_down=lambda bounds, rank, _: [
                (2 * bound - low) % 2**32 for bound, low in zip(bounds, push_down(bounds, rank, True), strict=True)
            ],
        ),
        mistake(
            "push-down of dropped packets missing",
            "there is no push-down when queue 1 is full. The inversion has been seen all the same: the bounds fall.",
            push_down=lambda bounds, rank, room: push_down(bounds, rank, room) if room else bounds,
        ),
        mistake(
            "scan from queue 1",
            "your scan begins at queue 1. It begins at the least urgent queue, so that urgent queues stay free.",
            order=lambda places: places,
            inversion=-1,
            push_down=lambda bounds, rank, _: [(bound - (bounds[-1] - rank)) % 2**32 for bound in bounds],
        ),
        Mistake(
            "queue order reversed",
            "your queues are in the wrong order. Queue i has priority 8 - i: queue 1 has priority 7.",
            Reversed,
        ),
        Mistake("no tail drop", "no packet finds its queue full. Compare length with size.", Endless),
        mistake(
            "inversion to the last queue",
            "after an inversion, your packet goes to the least urgent queue. It goes to queue 1.",
            inversion=-1,
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,sp_pifo"),
        "The small flow is the most urgent one. "
        "With SP-PIFO it ends in half of the time that it takes behind FIFO. "
        "Some segments overtake others: a flow changes its queue.",
    ),
)
