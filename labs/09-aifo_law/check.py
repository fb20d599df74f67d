"""Lab 09: which samples give which marks, and which mistakes have a name."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from p4sched.labs.functions import FunctionLab, FunctionMistake, FunctionTask, Sample, exactly
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.aifo_law import (
    ROUNDINGS,
    AifoLaw,
    bounded,
    near_c,
    near_k,
    near_s,
    packets_in_delay,
    smallest_headroom,
)

FIXED = {
    "drain_bps": 50e6, "packet_bytes": 1000, "arrival_pps": 7000, "dispersion": 1.0, "delay_ms": 4, "span_ms": 60,
    "window": 20, "queue_packets": 64, "loss": 0.05,
}  # fmt: skip
WISHES = {
    "delay_ms": (1, 4, 13), "span_ms": (20, 60, 200), "window": (5, 20, 32), "loss": (0.02, 0.05, 0.2),
    "packet_bytes": (300, 1000, 1500),
}  # fmt: skip
"""Values that may change in each sample, as well as rates, dispersion and the queue."""
T = TypeVar("T")


def traffic(**changed: Any) -> Sample:
    return FIXED | changed


def one_of(source: random.Random, options: Sequence[T]) -> T:
    return options[int(source.random() * len(options))]


def far_apart(seed: int, count: int) -> Iterator[tuple[Sample, ...]]:
    """Traffic of all kinds. Each sample is a trial of its own, so nothing is held."""
    source = random.Random(seed)
    for _ in range(count):
        drain = 10 ** (6 + 4 * source.random())
        size = 64 + 1450 * source.random()
        yield (
            traffic(
                drain_bps=drain,
                packet_bytes=size,
                arrival_pps=drain / 8 / size * (0.1 + 2 * source.random()),
                dispersion=one_of(source, (0, 0.1, 0.3, 1, 1.2, 2, 6)),
                delay_ms=one_of(source, (0.3, 1, 2.5, 4, 7, 10)),
                span_ms=one_of(source, (1, 15, 37.5, 60, 150)),
                window=one_of(source, (1, 8, 16, 20, 32)),
                queue_packets=one_of(source, (40, 200, 1000, 65_535)),
                loss=one_of(source, (0.01, 0.05, 0.05, 0.2)),
            ),
        )


def ends() -> Iterator[tuple[Sample, ...]]:
    """Values at both ends: an idle port, a slow link, a queue of one packet, packets of one size."""
    for drain in (1e3, 1e4, 1e5, 49.9e6, 99.99123e9):
        for queue in (1, 2, 30, 65_535):
            yield (traffic(drain_bps=drain, queue_packets=queue, dispersion=0.4),)
    for arrivals in (0, 0.1, 1, 450, 1001, 1.0000037e8):
        for window in (1, 2, 32):
            yield (traffic(arrival_pps=arrivals, window=window, span_ms=15.01),)
    for dispersion in (0, 0.01, 0.02, 0.05, 0.2, 0.5, 0.8, 1.1, 1.32, 1.35, 1.5, 4, 20):
        for delay in (1.01, 4.05, 30.1):
            yield (traffic(dispersion=dispersion, delay_ms=delay, queue_packets=1000),)
    # a fast link and a short delay
    yield (traffic(drain_bps=10e9, delay_ms=0.04, queue_packets=1000),)
    # a link that may never idle: only without bursts it needs no headroom
    for dispersion in (0, 1e-6, 0.01, 1):
        yield (traffic(dispersion=dispersion, loss=0),)
    for k in (1, 64, 127, 128, 129, 130, 250):
        yield (with_values(30, k, 5),)


def another_queue() -> Iterator[tuple[Sample, ...]]:
    """The queue becomes the bound of C. C, K and S are so far apart that all change, with hysteresis or without."""
    long = traffic(queue_packets=60_000, drain_bps=49.97e6, delay_ms=40, arrival_pps=7003)
    short = long | {"queue_packets": 9, "arrival_pps": 703, "dispersion": 0.2}
    yield (long, short, long)
    yield (short, long, short)


def drifting(seed: int, count: int) -> tuple[Sample, ...]:
    """Traffic that changes by a few per cent each time, and now and then by more."""
    source, found = random.Random(seed), []
    now = dict(FIXED, queue_packets=5000)
    for _ in range(count):
        for name in ("drain_bps", "arrival_pps"):
            now[name] *= 1 + 0.1 * (source.random() - 0.5)
        if source.random() < 0.08:
            now["drain_bps"] = 50e6 * (0.3 + source.random())
            now["arrival_pps"] = 7000 * (0.3 + 2 * source.random())
        if source.random() < 0.1:
            now["dispersion"] = one_of(source, (0.2, 0.5, 0.8, 1.0, 1.1))
        if source.random() < 0.2:
            name = one_of(source, tuple(WISHES))
            now[name] = one_of(source, WISHES[name])
        found.append(dict(now))
    return tuple(found)


def with_values(c: int, k: int, s: int) -> Sample:
    """Traffic that wants these values; only if C and S are rounded up, they are one more."""
    return traffic(
        dispersion=(dispersion_of(c, k) + dispersion_of(c, k + 1)) / 2 if k else 0,
        drain_bps=(c + 0.3) * 8000,
        delay_ms=1000,
        arrival_pps=(s + 0.3) * 20,
        span_ms=1000,
        queue_packets=65_535,
    )


def dispersion_of(c: int, k: int) -> float:
    """The smallest one that needs this K, which may be beyond 128."""
    low, high = 0.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if smallest_headroom(middle, c, FIXED["loss"], 255 / 256) < k else (low, middle)
    return high


def at_the_bounds() -> Iterator[tuple[Sample, ...]]:
    """Values that are just near enough, or just too far away: below, above, and one after the other."""
    for c, k, s in (
        (1, 0, 1),
        (9, 40, 3),
        (10, 50, 4),
        (20, 64, 7),
        (50, 30, 8),
        (50, 40, 40),
        (100, 20, 100),
        (1000, 5, 1000),
        (9999, 5, 3999),
    ):
        near, far = max(1, c // 10), max(1, s // 4)
        changes = [
            (near, 0, 0), (near + 1, 0, 0), (-near, 0, 0), (-near - 1, 0, 0),
            (0, 16, 0), (0, 17, 0), (0, -16, 0), (0, -17, 0),
            (0, 0, far), (0, 0, far + 1), (0, 0, -far), (0, 0, -far - 1),
            (near, 16, far), (-near, -16, -far), (near + 1, 17, far + 1),
        ]  # fmt: skip
        for more_c, more_k, more_s in changes:
            other = (c + more_c, k + more_k, s + more_s)
            if min(other[0], other[2]) >= 1 and other[1] >= 0:
                base = with_values(c, k, s)
                yield (base, with_values(*other), base, with_values(*other))


def held_whatever_changed() -> Iterator[tuple[Sample, ...]]:
    """One value of the traffic changes, and C moves by 2. All three are near enough, so nothing changes."""
    first = traffic(drain_bps=100e6, arrival_pps=12_000, queue_packets=1000, dispersion=0.5)
    second = first | {"drain_bps": 104e6}
    for changed in (
        {"window": 21},
        {"span_ms": 62},
        {"packet_bytes": 1010},
        {"delay_ms": 4.1},
        {"queue_packets": 900},
        {"dispersion": 0.51},
        {"loss": 0.052},
    ):
        yield (first, second | changed, first, second | changed)
    # K is 0 without bursts, even on a link that may never idle
    even = {"dispersion": 0}
    yield (first | even, second | even | {"loss": 0}, second | even)
    # a queue that becomes a little smaller than the C in force
    yield (first, first | {"queue_packets": 48}, second)


def silence() -> tuple[Sample, ...]:
    """Arrivals stop, and S becomes 1. C, K and S are so far apart that all change, with hysteresis or without."""
    return (traffic(), traffic(arrival_pps=0, drain_bps=1e6), traffic())


def space(seed: int) -> list[tuple[Sample, ...]]:
    """Any traffic, and how it changes: a little, much, or in one value only."""
    source = random.Random(seed)
    return [wandering(source) for _ in range(8)]


def wandering(source: random.Random) -> tuple[Sample, ...]:
    now = {
        "drain_bps": 10 ** source.uniform(5, 10.5),
        "packet_bytes": source.uniform(64, 9000),
        "arrival_pps": 0.0,
        "dispersion": source.choice((0, source.uniform(0, 0.2), source.uniform(0, 1.5), source.uniform(0, 20))),
        "delay_ms": 10 ** source.uniform(-1, 1.5),
        "span_ms": 10 ** source.uniform(0, 3),
        "window": source.choice((1, 2, 8, 20, 32)),
        "queue_packets": source.choice((1, 2, 10, 50, 100, 1000, 65_535)),
        "loss": 10 ** source.uniform(-2, -0.5),
    }
    now["drain_bps"] *= source.choice(
        (1, 1, source.uniform(0.5, 100) * 8 * now["packet_bytes"] / now["drain_bps"] / (now["delay_ms"] / 1000))
    )
    now["arrival_pps"] = (
        source.uniform(0.2, 60) * now["window"] / now["span_ms"] * 1000 * source.choice((0.01, 1, 1, 1))
    )
    step, found = source.choice((0.03, 0.1, 0.3, 1)), []
    moving = source.choice(
        (("drain_bps",), ("arrival_pps",), ("dispersion",), ("drain_bps", "arrival_pps", "dispersion"), tuple(now))
    )
    for _ in range(30):
        found.append(dict(now))
        for name in moving:
            now[name] *= 1 + step * source.uniform(-0.5, 0.6)
        now |= {name: max(1, round(now[name])) for name in ("window", "queue_packets")}
    return tuple(found)


def mistake(name: str, says: str, is_begun: bool = True, **parts: Any) -> FunctionMistake:
    return FunctionMistake(name, says, parts, is_begun)


TARGET = (
    mistake("C is fixed", "C is always the same. Begin with task 1.", False, target=lambda *_: 20),
    mistake(
        "bytes for bits",
        "the rate is in bits and the packet in bytes. A byte has 8 bits.",
        target=lambda s, rounded: bounded(s, rounded(packets_in_delay(s, bits=1))),
    ),
    mistake(
        "ms for s",
        "the delay is in ms: divide by 1000.",
        target=lambda s, rounded: bounded(s, rounded(packets_in_delay(s, second=1))),
    ),
    mistake(
        "packets of 1500 bytes",
        "packets have the mean size that was measured, not 1500 bytes.",
        target=lambda s, rounded: bounded(s, rounded(packets_in_delay(s, size=1500))),
    ),
    mistake(
        "arrivals for drain",
        "C follows from what the link sends, not from what arrives.",
        target=lambda s, rounded: bounded(s, rounded(s["arrival_pps"] * s["delay_ms"] / 1000)),
    ),
    mistake(
        "larger than the queue",
        "C is at most what the queue can hold.",
        target=lambda s, rounded: max(1, rounded(packets_in_delay(s))),
    ),
    mistake(
        "C of 0", "C is at least 1.", target=lambda s, rounded: min(s["queue_packets"], rounded(packets_in_delay(s)))
    ),
    mistake(
        "C is not whole",
        "C is a whole number of packets.",
        target=lambda s, _: max(1, min(s["queue_packets"], packets_in_delay(s))),
    ),
)
SAMPLING = (
    mistake("S is fixed", "S is always the same. Continue with task 2.", False, sampling=lambda *_: 15),
    mistake(
        "window forgotten",
        "S is for each of the |W| ranks: divide by |W|.",
        sampling=lambda s, rounded: max(1, rounded(s["arrival_pps"] * s["span_ms"] / 1000)),
    ),
    mistake(
        "span of the delay",
        "the window spans span_ms, not delay_ms.",
        sampling=lambda s, rounded: max(1, rounded(s["arrival_pps"] * s["delay_ms"] / 1000 / s["window"])),
    ),
    mistake(
        "drain for arrivals",
        "S follows from what arrives, not from what the link sends.",
        sampling=lambda s, rounded: max(
            1, rounded(s["drain_bps"] / (8 * s["packet_bytes"]) * s["span_ms"] / 1000 / s["window"])
        ),
    ),
    mistake(
        "S of 0",
        "S is at least 1.",
        sampling=lambda s, rounded: rounded(s["arrival_pps"] * s["span_ms"] / 1000 / s["window"]),
    ),
    mistake(
        "S is not whole",
        "S is a whole number of arrivals.",
        sampling=lambda s, _: max(1, s["arrival_pps"] * s["span_ms"] / 1000 / s["window"]),
    ),
)
HEADROOM = (
    mistake("K is fixed", "K is always the same. Continue with task 3.", False, headroom=lambda *_: 26),
    mistake(
        "the largest headroom",
        "you take the largest K that is allowed. The task asks for the smallest.",
        headroom=lambda *_: 128,
    ),
    mistake(
        "headroom without a bound",
        "K is at most 128: k is at most 0.5.",
        headroom=lambda s, c: smallest_headroom(s["dispersion"], c, s["loss"], 255 / 256),
    ),
    mistake(
        "k for K",
        "K is k in 1/256: a whole number from 0 to 128.",
        headroom=lambda s, c: smallest_headroom(s["dispersion"], c, s["loss"]) / 256,
    ),
    mistake(
        "headroom of the whole queue",
        "the headroom is for C, not for what the queue can hold.",
        headroom=lambda s, _: smallest_headroom(s["dispersion"], s["queue_packets"], s["loss"]),
    ),
)
HYSTERESIS = (
    mistake(
        "no hysteresis", "your values change with every small change of the traffic.", False, near=lambda *_: False
    ),
    mistake("never changes", "your first values stay for ever.", near=lambda *_: True),
    mistake("only C is looked at", "S and K may have moved away while C has not. All three must be near.", near=near_c),
    mistake("only K is looked at", "C and S may have moved away while K has not. All three must be near.", near=near_k),
    mistake("only S is looked at", "C and K may have moved away while S has not. All three must be near.", near=near_s),
    mistake(
        "C is not looked at",
        "C may have moved away while K and S have not. All three must be near.",
        near=lambda held, wanted: near_k(held, wanted) and near_s(held, wanted),
    ),
    mistake(
        "K is not looked at",
        "K may have moved away while C and S have not. All three must be near.",
        near=lambda held, wanted: near_c(held, wanted) and near_s(held, wanted),
    ),
    mistake(
        "S is not looked at",
        "S may have moved away while C and K have not. All three must be near.",
        near=lambda held, wanted: near_c(held, wanted) and near_k(held, wanted),
    ),
    mistake(
        "any of the three",
        "it is not enough that one of the three is near. All three must be.",
        near=lambda held, wanted: near_c(held, wanted) or near_k(held, wanted) or near_s(held, wanted),
    ),
    mistake(
        "each for itself",
        "you change only the value that has moved away. If one has, all three change.",
        each_alone=True,
    ),
    mistake(
        "compared with the last wish",
        "compare with the values in force, not with those that you wanted last.",
        follows_wish=True,
    ),
)

LAB = FunctionLab(
    title="A control law for AIFO under changing load",
    minutes=90,
    files=("law.py",),
    stands_in="in_place_of_aifo",
    controller=AifoLaw,
    space=space,
    alike={"C": exactly, "K": exactly, "S": exactly},
    tasks=(
        FunctionTask(
            "Task 1: the target length C",
            30,
            (*far_apart(1, 60), *ends(), *another_queue()),
            ("C",),
            TARGET,
            right=tuple({"round_target": one} for one in ROUNDINGS),
        ),
        FunctionTask(
            "Task 2: sampling S",
            20,
            (*far_apart(2, 60), *ends(), silence()),
            ("S",),
            SAMPLING,
            right=tuple({"round_sampling": one} for one in ROUNDINGS),
        ),
        FunctionTask("Task 3: headroom k", 30, (*far_apart(3, 60), *ends()), ("K",), HEADROOM),
        FunctionTask(
            "Task 4: hysteresis",
            20,
            (drifting(4, 200), drifting(5, 200), *at_the_bounds(), *held_whatever_changed()),
            ("C", "K", "S"),
            HYSTERESIS,
        ),
    ),
    tcp=TcpRun(
        "leaf_spine",
        ("--schemes", "fifo,aifo"),
        "Your law sets the parameters of every port. With AIFO, the urgent connections get nearly everything.",
    ),
)
