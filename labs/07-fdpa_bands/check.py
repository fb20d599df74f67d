"""Lab 07: which packets give which marks, and which mistakes have a name."""

import random
from functools import partial
from typing import Any

from p4sched.labs.decisions import Trial
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.fdpa import Fdpa, User, average, band
from p4sched.labs.stepped import Mistake, SteppedLab, Task
from p4sched.labs.trace import Packet

FILE = "fdpa_bands.p4"
INTERVAL_US = 100
EDGES = (900, 1500, 2500, 4000)
UNUSED = 0xFFFFFFFF
PARAMETERS = (
    (INTERVAL_US, *EDGES, *[UNUSED] * (7 - len(EDGES)))
    # no token buckets, no flowlets; queues of 3000 packets
    + (0, *[0] * 7, 0, 0)
    + (3000,) * 5 + (0,) * 3
)  # fmt: skip
BYTES = (100, 900, 901, 1500, 700, 1501, 1000, 1499)


def one_in_each_interval() -> list[Packet]:
    """Each user has packets of one size, and one of them in each interval. So the rate is the packet before."""
    times = [(1000 + number * 101 + 10 * user, user) for user in range(1, 9) for number in range(40)]
    return [Packet(at * 1000, 0, user, BYTES[user - 1]) for at, user in sorted(times)]


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


PAUSES_US = (199, 200, 201, 399, 400, 401, 799, 800, 803, 1599, 1600, 1607, 1615, 1616, 3200)


def bursts_and_pauses() -> list[Packet]:
    """A burst in one interval, small or large, and a packet at each end of each kind of pause."""
    packets, begin = [], 10_000
    for pause in PAUSES_US:
        for count in (5, 20):
            packets += [Packet((begin + 2 * number) * 1000, 0, 1, 1400) for number in range(count)]
            packets.append(Packet((begin + pause) * 1000, 0, 1, 100))
            begin += 10_000
    return packets


LONG_INTERVAL_US = 300_000_000
"""Times 16, it does not fit into 32 bits."""
LONG = (
    *[Packet(1_000_000_000 + number * 10_000, 0, 1, 1400) for number in range(20)],
    Packet(2_500_000_000_000, 0, 1, 100),
)
STEADY = (10, 20, 40)
"""Gaps in us without a pause of two intervals."""
UNIT = (256,) * 8
WEIGHTS = (256, 128, 512, 85, 1024, 64, 300, 256)


def mistake(name: str, says: str, **parts: Any) -> Mistake:
    return Mistake(name, says, partial(Fdpa, **parts))


def last_edge(rate: int, edges: Any) -> int:
    return max((number for number, edge in enumerate(edges, 1) if rate <= edge), default=8)


def packet_before(user: User, _now: int, _interval: int, charge: int) -> int:
    rate, user.charged = user.charged, charge
    return rate


def with_user(change: Any) -> Any:
    """The estimator, and a change of what it knows after each packet."""

    def changed(user: User, now: int, interval: int, charge: int) -> int:
        before = User(user.start, user.charged, user.rate)
        rate = average(user, now, interval, charge)
        other = change(user, before, now, interval, charge)
        return rate if other is None else other

    return changed


def unfinished(user: User, now: int, interval: int, charge: int) -> int:
    average(user, now, interval, charge)
    return user.charged


def never_empty(user, before, now, interval, charge):
    if now - before.start >= interval:
        user.charged += before.charged


def first_lost(user, before, now, interval, charge):
    if now - before.start >= interval:
        user.charged = 0


def drifting(user, before, now, interval, charge):
    if now - before.start >= interval:
        user.start = now


def without_pauses(user, now, interval, charge):
    if now - user.start < interval:
        user.charged += charge
        return user.rate
    user.rate, user.charged, user.start = user.charged, charge, user.start + interval
    return user.rate


def pauses_undivided(user, now, interval, charge):
    if now - user.start < interval:
        user.charged += charge
        return user.rate
    user.start = user.start + interval if (now - user.start) >> 1 < interval else now
    user.rate, user.charged = user.charged, charge
    return user.rate


def never_zero(user, before, now, interval, charge):
    if (now - before.start) >> 4 >= interval:
        user.rate = before.charged >> 3
        return user.rate
    return None


def halved_once_more(user, before, now, interval, charge):
    if (now - before.start) >> 1 >= interval:
        user.rate >>= 1
        return user.rate
    return None


def divided_on(user, before, now, interval, charge):
    if (now - before.start) >> 4 >= interval:
        user.rate = before.charged >> 4
        return user.rate
    return None


def pause_includes_its_end(user, before, now, interval, charge):
    """A pause of exactly 2, 4, 8 or 16 intervals counts as a shorter one."""
    elapsed = now - before.start
    if elapsed < interval:
        return None
    shift = next((halvings for halvings in range(4) if elapsed >> (halvings + 1) <= interval), None)
    user.start = before.start + interval if shift == 0 else now
    user.rate = 0 if shift is None else before.charged >> shift
    return user.rate


def shifted_interval(user, before, now, interval, charge):
    elapsed = now - before.start
    if elapsed < interval:
        return None
    shift = next((halvings for halvings in range(4) if elapsed < interval << (halvings + 1) & 0xFFFFFFFF), None)
    user.start = before.start + interval if shift == 0 else now
    user.rate = 0 if shift is None else before.charged >> shift
    return user.rate


