"""Lab 06: which packets give which marks, and which mistakes have a name."""

from functools import partial

from p4sched.labs.decisions import Trial
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.packs import Condition, Packs, Scan, State, condition, scan
from p4sched.labs.stepped import Mistake, SteppedLab, Task
from p4sched.labs.trace import bursts

FILE = "packs_mapping.p4"
# Sizes of queues 1 to 8, K, |W|, S. Long queues at first, which are never full.
WIDE = [
    Trial((40, 40, 40, 40, 0, 0, 0, 0, 0, 16, 1), bursts(500, 1, range(40), (400, 900, 1500))),
    Trial((50, 30, 60, 0, 0, 0, 0, 0, 0, 8, 2), bursts(500, 2, range(9), (400, 900, 1500))),
]
NARROW = [
    Trial((3, 3, 3, 3, 3, 3, 3, 3, 0, 16, 1), bursts(800, 3, range(40))),
    Trial((2, 5, 1, 8, 0, 0, 0, 0, 0, 20, 3), bursts(600, 4, range(12))),
]
HEADROOM = [
    Trial((4, 4, 4, 4, 4, 4, 0, 0, 50, 16, 1), bursts(800, 5, range(40))),
    Trial((3, 9, 6, 0, 0, 0, 0, 0, 200, 20, 1), bursts(600, 6, range(100))),
]


def mistake(name: str, says: str, rule: Condition = condition, scan: Scan = scan) -> Mistake:
    return Mistake(name, says, partial(Packs, condition=rule, scan=scan))


def compared(state: State, free: int, needed: int | None = None) -> bool:
    needed = state.q * state.total * (256 - state.k) if needed is None else needed
    return needed <= state.window * free * 256


def first_only(state: State, fits: Condition) -> tuple[int | None, bool]:
    """Stops at the first queue that the condition holds for."""
    place = next((place for place in range(len(state.queues)) if fits(state, place)), None)
    return place, place is not None and state.free[place] > 0


def last_one(state: State, fits: Condition) -> tuple[int | None, bool]:
    """Each queue that may take the packet replaces the one before."""
    roomy = [place for place in range(len(state.queues)) if fits(state, place) and state.free[place] > 0]
    return (roomy[-1], True) if roomy else scan(state, fits)


def last_fitting(state: State, fits: Condition) -> tuple[int | None, bool]:
    """The same, with full queues too."""
    fitting = [place for place in range(len(state.queues)) if fits(state, place)]
    return (fitting[-1], state.free[fitting[-1]] > 0) if fitting else (None, False)


def endless(state: State, fits: Condition) -> tuple[int | None, bool]:
    """As if each queue had room."""
    place = next((place for place in range(len(state.queues)) if fits(state, place)), None)
    return place, place is not None


def refusing(state: State, fits: Condition) -> tuple[int | None, bool]:
    """Refused where it is full."""
    place, room = scan(state, fits)
    return (place, room) if room else (None, False)


class Reversed(Packs):
    def decide(self, packet, lengths):
        decision = super().decide(packet, lengths[::-1])
        return 7 - decision if isinstance(decision, int) else decision


LAB = SteppedLab(
    title="PACKS: write the choice of the queue",
    minutes=75,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="packs",
    scheme="packs",
    rule=Packs,
    tasks=(
        Task("Task 1: the condition of each queue", 40, tuple(WIDE), "Task 1"),
        Task("Task 2: full queues", 30, tuple(NARROW), "Task 2"),
        Task("Task 3: headroom", 30, tuple(HEADROOM), "Task 3"),
    ),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        mistake("nothing yet", "your program refuses every packet. Begin with task 1.", lambda *_: False),
        mistake(
            "strict comparison",
            "you compare with <. The rule has <=: a queue takes a packet also when both sides are equal.",
            lambda s, i: s.q * s.total * (256 - s.k) < s.window * sum(s.free[: i + 1]) * 256,
        ),
        mistake(
            "own room only",
            "you compare with the room of queue i alone. It is the sum over the queues 1 to i.",
            lambda s, i: compared(s, s.free[i]),
        ),
        mistake(
            "room of all queues",
            "you compare with the room of all queues. It is the sum over the queues 1 to i only.",
            lambda s, _: compared(s, sum(s.free)),
        ),
        mistake(
            "room before this queue",
            "your sum ends at queue i - 1. The room of queue i belongs to it.",
            lambda s, i: compared(s, sum(s.free[:i])),
        ),
        mistake(
            "sizes instead of room",
            "you add the sizes B_j. What counts is the room that is left: B_j - b_j.",
            lambda s, i: compared(s, sum(queue.size for queue in s.queues[: i + 1])),
        ),
        mistake(
            "lengths instead of room",
            "you add the lengths b_j. What counts is the room that is left: B_j - b_j.",
            lambda s, i: compared(s, sum(q.size - f for q, f in zip(s.queues[: i + 1], s.free, strict=False))),
        ),
        mistake(
            "no headroom",
            "your program does not use the headroom K.",
            lambda s, i: compared(s, sum(s.free[: i + 1]), s.q * s.total * 256),
        ),
        mistake(
            "headroom alone",
            "you multiply by K where the rule has 256 - K.",
            lambda s, i: compared(s, sum(s.free[: i + 1]), s.q * s.total * s.k),
        ),
        mistake(
            "headroom the wrong way",
            "the headroom makes your program stricter. It should let more packets in: the rule divides by 1 - k.",
            lambda s, i: compared(s, sum(s.free[: i + 1]), s.q * s.total * (256 + s.k)),
        ),
        mistake(
            "window off by one",
            "you divide q by |W| - 1. The window holds |W| ranks.",
            lambda s, i: s.q * s.total * (256 - s.k) <= (s.window - 1) * sum(s.free[: i + 1]) * 256,
        ),
        mistake(
            "no end of the scan",
            "a later queue takes the packet from the first one that admitted it. Look at the verdict before.",
            scan=last_one,
        ),
        mistake(
            "no end of the scan, full queues too",
            "a later queue takes the packet from the first one that admitted it. Look at the verdict before.",
            scan=last_fitting,
        ),
        mistake(
            "stops at a full queue",
            "your scan ends at the first queue for which the condition holds. If that queue is full, the scan goes on.",
            scan=first_only,
        ),
        mistake(
            "no tail drop",
            "your program puts packets into full queues. Compare the length with the size.",
            scan=endless,
        ),
        mistake(
            "refused instead of full",
            "a packet for which the condition holds, but which has no room, is FULL and not REFUSED.",
            scan=refusing,
        ),
        Mistake(
            "queue order reversed",
            "your queues are in the wrong order. Queue i has priority 8 - i: queue 1 has priority 7.",
            Reversed,
        ),
        mistake(
            "overflow",
            "q B does not fit into its bits. Cast each factor to bit<64> before you multiply.",
            lambda s, i: compared(s, sum(s.free[: i + 1]), s.q * s.total % 256 * (256 - s.k)),
        ),
        mistake(
            "no condition", "your condition holds always: the first queue with room takes each packet.", lambda *_: True
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,packs"),
        "The small flow is the most urgent one. "
        "With PACKS it ends in less than half of the time that it takes behind FIFO. "
        "Some segments overtake others: a flow changes its queue.",
    ),
)
