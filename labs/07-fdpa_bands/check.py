"""Lab 07: which packets give which marks, and which mistakes have a name."""

import random
from collections.abc import Sequence
from dataclasses import replace

from p4sched.labs.decisions import Trial
from p4sched.labs.explanations import Arrival, Line, by_user, fdpa
from p4sched.labs.explanations.fdpa import UNUSED
from p4sched.labs.lab import TcpRun
from p4sched.labs.stepped_lab import SteppedLab, Task
from p4sched.labs.trace import Packet

FILE = "fdpa_bands.p4"
INTERVAL_US = 100
EDGES = (900, 1500, 2500, 4000)


def parameters(edges: Sequence[int], interval_us: int = INTERVAL_US) -> tuple[int, ...]:
    """Parameters of the action: no token buckets, no flowlets, and a queue of 3000 packets for each band."""
    unused = 7 - len(edges)
    return (interval_us, *edges, *[UNUSED] * unused, 0, *[0] * 7, 0, 0, *[3000] * (8 - unused), *[0] * unused)


PARAMETERS = parameters(EDGES)
SMALL_EDGES = parameters((54, 63, 64, 65, 255, 256, 700))
SEVEN_EDGES = parameters((100, 699, 900, 901, 1498, 1499, 1500))
LARGE_EDGES = parameters((2**16 + 1, 2**17, 2**18, 2**20, 2**22, 2**23, 2**24), 1000)
LARGEST_EDGES = parameters(
    (3_000_000, 6_000_000, 9_000_000, 12_000_000, 2**24, 2**24 + 4_000_000, 2**24 + 10_000_000), 1000
)
HIGHEST_EDGES = parameters([2**24 + number * 2_000_000 for number in range(1, 8)], 1000)
HIGH = 2**31 + 10
"""An edge. With fewer bits, it is below each rate of one packet in an interval."""


def with_high_edges(first: int) -> tuple[int, ...]:
    """Parameters with high edges from edge `first` on."""
    return parameters([*range(1, first), *range(HIGH, HIGH + 8 - first)])


POWERS = parameters([2**bits for bits in range(25, 32)], 20_000)
JUST_BELOW = parameters((899, 1500))
BYTES = (100, 900, 901, 1500, 700, 1501, 1000, 1499)


SIZES = (54, 63, 64, 65, 66, 255, 256, 257)


def one_in_each_interval(sizes: Sequence[int] = BYTES, count: int = 40) -> list[Packet]:
    """Packets of one size for each user, one in each interval. So the rate is the previous packet."""
    times = [(1000 + number * 101 + 10 * user, user) for user in range(1, 9) for number in range(count)]
    return [Packet(at * 1000, 0, user, sizes[user - 1]) for at, user in sorted(times)]


