"""Lab 05: which packets give which marks, and which mistakes have a name."""

from p4sched.labs.decisions import Trial
from p4sched.labs.explanations.rifo import explain
from p4sched.labs.lab import TcpRun
from p4sched.labs.stepped_lab import SteppedLab, Task
from p4sched.labs.trace import Packet, at_once, bursts, by_hand

FILE = "rifo_admission.p4"
# B, K, T
HEADROOM = Trial((16, 128, 1000), by_hand((0, 0), *[(0, 50)] * 14, *[(900, 50)] * 9, *[(0, 50)] * 6))
EQUAL = Trial((12, 20, 1000), by_hand(*[(0, 7)] * 30, *[(300, 7)] * 30))
SCORE = [Trial((20, 26, 50), bursts(800, 1, range(21))), Trial((50, 0, 17), bursts(600, 2, range(12)))]
MOST = 2**32 - 1
NEVER = 100_000
"""T of a range that does not restart."""


def at_the_edge(size: int, k: int, low: int, high: int, count: int = 60) -> Trial:
    """Packets at the same instant, each with the rank that decides at the length before it, or one beside it."""
    packets, waiting = [Packet(0, low), Packet(0, high)], 1
    for number in range(count):
        rank = min(max(low + (high - low) * waiting // size + number % 3 - 1, low), high)
        packets.append(Packet(0, rank))
        # the first packet is on the link, and not in the queue
        enough = (high - rank) * size >= (high - low) * (size - waiting)
        waiting += waiting < size and (enough or 256 * waiting <= k * size)
    return Trial((size, k, NEVER), packets)


def beyond_the_headroom(size: int, k: int, low: int = 5, high: int = 9) -> Trial:
    """Packets at the same instant, nearly all of the least urgent rank: only the headroom admits them."""
    packets = [Packet(0, low), *[Packet(0, high)] * (k * size // 256 + 6)]
    return Trial((size, k, NEVER), packets)


LARGE = [
    Trial((40, 10, 60), bursts(600, 3, range(0, 2**32, 2**24 + 77))),
    Trial((65000, 200, 9), bursts(60, 4, range(9))),
    # both ends of each range
    Trial((1, 0, 1), bursts(40, 5, range(9))),
    Trial((2, 255, 2), bursts(60, 6, range(9))),
    beyond_the_headroom(1, 255),
    beyond_the_headroom(300, 255),
    beyond_the_headroom(65535, 1, 0, MOST),
    beyond_the_headroom(65535, 2),
    # lengths of 16 bits, in the headroom and in the room: the last rank enters at the true length only
    Trial((65535, 129, NEVER), [*beyond_the_headroom(65535, 129, 5, 105).packets, Packet(0, 55)]),
    at_the_edge(65535, 0, 0, MOST),
    at_the_edge(65535, 0, 2**31, 2**31 + 2**24),
    at_the_edge(256, 0, 77, 77 + 2**30, 400),
    at_the_edge(40000, 0, MOST - 2**16, MOST),
    at_the_edge(300, 3, 0, 2**28, 500),
    Trial((65535, 0, NEVER), at_once(200, 7, range(0, 2**32, 2**20 + 3))),
    # one side is larger by 1; Max is the length
    Trial((3, 0, 7), bursts(150, 8, range(4))),
    Trial((7, 0, 30), bursts(150, 9, range(6))),
    Trial((50, 0, NEVER), [Packet(0, rank) for _ in range(14) for rank in (0, 9)]),
    # Min and Max differ in one bit
    *[Trial((16, 0, NEVER), [Packet(0, rank) for rank in (0, 0, 1 << bit)]) for bit in (7, 8, 15, 16, 23, 24, 30, 31)],
]


LAB = SteppedLab(
    title="RIFO: write the admission rule with integers only",
    minutes=60,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="rifo",
    scheme="rifo",
    one_queue=True,
    explain=explain,
    tasks=(
        Task("Task 1: headroom", 20, (HEADROOM,), "Task 1"),
        Task("Task 2: equal ranks", 20, (EQUAL,), "Task 2"),
        Task("Task 3: the score", 40, tuple(SCORE), "Task 3"),
        Task("Task 4: large numbers", 20, tuple(LARGE), "Task 3"),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,rifo"),
        "The small flow is the most urgent one. "
        "With RIFO it ends in little more than half the time that it takes with FIFO. "
        "No segment overtakes another: there is one queue.",
    ),
)