def longer(user, now, interval, charge):
    return (
        average(user, now, interval + 1, charge)
        if now - user.start == interval
        else average(user, now, interval, charge)
    )


LAB = SteppedLab(
    title="FDPA: write the estimator and the bands",
    minutes=90,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="fdpa",
    scheme="fdpa",
    rule=Fdpa,
    tasks=(
        Task("Task 1: from a rate to a band", 25, (Trial(PARAMETERS, one_in_each_interval(), UNIT),), "Task 1"),
        Task("Task 2: weights", 20, (Trial(PARAMETERS, one_in_each_interval(), WEIGHTS),), "Task 2"),
        Task(
            "Task 3: the rate of the last interval", 35, (Trial(PARAMETERS, random_users(1, STEADY), UNIT),), "Task 3"
        ),
        Task(
            "Task 4: pauses",
            20,
            (
                Trial(PARAMETERS, random_users(2, (5, 20, 60, 300, 900, 4000)), WEIGHTS),
                Trial(PARAMETERS, bursts_and_pauses(), UNIT),
                Trial((LONG_INTERVAL_US, *PARAMETERS[1:]), LONG, UNIT),
            ),
            "Task 4",
        ),
    ),
    # The check names the first of them that decides as the student's program on every packet.
    mistakes=(
        mistake(
            "nothing yet",
            "every packet comes out in band 1: RateToBand is not written (task 1), or the rate is always 0.",
            band=lambda *_: 1,
        ),
        mistake(
            "edge excluded",
            "you compare with <. A rate that is equal to the edge belongs to the band.",
            band=lambda rate, edges: band(rate + 1, edges),
        ),
        mistake("no else", "the last comparison that holds wins. The first one should: use else.", band=last_edge),
        mistake(
            "band off by one",
            "your bands begin at 2. The first one is band 1.",
            band=lambda rate, edges: min(band(rate, edges) + 1, 8),
        ),
        mistake(
            "band off by one, from 0",
            "your bands begin at 0. The first one is band 1.",
            band=lambda rate, edges: band(rate, edges) - 1 or 8,
        ),
        mistake("last packet", "the rate is the charge of one packet. Go on with task 3.", average=packet_before),
        mistake(
            "last packet, no weights",
            "charges and rates are missing. Go on with task 2.",
            average=packet_before,
            weighted=lambda size, _: size,
        ),
        mistake(
            "no weights", "a packet costs the same whatever the weight of its user.", weighted=lambda size, _: size
        ),
        mistake(
            "weight the wrong way",
            "a user with a large weight pays more. It should pay less: bytes times scale / 256.",
            weighted=lambda size, scale: (size << 8) // scale,
        ),
        mistake(
            "weight not divided by 256",
            "the scale is 256 over the weight: divide the product by 256.",
            weighted=lambda size, scale: size * scale,
        ),
        mistake(
            "overflow of 16 bits",
            "bytes times scale does not fit into 16 bits. Cast to bit<32> before you multiply.",
            weighted=lambda size, scale: (size * scale & 0xFFFF) >> 8,
        ),
        mistake(
            "unfinished interval",
            "the rate is what the interval has so far. It is that of the last complete interval.",
            average=unfinished,
        ),
        mistake(
            "bytes never emptied",
            "a new interval goes on with the bytes of the one before.",
            average=with_user(never_empty),
        ),
        mistake(
            "first packet lost",
            "the packet that begins a new interval is not counted in it.",
            average=with_user(first_lost),
        ),
        mistake(
            "interval drifts",
            "each interval begins at a packet. The next one begins where the last one ended.",
            average=with_user(drifting),
        ),
        mistake("interval too long", "at elapsed = interval, the interval is over already.", average=longer),
        mistake(
            "no pauses",
            "after a pause, your interval begins in the past, and the rate is too high.",
            average=without_pauses,
        ),
        mistake(
            "pauses not divided",
            "after a pause, the bytes came in more than one interval: divide them.",
            average=pauses_undivided,
        ),
        mistake("never zero", "after 16 intervals without a packet, the rate is 0.", average=with_user(never_zero)),
        mistake(
            "never zero, but divided",
            "after 16 intervals without a packet, the rate is 0, however many bytes there were.",
            average=with_user(divided_on),
        ),
        mistake(
            "end of a pause",
            "a pause of exactly 2, 4, 8 or 16 intervals is a long one already: compare with <.",
            average=with_user(pause_includes_its_end),
        ),
        mistake(
            "interval shifted",
            "a large interval does not fit into 32 bits when you shift it to the left. Shift elapsed to the right.",
            average=with_user(shifted_interval),
        ),
        mistake(
            "halved once more",
            "your rate after a pause is half of what it should be.",
            average=with_user(halved_once_more),
        ),
    ),
    tcp=TcpRun(
        "fdpa_fairness",
        ("--schemes", "fifo,fdpa"),
        "A quarter of the users open ten connections each. Behind FIFO they take most of the link; "
        "with FDPA all users get nearly the same.",
    ),
)
