"""Lab 08: which samples give which marks, and which mistakes have a name."""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from p4sched.labs.functions import FunctionLab, FunctionMistake, FunctionTask, Sample, in_any_order, rounded
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.fdpa_controller import FdpaController, last, samples, within

POLL_MS = 100
EVEN = (POLL_MS,)
UNEVEN = (100, 100, 100, 50, 150, 20, 20, 99, 101, 200, 300, 599, 600, 601, 1500)
WEIGHTS = {1: 1, 2: 2, 3: 0.5, 4: 1, 65_535: 4}
ONCE = (1, 999, 1000, 1001)
STEADY = (66, 143, 166, 200, 500, 80_000)
T = TypeVar("T")


def one_of(source: random.Random, options: Sequence[T]) -> T:
    return options[int(source.random() * len(options))]


def busy(weights: dict[int, float], polls: int = 4, begin_ms: int = 1000, **link: Any) -> tuple[Sample, ...]:
    """All users send all the time."""
    times = range(begin_ms, begin_ms + polls * POLL_MS, POLL_MS)
    users = [
        [(user, 3000 * (user % 97 + 1) * number, weight) for user, weight in weights.items()] for number in range(polls)
    ]
    return samples(times, users, **link)


def of_one_user(times_ms: Sequence[int], counters: Sequence[int]) -> tuple[Sample, ...]:
    """User 3 sends now and then. User 1 sends all the time, so somebody is active."""
    users = [[(3, counter, 0.5), (1, 5000 * number, 1)] for number, counter in enumerate(counters)]
    return samples(times_ms, users)


def changing(
    seed: int, polls: int, gaps_ms: Sequence[int], *, resets: bool = False, leaves: bool = False, begin_ms: int = 500
) -> tuple[Sample, ...]:
    """Users begin, pause and stop. Some send a little, some just 1000 bytes. User 1 never stops.

    resets: counters begin again. leaves: users are gone for some polls. They come back with a counter that began again,
    or with the one that they had.
    """
    source = random.Random(seed)
    counters = {1: 70_000} | {user: one_of(source, (0, 5000, 2**40)) for user in WEIGHTS if user != 1}
    steady, away = dict.fromkeys(WEIGHTS, 0) | {1: 80_000}, dict.fromkeys(WEIGHTS, 0)
    times, users, now = [], [], begin_ms
    for _ in range(polls):
        now += one_of(source, gaps_ms)
        for user in WEIGHTS:
            before = counters[user]
            if user != 1 and source.random() < 0.15:
                steady[user] = one_of(source, STEADY) if source.random() < 0.4 else 0
                counters[user] += one_of(source, ONCE)
            counters[user] += steady[user]
            lower = [low for low in (0, 1, 999, 1000, 5000, before - 1) if low < before and (low >= 1000 or user != 1)]
            if resets and lower and source.random() < 0.08:
                counters[user] = one_of(source, lower)
            if leaves and user != 1 and not away[user] and source.random() < 0.06:
                away[user] = one_of(source, (1, 2, 3, 9))
                counters[user] = one_of(source, (0, 400, 999, 1000, before, before + 1, before + 999))
        there = [user for user in WEIGHTS if not away[user]]
        away = {user: max(0, left - 1) for user, left in away.items()}
        times.append(now)
        users.append([(user, counters[user], WEIGHTS[user]) for user in sorted(there, key=lambda _: source.random())])
    return samples(times, users)


def varied(trial: Sequence[Sample], seed: int) -> tuple[Sample, ...]:
    """The same users and bytes, while link, interval, bands and weights change from sample to sample."""
    source = random.Random(seed)
    return tuple(
        sample
        | {
            "capacity_bps": one_of(source, (100_000_000, 250_000_000, 999_999_937, 10_000_000_000)),
            "interval_ms": one_of(source, (30, 60, 62.5, 240)),
            "bands": one_of(source, ([1, 1.5, 2, 2.5], [0.5, 1.5], [2], [1, 2, 3, 4, 5, 6, 7])),
            "users": [user | {"weight": one_of(source, (0.5, 1, 2, 4, 16))} for user in sample["users"]],
        }
        for sample in trial
    )


def bursts_of_polls() -> tuple[tuple[Sample, ...], ...]:
    """Polls that are 50, 20 or 9 ms apart, after polls of 100 ms. User 3 sends once, and its bytes count for 600 ms."""
    return tuple(
        of_one_user([0, 100, 200, *range(300, 950, gap_ms)], [40, 40, 40] + [40 + sent] * len(range(300, 950, gap_ms)))
        for gap_ms, sent in ((50, 1000), (20, 1001), (9, 1000))
    )


