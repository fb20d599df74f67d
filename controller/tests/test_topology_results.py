"""What the incast and leaf_spine experiments make of their measurements, and what they refuse."""

import pytest

from experiments.incast.experiment import block_bytes
from experiments.incast.rounds import Plan, per_round, summarise
from experiments.leaf_spine import traffic
from experiments.leaf_spine.traffic import Classes, Demand
from p4sched.errors import UsageError
from p4sched.lab.endpoints import Destination, UserSeat
from p4sched.lab.traffic import Transfer

PLAN = Plan(senders=2, block_bytes=64_000, rounds=2, rate_bps=100_000_000)


def completed(flow: int, ms: int) -> dict[str, int]:
    """As the traffic generator reports a flow that is done."""
    return {"flow": flow, "size_bytes": 64_000, "fct_ns": ms * 1_000_000}


def test_the_link_needs_time_for_payload_and_headers() -> None:
    # 16 blocks of 64,000 bytes in segments of 1448 bytes, each a frame of 1514 bytes
    assert Plan(16, 64_000, 1, 100_000_000).ideal_s == pytest.approx(0.08565, abs=1e-4)


def test_a_round_is_as_slow_as_its_slowest_block() -> None:
    rounds = per_round(PLAN, [completed(1, 12), completed(2, 16), completed(3, 12), completed(4, 214)])
    assert [round_["slowest_s"] for round_ in rounds] == [0.016, 0.214]
    assert rounds[0]["goodput_bps"] == 2 * 64_000 * 8 / 0.016
    found = summarise(PLAN, rounds)
    assert found["slowest_worst_ms"] == 214
    assert found["not_completed"] == 0


def test_a_round_with_a_block_that_is_not_done_has_no_goodput() -> None:
    rounds = per_round(PLAN, [completed(1, 12), completed(2, 16), completed(4, 14)])
    assert [(r["slowest_s"], r["median_s"], r["not_completed"], r["goodput_bps"]) for r in rounds][1] == (
        None, 0.014, 1, 0.0
    )  # fmt: skip
    found = summarise(PLAN, rounds)
    assert found["not_completed"] == 1
    assert found["goodput_interval_80"][0] < found["goodput"] == pytest.approx(PLAN.ideal_s / 0.016 / 2)


def test_all_flows_of_a_round_start_at_one_instant() -> None:
    flows = [PLAN.flows(UserSeat(user, f"h{user}", f"10.1.{user}.1"), "10.2.0.1") for user in (1, 2)]
    assert [[flow["start_s"] for flow in sender] for sender in flows] == [[0, 1.25], [0, 1.25]]
    assert sorted(flow["flow"] for sender in flows for flow in sender) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("senders", "block", "message"),
    [
        (0, 64_000, "0 senders: must be 1 to 100"),
        (101, 64_000, "101 senders"),
        (2, 100, "a block of 100 bytes: it must be at least 10000"),
        (100, 1_000_000, "lower --senders or --block, or raise --rate"),
    ],
)
def test_rounds_that_cannot_be_are_refused(senders: int, block: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Plan(senders, block, 1, 100_000_000)


def test_a_block_is_written_with_a_unit_or_without() -> None:
    assert [block_bytes(text) for text in ("64k", "64000", "1M")] == [64_000, 64_000, 1_000_000]
    with pytest.raises(UsageError, match="--block '64 apples' is not a number of bytes, for example 64k"):
        block_bytes("64 apples")


def test_the_urgent_share_is_that_of_all_that_was_delivered() -> None:
    to = Destination("h3", "10.2.1.1")
    planned = [
        Demand(Transfer(UserSeat(number, "h1", "10.1.1.1"), count, 5201 + number, tos, to), "s2", to)
        for number, count, tos in ((1, 1, traffic.URGENT_TOS), (2, 4, traffic.OTHER_TOS))
    ]
    found = traffic.summarise(planned, {1: 30e6, 2: 10e6}, 80_000_000)
    assert (found["throughput"], found["urgent_throughput"], found["urgent_share"]) == (0.5, 0.375, 0.75)
    assert [flow["destination"] for flow in found["transfers"]] == ["h3", "h3"]


@pytest.mark.parametrize(
    ("racks", "message"),
    [
        ([2], "1 leaf: traffic between racks needs at least 2 leaves"),
        ([8, 8, 8], "384 pairs of hosts make 1920 connections"),
    ],
)
def test_traffic_that_cannot_be_is_refused(racks: list[int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        traffic.connections(racks, Classes(1, 4))


def test_a_pair_of_hosts_needs_connections_of_both_kinds() -> None:
    assert traffic.connections([2, 2], Classes(1, 4)) == 40
    # 1 * 3 pairs each way
    assert traffic.connections([1, 3], Classes(1, 4)) == 30
    with pytest.raises(UsageError, match="a pair needs at least 1 of each"):
        Classes(0, 4)
