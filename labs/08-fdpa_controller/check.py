"""Lab 08: which samples give which marks, and which mistakes have a name."""

import random
from functools import partial
from typing import Any

from p4sched.labs.functions import FunctionLab, FunctionMistake, FunctionTask, Sample
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.fdpa_controller import FdpaController, samples

POLL_MS = 100
WEIGHTS = {1: 1, 2: 2, 3: 0.5, 4: 1, 5: 4}


def busy(polls: int) -> tuple[Sample, ...]:
    """All users send all the time, and their weights differ."""
    times = range(1000, 1000 + polls * POLL_MS, POLL_MS)
    totals = [{user: 50_000 * user * number for user in WEIGHTS} for number in range(1, polls + 1)]
    return samples(times, totals, WEIGHTS)


def changing(seed: int, polls: int, reset_every: int = 0, always: bool = True) -> tuple[Sample, ...]:
    """Users come and go; some send a little, some exactly 1000 bytes. `always`: user 1 never stops."""
    source = random.Random(seed)
    total: dict[int, int] = {1: 70_000}
    rates, times, totals = dict.fromkeys(WEIGHTS, 0), [], []
    now = 500
    for number in range(polls):
        if number % 8 == 0:
            choices = (0, 0, 66, 200, 1000, 80_000)
            rates = {user: choices[int(source.random() * len(choices))] for user in WEIGHTS}
            if always:
                rates[1] = 80_000
            elif number >= polls // 2:
                rates = dict.fromkeys(WEIGHTS, 0)
        for user, rate in rates.items():
            if rate and (rate != 1000 or number % 8 == 0):
                total[user] = total.get(user, 0) + rate
        if reset_every and number % reset_every == reset_every - 1:
            total = {user: sent % 701 for user, sent in total.items()}
        now += POLL_MS
        times.append(now)
        totals.append(dict(total))
    return samples(times, totals, WEIGHTS)


def quiet() -> tuple[Sample, ...]:
    """Nobody is active at first, then two are, then nobody again."""
    totals = (
        [{1: 0, 2: 0}] * 4 + [{1: 90_000 * n, 2: 40_000 * n} for n in range(1, 6)] + [{1: 450_000, 2: 200_000}] * 12
    )
    return samples(range(0, POLL_MS * len(totals), POLL_MS), totals, WEIGHTS)


def mistake(name: str, says: str, **parts: Any) -> FunctionMistake:
    return FunctionMistake(name, says, partial(FdpaController, **parts))


def everybody(_sent: int) -> bool:
    return True


def no_edges(bands: Any, _share: float) -> list[float]:
    return [0 for _ in bands]


LAB = FunctionLab(
    title="FDPA's controller: write it in Python",
    minutes=90,
    files=("controller.py",),
    stands_in="in_place_of_fdpa",
    controller=FdpaController,
    tasks=(
        FunctionTask("Task 1: the edges", 30, (busy(12),), ("edges",), first=1),
        FunctionTask("Task 2: who is active?", 40, (changing(1, 120), changing(2, 120)), ("active",), first=1),
        FunctionTask(
            "Task 3: counters that were reset", 15, (changing(3, 120, reset_every=9),), ("active", "edges"), first=1
        ),
        FunctionTask("Task 4: nobody is active", 15, (quiet(), changing(4, 80, always=False)), ("active", "edges")),
    ),
    # The check names the first of them that answers as the student's function to every sample.
    mistakes=(
        mistake(
            "nothing yet",
            "all edges are 0, and every user is active. Begin with task 1.",
            active=everybody,
            first_poll=True,
            edges=no_edges,
        ),
        mistake(
            "everybody is active", "every user is active, whether it sends or not. Go on with task 2.", active=everybody
        ),
        mistake(
            "bits for bytes", "your edges are in bits. A byte has 8 bits.", bytes_of=lambda bps, ms: bps * ms / 1000
        ),
        mistake(
            "a second for an interval",
            "your edges are for a second. They are bytes of one interval.",
            bytes_of=lambda bps, _: bps / 8,
        ),
        mistake("ms for s", "the interval is in ms: divide by 1000.", bytes_of=lambda bps, ms: bps / 8 * ms),
        mistake(
            "no weights",
            "you divide by the number of active users. Divide by the sum of their weights.",
            weighted=False,
        ),
        mistake(
            "edges add up",
            "the bands are edges already: 1, 1.5, 2. Do not add them up.",
            edges=lambda bands, share: [sum(bands[: n + 1]) * share for n in range(len(bands))],
        ),
        mistake(
            "more than 1000 bytes", "a user with exactly 1000 bytes is active, too.", active=lambda sent: sent > 1000
        ),
        mistake(
            "any byte", "a user with a few bytes counts as active. It takes 1000 bytes.", active=lambda sent: sent > 0
        ),
        mistake("last poll only", "you look at the last poll only. The window is 600 ms.", window_ms=0),
        mistake("window too short", "a poll that is exactly 600 ms old still counts.", window_ms=599),
        mistake("window too long", "a poll of 700 ms ago still counts in your window of 600 ms.", window_ms=700),
        mistake(
            "nobody ever leaves",
            "who was active once stays active. Leave old polls out of the window.",
            window_ms=10**9,
        ),
        mistake(
            "totals for increments",
            "you add up the counters. What counts is the difference to the poll before.",
            increment=lambda _, now: now,
            window_ms=0,
        ),
        mistake(
            "totals for increments, in a window",
            "you add up the counters. What counts is the difference to the poll before.",
            increment=lambda _, now: now,
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
            "reset is negative",
            "a counter that was reset gives a negative number of bytes.",
            increment=lambda before, now: now - before,
        ),
        mistake(
            "reset is nothing",
            "a counter that was reset shows what came since. It is not nothing.",
            increment=lambda before, now: max(0, now - before),
        ),
        mistake("idle link forgets", "when nobody is active, the edges stay as they were.", idle="one"),
        mistake(
            "idle link has edges of 0",
            "when nobody is active, your edges are 0. They stay as they were; before anybody is active, "
            "they are those of one user of weight 1.",
            idle="zero",
        ),
        mistake("idle link has no edges", "when nobody is active, the edges stay as they were.", idle="none"),
    ),
    tcp=TcpRun(
        "fdpa_fairness",
        ("--schemes", "fifo,fdpa"),
        "Your controller sets the edges in the run with FDPA. All users get nearly the same.",
    ),
)
