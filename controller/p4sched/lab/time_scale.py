"""The time scale of a run: the factor by which an experiment is slowed down so that this machine can carry it.

A rate is divided by the scale, and a time is multiplied by it. So rate times round-trip time stays the same, and as
many packets are in flight, which is what matters to TCP. Three times of the kernel do not follow the scale: TCP
retransmits after at least 200 ms, delays a single acknowledgement by up to 40 ms, and Cubic grows with real seconds
where that is faster than one segment per round trip. So the longest round-trip time is LONGEST_RTT, at which the first
two times are at most one round trip.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from p4sched.errors import UsageError
from p4sched.lab.calibrate import Capacity
from p4sched.lab.fidelity import lateness_limit
from p4sched.units import Duration, Rate

SCALES = (1, 2, 4, 5, 10, 20)
"""Time scales that give round rates and times."""
LONGEST_RTT = Duration.parse("200ms")
IDLE_ROOM = 0.25
"""Share of the CPUs that a planned experiment leaves idle. A run with less than IDLE_SHARE (fidelity) is INVALID."""
LATENESS_SHARE = 0.5
"""Share of a run's lateness limit that the 99th percentile of the machine may take. A single stall does not change this
percentile: on a quiet machine 1 frame in 1000 is 0.3 to 18 ms late, but 1 in 100 always about 0.2 ms."""
FRAME_BITS = 8 * 1514


@dataclass(frozen=True)
class Base:
    """An experiment at time scale 1."""

    rate: Rate
    rtt: Duration
    frames: float = 1.4
    """Number of calibration frames that cost as much CPU time as one full frame of the bottleneck, with TCP's
    acknowledgements, other hops, refused packets, and many processes instead of two."""
    slowest: int = SCALES[-1]
    """Largest time scale at which the experiment still shows its effect."""

    def at(self, scale: float) -> "Base":
        """This experiment at another time scale."""
        return replace(self, rate=Rate(max(1, round(self.rate / scale))), rtt=Duration(round(self.rtt * scale)))

    def cpu_share(self, capacity: Capacity) -> float:
        """Share of all CPUs that the experiment takes, without other programs."""
        frames_per_s = self.frames * self.rate / FRAME_BITS
        return frames_per_s * capacity.frame_cpu_ns / 1e9 / capacity.cpus

    def beyond(self, capacity: Capacity) -> list[str]:
        """Reasons why the experiment exceeds the capacity, less a reserve; empty if it fits."""
        found = []
        share = self.cpu_share(capacity)
        if share + capacity.others_share > 1 - IDLE_ROOM:
            others = f", and others use {capacity.others_share:.0%}" if capacity.others_share >= 0.05 else ""
            found.append(f"it takes {share:.0%} of the CPUs{others}; {IDLE_ROOM:.0%} should stay idle")
        most = LATENESS_SHARE * lateness_limit(self.rtt)
        if capacity.lateness_p99_ns > most:
            found.append(
                f"1 frame in 100 is {capacity.lateness_p99_ns / 1e6:.2f} ms late; it should be {most / 1e6:.2f} ms at"
                f" most with an RTT of {self.rtt / 1e6:g} ms"
            )
        return found

    def __str__(self) -> str:
        return f"{self.rate / 1e6:g} Mbit/s with an RTT of {self.rtt / 1e6:g} ms"


def scales(base: Base) -> Sequence[int]:
    """The time scales of an experiment, from the fastest on."""
    return [scale for scale in SCALES if scale == 1 or scale <= min(base.slowest, LONGEST_RTT / base.rtt)]


def fastest(base: Base, capacity: Capacity) -> int:
    """The fastest time scale that the machine can carry with a reserve, now or without its other programs; otherwise
    the slowest one."""
    possible, alone = scales(base), replace(capacity, others_share=0.0)
    fitting = [scale for seen in (capacity, alone) for scale in possible if not base.at(scale).beyond(seen)]
    return fitting[0] if fitting else possible[-1]


@dataclass(frozen=True)
class Pace:
    """Pace of a run, with the reason."""

    scale: float
    why: str
    goes: Base
    """Rate and RTT of the run."""
    base: Base
    """Rate and RTT at time scale 1."""
    capacity: Capacity | None
    """Capacity of the machine before the run; None: not measured, because another switch runs."""

    def warning(self) -> str | None:
        """Warning before a run beyond the machine's capacity, or None."""
        return None if self.capacity is None else warning(self.goes, self.base, self.capacity)

    def summary(self) -> dict[str, Any]:
        """Part of summary.json."""
        capacity = None if self.capacity is None else asdict(self.capacity)
        return {"factor": self.scale, "why": self.why, "base": str(self.base), "goes": str(self.goes)} | {
            "machine_carried": capacity
        }

    def __str__(self) -> str:
        return f"time scale {self.scale:g} ({self.why}): {self.goes}"


def pace(
    base: Base,
    requested_scale: float | None,
    explicit: Sequence[str],
    goes: Callable[[float], Base],
    capacity: Capacity | None,
) -> Pace:
    """The pace of a run.

    `explicit`: the options for rate and RTT on the command line. `goes`: rate and RTT at a scale.
    """
    if requested_scale is not None:
        scale, why = requested_scale, "as asked"
    elif explicit:
        scale, why = 1.0, f"{explicit[0]} is given"
    elif capacity is None:
        scale, why = 1.0, "this switch is not measured"
    else:
        scale, why = float(fastest(base, capacity)), "the fastest that this machine carries"
        if base.at(scale).beyond(capacity):
            alone = base.at(scale).beyond(replace(capacity, others_share=0.0))
            why = "the slowest one" if alone else "for a machine without other work"
    return Pace(scale, why, goes(scale), base, capacity)


def warning(requested: Base, base: Base, capacity: Capacity) -> str | None:
    """Warning before a run beyond the machine's capacity, with settings that fit; None if it fits."""
    reasons = requested.beyond(capacity)
    if not reasons:
        return None
    fitting = base.at(fastest(base, capacity))
    fits = (
        "nothing that this experiment can do fits now: let other work end first"
        if fitting.beyond(capacity)
        else f"what fits is {fitting}"
    )
    return f"{requested} is more than this machine carries now: {'; '.join(reasons)}. {fits[0].upper()}{fits[1:]}."


def parse(text: object) -> float | None:
    """Parses a number such as "2", or "auto", which is None."""
    if str(text) == "auto":
        return None
    try:
        scale = float(str(text))
    except ValueError:
        scale = 0.0
    if not 1 <= scale <= SCALES[-1]:
        raise UsageError(f"time scale '{text}': give a number from 1 to {SCALES[-1]}, or auto")
    return scale
