"""The proofs about the control laws."""

import dataclasses
from pathlib import Path

import pytest
from decision_logs import write_border

from p4sched.control.laws import traffic_estimate
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.proofs import laws
from p4sched.proofs.law_loop import AT_REST, between_active_and_not, rest_claim
from p4sched.proofs.law_samples import estimates


@pytest.mark.parametrize(("name", "target"), [("aifo", Target.TNA), ("rifo", Target.V1MODEL), ("packs", Target.T2NA)])
def test_a_law_sets_legal_parameters_for_any_traffic(name: str, target: Target) -> None:
    found = laws.ranked_claim(name, target, (), {})
    assert found.proved, found


def test_fdpas_bands_are_legal_for_any_users() -> None:
    assert laws.fdpa_claim(Target.V1MODEL, 7, token_bucket=False).proved
    assert laws.sizes_claim().proved


def test_a_window_beyond_that_of_the_program_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    larger = dataclasses.replace(PROGRAMS[Target.TNA], largest_window=32)
    monkeypatch.setattr(laws, "PROGRAMS", {**PROGRAMS, Target.TNA: larger})
    found = laws.ranked_claim("aifo", Target.TNA, (), {})
    assert found.proved is False
    assert "window_ranks <= 16; sampling != 0: rate_bps" in found.example


def test_estimates_are_in_the_ranges_that_the_laws_take() -> None:
    found = list(estimates())
    assert [one.proved for one in found] == [True] * 3, found


def test_an_estimate_beyond_its_range_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic_estimate, "MIN_DISPERSION", 0.0)
    *_, found = estimates()
    assert found.proved is False
    assert found.example.startswith("dispersion is from 0.0625 to 1e+120: duration 0")


@pytest.mark.parametrize("name", ["aifo", "rifo", "packs"])
def test_a_law_keeps_its_parameters_if_packets_have_no_bytes(name: str, tmp_path: Path) -> None:
    """A counter of bytes was reset and has come back to its value."""
    decisions = write_border(tmp_path / "decisions.jsonl", name)
    assert all(decision.traffic is None for decision in decisions[1:])
    assert not any(decision.changed for decision in decisions[1:])


def test_fdpas_bands_rest_unless_a_user_is_near_the_threshold() -> None:
    assert rest_claim().proved
    # windows of 7 polls: a frame in 600 ms is in each of them, one in 800 ms is not
    assert between_active_and_not(600_000_000, 1500, 100) == []
    changes = between_active_and_not(800_000_000, 1500, 100)
    assert changes[0] > AT_REST
    assert len(changes) == 22
