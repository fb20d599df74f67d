"""`completion_at_scale`: its flows, what it makes of several seeds, and that the simulator takes its scenarios."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.completion_at_scale.experiment import parse_loads
from experiments.completion_at_scale.network import SIZES, Paper, Run
from experiments.completion_at_scale.over_seeds import summarise
from p4sched.errors import UsageError
from p4sched.lab import ranked_schemes
from p4sched.results.completion import Flow

RUN = Run(Paper.PACKS, "pifo", 0.8, seed=1, end_ns=1_000_000_000)


def test_flows_are_the_load_between_different_servers() -> None:
    flows = RUN.flows()
    # 19,000 are expected; the standard deviation of a Poisson process is their root
    assert abs(len(flows) - 19_000) < 4 * 19_000**0.5
    assert flows == sorted(flows, key=lambda flow: flow[0])
    assert all(source != destination for _, source, destination, _ in flows)
    assert {server for _, *ends, _ in flows for server in ends} == set(range(144))
    # RIFO's run files say 987,600 bytes; one size has a standard deviation of 2.1 MB
    mean = sum(size for *_, size in flows) / len(flows)
    assert mean == pytest.approx(987_600, abs=4 * 2.1e6 / 19_000**0.5)


def test_shares_of_the_sizes_are_all_flows() -> None:
    assert sum(SIZES.values()) == pytest.approx(1)


def test_schemes_get_the_same_flows_and_seeds_do_not() -> None:
    assert replace(RUN, scheme="fifo").flows() == RUN.flows()
    assert replace(RUN, seed=2).flows() != RUN.flows()


@pytest.mark.parametrize("paper", Paper)
@pytest.mark.parametrize("scheme", ranked_schemes.NAMES)
async def test_the_simulator_takes_every_scheme_of_both_papers(paper: Paper, scheme: str, tmp_path: Path) -> None:
    run = Run(paper, scheme, 0.6, seed=3, end_ns=2_000_000)
    flows = await run.outcome(tmp_path)
    assert [(round(flow.start_s * 1e9), flow.size_bytes) for flow in flows] == [
        (start, size) for start, _, _, size in run.flows()
    ]
    done = [flow.completion_s for flow in flows if flow.completion_s is not None]
    # a flow of one byte in its rack: handshake, data and acknowledgement, each of 120 bytes over two links
    packet_s = 120 * 8 / paper.access_bps + 20e-9
    assert min(done) >= 8 * packet_s - 1e-9


def test_a_figure_is_the_mean_of_the_seeds_with_the_lowest_and_the_highest() -> None:
    first = [Flow(99_999, 0.001), Flow(99_999, 0.003), Flow(1_000_000, 0.1), Flow(1_000_000, None)]
    second = [Flow(1, 0.004), Flow(100_000, 0.005), Flow(2_000_000, 0.2), Flow(5_000_000, 0.4)]
    found = summarise([first, second])
    assert (found["small_mean_ms_low"], found["small_mean_ms"], found["small_mean_ms_high"]) == pytest.approx((2, 3, 4))
    assert (found["small_p99_ms_low"], found["small_p99_ms_high"]) == pytest.approx((3, 4))
    assert found["large_mean_ms"] == pytest.approx((100 + 300) / 2)
    assert found["completed_share"] == pytest.approx((3 / 4 + 1) / 2)
    assert found["flows"] == 8


def test_a_seed_without_such_a_flow_leaves_no_figure() -> None:
    found = summarise([[Flow(1, 0.001)], [Flow(1_000_000, 0.1)]])
    assert found["small_mean_ms"] is None
    assert found["small_mean_ms_low"] is None
    assert found["mean_ms"] == pytest.approx((1 + 100) / 2)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("0.25", "there is no arrival rate for 0.25, only for 0.2, 0.3"),
        ("high", "loads are 0.2, 0.3"),
        ("0.2,0.2", "load 0.2 is in"),
    ],
)
def test_loads_without_an_arrival_rate_are_refused(text: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        parse_loads(text)
