"""Lab 09: which samples give which marks, and which mistakes have a name."""

import random
from functools import partial
from typing import Any

from p4sched.control.laws.aifo import quantile_headroom
from p4sched.labs.functions import FunctionLab, FunctionMistake, FunctionTask, Sample
from p4sched.labs.lab import TcpRun
from p4sched.labs.rules.aifo_law import AifoLaw, near

FIXED = {
    "drain_bps": 50e6, "packet_bytes": 1000, "arrival_pps": 7000, "dispersion": 1.0, "delay_ms": 4, "span_ms": 60,
    "window": 20, "queue_packets": 64, "loss": 0.05,
}  # fmt: skip


def traffic(**changed: Any) -> Sample:
    return FIXED | changed


def far_apart(seed: int, count: int) -> tuple[tuple[Sample, ...], ...]:
    """Traffic of all kinds. Each sample is a trial of its own, so nothing is held."""
    source, found = random.Random(seed), []
    for _ in range(count):
        drain = 10 ** (6 + 2.5 * source.random())
        size = 100 + int(1400 * source.random())
        found.append(
            traffic(
                drain_bps=drain,
                packet_bytes=size,
                arrival_pps=drain / 8 / size * (0.1 + 2 * source.random()),
                dispersion=(0, 0.1, 0.3, 1, 1.2, 2)[int(6 * source.random())],
                delay_ms=1 + int(10 * source.random()),
                span_ms=(1, 15, 60, 150)[int(4 * source.random())],
                window=(8, 16, 20, 32)[int(4 * source.random())],
                queue_packets=(40, 200, 1000)[int(3 * source.random())],
            )
        )
    return tuple((sample,) for sample in found)


def drifting(seed: int, count: int) -> tuple[Sample, ...]:
    """Traffic that changes by a few per cent each time, and now and then by more."""
    source, found = random.Random(seed), []
    now = dict(FIXED)
    for _ in range(count):
        for name in ("drain_bps", "arrival_pps"):
            now[name] *= 1 + 0.1 * (source.random() - 0.5)
        if source.random() < 0.08:
            now["drain_bps"] = 50e6 * (0.3 + source.random())
            now["arrival_pps"] = 7000 * (0.3 + 2 * source.random())
        if source.random() < 0.1:
            now["dispersion"] = (0.2, 0.5, 0.8, 1.0, 1.1)[int(5 * source.random())]
        found.append(dict(now))
    return tuple(found)


def mistake(name: str, says: str, **parts: Any) -> FunctionMistake:
    return FunctionMistake(name, says, partial(AifoLaw, **parts))


def length(s: Sample, bits: float = 8, size: float = 0, second: float = 1000) -> int:
    return round(s["drain_bps"] * s["delay_ms"] / second / (bits * (size or s["packet_bytes"])))


def bounded(s: Sample, packets: int) -> int:
    return max(1, min(s["queue_packets"], packets))


def share(s: Sample, c: int, most: float = 0.5) -> float:
    return quantile_headroom(s["dispersion"], c, s["loss"], most)


LAB = FunctionLab(
    title="A control law for AIFO under changing load",
    minutes=90,
    files=("law.py",),
    stands_in="in_place_of_aifo",
    controller=AifoLaw,
    tasks=(
        FunctionTask("Task 1: the target length C", 30, far_apart(1, 80), ("C",)),
        FunctionTask("Task 2: sampling S", 20, far_apart(2, 80), ("S",)),
        FunctionTask("Task 3: headroom k", 30, far_apart(3, 80), ("K",)),
        FunctionTask("Task 4: hysteresis", 20, (drifting(4, 300),), ("C", "K", "S")),
    ),
    # The check names the first of them that answers as the student's function to every sample.
    mistakes=(
        mistake(
            "nothing yet",
            "C, k and S are always the same. Begin with task 1.",
            target=lambda _: 20,
            sampling=lambda _: 15,
            headroom=lambda *_: 26,
        ),
        mistake(
            "bytes for bits",
            "the rate is in bits and the packet in bytes. A byte has 8 bits.",
            target=lambda s: bounded(s, length(s, bits=1)),
        ),
        mistake("ms for s", "the delay is in ms: divide by 1000.", target=lambda s: bounded(s, length(s, second=1))),
        mistake(
            "packets of 1500 bytes",
            "packets have the mean size that was measured, not 1500 bytes.",
            target=lambda s: bounded(s, length(s, size=1500)),
        ),
        mistake(
            "arrivals for drain",
            "C follows from what the link sends, not from what arrives.",
            target=lambda s: bounded(s, round(s["arrival_pps"] * s["delay_ms"] / 1000)),
        ),
        mistake("larger than the queue", "C is at most what the queue can hold.", target=lambda s: max(1, length(s))),
        mistake(
            "window forgotten",
            "S is for each of the |W| ranks: divide by |W|.",
            sampling=lambda s: max(1, round(s["arrival_pps"] * s["span_ms"] / 1000)),
        ),
        mistake(
            "span of the delay",
            "the window spans span_ms, not delay_ms.",
            sampling=lambda s: max(1, round(s["arrival_pps"] * s["delay_ms"] / 1000 / s["window"])),
        ),
        mistake(
            "S of 0", "S is at least 1.", sampling=lambda s: round(s["arrival_pps"] * s["span_ms"] / 1000 / s["window"])
        ),
        mistake(
            "the largest headroom",
            "you take the largest K that is allowed. Asked is the smallest.",
            headroom=lambda s, c: 128,
        ),
        mistake(
            "headroom without a bound",
            "K is at most 128: k is at most 0.5.",
            headroom=lambda s, c: min(255, -int(-share(s, c, 255 / 256) * 256 // 1)),
        ),
        mistake("k for K", "K is k in 1/256: a whole number from 0 to 128.", headroom=lambda s, c: round(share(s, c))),
        mistake("no hysteresis", "your values change with every small change of the traffic.", near=lambda *_: False),
        mistake("never changes", "your first values stay for ever.", near=lambda *_: True),
        mistake(
            "only C is looked at",
            "S and K may have moved away while C has not. All three must be near.",
            near=lambda a, b: near((a[0], 0, 1), (b[0], 0, 1)),
        ),
        mistake(
            "any of the three",
            "it is not enough that one of the three is near. All three must be.",
            near=lambda a, b: (
                near((a[0], 0, 1), (b[0], 0, 1)) or near((1, a[1], 1), (1, b[1], 1)) or near((1, 0, a[2]), (1, 0, b[2]))
            ),
        ),
        mistake(
            "compared with the last wish",
            "compare with the values in force, not with those that you wanted last.",
            follows_wish=True,
        ),
    ),
    tcp=TcpRun(
        "leaf_spine",
        ("--schemes", "fifo,aifo"),
        "Your law sets the parameters of every port. With AIFO, the urgent connections get nearly everything.",
    ),
)