def returning(absent: int) -> tuple[Sample, ...]:
    """User 3 sends, is missing in some samples, and comes back without new bytes. User 1 sends all the time."""
    users = [[(1, 5000 * number, 1)] for number in range(absent + 4)]
    users[0].append((3, 20, 0.5))
    users[1].append((3, 5000, 0.5))
    users[-2].append((3, 0, 0.5))
    users[-1].append((3, 0, 0.5))
    return samples(range(500, 500 + len(users) * POLL_MS, POLL_MS), users)


def begins_without_users() -> tuple[Sample, ...]:
    """No users in the first sample. All bytes of the second sample were sent since then."""
    return samples(range(400, 900, POLL_MS), [(), *[((9, 5000, 2), (4, 999, 1))] * 4])


def empty_between() -> tuple[Sample, ...]:
    """Samples without users, after which a user has sent all its bytes since the sample before."""
    return samples(
        range(0, 1300, POLL_MS),
        [[(6, 5000, 2)], [], [(6, 5500, 2)], [], [], *[[(6, 5600, 2)]] * 6, [], [(6, 5700, 2)]],
    )


def idle_while_all_changes() -> tuple[Sample, ...]:
    """Nobody is active, while link, interval, bands and weights change: after users were active, and before."""
    sent = [0, 5000, *[5000] * 12, 9000, *[9000] * 8]
    busy_once = samples(range(0, POLL_MS * len(sent), POLL_MS), [[(8, one, 4)] for one in sent])
    return varied(busy_once, 5)


def idle() -> tuple[Sample, ...]:
    """Samples in which nobody is active, then two users, then nobody, and then there are no users."""
    sent = [(0, 0)] * 4 + [(90_000 * n, 40_000 * n) for n in range(1, 6)] + [(450_000, 200_000)] * 12
    return samples(
        range(0, POLL_MS * (len(sent) + 3), POLL_MS),
        [*([(1, one, 4), (2, other, 2)] for one, other in sent), (), (), ()],
    )


def lonely(weight: float, begin: int) -> tuple[Sample, ...]:
    """Samples of one user that comes and goes. begin: the first value of its counter."""
    sent = [0, 0, 999, 1000, 1000, *[1000] * 7, 9000, *[9000] * 7, 20_000]
    return samples(
        range(700, 700 + len(sent) * 90, 90), [[(7, begin + one, weight)] for one in sent], capacity_bps=10**9
    )


def nobody() -> tuple[Sample, ...]:
    """Users that never send, after samples without users."""
    return samples(range(5, 905, 90), [*[()] * 3, *[((1, 999, 2), (2, 0, 4))] * 7], bands=[0.5, 1.5])


def first_edges() -> tuple[tuple[Sample, ...], ...]:
    """Links, intervals, bands and users at both ends of what there is."""
    return (
        busy(WEIGHTS, 12),
        busy({3: 0.5}, interval_ms=30, capacity_bps=10_000_000),
        busy({3: 4}, bands=[1]),
        busy({5: 1, 6: 1}, bands=[0.5, 1, 1.5, 2, 2.5, 3, 3.5]),
        busy(dict.fromkeys(range(1000), 16), capacity_bps=100_000_000_000),
        busy({4: 256 / 65_535}, capacity_bps=10_000_000),
        busy({4: 1 / 64, 9: 1 / 64}, capacity_bps=10_000_000),
        varied(busy(WEIGHTS, 20), 1),
        busy({1: 1 / 128, 2: 256}, begin_ms=0, interval_ms=1000, bands=[2, 2.25]),
        busy({1: 8, 300: 0.25, 2: 2}, begin_ms=1_700_000_000_000, interval_ms=12.5, capacity_bps=1_234_567_891),
    )


def to_the_millisecond() -> tuple[tuple[Sample, ...], ...]:
    """Samples with ages of 599, 600 or 601 ms and 999, 1000 or 1001 bytes, in one poll or in two."""
    times = [0, 100, 200, 799, 800, 801, 1400, 1401, 3000, 3001, 3600, 3601, 3602]
    return tuple(
        of_one_user(
            [begin + time for time in times],
            [50, 50, 50 + first, 50 + first, 50 + first + then]
            + [50 + first + then] * 4
            + [50 + 2 * first + then, 50 + 2 * first + 2 * then]
            + [50 + 2 * first + 2 * then] * 2,
        )
        for begin, first, then in (
            (0, 1000, 0),
            (1, 999, 0),
            (77, 1001, 0),
            (5, 500, 500),
            (600, 500, 499),
            (0, 1, 999),
            (3, 0, 1000),
        )
    )


