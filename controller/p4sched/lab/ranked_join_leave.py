"""Flows of rising urgency that start one after the other and stop in the opposite order (AIFO Fig. 15, 16; PACKS
Fig. 14): the schedule, the shares in each of its phases, table and CSV.

With four flows and phases of 5 s: flow 1 sends from 0 to 35 s, flow 2 from 5 to 30 s, flow 3 from 10 to 25 s and flow 4
from 15 to 20 s. A later flow is more urgent, so in each phase the flow that started last should have the link.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

from p4sched.errors import UsageError
from p4sched.lab import measurement
from p4sched.lab.bench import Bench
from p4sched.lab.experiment import Results, Rows, SchemeOutcome
from p4sched.lab.measurement import Sample, sample_rates
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.traffic import LongTraffic
from p4sched.results.ranked_figures import draw_join_leave
from p4sched.results.tables import cell, scheme_table
from p4sched.units import Duration

Series = list[list[float]]
"""For each sample a row: the time, and the rate of each flow."""
Traffic = GeneratedTraffic | LongTraffic

FLOWS = 4
PHASES = 2 * FLOWS - 1
SAMPLE_S = 0.25
SHORTEST_PHASE_S = 1.0


@dataclass(frozen=True)
class Schedule:
    """Times at which the flows send."""

    phase_s: float

    def __post_init__(self) -> None:
        if self.phase_s < SHORTEST_PHASE_S:
            raise UsageError(
                f"--duration {self.phase_s * PHASES:g}s makes {PHASES} phases of {self.phase_s:.2f} s; each needs"
                f" {SHORTEST_PHASE_S:g} s, so {PHASES * SHORTEST_PHASE_S:g}s in all"
            )

    @classmethod
    def over(cls, duration: Duration) -> "Schedule":
        """The schedule with this total duration."""
        return cls(duration.seconds / PHASES)

    @property
    def seconds(self) -> float:
        """Total duration."""
        return PHASES * self.phase_s

    def start(self, flow: int) -> float:
        """Start of flow 1, 2, ..., in seconds."""
        return (flow - 1) * self.phase_s

    def stop(self, flow: int) -> float:
        """End of flow 1, 2, ..., in seconds."""
        return (PHASES - flow + 1) * self.phase_s

    def active(self, phase: int) -> list[int]:
        """Flows that send in phase 0, 1, ..."""
        return list(range(1, min(phase, PHASES - 1 - phase) + 2))


@dataclass(frozen=True)
class PhaseShares:
    """Shares of the flows in one phase, without its margins."""

    start_s: float
    end_s: float
    is_join: bool
    """True if a flow joins at the start of the phase, False if one leaves."""
    active: list[int]
    shares: list[float]
    """Median of each flow's samples, in shares of the link."""

    @property
    def most_urgent_share(self) -> float:
        """Share of the flow that started last."""
        return self.shares[self.active[-1] - 1]


async def sample_schedule(bench: Bench, traffic: Traffic, schedule: Schedule, start_s: float) -> list[Sample]:
    """Samples of the rates of all flows during the schedule, which began at `start_s` on the event loop's clock."""

    def on_sample(sample: Sample) -> None:
        bench.network.check_alive()
        traffic.check()
        bench.stage.tell(f"{sample.end - start_s:.0f} of {schedule.seconds:.0f} s")

    count = round(schedule.seconds / SAMPLE_S)
    return await sample_rates(bench.delivered(), bench.users, count, SAMPLE_S, on_sample)


def outcome(
    bench: Bench,
    samples: Sequence[Sample],
    schedule: Schedule,
    start_s: float,
    further: Mapping[str, Any] | None = None,
) -> SchemeOutcome[Series]:
    """Outcome of the samples, with the other observations."""
    phases = phase_shares(samples, schedule, start_s, bench.link.rate_bps)
    summary = {**summarise(phases), **(further or {})}
    return bench.outcome(summary, unmeasured(samples, phases), series(samples, start_s))


