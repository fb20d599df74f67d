"""A run in which nothing was measured is not to be believed, and says what is missing."""

from pathlib import Path
from typing import Any

import pytest

from experiments.fdpa_join_leave import figure
from experiments.fdpa_join_leave.result import Result, Setting
from p4sched.control.bands import Bands
from p4sched.lab import measurement
from p4sched.lab import ranked_join_leave as join_leave
from p4sched.lab.experiment import SchemeOutcome
from p4sched.lab.fidelity import Fidelity
from p4sched.lab.frame import scheme_summary
from p4sched.lab.measurement import Sample
from p4sched.lab.observation import Observation
from p4sched.lab.probe import ProbeRecord
from p4sched.lab.schemes import Link
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.results import completion
from p4sched.results.tables import verdict
from p4sched.units import Duration

QUIET = Fidelity(rtt_ns=10_000_000, cpu_idle_share=0.5, backlog_dropped=0, frames=1000, lateness_p99_ns=1000)


def observed(fidelity: Fidelity) -> Observation:
    return Observation(fidelity, TcpCounters(), {})


def test_a_switch_that_sent_no_frame_measured_nothing() -> None:
    assert QUIET.doubts() == []
    silent = Fidelity(rtt_ns=10_000_000, cpu_idle_share=0.5, backlog_dropped=0, frames=0, lateness_p99_ns=0)
    assert silent.doubts() == ["nothing was measured: no frame left the switch"]


def test_what_was_not_measured_is_the_first_doubt_of_the_summary_and_of_the_table() -> None:
    starved = Fidelity(rtt_ns=10_000_000, cpu_idle_share=0.01, backlog_dropped=0)
    seen = observed(starved).but(["no packet reached the receiver"])
    scheme = scheme_summary(SchemeOutcome({"inversions": 0}, seen, "10 packets"))
    assert scheme["fidelity"]["valid"] is False
    assert scheme["fidelity"]["doubts"][0] == "nothing was measured: no packet reached the receiver"
    assert len(scheme["fidelity"]["doubts"]) == 2
    assert "INVALID" in verdict(scheme)
    whole = scheme_summary(SchemeOutcome({}, observed(QUIET).but([]), ""))
    assert (whole["fidelity"]["valid"], verdict(whole)) == (True, "valid")


@pytest.mark.parametrize(
    ("rates", "missing"),
    [
        ([], ["there is no sample"]),
        ([(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)], ["nothing was delivered in any sample"]),
        ([(5.0, 0.0, 0.0), (0.0, 0.0, 0.0)], ["nothing of user 2, 3 was delivered in any sample"]),
        ([(5.0, 0.0, 0.0), (0.0, 1.0, 2.0)], []),
    ],
)
def test_users_that_never_got_a_byte_through_are_named(rates: list[tuple[float, ...]], missing: list[str]) -> None:
    samples = [Sample(float(second), second + 1.0, each) for second, each in enumerate(rates)]
    assert measurement.unmeasured(samples, [1, 2, 3]) == missing


def test_a_phase_without_a_sample_is_missed() -> None:
    schedule = join_leave.Schedule.over(Duration.parse("14s"))
    samples = [Sample(t / 4, (t + 1) / 4, (1.0, 1.0, 1.0, 1.0)) for t in range(56)]
    whole = join_leave.phase_shares(samples, schedule, 0.0, 10**6)
    assert join_leave.unmeasured(samples, whole) == []
    half = join_leave.phase_shares(samples[:24], schedule, 0.0, 10**6)
    assert join_leave.unmeasured(samples[:24], half) == ["only 3 of 7 phases have a sample"]


@pytest.mark.parametrize(
    ("flows", "missing"),
    [
        ([completion.Flow(50_000, 0.1)], []),
        ([], ["load 0.5: none of its 0 flows is a small one that was done"]),
        ([completion.Flow(50_000, None)] * 3, ["load 0.5: none of its 3 flows is a small one that was done"]),
        ([completion.Flow(5_000_000, 0.9)], ["load 0.5: none of its 1 flows is a small one that was done"]),
    ],
)
def test_a_load_without_a_small_flow_that_ended_is_missed(flows: list[completion.Flow], missing: list[str]) -> None:
    load: dict[str, Any] = {"load": 0.5} | completion.summarise(flows, scale=1.0)
    assert completion.unmeasured([load]) == missing


def test_a_run_whose_bands_never_moved_is_drawn_too(tmp_path: Path) -> None:
    setting = Setting(Link(80_000_000, 10_000_000), Bands.parse("1+2*0.5"), 60_000, 4, "embedded", "cubic")
    samples = [Sample(t / 10, (t + 1) / 10, (0.0,) * 8) for t in range(120)]
    doubts = observed(QUIET).but(measurement.unmeasured(samples, range(1, 9))).fidelity.doubts()
    silent = Result(samples, [], 4.0, (12.0, 13.0, 100), ProbeRecord(0, ()))
    figure.draw(silent, setting, doubts, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
