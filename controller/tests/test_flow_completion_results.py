"""What `flow_completion` makes of its flows: intervals of means and of their ratios, and who retransmitted."""

import random

import pytest

from experiments.flow_completion.experiment import bandwidth_delay_segments, shortest_timeout
from p4sched.lab.schemes import Link
from p4sched.results import completion, intervals
from p4sched.results.completion import Flow
from p4sched.units import Duration, Rate


def busy_and_quiet(draw: random.Random, blocks: int) -> list[intervals.Timed]:
    """Ten flows a second that all take equally long; how long is drawn for each second, 10 ms on average."""
    times = [draw.expovariate(1 / 10) for _ in range(blocks)]
    return [(block + place / 10, time) for block, time in enumerate(times) for place in range(10)]


def test_an_interval_holds_the_mean_in_19_of_20_runs_also_where_neighbours_fare_alike() -> None:
    draw = random.Random(5)
    held = 0
    for _ in range(400):
        bounds = intervals.mean_interval(busy_and_quiet(draw, 60))
        assert bounds is not None
        held += bounds[0] <= 10.0 <= bounds[1]
    # 95 %, of which percentiles of a skewed mean of 60 lose up to 2 %; the standard error of 400 runs is 1.2 %
    assert 0.95 - 0.02 - 3 * 0.012 < held / 400 < 0.95 + 3 * 0.012


def test_a_ratio_is_certain_where_every_flow_takes_that_much_longer() -> None:
    flows = busy_and_quiet(random.Random(6), 30)
    slower = [(start, 1.2 * time) for start, time in flows]
    assert intervals.ratio_interval(slower, flows) == pytest.approx((1.2, 1.2))
    low, high = intervals.mean_interval(flows) or (0.0, 0.0)
    assert high - low > 2.0, "while the mean itself is not"


def test_flows_of_one_second_tell_nothing_of_another() -> None:
    assert intervals.mean_interval([(0.1, 5.0), (0.9, 7.0)]) is None
    assert intervals.mean_interval([]) is None


def test_schemes_are_compared_each_with_each() -> None:
    slow = [Flow(5_000, 0.002 * second, start_s=second) for second in range(1, 9)]
    fast = [Flow(5_000, 0.001 * second, start_s=second) for second in range(1, 9)]
    found = completion.compare({"fifo": slow, "pifo": fast}, 0.1)
    assert found["fifo"]["pifo"] == pytest.approx({"ratio": 2.0, "low": 2.0, "high": 2.0})
    assert found["pifo"]["fifo"] == pytest.approx({"ratio": 0.5, "low": 0.5, "high": 0.5})
    assert completion.compare({"fifo": slow, "pifo": []}, 0.1) == {}


def test_small_flows_that_sent_segments_again_are_told_from_the_others() -> None:
    flows = [Flow(5_000, 0.004), Flow(5_000, 0.006), Flow(5_000, 0.020, retransmitted=2), Flow(500_000, 1.0, 0.0, 9)]
    found = completion.summarise(flows, 0.1)
    assert found["small_retransmitting"] == 1
    assert found["small_retransmitting_mean_ms"] == pytest.approx(20.0)
    assert found["small_others_mean_ms"] == pytest.approx(5.0)


def test_a_bandwidth_delay_product_is_counted_in_full_frames() -> None:
    # 100 Mbit/s for 4 ms are 50,000 bytes, and a frame has 1514
    assert bandwidth_delay_segments(Link(Rate.parse("100mbit"), Duration.parse("4ms"))) == 33


@pytest.mark.parametrize(("asked", "rtt", "ms"), [(None, "4ms", 8), (None, "1.6ms", 4), ("1ms", "4ms", 1)])
def test_the_shortest_timeout_has_the_precision_of_a_route(asked: str | None, rtt: str, ms: int) -> None:
    wanted = None if asked is None else Duration.parse(asked)
    assert shortest_timeout(wanted, Duration.parse(rtt)) == ms * 10**6