def space(seed: int) -> list[tuple[Sample, ...]]:
    """Users who do anything at any time, on any link."""
    source = random.Random(seed)
    return [anything(source) for _ in range(6)] + [varied(anything(source), seed) for _ in range(2)]


def anything(source: random.Random) -> tuple[Sample, ...]:
    weights = {user: 256 / source.randint(1, 300) for user in source.sample(range(65_536), source.randint(0, 5))}
    counters = dict.fromkeys(weights, 0)
    away = source.choice((0, 0, 0.1, 0.5))
    resets = source.choice((0, 0, 0.05, 0.3))
    sends = source.choice((0.05, 0.3, 1))
    gaps = source.choice(((100,), (99, 100, 101), (200, 300, 400), range(1, 250), (1, 599, 600, 601, 602, 1000)))
    times, users, now = [], [], source.choice((0, 1, 10**6))
    for _ in range(30):
        now += source.choice(gaps)
        quiet = source.random() < 0.3
        for user in weights:
            if source.random() < sends and not quiet:
                near = source.choice((1, 143, 250, 333, 334, 499, 500, 999, 1000, 1001))
                counters[user] += source.choice((near, near, source.randint(0, 3000), 10**6))
            if source.random() < resets:
                counters[user] = source.choice((0, 1, 999, 1000, counters[user] // 2, max(0, counters[user] - 1)))
        there = [user for user in weights if source.random() >= away]
        source.shuffle(there)
        times.append(now)
        users.append([(user, counters[user], weights[user]) for user in there])
    first, size = source.choice((0.5, 1, 2)), source.choice((0.25, 0.5, 1))
    return samples(
        times,
        users,
        capacity_bps=round(10 ** source.uniform(9, 11)),
        interval_ms=source.choice((30, 60, 62.5, 240)),
        bands=[first + number * size for number in range(source.randint(1, 7))],
    )


def mistake(name: str, says: str, is_begun: bool = True, **parts: Any) -> FunctionMistake:
    return FunctionMistake(name, says, parts, is_begun)


EDGES = (
    mistake("no edges", "all edges are 0. Begin with task 1.", False, edges=lambda bands, *_: [0 for _ in bands]),
    mistake("bits for bytes", "your edges are in bits. A byte has 8 bits.", bytes_of=lambda bps, ms: bps * ms / 1000),
    mistake(
        "a second for an interval",
        "your edges are for a second. They are bytes of one interval.",
        bytes_of=lambda bps, _: bps / 8,
    ),
    mistake("ms for s", "the interval is in ms: divide by 1000.", bytes_of=lambda bps, ms: bps / 8 * ms),
    mistake(
        "no weights",
        "you divide by the number of active users. Divide by the sum of their weights.",
        weight=lambda _, active: len(active),
    ),
    mistake(
        "one weight",
        "you divide by the weight of one active user. Divide by the sum of the weights of all active users.",
        weight=lambda weights, active: weights[active[0]] if active else 0,
    ),
    mistake(
        "one weight",
        "you divide by the weight of one active user. Divide by the sum of the weights of all active users.",
        weight=lambda weights, active: weights[active[-1]] if active else 0,
    ),
    mistake(
        "the largest weight",
        "you divide by the largest weight. Divide by the sum of the weights of all active users.",
        weight=lambda weights, active: max((weights[user] for user in active), default=0),
    ),
    mistake(
        "weights of all users",
        "you divide by the weights of all users. Those that are not active get no share.",
        weight=lambda weights, _: sum(weights.values()),
    ),
    mistake(
        "not divided",
        "each edge is a part of the whole capacity. Divide by the sum of the weights of the active users.",
        edges=lambda bands, capacity, _: [edge * capacity for edge in bands],
    ),
    mistake(
        "edges add up",
        "the bands are edges already: 1, 1.5, 2. Do not add them up.",
        edges=lambda bands, capacity, weight: [sum(bands[: n + 1]) * capacity / weight for n in range(len(bands))],
    ),
)
ACTIVE = (
    mistake(
        "everybody is active",
        "every user is active, whether it sends or not. Continue with task 2.",
        False,
        active=lambda _: True,
    ),
    mistake("more than 1000 bytes", "a user with exactly 1000 bytes is active, too.", active=lambda sent: sent > 1000),
    mistake("any byte", "a user with a few bytes counts as active. It takes 1000 bytes.", active=lambda sent: sent > 0),
    mistake("last poll only", "you look at the last poll only. The window is 600 ms.", in_window=last(1)),
    mistake("window too short", "a poll that is exactly 600 ms old still counts.", in_window=within(599)),
    mistake("window too long", "a poll of 700 ms ago still counts in your window of 600 ms.", in_window=within(700)),
    mistake(
        "seven polls",
        "you count the last seven polls. The window is 600 ms, and polls may come late.",
        in_window=last(7),
    ),
    mistake(
        "six polls", "you count the last six polls. The window is 600 ms, and polls may come late.", in_window=last(6)
    ),
    mistake(
        "nobody ever leaves",
        "who was active once stays active. Leave old polls out of the window.",
        in_window=lambda polls, _: polls,
    ),
    mistake(
        "totals for increments",
        "you add up the counters. What counts is the difference to the poll before.",
        totals=True,
        in_window=last(1),
    ),
    mistake(
        "totals for increments, in a window",
        "you add up the counters. What counts is the difference to the poll before.",
        totals=True,
    ),
    mistake(
        "first poll counts",
        "at the first poll nobody knows when the bytes were sent. They do not count.",
        first_poll=True,
    ),
    mistake(
        "new users do not count",
        "a user that appears later has sent all its bytes since the poll before.",
        new_users=False,
    ),
    mistake(
        "old counters are kept",
        "a user that was missing at the poll before has sent all its bytes since.",
        forgets=False,
    ),
    mistake(
        "history forgotten",
        "what a user sent before it left still counts for 600 ms, when it comes back.",
        history=False,
    ),
    mistake("users that are gone", "a user that is not in the sample cannot be active.", gone=True),
)
RESETS = (
    mistake(
        "reset is negative",
        "a counter that was reset gives a negative number of bytes.",
        False,
        increment=lambda before, now: now - before,
    ),
    mistake(
        "reset is nothing",
        "a counter that was reset shows what came since. It is not nothing.",
        increment=lambda before, now: max(0, now - before),
    ),
    mistake(
        "reset turned around",
        "a counter that was reset shows what came since. What it had before does not count.",
        increment=lambda before, now: abs(now - before),
    ),
)
IDLE = (
    mistake(
        "idle link divides by 0",
        "when nobody is active, the weights are 0 together, and you divide by them. Continue with task 4.",
        False,
        idle="divide",
    ),
    mistake("idle link forgets", "when nobody is active, the edges stay as they were.", idle="one"),
    mistake(
        "idle link has edges of 0",
        "when nobody is active, your edges are 0. They stay as they were; before anybody is active, "
        "they are those of one user of weight 1.",
        idle="zero",
    ),
    mistake("idle link has no edges", "when nobody is active, the edges stay as they were.", idle="none"),
    mistake(
        "idle link has no edges",
        "when nobody is active, the edges stay as they were. Before anybody is active, "
        "they are those of one user of weight 1.",
        idle="never",
    ),
)

LAB = FunctionLab(
    title="FDPA's controller: write it in Python",
    minutes=90,
    files=("controller.py",),
    stands_in="in_place_of_fdpa",
    controller=FdpaController,
    space=space,
    alike={"active": in_any_order, "edges": rounded},
    # Tasks 1 to 3 never need task 4: from the second sample on, somebody is active.
    tasks=(
        FunctionTask("Task 1: the edges", 30, first_edges(), ("edges",), EDGES, first=1),
        FunctionTask(
            "Task 2: who is active?",
            40,
            (
                *to_the_millisecond(),
                changing(1, 120, EVEN),
                changing(2, 120, UNEVEN),
                changing(3, 120, UNEVEN, leaves=True),
                changing(4, 120, EVEN, leaves=True, begin_ms=1_700_000_000_000),
                varied(changing(7, 40, UNEVEN, leaves=True), 2),
                *bursts_of_polls(),
                *map(returning, range(1, 7)),
                begins_without_users(),
            ),
            ("active",),
            ACTIVE,
            first=1,
        ),
        FunctionTask(
            "Task 3: counters that were reset",
            15,
            (changing(5, 120, EVEN, resets=True), changing(6, 120, UNEVEN, resets=True, leaves=True)),
            ("active", "edges"),
            RESETS,
            first=1,
        ),
        FunctionTask(
            "Task 4: nobody is active",
            15,
            (
                idle(),
                lonely(1, 0),
                lonely(0.5, 10**6),
                lonely(4, 999),
                nobody(),
                empty_between(),
                idle_while_all_changes(),
                varied(nobody(), 12),
            ),
            ("active", "edges"),
            IDLE,
            # The lab does not say whether the edges of nobody follow the link.
            right=({}, {"keeps_first": False}),
        ),
    ),
    tcp=TcpRun(
        "fdpa_fairness",
        ("--schemes", "fifo,fdpa"),
        "Your controller sets the edges in the run with FDPA. All users get nearly the same.",
    ),
)