def random_users(seed: int, gaps_us: tuple[int, ...], users: int = 6, count: int = 900) -> list[Packet]:
    """Users that send at rates of their own, and change them."""
    source, found = random.Random(seed), []
    for user in range(users + 1):
        now, gap = 0, 0
        for number in range(count // (users + 1)):
            if number % 20 == 0:
                gap = gaps_us[int(source.random() * len(gaps_us))]
            now += 1 + int(2 * gap * source.random())
            found.append((now, user, 64 + int(source.random() * 1400)))
    return [Packet(at * 1000 + user, 0, user, size) for at, user, size in sorted(found)]


def nearly_all_bits() -> list[Packet]:
    """A rate just below 2^32, with a heavy user: each packet costs 387,577 bytes."""
    packets = [Packet((100_000 + number) * 1000, 0, 1, 1514) for number in range(11_080)]
    return [*packets, Packet(120_001_000, 0, 1, 64), Packet(140_001_000, 0, 1, 64)]


JUMBO = 200
"""A user whose frames the program sees with six times their bytes."""


def jumbo(packet: Packet) -> Packet:
    """A packet as the program sees it."""
    return packet._replace(frame_bytes=6 * packet.frame_bytes) if packet.user == JUMBO else packet


def rates_of_32_bits(*pauses_us: int) -> list[Packet]:
    """Bytes above 2^31 before each pause, of a heavy user: each packet costs 2,325,467 bytes."""
    packets, begin = [], 100_000
    for pause in pauses_us:
        packets += [Packet((begin + number) * 1000, 0, JUMBO, 1514) for number in range(1000)]
        packets.append(Packet((begin + pause) * 1000, 0, JUMBO, 64))
        begin += 1_000_000
    return packets


def explain(arrival: Arrival) -> list[Line]:
    return fdpa.explain(replace(arrival, packets=[jumbo(packet) for packet in arrival.packets]))


def who(packet: Packet) -> str:
    return f"user {JUMBO}, jumbo frames: six times" if packet.user == JUMBO else by_user(packet)


LONG_PAUSES_US = (2**16 + 850, 2**20 + 850, 2**24 + 850, 2**28 + 850)
"""Cut to 16 or 24 bits, some are short."""


def just_below() -> list[Packet]:
    """Bytes that are one short of a rate of 900 after a pause."""
    packets, begin = [], 10_000
    for pause, count in ((250, 1), (450, 3), (900, 7)):
        sizes = [900] * count + [899]
        packets += [Packet((begin + number) * 1000, 0, 1, size) for number, size in enumerate(sizes)]
        packets.append(Packet((begin + pause) * 1000, 0, 1, 100))
        begin += 10_000
    return packets


PAUSES_US = (199, 200, 201, 399, 400, 401, 799, 800, 803, 1599, 1600, 1607, 1615, 1616, 3200)


def bursts_and_pauses(pauses: Sequence[int] = PAUSES_US, counts: Sequence[int] = (5, 20)) -> list[Packet]:
    """A burst in one interval, small or large, and a packet at each end of each kind of pause."""
    packets, begin = [], 10_000
    for pause in pauses:
        for count in counts:
            packets += [Packet((begin + 2 * number) * 1000, 0, 1, 1400) for number in range(count)]
            packets.append(Packet((begin + pause) * 1000, 0, 1, 100))
            begin += pause + 10_000
    return packets


LONG_INTERVAL_US = 300_000_000
"""Times 16, it does not fit into 32 bits."""
LONG = (
    *[Packet(1_000_000_000 + number * 10_000, 0, 1, 1400) for number in range(20)],
    # cut to 31 bits, this pause is within the interval
    Packet(2_420_000_000_000, 0, 1, 100),
)
LONG_PAUSE = (
    *[Packet(1_000_000_000 + number * 10_000, 0, 1, 1400) for number in range(20)],
    # cut to 31 bits, this pause is within the interval of 100 s
    Packet(2_148_500_000_000, 0, 1, 100),
)
LONGEST_INTERVAL_US = 2**31 + 100
"""It needs 32 bits. The model accepts no more than 2^30."""
LONGEST = [
    Packet(1_000_000_000_000, 0, 1, 1400),
    *[Packet((LONGEST_INTERVAL_US + after) * 1000, 0, 1, 100) for after in (100, 200, 300)],
]
USERS = (0, 1, 0x14, 0x34, 0x54, 0x94, 0xFF)
"""Users as the program sees them: 0, 1, 0x144, 0x344, 0x544, 0x944, 0xFFF. Some differ in only one high bit."""
AROUND_THE_END = [Packet((2**32 - 40_000 + number * 1000) * 1000, 0, 1, 100) for number in range(150)]
"""An interval of 60 ms that ends after the time in us has wrapped around."""
POWERS_OF_TWO = (0x10, 0x20, 0x40, 0x80)
"""Users as the program sees them: 0x100, 0x200, 0x400, 0x800."""
LATE_NS = (2**32 - 40_000) * 1000
"""Time shortly before the time in us exceeds 32 bits."""


def other(packets: Sequence[Packet], from_ns: int = 0) -> list[Packet]:
    """The same packets later, and of the users with large numbers."""
    return [packet._replace(at_ns=packet.at_ns + from_ns, user=USERS[packet.user]) for packet in packets]


def scaled(interval_us: int) -> tuple[int, ...]:
    """Gaps with and without pauses of an interval."""
    return tuple(interval_us * gap // 100 for gap in (10, 20, 40, 150, 500, 1200))


STEADY = (10, 20, 40)
"""Gaps in us without a pause of two intervals."""
UNIT = (256,) * 8
WEIGHTS = (256, 128, 512, 85, 1024, 64, 300, 256)
ENDS = (1, 65535, 2, 255, 65535, 32768, 40000, 257)
"""Weights of 256 to 1/256."""
HEAVY = (65535,)
MANY = tuple(ENDS[number % 8] for number in range(255))
CHANGED = (
    "users.apply(hdr, meta);",
    f"""users.apply(hdr, meta);
            if (meta.user == {JUMBO}) {{ standard_metadata.packet_length = standard_metadata.packet_length * 6; }}
            if (meta.user > 15) {{ meta.user = meta.user << 4 | meta.user & 15; }}""",
)
"""Changes that give users numbers of up to 12 bits, and packets lengths of up to 14. The first users stay."""


LAB = SteppedLab(
    title="FDPA: write the estimator and the bands",
    minutes=90,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="fdpa",
    scheme="fdpa",
    explain=explain,
    who=who,
    edits=(CHANGED,),
    tasks=(
        Task(
            "Task 1: from a rate to a band",
            25,
            (
                Trial(PARAMETERS, one_in_each_interval(), UNIT),
                Trial(SEVEN_EDGES, one_in_each_interval(count=15), UNIT),
                Trial(SMALL_EDGES, one_in_each_interval(SIZES, 15), UNIT),
                Trial(
                    PARAMETERS,
                    [
                        packet._replace(user=POWERS_OF_TWO[packet.user - 1])
                        for packet in one_in_each_interval(count=5)
                        if packet.user <= len(POWERS_OF_TWO)
                    ],
                    (256,) * 255,
                ),
                *(Trial(with_high_edges(band), one_in_each_interval(count=3), UNIT) for band in range(1, 8)),
            ),
            "Task 1",
        ),
        Task(
            "Task 2: weights",
            20,
            (
                Trial(PARAMETERS, one_in_each_interval(), WEIGHTS),
                Trial(LARGE_EDGES, one_in_each_interval(count=15), ENDS),
                Trial(SMALL_EDGES, one_in_each_interval(count=15), ENDS),
                Trial(SMALL_EDGES, one_in_each_interval([257] * 8, 15), ENDS),
                Trial(
                    parameters((54, 1000, 2099, 2100, 4200, 8400, 9083)),
                    [
                        Packet((1000 + number * 101) * 1000, 0, JUMBO, size)
                        for number, size in enumerate((350, 700, 1400, 1514) * 5)
                    ],
                    (256,) * 255,
                    has_model=False,
                ),
            ),
            "Task 2",
        ),
        Task(
            "Task 3: the rate of the last interval",
            35,
            (
                Trial(PARAMETERS, random_users(1, STEADY), UNIT),
                Trial(LARGE_EDGES, random_users(3, STEADY), ENDS),
                Trial(LARGEST_EDGES, random_users(6, (4, 6, 10), 1, 1500), HEAVY),
                Trial(HIGHEST_EDGES, random_users(9, (4, 6, 10), 1, 1500), HEAVY),
                Trial(HIGHEST_EDGES, random_users(10, (30,), 1, 1500), HEAVY),
                Trial(HIGHEST_EDGES, random_users(11, (9,), 1, 1500), HEAVY),
                Trial(PARAMETERS, other(random_users(4, STEADY)), MANY),
                Trial(POWERS, nearly_all_bits(), HEAVY),
                Trial(
                    parameters(range(2**31, 2**31 + 7), 20_000), rates_of_32_bits(20_001), HEAVY * 255, has_model=False
                ),
                Trial((LONGEST_INTERVAL_US, *PARAMETERS[1:]), LONGEST, UNIT, has_model=False),
            ),
            "Task 3",
        ),
        Task(
            "Task 4: pauses",
            20,
            (
                Trial(PARAMETERS, random_users(2, (5, 20, 60, 300, 900, 4000)), WEIGHTS),
                Trial(PARAMETERS, bursts_and_pauses(), UNIT),
                Trial((LONG_INTERVAL_US, *PARAMETERS[1:]), LONG, UNIT),
                Trial((100_000_000, *PARAMETERS[1:]), LONG_PAUSE, UNIT),
                Trial(POWERS, rates_of_32_bits(50_000, 90_000, 200_000), HEAVY * 255, has_model=False),
                Trial(LARGE_EDGES, other(random_users(5, (100, 300, 1500, 9000)), LATE_NS), MANY),
                Trial(LARGEST_EDGES, bursts_and_pauses((2500, 5000, 9000), (200, 400)), HEAVY),
                Trial(PARAMETERS, bursts_and_pauses(LONG_PAUSES_US), UNIT),
                Trial(JUST_BELOW, just_below(), UNIT),
                Trial(parameters((5000, 7000), 60_000), AROUND_THE_END, UNIT),
                *(
                    Trial((interval, *PARAMETERS[1:]), random_users(8, scaled(interval)), WEIGHTS)
                    for interval in (2**16 + 9_000, 2**24 + 1_000_000)
                ),
            ),
            "Task 4",
        ),
    ),
    tcp=TcpRun(
        "fdpa_fairness",
        ("--schemes", "fifo,fdpa"),
        "A quarter of the users open ten connections each. Behind FIFO they take most of the link; "
        "with FDPA all users get nearly the same.",
    ),
)
