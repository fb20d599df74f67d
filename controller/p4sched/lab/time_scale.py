"""The time scale of a run: an experiment goes so many times slower than its base that this machine carries it.

TCP does not care about the scale of time as long as rate times round-trip time stays: a rate is divided by the scale, a
time is multiplied by it, and as many packets are under way. Three clocks of the kernel do not follow: TCP retransmits
after 200 ms at least, delays a lone acknowledgement by up to 40 ms, and Cubic grows by seconds where that is faster
than one segment a round trip. So round-trip times end at LONGEST_RTT, where the first two are one round trip and less.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from p4sched.errors import UsageError
from p4sched.lab.calibrate import Capacity
from p4sched.lab.fidelity import lateness_limit
from p4sched.units import Duration, Rate

SCALES = (1, 2, 4, 5, 10, 20)
"""Whole numbers that give round rates and times."""
LONGEST_RTT = Duration.parse("200ms")
IDLE_ROOM = 0.25
"""Share of the CPUs that an experiment leaves idle. Less than IDLE_SHARE of a run's fidelity makes the run INVALID."""
LATENESS_SHARE = 0.5
"""Share of a run's limit that the 99th percentile of lateness may take. A single stall of the machine is later than
that and spoils no run: on a quiet machine 1 frame in 1000 was between 0.3 and 18 ms late, 1 in 100 always about 0.2
ms."""
FRAME_BITS = 8 * 1514


@dataclass(frozen=True)
class Base:
    """An experiment at time scale 1."""

    rate: Rate
    rtt: Duration
    frames: float = 1.4
    """Frames of calibration that cost as much CPU as one full frame of the bottleneck does here: with TCP's
    acknowledgements, other hops, refused packets, and many processes in place of two."""
    slowest: int = SCALES[-1]
    """The largest time scale at which the experiment still shows what it is about."""

    def at(self, scale: float) -> "Base":
        """The same at another time scale."""
        return replace(self, rate=Rate(max(1, round(self.rate / scale))), rtt=Duration(round(self.rtt * scale)))

    def cpu_share(self, capacity: Capacity) -> float:
        """Share of all CPUs that this takes, besides what others take."""
        frames_per_s = self.frames * self.rate / FRAME_BITS
        return frames_per_s * capacity.frame_cpu_ns / 1e9 / capacity.cpus

    def beyond(self, capacity: Capacity) -> list[str]:
        """Reasons why this is beyond the capacity with some reserve; empty if it fits."""
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
    """The fastest time scale that the machine carries with room to spare, or would without the others' work; else the
    slowest one."""
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
    base: Base, asked: float | None, given: Sequence[str], goes: Callable[[float], Base], capacity: Capacity | None
) -> Pace:
    """The pace of a run. `asked`: the time scale that was asked for; `given`: the options of rate and RTT that were
    given; `goes`: rate and RTT at a scale."""
    if asked is not None:
        scale, why = asked, "as asked"
    elif given:
        scale, why = 1.0, f"{given[0]} is given"
    elif capacity is None:
        scale, why = 1.0, "this switch is not measured"
    else:
        scale, why = float(fastest(base, capacity)), "the fastest that this machine carries"
        if base.at(scale).beyond(capacity):
            alone = base.at(scale).beyond(replace(capacity, others_share=0.0))
            why = "the slowest one" if alone else "for a machine without other work"
    return Pace(scale, why, goes(scale), base, capacity)


def warning(asked: Base, base: Base, capacity: Capacity) -> str | None:
    """Warning before a run beyond the machine's capacity, with settings that fit; None if it fits."""
    reasons = asked.beyond(capacity)
    if not reasons:
        return None
    fitting = base.at(fastest(base, capacity))
    fits = (
        "nothing that this experiment can do fits now: let other work end first"
        if fitting.beyond(capacity)
        else f"what fits is {fitting}"
    )
    return f"{asked} is more than this machine carries now: {'; '.join(reasons)}. {fits[0].upper()}{fits[1:]}."


def parse(text: object) -> float | None:
    """ "2" or "auto", which is None."""
    if str(text) == "auto":
        return None
    try:
        scale = float(str(text))
    except ValueError:
        scale = 0.0
    if not 1 <= scale <= SCALES[-1]:
        raise UsageError(f"time scale '{text}': give a number from 1 to {SCALES[-1]}, or auto")
    return scale
