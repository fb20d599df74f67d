"""Metrics of the FDPA paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4sched.results.metrics import jain_index, median_interval, normalised_throughput

# bit/s; below a millionth of one there is nothing to share, only the end of a float's precision
RATES = st.lists(st.just(0.0) | st.floats(1e-6, 1e10), min_size=1, max_size=50)


def test_equal_rates_are_fair() -> None:
    assert jain_index([5.0] * 20) == pytest.approx(1)


def test_one_user_taking_everything_scores_one_over_n() -> None:
    assert jain_index([1e9] + [0] * 9) == pytest.approx(0.1)


def test_the_index_of_1_2_3_is_6_7ths() -> None:
    assert jain_index([1, 2, 3]) == pytest.approx(36 / 42)


def test_a_user_with_twice_the_weight_may_have_twice_the_rate() -> None:
    assert jain_index([2, 1, 1], [2, 1, 1]) == pytest.approx(1)
    assert jain_index([2, 1, 1]) < 0.9


def test_no_users_are_fair_and_users_without_service_are_not() -> None:
    assert jain_index([]) == 1
    assert jain_index([0, 0]) == 0


@given(RATES, st.floats(1e-6, 1e6))
def test_the_index_lies_between_1_over_n_and_1_and_ignores_scale(rates: list[float], scale: float) -> None:
    index = jain_index(rates)
    assert (1 / len(rates) - 1e-9 if any(rates) else 0) <= index <= 1
    assert jain_index([rate * scale for rate in rates]) == pytest.approx(index, rel=1e-6)


@pytest.mark.parametrize(("rates", "weights"), [([1.0], [1.0, 2.0]), ([1.0], [0.0]), ([-1.0], [1.0])])
def test_rates_and_weights_that_make_no_sense_are_refused(rates: list[float], weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        jain_index(rates, weights)


def test_throughput_is_normalised_to_the_link() -> None:
    assert normalised_throughput([200e6, 250e6], 500e6) == pytest.approx(0.9)
    with pytest.raises(ValueError, match="not positive"):
        normalised_throughput([1], 0)


def test_the_80_percent_interval_leaves_a_tenth_on_each_side() -> None:
    interval = median_interval([float(i) for i in range(101)])
    assert (interval.low, interval.median, interval.high) == pytest.approx((10, 50, 90))


def test_an_interval_needs_samples() -> None:
    with pytest.raises(ValueError, match="no samples"):
        median_interval([])
