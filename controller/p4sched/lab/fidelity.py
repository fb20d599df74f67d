"""Validity of a run: was the network the bottleneck, or the machine that emulates it?

Thresholds, each with its reason:

- Lateness, 99th percentile: at most RTT/10. Late frames change the RTT of the flows by this time.
- Frames lost before the switch reads them, or between two virtual interfaces: at most 1 in 100 000. To TCP a loss
  means congestion, and a bottleneck loses some in 1000.
- Idle CPU: at least 3 % over the measurement. Without idle time, hosts wait for the CPU and not for the link.

A run is also invalid if it measured nothing: no frame left the switch, or a part of the traffic has no result.

A run in virtual time does not depend on the machine: it is exact, unless it measured nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias, TypeVar

from p4sched.lab.machine import MachineUse
from p4sched.p4rt.traffic_manager import Fidelity as SwitchFidelity
from p4sched.results.summaries import VIRTUAL

Number = TypeVar("Number", int, float)

LATENESS_SHARE_OF_RTT = 0.1
LOST_SHARE = 1e-5
IDLE_SHARE = 0.03
STOLEN_SHARE_TOLD = 0.001
"""Share of stolen CPU time from which it is reported with late frames. Alone it does not make a run invalid."""


def lateness_limit(rtt_ns: int) -> float:
    """Largest lateness of the 99th percentile of frames, in ns."""
    return rtt_ns * LATENESS_SHARE_OF_RTT


@dataclass(frozen=True)
class Fidelity:
    """Observations during sampling. None: this switch does not report the value."""

    rtt_ns: int
    cpu_idle_share: float
    backlog_dropped: int
    cpu_stolen_share: float = 0.0
    """Share of the CPU time that the hypervisor gave to other machines. It makes frames late on an idle CPU."""
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
    """A sentence for each value that should have been measured and was not."""

    def but(self, unmeasured: Sequence[str]) -> "Fidelity":
        """The same, but for what was not measured."""
        return replace(self, unmeasured=(*self.unmeasured, *unmeasured))

    def doubts(self) -> list[str]:
        """Reasons not to use the run; empty if there are none."""
        return _nothing(self.unmeasured, self.frames) + self.ill_health()

    def ill_health(self) -> list[str]:
        """Signs that the emulator was the bottleneck; empty if there are none."""
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
        """True if the network, not the machine, made the result."""
        return not self.doubts()

    def unknown(self) -> list[str]:
        """Values that this switch does not report."""
        reports = {"lateness": self.lateness_p99_ns, "frames lost before the switch": self.rx_lost}
        return [name for name, value in reports.items() if value is None]

    def summary(self) -> dict[str, Any]:
        """Part of summary.json: the measured values, and the verdict."""
        return asdict(self) | {"valid": self.valid, "doubts": self.doubts(), "not_reported": self.unknown()}


@dataclass(frozen=True)
class Exact:
    """Observations in virtual time, where frames leave exactly in time."""

    frames: int
    """Frames that left the switches."""
    unmeasured: tuple[str, ...] = ()
    """A sentence for each value that should have been measured and was not."""

    def but(self, unmeasured: Sequence[str]) -> "Exact":
        """The same, but for what was not measured."""
        return replace(self, unmeasured=(*self.unmeasured, *unmeasured))

    def doubts(self) -> list[str]:
        """Reasons not to use the run; empty if there are none."""
        return _nothing(self.unmeasured, self.frames)

    def ill_health(self) -> list[str]:
        """Always empty: there is no emulator."""
        return []

    @property
    def valid(self) -> bool:
        """True if something was measured."""
        return not self.doubts()

    def summary(self) -> dict[str, Any]:
        """Part of summary.json."""
        return {"time": VIRTUAL} | asdict(self) | {"valid": self.valid, "doubts": self.doubts()}


AnyFidelity: TypeAlias = Fidelity | Exact


def _nothing(unmeasured: Sequence[str], frames: int | None) -> list[str]:
    """Doubts for values that were not measured."""
    found = [f"nothing was measured: {what}" for what in unmeasured]
    if frames == 0:
        found.append("nothing was measured: no frame left the switch")
    return found


class Health(ABC):
    """Watches the effects of the machine on the traffic, from the creation of this object on."""

    @abstractmethod
    def end(self) -> None:
        """Ends the period."""

    @abstractmethod
    def fidelity(self, switches: Sequence[SwitchFidelity]) -> AnyFidelity:
        """The verdict, after `end`, with the reports of the switches."""


def fidelity_of_machine(rtt_ns: int, use: MachineUse) -> Fidelity:
    """Verdict on the machine without a switch."""
    return Fidelity(rtt_ns, use.idle_share, use.backlog_dropped, use.stolen_share)


def fidelity_of_all(rtt_ns: int, use: MachineUse, switches: Sequence[SwitchFidelity]) -> Fidelity:
    """One verdict on several switches: the largest lateness, and the sum of losses. Values that no switch reports are
    None."""
    of_machine = fidelity_of_machine(rtt_ns, use)
    if not switches:
        return of_machine
    return replace(
        of_machine,
        frames=sum(switch.departures for switch in switches),
        lateness_p50_ns=_worst(switch.lateness_p50_ns for switch in switches),
        lateness_p99_ns=_worst(switch.lateness_p99_ns for switch in switches),
        lateness_max_ns=_worst(switch.lateness_max_ns for switch in switches),
        rx_lost=sum(switch.rx_lost for switch in switches),
        tx_errors=_in_all(switch.tx_errors for switch in switches),
        data_plane_cpu_share=_in_all(
            None if switch.cpu_ns is None else switch.cpu_ns / max(switch.measured_ns, 1) for switch in switches
        ),
    )


def _worst(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _in_all(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
