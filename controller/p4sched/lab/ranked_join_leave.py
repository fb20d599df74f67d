"""Flows of rising urgency that start one after the other and stop in the opposite order (AIFO Fig. 15, 16; PACKS
Fig. 14): the schedule, the shares in each of its phases, table and CSV.

With four flows and phases of 5 s: flow 1 sends from 0 to 35 s, flow 2 from 5 to 30 s, flow 3 from 10 to 25 s and flow 4
from 15 to 20 s. A later flow is more urgent, so in each phase the flow that started last should have the link.
"""

import csv
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from p4sched.errors import UsageError
from p4sched.lab import measurement
from p4sched.lab.experiment import SwitchKind
from p4sched.lab.ledger import Ledger
from p4sched.lab.measurement import Sample
from p4sched.lab.ranked_run import SchemeOutcome, Tell, print_end, run_schemes, title, verdict
from p4sched.results.ranked_figures import draw_join_leave
from p4sched.results.tables import print_table
from p4sched.units import Duration

Rows = list[list[float]]
"""A time and each flow's rate, for each sample."""
Measured = tuple[SchemeOutcome, Rows]
Measure = Callable[[str, Ledger, Path, Tell], Coroutine[Any, Any, Measured]]

FLOWS = 4
PHASES = 2 * FLOWS - 1
SAMPLE_S = 0.25
SHORTEST_PHASE_S = 1.0


@dataclass(frozen=True)
class Schedule:
    """When the flows send."""

    phase_s: float

    def __post_init__(self) -> None:
        if self.phase_s < SHORTEST_PHASE_S:
            raise UsageError(
                f"--duration {self.phase_s * PHASES:g}s makes {PHASES} phases of {self.phase_s:.2f} s; each needs"
                f" {SHORTEST_PHASE_S:g} s, so {PHASES * SHORTEST_PHASE_S:g}s in all"
            )

    @classmethod
    def over(cls, duration: Duration) -> "Schedule":
        """The schedule that takes this long in all."""
        return cls(duration.seconds / PHASES)

    @property
    def seconds(self) -> float:
        """The whole of it."""
        return PHASES * self.phase_s

    def start(self, flow: int) -> float:
        """When flow 1, 2, ... starts, in seconds."""
        return (flow - 1) * self.phase_s

    def stop(self, flow: int) -> float:
        """When it stops."""
        return (PHASES - flow + 1) * self.phase_s

    def active(self, phase: int) -> list[int]:
        """Flows that send in phase 0, 1, ..."""
        return list(range(1, min(phase, PHASES - 1 - phase) + 2))


@dataclass(frozen=True)
class PhaseShares:
    """What the flows got in one phase, without its margins."""

    start_s: float
    end_s: float
    joined: bool
    """Whether the phase began with a flow that joined; otherwise one has left."""
    active: list[int]
    shares: list[float]
    """Median of each flow's samples, in shares of the link."""

    @property
    def most_urgent_share(self) -> float:
        """Share of the flow that started last."""
        return self.shares[self.active[-1] - 1]


def compare(
    experiment: str,
    wanted: Sequence[str],
    switch: SwitchKind,
    out: Path,
    configuration: Mapping[str, Any],
    heading: str,
    measure: Measure,
    programs: Sequence[str] = (),
) -> None:
    """Measures each scheme; writes OUT/summary.json, OUT/samples.csv and OUT/figure.png; prints a table.

    `programs` must be on the PATH, besides those of every run.
    """
    rows: dict[str, Rows] = {}

    async def keep_rows(name: str, ledger: Ledger, folder: Path, tell: Tell) -> SchemeOutcome:
        outcome, rows[name] = await measure(name, ledger, folder, tell)
        return outcome

    found = run_schemes(experiment, wanted, switch, out, configuration, keep_rows, programs=programs)
    write_samples(rows, out / "samples.csv")
    draw_join_leave(found, rows, heading, out / "figure.png")
    console = Console()
    print_table(console, table(found))
    print_end(console, found, out)


def phase_shares(samples: Sequence[Sample], schedule: Schedule, begun: float, rate_bps: int) -> list[PhaseShares]:
    """Shares in each phase. The first samples of a phase, in which flows start or TCP takes over, are left out: a
    quarter of the phase; and the last one, in which a flow may have stopped already."""
    found = []
    for phase in range(PHASES):
        start, end = phase * schedule.phase_s, (phase + 1) * schedule.phase_s
        first = begun + start + schedule.phase_s / 4
        inside = [s for s in samples if s.start >= first and s.end <= begun + end - SAMPLE_S / 2]
        if not inside:
            continue
        shares = [median(sample.rates[flow] for sample in inside) / rate_bps for flow in range(FLOWS)]
        found.append(PhaseShares(start, end, phase < FLOWS, schedule.active(phase), shares))
    return found


def unmeasured(samples: Sequence[Sample], phases: Sequence[PhaseShares]) -> list[str]:
    """What of the schedule the samples do not show, a sentence each."""
    found = measurement.unmeasured(samples, range(1, FLOWS + 1))
    if samples and len(phases) < PHASES:
        found.append(f"only {len(phases)} of {PHASES} phases have a sample")
    return found


def summarise(phases: Sequence[PhaseShares]) -> dict[str, Any]:
    """The shares for summary.json. `most_urgent_share`: the lowest over the phases that begin with a join, all that
    AIFO's section 5.2 tells of; `most_urgent_share_leaving`: over those that begin with a leave (also in PACKS 6.3),
    where a TCP flow that was starved has yet to come back from its timeouts."""
    joining = [p.most_urgent_share for p in phases if len(p.active) > 1 and p.joined]
    leaving = [p.most_urgent_share for p in phases if len(p.active) > 1 and not p.joined]
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


def series(samples: Sequence[Sample], begun: float) -> Rows:
    """Rows of a time and each flow's rate: the middle of each sample, in seconds of the schedule."""
    return [[(sample.start + sample.end) / 2 - begun, *sample.rates] for sample in samples]


def write_samples(rows: Mapping[str, Sequence[Sequence[float]]], path: Path) -> None:
    """One CSV row a scheme and sample."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["scheme", "second", *(f"flow_{flow}_bps" for flow in range(1, FLOWS + 1))])
        for name, scheme in rows.items():
            for second, *rates in scheme:
                table.writerow([name, f"{second:.3f}", *(round(rate) for rate in rates)])


def table(found: Mapping[str, Any]) -> Table:
    """The table at the end of a run: shares of the link while all four flows send, and at worst."""
    shown = Table(
        title="Shares of the link while all four flows send (4 is the most urgent), the most urgent one's at worst",
        title_justify="left",
    )
    shown.add_column("scheme")
    for flow in range(1, FLOWS + 1):
        shown.add_column(f"flow {flow}", justify="right")
    shown.add_column("most urgent, joining", justify="right")
    shown.add_column("leaving", justify="right")
    shown.add_column("run")
    for name, scheme in found["schemes"].items():
        four = next((p for p in scheme["phases"] if len(p["active_flows"]) == FLOWS), None)
        shares = [None] * FLOWS if four is None else four["shares"]
        worst = (scheme["most_urgent_share"], scheme["most_urgent_share_leaving"])
        cells = ["-" if share is None else f"{share:.3f}" for share in (*shares, *worst)]
        shown.add_row(f"[bold]{title(name)}[/]\n{scheme['label']}", *cells, verdict(scheme))
    return shown
