"""Counters of the ranked programs for one egress port, and differences between two readings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from p4sched.constants import MAX_PORTS
from p4sched.control.laws.arithmetic import square
from p4sched.errors import require
from p4sched.p4rt.reader import Count

BUCKETS = 33
"""Buckets of the logarithmic histograms: bucket 0 is the value 0, bucket i the values 2^(i-1) .. 2^i - 1."""
MAX_PORT = MAX_PORTS - 1


@dataclass(frozen=True)
class Sample:
    """One egress port's counters, all priorities added up, since the program was loaded."""

    time_ns: int
    """Middle of the Read, on any clock that never goes back."""
    read_ns: int
    """Duration of the Read; the counters are from some instant within it."""
    admitted: Count
    refused: Count
    """Dropped by the admission rule."""
    full: Count
    """Dropped because the queue was full."""
    ranks: tuple[int, ...]
    """Packets by bucket of their rank."""
    depths: tuple[int, ...]
    """Packets by bucket of the queue length at their arrival."""

    def record(self) -> dict[str, Any]:
        return {
            "read_ns": self.read_ns,
            **{name: [count.packets, count.bytes] for name, count in self._counts().items()},
            "ranks": list(self.ranks),
            "depths": list(self.depths),
        }

    @classmethod
    def from_record(cls, line: Mapping[str, Any]) -> Self:
        for name in ("ranks", "depths"):
            require(len(line[name]) == BUCKETS, f"{name} has {len(line[name])} buckets, not {BUCKETS}")
        return cls(
            time_ns=line["time_ns"],
            read_ns=line["read_ns"],
            admitted=Count(*line["admitted"]),
            refused=Count(*line["refused"]),
            full=Count(*line["full"]),
            ranks=tuple(line["ranks"]),
            depths=tuple(line["depths"]),
        )

    def _counts(self) -> dict[str, Count]:
        return {"admitted": self.admitted, "refused": self.refused, "full": self.full}


@dataclass(frozen=True)
class Step:
    """Traffic between two samples."""

    start_ns: int
    end_ns: int
    uncertain_ns2: float
    """Square of the duration of the Read at the end of the step."""
    arrived: Count
    admitted: Count
    dropped: int
    found_empty: int
    """Arrivals that found the queue empty."""
    ranks: tuple[int, ...]

    @property
    def duration_ns(self) -> int:
        """Time between the samples."""
        return self.end_ns - self.start_ns

    @property
    def rate(self) -> float:
        """Arrivals in packets/ns."""
        return self.arrived.packets / self.duration_ns


def steps_with(steps: tuple[Step, ...], before: Sample | None, now: Sample, window_ns: int) -> tuple[Step, ...]:
    """The steps that reach into the window, and the step between the samples. A counter that went down was reset; its
    value counts from the reset."""
    if before is None:
        return ()
    if now.time_ns < before.time_ns:
        raise ValueError(f"sample at {now.time_ns} ns is older than the one before, at {before.time_ns} ns")
    if now.time_ns == before.time_ns:
        return steps
    admitted = _increment(before.admitted, now.admitted)
    dropped = _increment(before.refused, now.refused) + _increment(before.full, now.full)
    step = Step(
        start_ns=before.time_ns,
        end_ns=now.time_ns,
        uncertain_ns2=square(float(now.read_ns)),
        arrived=admitted + dropped,
        admitted=admitted,
        dropped=dropped.packets,
        found_empty=_risen(before.depths[0], now.depths[0]),
        ranks=tuple(_risen(a, b) for a, b in zip(before.ranks, now.ranks, strict=True)),
    )
    return (*(old for old in steps if old.end_ns > now.time_ns - window_ns), step)


def _increment(before: Count, now: Count) -> Count:
    return Count(_risen(before.packets, now.packets), _risen(before.bytes, now.bytes))


def _risen(before: int, now: int) -> int:
    return now - before if now >= before else now
