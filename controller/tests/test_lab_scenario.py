"""Traffic scenarios of the FDPA paper."""

import pytest

from p4sched.errors import UsageError
from p4sched.lab.scenario import connections


@pytest.mark.parametrize(("scenario", "misbehaving"), [("equal", 0), ("quarter", 5), ("half", 10)])
def test_misbehaving_users_open_ten_connections_and_the_others_one(scenario: str, misbehaving: int) -> None:
    counts = connections(scenario, 20, seed=1)
    assert sorted(counts) == [1] * (20 - misbehaving) + [10] * misbehaving


def test_even_one_user_of_three_misbehaves() -> None:
    assert sorted(connections("quarter", 3, seed=1)) == [1, 1, 10]


def test_uniform_draws_one_to_ten_connections() -> None:
    assert set(connections("uniform", 500, seed=3)) == set(range(1, 11))


def test_the_seed_decides_who_misbehaves() -> None:
    assert connections("quarter", 20, seed=1) == connections("quarter", 20, seed=1)
    assert connections("quarter", 20, seed=1) != connections("quarter", 20, seed=2)


def test_a_mistyped_scenario_suggests_the_right_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'quarter'"):
        connections("quater", 20, seed=1)


def test_no_users_are_refused() -> None:
    with pytest.raises(UsageError, match="must be 1 to 960"):
        connections("equal", 0, seed=1)
