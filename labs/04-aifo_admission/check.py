"""Lab 04: which packets give which marks, and which mistakes have a name."""

from functools import partial

from p4sched.labs.decisions import Trial
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.aifo import Admits, Aifo, admits
from p4sched.labs.stepped import Mistake, SteppedLab, Task
from p4sched.labs.trace import bursts, by_hand

FILE = "aifo_admission.p4"
# C, size of the queue, K, |W|, S
FULL_QUEUE = Trial((4, 12, 0, 8, 1), by_hand(*[(0, 7)] * 9, *[(5000, 7)] * 4, *[(0, 7)] * 9))
NO_HEADROOM = [
    Trial((20, 60, 0, 16, 1), bursts(800, 1, range(40))),
    Trial((13, 30, 0, 31, 3), bursts(600, 2, range(9))),
    # products of more than 16 bits
    Trial((2500, 3000, 0, 31, 1), bursts(400, 5, range(40), (100, 300))),
]
HEADROOM = [
    Trial((20, 40, 26, 20, 1), bursts(800, 3, range(30))),
    Trial((40, 60, 200, 8, 2), bursts(600, 4, range(100))),
]


def mistake(name: str, says: str, rule: Admits) -> Mistake:
    return Mistake(name, says, partial(Aifo, rule=rule))


LAB = SteppedLab(
    title="AIFO: write the admission rule",
    minutes=60,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="aifo",
    scheme="aifo",
    one_queue=True,
    rule=Aifo,
    tasks=(
        Task("Task 1: nothing enters above the target length", 20, (FULL_QUEUE,), "Task 1"),
        Task("Task 2: admission by the quantile", 40, tuple(NO_HEADROOM), "Task 2"),
        Task("Task 3: headroom", 40, tuple(HEADROOM), "Task 3"),
    ),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        mistake("nothing yet", "your program admits every packet. Begin with task 1.", lambda *_: True),
        mistake("refuses everything", "your program refuses every packet.", lambda *_: False),
        mistake(
            "strict comparison",
            "you compare with <. The rule has <=: a packet with equal sides is admitted.",
            lambda q, w, c, t, k: c <= t and q * t * (256 - k) < w * (t - c) * 256,
        ),
        mistake(
            "no target",
            "nothing stops packets while c > C. C - c has no sign in P4: it wraps around to a very large number.",
            lambda q, w, c, t, k: c > t or admits(q, w, c, t, k),
        ),
        mistake(
            "target excluded",
            "you refuse at c = C already. There, the rule still admits a packet with q = 0.",
            lambda q, w, c, t, k: c < t and admits(q, w, c, t, k),
        ),
        mistake(
            "counts itself",
            "your program counts the packet itself. c is the length before the packet is in the queue.",
            lambda q, w, c, t, k: c <= t and q * t * (256 - k) <= w * max(t - c - 1, 0) * 256,
        ),
        mistake(
            "window off by one",
            "you divide q by |W| - 1. The window holds |W| ranks.",
            lambda q, w, c, t, k: c <= t and q * t * (256 - k) <= (w - 1) * (t - c) * 256,
        ),
        mistake(
            "window off by one, upwards",
            "you divide q by |W| + 1. The window holds |W| ranks.",
            lambda q, w, c, t, k: c <= t and q * t * (256 - k) <= (w + 1) * (t - c) * 256,
        ),
        mistake(
            "no headroom", "your program does not use the headroom K.", lambda q, w, c, t, _: admits(q, w, c, t, 0)
        ),
        mistake(
            "headroom the wrong way",
            "the headroom makes your program stricter. It should let more packets in: it divides by 1 - k.",
            lambda q, w, c, t, k: c <= t and q * t * 256 <= w * (t - c) * (256 - k),
        ),
        mistake(
            "256 in 8 bits",
            "256 does not fit into 8 bits. Cast the headroom before you subtract.",
            lambda q, w, c, t, k: c <= t and q * t * (-k % 256) <= w * (t - c) * 256,
        ),
        mistake(
            "headroom alone",
            "you multiply by K where the rule has 256 - K.",
            lambda q, w, c, t, k: c <= t and q * t * k <= w * (t - c) * 256,
        ),
        mistake(
            "queue instead of room",
            "you compare with c, the packets that wait. The rule compares with C - c, the room that is left.",
            lambda q, w, c, t, k: c <= t and q * t * (256 - k) <= w * c * 256,
        ),
        mistake(
            "quantile reversed",
            "urgent packets are refused, others are admitted. q counts the ranks that are smaller.",
            lambda q, w, c, t, k: c <= t and (w - q) * t * (256 - k) <= w * (t - c) * 256,
        ),
        mistake(
            "overflow",
            "a product does not fit into 8 bits. Cast each factor to bit<64> before you multiply.",
            lambda q, w, c, t, k: c <= t and (q * t % 256) * (256 - k) <= w * (t - c) * 256,
        ),
        mistake(
            "overflow of 16 bits",
            "a product does not fit into 16 bits. Cast each factor to bit<64> before you multiply.",
            lambda q, w, c, t, k: c <= t and q * t * (256 - k) % 65_536 <= w * (t - c) * 256,
        ),
        mistake(
            "overflow of 16 bits",
            "the products of task 2 do not fit into 16 bits. Cast each factor to bit<64> before you multiply.",
            lambda q, w, c, t, k: c <= t and q * t % 65_536 * (256 - k) <= w * (t - c) % 65_536 * 256,
        ),
        mistake(
            "verdict reversed",
            "your program refuses where the rule admits, and admits where it refuses.",
            lambda q, w, c, t, k: c <= t and not admits(q, w, c, t, k),
        ),
        mistake(
            "length only",
            "your program looks at the length only. It never compares the quantile.",
            lambda _q, _w, c, t, _k: c <= t,
        ),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,aifo"),
        "The small flow is the most urgent one. "
        "With AIFO, the small and the medium flow end sooner than behind FIFO. "
        "No segment overtakes another: there is one queue.",
    ),
)
