"""TCP between two hosts that draw a rank for each packet, and the rules for bounds that the SP-PIFO paper compares."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from lab import not_built

from experiments.completion_at_scale import greedy, ports
from experiments.completion_at_scale.bounds.model import PERIOD, Bounds, Rule
from experiments.completion_at_scale.two_hosts import STARTS_PER_S, Port, Run, measure, moves, weights
from p4sched.model import Packet
from p4sched.reproducing.figure import Metrics

MS = 1_000_000
SIMULATOR = pytest.mark.skipif(not_built("p4sched-simulate") is not None, reason=str(not_built("p4sched-simulate")))


def made(port: Port, folder: Path, *, both: bool = False) -> Metrics:
    return asyncio.run(Run(port, "uniform", STARTS_PER_S, 1, 6 * MS, both=both).make(folder))


@SIMULATOR
def test_the_push_down_by_the_cost_is_sp_pifo(tmp_path: Path) -> None:
    rule = made({"rule": Rule.COST, "queue_count": 8, "size": 10, "half_steps": 0}, tmp_path / "rule")
    sp_pifo = made(ports.simulated(ports.queues("sp_pifo", 8, 10)), tmp_path / "sp_pifo")
    assert sp_pifo["inversions"]
    assert rule == sp_pifo


@SIMULATOR
def test_a_sorted_queue_inverts_nothing(tmp_path: Path) -> None:
    found = made(ports.single("pifo", 80), tmp_path, both=True)
    assert found["inversions"] == 0


def test_with_flows_in_one_direction_only_data_crosses_the_port_that_counts() -> None:
    port = ports.single("fifo", 80)
    ways = [Run(port, "uniform", STARTS_PER_S, 1, 100 * MS, one_way=one_way) for one_way in (True, False)]
    sources = [{flow["source"] for flow in run.flows()} for run in ways]
    assert sources == [{1}, {0, 1}]
    assert ways[0].counted_ports() == [("s2", "s1")]
    assert [flow["start_ns"] for flow in ways[0].flows()] == [flow["start_ns"] for flow in ways[1].flows()]
    assert ways[0].inputs != ways[1].inputs


def test_bounds_move_by_their_distance_and_one_above_all_ranks_is_the_highest() -> None:
    found = moves([[0, 10], [5, 2**32 - 1], [5, 99], [3, 0]])
    assert found == {"bound_1_moves": pytest.approx(7 / 3), "bound_2_moves": pytest.approx((89 + 0 + 99) / 3)}


def model(rule: Rule, queues: int, half_steps: int = 25) -> Bounds:
    return Bounds({"rule": rule, "queue_count": queues, "size": 10, "half_steps": half_steps})


def test_fixed_bounds_are_those_of_the_run_files() -> None:
    assert model(Rule.FIXED, 8).bounds == [0, 12, 25, 37, 50, 62, 75, 87]
    assert model(Rule.FIXED, 32, 6).bounds == list(range(0, 96, 3))


def test_greedy_bounds_move_by_a_rank_until_the_queues_are_equally_sorted() -> None:
    greedy, found = model(Rule.GREEDY, 2), []
    for arrival in range(8 * PERIOD):
        greedy.enqueue(Packet(arrival, arrival % 10, 0, 0, 1500), 0)
        greedy.dequeue(0)
        if arrival % PERIOD == PERIOD - 1:
            found.append(greedy.bounds[1])
    # below bound b the distances to b have the sum b (b + 1) / 2, from b on (9 - b) (10 - b) / 2
    assert found == [3, 4, 5, 5, 5, 5, 5, 5]


@pytest.mark.parametrize(
    ("rule", "bounds"),
    [(Rule.COST, [2, 3, 5]), (Rule.ONE, [2, 5, 7]), (Rule.RANK, [2, 4, 6]), (Rule.BOUND, [2, 2, 6])],
)
def test_steps_of_the_push_down(rule: Rule, bounds: list[int]) -> None:
    scheduler = model(rule, 3)
    for rank in (8, 6, 5, 2):
        scheduler.enqueue(Packet(rank, rank, 0, 0, 1500), 0)
    assert scheduler.bounds == bounds


def test_ranks_have_the_distributions_of_the_authors_hosts() -> None:
    means = {}
    for name in ("uniform", "exponential", "inverse-exponential", "poisson", "convex"):
        drawn = weights(name)
        means[name] = sum(rank * weight for rank, weight in enumerate(drawn)) / sum(drawn)
    # inverse: 100 minus the exponential one; convex: about half of the draws of mean 100 are 100 or above
    assert means["uniform"] == 49.5
    assert means["inverse-exponential"] == pytest.approx(100 - means["exponential"])
    assert means["poisson"] == pytest.approx(50)
    assert means["convex"] == pytest.approx(100 - 100 * sum(weights("convex")[:50]), abs=0.1)


def test_numbers_of_two_ports_are_added() -> None:
    port = {"inversions": [0, 2], "drops": [0, 1], "departures": [3, 4], "queued": [[3, 0], [0, 4]]}
    found = measure([port, port], "inversions")
    assert (found["inversions"], found["inversions_0-9"], found["lowest_rank_dropped"]) == (4, 4, 1)
    assert found["dropped_share"] == 2 / 16
    assert (found["queue_1_mean"], found["queue_2_mean"], found["queue_2_deviation"]) == (0, 1, 0)


def test_unpifoness_is_that_of_the_pairs_in_a_queue() -> None:
    counts = np.array([2, 1, 0, 3])
    # ranks 1 and 3: 1 * 3 packets, 3 to the end, 2 apart, over 6 ^ 2 = 4, rounded down
    assert greedy.unpifoness(counts, [0, 1], 6) == 18 // 4
    # and ranks 0 and 1: 2 * 1 packets, 4 to the end, 1 apart; 0 and 3: 2 * 3, 4, 3
    assert greedy.unpifoness(counts, [0], 6) == 18 // 4 + 8 // 4 + 72 // 4


def test_a_bound_moves_by_one_rank_to_where_its_rank_costs_less() -> None:
    up, down, stays = [0, 1], [0, 3], [0, 2]
    greedy.move(np.array([2, 1, 0, 3]), up)  # rank 1 costs 2 with rank 0, and 6 with rank 3
    greedy.move(np.array([9, 0, 1, 1]), down)  # rank 2 costs 18 with rank 0, and 1 with rank 3
    greedy.move(np.array([1, 1, 1, 1]), stays)
    assert (up, down, stays) == ([0, 2], [0, 2], [0, 2])


def test_the_greedy_rule_lowers_the_unpifoness() -> None:
    found = greedy.Stream(1000, 8, 100, ("1", "60", "100"), seed=1).measure()
    first, middle, last = (found[f"unpifoness_{period}"] for period in (1, 60, 100))
    assert first is not None
    assert middle is not None
    assert last is not None
    # some 12 ranks in each queue in place of 93 in the last one, and so it stays
    assert max(middle, last) < first / 30
