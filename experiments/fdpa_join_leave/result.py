"""Setting of a run, and its records."""

from collections.abc import Sequence
from dataclasses import dataclass

from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.lab.measurement import Sample
from p4sched.lab.probe import ProbeRecord
from p4sched.lab.schemes import Link

STAYING = 4
JOINING = 4
USERS = STAYING + JOINING
PROBE_PACKETS_PER_S = 500


@dataclass(frozen=True)
class Change:
    """New edges, and the time of their confirmation by the switch."""

    at: float
    """Time in seconds, monotonic."""
    active: int
    """Users that the controller counted."""
    edges_bps: tuple[float, ...]
    """Upper edge of each band but the last, as a rate."""


@dataclass(frozen=True)
class Result:
    """Result of the measurement. All times are seconds of CLOCK_MONOTONIC."""

    samples: Sequence[Sample]
    changes: Sequence[Change]
    joined_at: float
    """Start of the clients of the joining users."""
    stress: tuple[float, float, int]
    """Start, end and number of the parameter changes at full speed, without other traffic."""
    probe: ProbeRecord


@dataclass(frozen=True)
class Setting:
    """Setting of the run."""

    link: Link
    bands: Bands
    interval_us: int
    phase_s: int
    switch: str
    congestion_control: str

    def law_config(self) -> fdpa.Config:
        """The configuration of the control law."""
        return fdpa.Config(
            capacity_bps=self.link.rate_bps,
            bands=self.bands,
            interval_us=self.interval_us,
            rtt_ns=self.link.rtt_ns,
        )
