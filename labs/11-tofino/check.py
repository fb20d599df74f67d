"""Lab 11: which packets give which marks, and which mistakes have a name."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from p4sched.labs.chip import ChipLab, Limit
from p4sched.labs.decisions import Trial
from p4sched.labs.lab import Marks, TcpRun
from p4sched.labs.rules.sp_pifo_chip import Lower, ScanBoth, ScanOne, SpPifoChip, lower, scan_both, scan_one
from p4sched.labs.stepped import Mistake, Task
from p4sched.labs.trace import Packet, bursts

FILE = "sp_pifo_mapping.p4"
PLENTY = 4000
WIDE = 70_001
"""Ranks that are multiples of it do not fit into 16 bits."""
WORD = 2**32


def sizes(count: int, size: int = PLENTY) -> tuple[int, ...]:
    """Of queues 1 to 8; 0: there is no such queue."""
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


def wide(packets: list[Packet]) -> list[Packet]:
    return [packet._replace(rank=packet.rank * WIDE) for packet in packets]


def mistake(name: str, says: str, marker: str = "", **parts: Any) -> Mistake:
    return Mistake(name, says, partial(SpPifoChip, **parts), marker)


def mistakes(name: str, says: str, one: ScanOne, both: ScanBoth) -> Iterator[Mistake]:
    """The same mistake in all three scans, or in some of them."""
    ones, seconds, boths = (one, scan_one), (one, scan_one), (both, scan_both)
    for parts in product(ones, seconds, boths):
        if parts != (scan_one, scan_one, scan_both):
            yield mistake(name, says, one=parts[0], second=parts[1], both=parts[2])


def nothing(bound: int, rank: int) -> tuple[int, int]:
    return bound, 0


def strict_one(bound: int, rank: int) -> tuple[int, int]:
    return (rank, rank) if bound < rank else (bound, 0)


def strict_both(less: int, more: int, rank: int) -> tuple[int, int, int]:
    if less < rank:
        return rank, more, rank
    return (less, rank, less) if more < rank else (less, more, 0)


def one_before(bound: int, rank: int) -> tuple[int, int]:
    return (rank, bound) if bound <= rank else (bound, 0)


def both_before(less: int, more: int, rank: int) -> tuple[int, int, int]:
    if less <= rank:
        return rank, more, less
    return (less, rank, less) if more <= rank else (less, more, 0)


def both_rise(less: int, more: int, rank: int) -> tuple[int, int, int]:
    taken = less <= rank or more <= rank
    return rank if less <= rank else less, rank if more <= rank else more, max(less, rank) if taken else 0


def more_urgent_first(less: int, more: int, rank: int) -> tuple[int, int, int]:
    if more <= rank:
        return less, rank, less
    return (rank, more, rank) if less <= rank else (less, more, 0)


def always_one(bound: int, rank: int) -> tuple[int, int]:
    bound, _ = scan_one(bound, rank)
    return bound, bound


def always_both(less: int, more: int, rank: int) -> tuple[int, int, int]:
    less, more, _ = scan_both(less, more, rank)
    return less, more, less


def narrow_one(bound: int, rank: int) -> tuple[int, int]:
    return scan_one(bound, rank % 2**16)


def narrow_both(less: int, more: int, rank: int) -> tuple[int, int, int]:
    return scan_both(less, more, rank % 2**16)


def narrow_lower(bound: int, cost: int, place: int) -> int:
    return lower(bound, cost % 2**16, place)


def narrow_lower_pairs(bound: int, cost: int, place: int) -> int:
    return lower(bound, cost % 2**16 if place > 1 else cost, place)


def stays(*places: int) -> Lower:
    """Bounds that do not fall in the second pass."""
    return lambda bound, cost, place: bound if place in places else lower(bound, cost, place)


STRICT = "you compare with <. A queue takes a packet whose rank is equal to its bound: b_i <= r."
BEFORE = (
    "an access returns the bound as it was before. "
    "Return it after the change: the word must tell whether the queue took the packet, and the first bounds are 0."
)
NARROW = "your bounds have 16 bits. Ranks have 32: a rank of 65536 becomes 0."

LAB = ChipLab(
    title="SP-PIFO on a Tofino: one access, twelve stages",
    minutes=90,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="sp_pifo",
    scheme="sp_pifo",
    rule=SpPifoChip,
    tasks=(
        Task(
            "Task 1: one bound, one access",
            20,
            (without_inversions(2, 300, 1), without_inversions(3, 300, 2, WIDE)),
            "Task 1",
        ),
        Task(
            "Task 2: two bounds in one access",
            30,
            (without_inversions(8, 400, 3), without_inversions(5, 300, 4), without_inversions(8, 300, 5, WIDE)),
            "Task 2",
        ),
        Task(
            "Task 3: push-down in the second pass",
            25,
            (
                Trial(sizes(8, 8), bursts(600, 6, range(1, 100))),
                Trial((2, 3, 2, 5, 4, 0, 0, 0), bursts(500, 7, range(1, 40))),
                Trial(sizes(8), wide(bursts(300, 8, range(1, 100)))),
            ),
            "Task 3",
        ),
    ),
    fits=Marks("Task 4: it fits the chip", 0, 25),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        mistake(
            "nothing yet",
            "no access says that its queue took the packet, so all packets go to queue 1. Begin with task 1: "
            "a queue takes the packet if b_i <= r, and the word that is returned is its new bound.",
            one=nothing,
            both=lambda less, more, _rank: (less, more, 0),
            lower=stays(*range(8)),
        ),
        mistake(
            "nothing yet in the pairs",
            "no queue of a pair takes a packet. Go on with task 2: scan_both.",
            both=lambda less, more, _rank: (less, more, 0),
        ),
        *mistakes("strict comparison", STRICT, strict_one, strict_both),
        *mistakes("the bound before", BEFORE, one_before, both_before),
        mistake(
            "both bounds rise",
            "both queues of a pair take the packet. Only the first one does: its neighbour keeps its bound.",
            both=both_rise,
        ),
        mistake(
            "more urgent queue first",
            "your pair asks the more urgent queue first. The scan begins at the less urgent one.",
            both=more_urgent_first,
        ),
        mistake("16 bits", NARROW, one=narrow_one, both=narrow_both, lower=narrow_lower),
        mistake("16 bits", NARROW, one=narrow_one, both=narrow_both, lower=narrow_lower_pairs, second=scan_one),
        mistake("16 bits", NARROW, second=narrow_one),
        mistake(
            "always the less urgent queue",
            "every packet that a pair takes goes to its less urgent queue. The word must tell which one took it: "
            "return the bound of the less urgent queue in both cases. "
            "At the end of the scan, it differs from the rank if the more urgent one took the packet.",
            more_urgent=lambda _word, _rank: False,
        ),
        mistake(
            "queues of a pair swapped",
            "the two queues of a pair are swapped. "
            "The word is the rank if the less urgent one took the packet, and larger if the more urgent one did.",
            more_urgent=lambda word, rank: word == rank,
        ),
        mistake(
            "no push-down",
            "after an inversion, no bound falls. Each must fall by the cost. "
            "The cost comes from b_1 as it was, and then b_1 becomes the rank. "
            "If your lines of task 3 say so, look at the scan of queue 2: it returns 0 if it does not take the packet. "
            "With another word, queue 1 never sees an inversion, and there is no cost.",
            lower=stays(*range(8)),
        ),
        # with this mistake in queue 2 alone, a program decides as with the one above: only the push-down shows b_1
        *mistakes(
            "a word without a packet",
            "an access returns a bound also if no queue took the packet. It returns 0 then: "
            "with another word, the scan ends there.",
            always_one,
            always_both,
        ),
        mistake(
            "push-down without queue 2",
            "in the second pass, the bound of queue 2 stays. It falls like those of the pairs.",
            lower=stays(1),
        ),
        mistake(
            "push-down of one of two",
            "in the second pass, one bound of each pair falls. Both must: an ALU changes both halves at once.",
            lower=stays(2, 4, 6),
        ),
        mistake(
            "push-down of one of two",
            "in the second pass, one bound of each pair falls. Both must: an ALU changes both halves at once.",
            lower=stays(3, 5, 7),
        ),
        mistake(
            "the cost wraps around",
            "the cost is a number near 2^32 when the rank is above b_1, and all bounds fall to 0. "
            "Without an inversion it is 0: a |-| b.",
            marker="Task 4",
            first=lambda bound, rank: (rank, (bound - rank) % WORD),
        ),
        mistake(
            "the bound in place of the cost",
            "the bounds fall by b_1. They fall by b_1 - r, and only after an inversion.",
            marker="Task 4",
            first=lambda bound, rank: (rank, bound),
        ),
    ),
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
        "The small flow is the most urgent one, and ends in less than half of the time that it takes behind FIFO.",
    ),
)
