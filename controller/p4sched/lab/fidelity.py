"""Whether a run can be believed: was the network the bottleneck, or the machine that emulates it?

Thresholds, each with its reason:

- Lateness, 99th percentile: at most RTT/10. Frames leave later than the shaper and the delay line say, so the
  flows see an RTT that is off by this much.
- Frames lost before the switch read them, or between two virtual interfaces: at most 1 in 100 000. TCP takes
  a loss for congestion, and a bottleneck loses some in 1000.
- Idle CPU: at least 3 % over the measurement. With nothing left, hosts wait for the CPU and not for the link.

And a run that measured nothing says nothing: frames left the switch, and there is a result of everything that was sent.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from p4sched.lab.machine import MachineUse

LATENESS_SHARE_OF_RTT = 0.1
LOST_SHARE = 1e-5
IDLE_SHARE = 0.03
STOLEN_SHARE_TOLD = 0.001
"""From here on stolen CPU time is named beside the lateness; by itself it is no reason for doubt."""


def lateness_limit(rtt_ns: int) -> float:
    """How late 1 % of the frames may be at most, in ns."""
    return rtt_ns * LATENESS_SHARE_OF_RTT


@dataclass(frozen=True)
class Fidelity:
    """What was observed while samples were taken. None: this switch does not report it."""

    rtt_ns: int
    cpu_idle_share: float
    backlog_dropped: int
    cpu_stolen_share: float = 0.0
    """Share of the CPU time that the hypervisor below this machine gave to others: late frames without a busy CPU."""
    frames: int | None = None
    """Frames that left the switch."""
    lateness_p50_ns: int | None = None
    lateness_p99_ns: int | None = None
    lateness_max_ns: int | None = None
    rx_lost: int | None = None
    tx_errors: int | None = None
    data_plane_cpu_share: float | None = None
    """Share of one CPU that the data-plane thread used."""
    unmeasured: tuple[str, ...] = ()
    """What was to be measured, and was not, in a sentence each."""

    def but(self, unmeasured: Sequence[str]) -> "Fidelity":
        """The same, but for what was not measured."""
        return replace(self, unmeasured=(*self.unmeasured, *unmeasured))

    def doubts(self) -> list[str]:
        """Why the run is not to be believed; empty when it is."""
        found = [f"nothing was measured: {what}" for what in self.unmeasured]
        if self.frames == 0:
            found.append("nothing was measured: no frame left the switch")
        return found + self.ill_health()

    def ill_health(self) -> list[str]:
        """Where the emulator was the bottleneck, whatever came out; empty where it was not."""
        found = []
        limit = lateness_limit(self.rtt_ns)
        if self.lateness_p99_ns is not None and self.lateness_p99_ns > limit:
            found.append(
                f"1 % of the frames left the switch more than {self.lateness_p99_ns / 1e6:.2f} ms late"
                f" (limit {limit / 1e6:.2f} ms)"
                + (
                    f"; the hypervisor took {self.cpu_stolen_share:.1%} of the CPU away"
                    if self.cpu_stolen_share >= STOLEN_SHARE_TOLD
                    else ""
                )
            )
        lost = self.backlog_dropped + (self.rx_lost or 0)
        if lost > LOST_SHARE * max(self.frames or 0, 1):
            found.append(f"{lost} frames were lost outside the bottleneck")
        if self.tx_errors is not None and self.tx_errors > LOST_SHARE * max(self.frames or 0, 1):
            found.append(f"{self.tx_errors} frames were refused by an interface")
        if self.cpu_idle_share < IDLE_SHARE:
            found.append(f"{self.cpu_idle_share:.1%} of the CPU was idle (limit {IDLE_SHARE:.0%})")
        return found

    @property
    def valid(self) -> bool:
        """Whether the network, and not the machine, made the result."""
        return not self.doubts()

    def unknown(self) -> list[str]:
        """What this switch does not report, so that nobody takes silence for a good sign."""
        reports = {"lateness": self.lateness_p99_ns, "frames lost before the switch": self.rx_lost}
        return [name for name, value in reports.items() if value is None]

    def summary(self) -> dict[str, Any]:
        """For summary.json: the measured values, and whether the run is to be believed."""
        return asdict(self) | {"valid": self.valid, "doubts": self.doubts(), "not_reported": self.unknown()}


def fidelity_of_machine(rtt_ns: int, use: MachineUse) -> Fidelity:
    """What the machine says by itself, without any switch."""
    return Fidelity(rtt_ns, use.idle_share, use.backlog_dropped, use.stolen_share)
