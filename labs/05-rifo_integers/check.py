"""Lab 05: which packets give which marks, and which mistakes have a name."""

from functools import partial

from p4sched.labs.decisions import Trial
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.rifo import Admits, Rifo, admits
from p4sched.labs.stepped import Mistake, SteppedLab, Task
from p4sched.labs.trace import bursts, by_hand

FILE = "rifo_admission.p4"
# B, K, T
HEADROOM = Trial((16, 128, 1000), by_hand((0, 0), *[(0, 50)] * 14, *[(900, 50)] * 9, *[(0, 50)] * 6))
EQUAL = Trial((12, 20, 1000), by_hand(*[(0, 7)] * 30, *[(300, 7)] * 30))
SCORE = [Trial((20, 26, 50), bursts(800, 1, range(21))), Trial((50, 0, 17), bursts(600, 2, range(12)))]
LARGE = [
    Trial((40, 10, 60), bursts(600, 3, range(0, 2**32, 2**24 + 77))),
    Trial((65000, 200, 9), bursts(60, 4, range(9))),
]


def mistake(name: str, says: str, rule: Admits) -> Mistake:
    return Mistake(name, says, partial(Rifo, rule=rule))


def rule(score: Admits) -> Admits:
    """The rule with another score."""
    return lambda r, low, high, length, b, k: 256 * length <= k * b or high == low or score(r, low, high, length, b, k)


LAB = SteppedLab(
    title="RIFO: write the admission rule with integers only",
    minutes=60,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="rifo",
    scheme="rifo",
    one_queue=True,
    rule=Rifo,
    tasks=(
        Task("Task 1: headroom", 20, (HEADROOM,), "Task 1"),
        Task("Task 2: equal ranks", 20, (EQUAL,), "Task 2"),
        Task("Task 3: the score", 40, tuple(SCORE), "Task 3"),
        Task("Task 4: large ranks", 20, tuple(LARGE), "Task 3"),
    ),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        mistake("nothing yet", "your program refuses every packet. Begin with task 1.", lambda *_: False),
        mistake("admits everything", "your program admits every packet that the queue has room for.", lambda *_: True),
        mistake(
            "headroom excluded",
            "you compare the headroom with <. At L = k B the packet is admitted, too.",
            lambda r, low, high, n, b, k: (
                admits(r, low, high, n, b, k)
                if 256 * n != k * b
                else high == low or (high - r) * b >= (high - low) * max(b - n, 0)
            ),
        ),
        mistake(
            "no headroom",
            "your program does not use the headroom: while L <= k B, every packet is admitted.",
            lambda r, low, high, n, b, _: high == low or (high - r) * b >= (high - low) * max(b - n, 0),
        ),
        mistake(
            "headroom in packets",
            "you compare L with K. K is a share of the queue in 1/256: L <= K B / 256.",
            lambda r, low, high, n, b, k: n <= k or high == low or (high - r) * b >= (high - low) * max(b - n, 0),
        ),
        mistake(
            "headroom only",
            "your program admits by the headroom only. Go on with task 2 and task 3.",
            lambda _r, _low, _high, n, b, k: 256 * n <= k * b,
        ),
        mistake(
            "score missing",
            "your program never compares the score of the rank. Go on with task 3.",
            lambda _r, low, high, n, b, k: 256 * n <= k * b or high == low,
        ),
        mistake(
            "strict comparison",
            "you compare the score with >. The rule has >=.",
            rule(lambda r, low, high, n, b, _: (high - r) * b > (high - low) * max(b - n, 0)),
        ),
        mistake(
            "strict comparison, and no case for equal ranks",
            "you compare the score with >, and Max = Min has no case of its own. The rule has >=.",
            lambda r, low, high, n, b, k: 256 * n <= k * b or (high - r) * b > (high - low) * max(b - n, 0),
        ),
        mistake(
            "occupied share",
            "you compare with L, what waits in the queue. The threshold is the free share: B - L.",
            rule(lambda r, low, high, n, b, _: (high - r) * b >= (high - low) * n),
        ),
        mistake(
            "rank reversed",
            "your score is high for packets that are not urgent. It is (Max - r): 0 for the least urgent rank.",
            rule(lambda r, low, high, n, b, _: (r - low) * b >= (high - low) * max(b - n, 0)),
        ),
        mistake(
            "comparison reversed",
            "your program admits where the score is too low.",
            rule(lambda r, low, high, n, b, _: (high - r) * b <= (high - low) * max(b - n, 0)),
        ),
        mistake(
            "counts itself",
            "your program counts the packet itself. L is the length before the packet is in the queue.",
            rule(lambda r, low, high, n, b, _: (high - r) * b >= (high - low) * max(b - n - 1, 0)),
        ),
        mistake(
            "overflow of 32 bits",
            "a product does not fit into 32 bits. Ranks have 32 bits: cast each factor to bit<64> before you multiply.",
            rule(lambda r, low, high, n, b, _: (high - r) * b % 2**32 >= (high - low) * max(b - n, 0) % 2**32),
        ),
        mistake(
            "overflow of 16 bits",
            "a product does not fit into 16 bits. Ranks have 32 bits: cast each factor to bit<64> before you multiply.",
            rule(
                lambda r, low, high, n, b, _: (
                    (high - r) % 65536 * b % 65536 >= (high - low) % 65536 * max(b - n, 0) % 65536
                )
            ),
        ),
        mistake(
            "range without Min",
            "you divide by Max. The score is the place of the rank in the range from Min to Max.",
            rule(lambda r, low, high, n, b, _: (high - r) * b >= high * max(b - n, 0)),
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,rifo"),
        "The small flow is the most urgent one. "
        "With RIFO it ends in little more than half of the time that it takes behind FIFO. "
        "No segment overtakes another: there is one queue.",
    ),
)
