"""The join-and-leave experiment's numbers and figure from a run that is known."""

from pathlib import Path

import pytest

from experiments.fdpa_join_leave import figure, summary
from experiments.fdpa_join_leave.result import Change, Result, Setting
from p4sched.control.bands import Bands
from p4sched.lab.measurement import Sample
from p4sched.lab.probe import ProbeRecord
from p4sched.lab.schemes import Link

SETTING = Setting(Link(80_000_000, 10_000_000), Bands.parse("1+2*0.5"), 60_000, 4, "embedded", "cubic")


def change(at: float, active: int) -> Change:
    return Change(at, active, (80e6 / active, 120e6 / active))


def samples() -> list[Sample]:
    """Four users from 0 to 12 s; four more from 4.1 s to 8.05 s."""
    found = []
    for tick in range(120):
        start, end = tick / 10, (tick + 1) / 10
        eight = 4.05 < start < 8.0
        rates = (10e6,) * 8 if eight else (20e6,) * 4 + (0.0,) * 4
        found.append(Sample(start, end, rates))
    return found


def result(changes: list[Change]) -> Result:
    lost = {1000, 1001}
    arrivals = tuple((n, n / 500, n / 500 + 0.005) for n in range(6500) if n not in lost)
    return Result(
        samples=samples(),
        changes=changes,
        joined_at=4.0,
        stress=(12.0, 13.0, 100),
        probe=ProbeRecord(6500, arrivals),
    )


CHANGES = [change(-1.0, 4), change(4.2, 6), change(4.3, 8), change(8.6, 5), change(8.7, 4)]


def test_edges_follow_once_they_fit_all_users() -> None:
    follow = summary.following(result(CHANGES))
    assert follow.join == pytest.approx(0.3)
    assert follow.leave == pytest.approx(0.7)


def test_edges_that_never_follow_are_reported_as_such() -> None:
    follow = summary.following(result([change(-1.0, 4), change(4.2, 7)]))
    assert (follow.join, follow.leave) == (None, None)


def test_a_user_forgotten_while_it_is_there_is_a_fault() -> None:
    early = [*CHANGES[:3], change(6.0, 4), change(6.1, 8), *CHANGES[3:]]
    follow = summary.following(result(early))
    assert follow.leave == pytest.approx(0.7)
    assert follow.forgotten_too_soon == 1
    assert summary.following(result(CHANGES)).forgotten_too_soon == 0


def test_each_phase_is_judged_by_the_users_it_has() -> None:
    assert summary.phase_indices(result(CHANGES)) == {
        "4 users": pytest.approx(1.0),
        "8 users": pytest.approx(1.0),
        "4 users again": pytest.approx(1.0),
    }


def test_probe_losses_count_against_a_change_only_near_it() -> None:
    found = summary.probe_summary(result(CHANGES))
    assert found["lost"] == 2
    assert found["near_changes"]["lost"] == 0
    assert found["many_changes"]["lost"] == 0
    assert found["near_changes"]["largest_gap_ms"] == pytest.approx(2.0, abs=0.5)
    near_the_loss = [*CHANGES[:1], change(2.05, 4), *CHANGES[1:]]
    assert summary.probe_summary(result(near_the_loss))["near_changes"]["lost"] == 2
    assert summary.probe_summary(result(near_the_loss))["near_changes"]["largest_gap_ms"] == pytest.approx(6.0, abs=0.5)
    again_at_once = [*near_the_loss[:2], change(2.1, 4), *near_the_loss[2:]]
    assert summary.probe_summary(result(again_at_once))["near_changes"]["lost"] == 2, "a loss near two changes is one"


def test_a_loss_is_reported_with_the_delay_of_the_packets_beside_it() -> None:
    arrivals = ((0, 0.0, 0.005), (2, 0.004, 0.019), (5, 0.010, 0.015), (9, 0.018, 0.020))
    assert summary.delays_around_losses_ms(ProbeRecord(10, arrivals)) == pytest.approx(
        [15.0, 15.0, 5.0, 5.0, None, 2.0], nan_ok=True
    )


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    figure.draw(result(CHANGES), SETTING, [], tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