def phase_shares(samples: Sequence[Sample], schedule: Schedule, start_s: float, rate_bps: int) -> list[PhaseShares]:
    """Shares in each phase. Leaves out the first quarter of a phase, in which flows start and TCP adapts, and the last
    sample, in which a flow may already have stopped."""
    found = []
    for phase in range(PHASES):
        start, end = phase * schedule.phase_s, (phase + 1) * schedule.phase_s
        first = start_s + start + schedule.phase_s / 4
        inside = [s for s in samples if s.start >= first and s.end <= start_s + end - SAMPLE_S / 2]
        if not inside:
            continue
        shares = [median(sample.rates[flow] for sample in inside) / rate_bps for flow in range(FLOWS)]
        found.append(PhaseShares(start, end, phase < FLOWS, schedule.active(phase), shares))
    return found


def unmeasured(samples: Sequence[Sample], phases: Sequence[PhaseShares]) -> list[str]:
    """A sentence for each part of the schedule without samples."""
    found = measurement.unmeasured(samples, range(1, FLOWS + 1))
    if samples and len(phases) < PHASES:
        found.append(f"only {len(phases)} of {PHASES} phases have a sample")
    return found


def summarise(phases: Sequence[PhaseShares]) -> dict[str, Any]:
    """The shares for summary.json.

    `most_urgent_share` is the lowest share over the phases that begin with a join; AIFO's section 5.2 reports only
    these. `most_urgent_share_leaving` is the lowest over the phases that begin with a leave (also in PACKS 6.3), in
    which a starved TCP flow must first recover from its timeouts.
    """
    joining = [p.most_urgent_share for p in phases if len(p.active) > 1 and p.is_join]
    leaving = [p.most_urgent_share for p in phases if len(p.active) > 1 and not p.is_join]
    return {
        "most_urgent_share": min(joining, default=None),
        "most_urgent_share_leaving": min(leaving, default=None),
        "most_urgent_share_of_four": next(
            (phase.most_urgent_share for phase in phases if len(phase.active) == FLOWS), None
        ),
        "phases": [
            {
                "start_s": phase.start_s,
                "end_s": phase.end_s,
                "active_flows": phase.active,
                "shares": phase.shares,
                "most_urgent_share": phase.most_urgent_share,
            }
            for phase in phases
        ],
    }


def series(samples: Sequence[Sample], start_s: float) -> Series:
    """Rows of the time (middle of the sample, in seconds of the schedule) and the rate of each flow."""
    return [[(sample.start + sample.end) / 2 - start_s, *sample.rates] for sample in samples]


def sample_rows(results: Results[Any, Series]) -> Rows:
    """One row for each scheme and sample."""
    yield ["scheme", "second", *(f"flow_{flow}_bps" for flow in range(1, FLOWS + 1))]
    for name, rows in results.records.items():
        for second, *rates in rows:
            yield [name, f"{second:.3f}", *map(round, rates)]


def figure_under(heading: Callable[[dict[str, Any]], str]) -> Callable[[Results[Any, Series], Path], None]:
    """Makes a function that draws the rates of all flows under a heading made from the configuration."""

    def draw(results: Results[Any, Series], path: Path) -> None:
        draw_join_leave(results.summary, results.records, heading(results.summary["configuration"]), path)

    return draw


def table(results: Results[Any, Series]) -> list[Table]:
    """Table of the shares of the link while all four flows send, and of the lowest shares."""
    heads = [*(f"flow {flow}" for flow in range(1, FLOWS + 1)), "most urgent, joining", "leaving"]
    above = "Shares of the link while all four flows send (4 is the most urgent), the most urgent one's at worst"
    return [scheme_table(above, heads, results.schemes, _cells)]


def _cells(scheme: Mapping[str, Any]) -> list[str]:
    four = next((phase["shares"] for phase in scheme["phases"] if len(phase["active_flows"]) == FLOWS), [None] * FLOWS)
    worst = (scheme["most_urgent_share"], scheme["most_urgent_share_leaving"])
    return [cell(share, ".3f") for share in (*four, *worst)]
