"""Lab 04: which packets give which marks, and which mistakes have a name."""

from p4sched.labs.decisions import Trial
from p4sched.labs.explanations.aifo import explain
from p4sched.labs.lab import TcpRun
from p4sched.labs.stepped_lab import SteppedLab, Task
from p4sched.labs.trace import at_once, bursts, by_hand

FILE = "aifo_admission.p4"
# C, size of the queue, K, |W|, S
FULL_QUEUE = [
    Trial((4, 12, 0, 8, 1), by_hand(*[(0, 7)] * 9, *[(5000, 7)] * 4, *[(0, 7)] * 9)),
    # above C, packets of all quantiles
    Trial((4, 12, 0, 8, 1), by_hand(*[(0, 7)] * 9, (0, 3), *[(0, 7)] * 3, (0, 5), (0, 9))),
    # just above C, a packet of the largest quantile
    Trial((4, 12, 0, 8, 1), by_hand(*[(0, 7)] * 6, (0, 9))),
    # lengths of more than 8 and of more than 15 bits
    Trial((255, 400, 0, 8, 1), at_once(270, 15, [7])),
    Trial((32_900, 40_000, 0, 8, 1), at_once(32_910, 17, [7])),
]
NO_HEADROOM = [
    Trial((20, 60, 0, 16, 1), bursts(800, 1, range(40))),
    Trial((13, 30, 0, 31, 3), bursts(600, 2, range(9))),
    # products of more than 16 bits
    Trial((2500, 3000, 0, 31, 1), bursts(400, 5, range(40), (100, 300))),
    # both ends of each range
    Trial((1, 1, 0, 1, 1), bursts(60, 6, range(3))),
    Trial((2, 2, 0, 32, 2), bursts(150, 7, range(40))),
    Trial((256, 256, 0, 8, 2), at_once(330, 8, range(20))),
    Trial((65535, 65535, 0, 32, 2), at_once(80, 9, range(2))),
    # the largest quantile at a target of 16 bits
    Trial((65535, 65535, 0, 32, 2), by_hand(*[(0, 0)] * 80, (0, 1), *[(0, 0)] * 66, (0, 1))),
    # lengths of 16 bits, just below the target
    Trial((32_900, 40_000, 0, 8, 1), by_hand(*[(0, 7)] * 32_860, *[(0, 9), (0, 7)] * 10)),
]
HEADROOM = [
    Trial((20, 40, 26, 20, 1), bursts(800, 3, range(30))),
    Trial((40, 60, 200, 8, 2), bursts(600, 4, range(100))),
    # one side is larger by less than 256, and by 1
    Trial((20, 20, 26, 1, 2), bursts(200, 10, range(2))),
    Trial((3, 3, 85, 1, 2), bursts(100, 16, range(2))),
    # both ends of each range: products of up to 30 bits
    Trial((1, 1, 255, 1, 1), bursts(60, 11, range(3))),
    Trial((300, 300, 255, 32, 2), at_once(330, 12, range(2))),
    Trial((65535, 65535, 1, 32, 2), at_once(330, 13, range(2))),
    Trial((40000, 65535, 1, 31, 2), at_once(300, 14, range(2))),
]


LAB = SteppedLab(
    title="AIFO: write the admission rule",
    minutes=60,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="aifo",
    scheme="aifo",
    one_queue=True,
    explain=explain,
    tasks=(
        Task("Task 1: nothing enters above the target length", 20, tuple(FULL_QUEUE), "Task 1"),
        Task("Task 2: admission by the quantile", 40, tuple(NO_HEADROOM), "Task 2"),
        Task("Task 3: headroom", 40, tuple(HEADROOM), "Task 3"),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,aifo"),
        "The small flow is the most urgent one. "
        "With AIFO, the small and the medium flow end sooner than with FIFO. "
        "No segment overtakes another: there is one queue.",
    ),
)
