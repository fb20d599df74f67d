"""FDPA's control law, in stepped time."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4sched.control.bands import Bands
from p4sched.control.laws.fdpa import (
    EDGES,
    MAX_BURST_BYTES,
    UNUSED_EDGE,
    Config,
    Decision,
    Parameters,
    Sample,
    State,
    decide,
    parameters_for,
    queue_sizes,
)
from p4sched.errors import UsageError
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.p4rt.users import UserCounter, scale_of_weight

MS = 1_000_000
POLL_MS = 100
# 500 Mbit/s for 60 ms: 3,750,000 bytes to share.
CONFIG = Config(500_000_000, Bands(1, 4, 0.5), 60_000, 10 * MS)
INTERVAL_BYTES = 3_750_000


class Link:
    """Counters of users that send, and the law that watches them."""

    def __init__(self, weights: Mapping[int, float], state: State | None = None) -> None:
        self.sent = dict.fromkeys(weights, 0)
        self.scale = {user: scale_of_weight(weight) for user, weight in weights.items()}
        self.state = State() if state is None else state
        self.now_ms = 0
        self.decision = self.poll()

    def poll(self) -> Decision:
        """The law sees the counters as they are."""
        users = {user: UserCounter(sent, self.scale[user]) for user, sent in self.sent.items()}
        self.decision = decide(CONFIG, self.state, Sample(self.now_ms * MS, users))
        self.state = self.decision.state
        return self.decision

    def send(self, users: Mapping[int, int], rounds: int = 1) -> Decision:
        """Every round, each user sends this many bytes and the law polls."""
        for _ in range(rounds):
            for user, count in users.items():
                self.sent[user] += count
            self.now_ms += POLL_MS
            self.poll()
        return self.decision

    def first_edge(self) -> int:
        """Upper edge of band 1."""
        assert self.decision.parameters is not None
        return self.decision.parameters.edges[0]


def busy(*users: int) -> dict[int, int]:
    return dict.fromkeys(users, 100_000)


def test_the_edges_divide_the_interval_among_the_active_users() -> None:
    link = Link(dict.fromkeys(range(1, 21), 1.0))
    decision = link.send(busy(*range(1, 21)))
    assert decision.active == tuple(range(1, 21))
    assert decision.fair_share_bps == 25_000_000
    assert decision.parameters is not None
    # 187,500 bytes of each user in 60 ms are its fair share
    assert decision.parameters.edges == (187_500, 281_250, 375_000, 468_750, UNUSED_EDGE, UNUSED_EDGE, UNUSED_EDGE)


def test_a_user_that_joins_counts_at_the_next_poll() -> None:
    link = Link(dict.fromkeys(range(1, 9), 1.0))
    link.send(busy(1, 2, 3, 4), rounds=10)
    assert link.first_edge() == INTERVAL_BYTES // 4
    decision = link.send(busy(*range(1, 9)))
    assert decision.changed
    assert link.first_edge() == INTERVAL_BYTES // 8


def test_users_that_leave_are_forgotten_within_a_second() -> None:
    link = Link(dict.fromkeys(range(1, 9), 1.0))
    link.send(busy(*range(1, 9)), rounds=10)
    left_at = link.now_ms
    while link.first_edge() != INTERVAL_BYTES // 4:
        link.send(busy(1, 2, 3, 4))
        assert link.now_ms - left_at < 1000 - POLL_MS


@pytest.mark.parametrize("gap_ms", [210, 420, 600])
def test_a_user_in_a_retransmission_timeout_is_not_forgotten(gap_ms: int) -> None:
    link = Link({1: 1.0, 2: 1.0})
    link.send(busy(1, 2), rounds=10)
    silent = 0
    while silent + POLL_MS <= gap_ms:
        assert link.send(busy(1)).active == (1, 2)
        silent += POLL_MS
    # one retransmitted segment keeps it through the next gap
    link.send({1: 100_000, 2: 1514})
    assert link.send(busy(1), rounds=6).active == (1, 2)


@pytest.mark.parametrize(("connections", "active"), [(7, (1,)), (8, (1, 2))])
def test_seven_connections_may_close_without_being_activity(connections: int, active: tuple[int, ...]) -> None:
    link = Link({1: 1.0, 2: 1.0})
    fin_and_last_ack = 2 * 66
    assert link.send({1: 100_000, 2: connections * fin_and_last_ack}).active == active


def test_weights_divide_the_capacity_in_proportion() -> None:
    link = Link({1: 1.0, 2: 1.0, 3: 2.0})
    decision = link.send(busy(1, 2, 3))
    # user 3 is charged half a byte for a byte, so edge 1 lets it have twice as much
    assert link.scale == {1: 256, 2: 256, 3: 128}
    assert decision.fair_share_bps == 125_000_000
    assert link.first_edge() == INTERVAL_BYTES // 4


def test_a_heavy_user_that_leaves_frees_its_weight() -> None:
    link = Link({1: 1.0, 2: 3.0})
    link.send(busy(1, 2), rounds=10)
    assert link.first_edge() == pytest.approx(INTERVAL_BYTES / 4, rel=0.01)
    link.send(busy(1), rounds=8)
    assert link.first_edge() == INTERVAL_BYTES


def test_an_idle_link_keeps_the_last_bands() -> None:
    link = Link(dict.fromkeys(range(1, 9), 1.0))
    link.send(busy(*range(1, 9)), rounds=10)
    decision = link.send({}, rounds=100)
    assert decision.active == ()
    assert decision.fair_share_bps == 0
    assert not decision.changed
    assert link.first_edge() == INTERVAL_BYTES // 8


def test_before_any_user_sends_one_may_have_the_whole_capacity() -> None:
    link = Link({})
    assert link.decision.changed
    assert link.first_edge() == INTERVAL_BYTES
    assert not link.send({}).changed


def test_nothing_is_written_while_the_active_users_stay() -> None:
    link = Link(dict.fromkeys(range(1, 5), 1.0))
    link.send(busy(1, 2, 3, 4))
    for _ in range(50):
        assert not link.send(busy(1, 2, 3, 4)).changed


def test_traffic_from_before_the_controller_does_not_count() -> None:
    sample = Sample(0, {1: UserCounter(10**12), 2: UserCounter(10**12)})
    decision = decide(CONFIG, State(), sample)
    assert decision.active == ()
    after = decide(CONFIG, decision.state, Sample(100 * MS, {1: UserCounter(10**12 + 5000), 2: UserCounter(10**12)}))
    assert after.active == (1,)


def test_a_counter_that_was_reset_counts_from_zero() -> None:
    link = Link({1: 1.0, 2: 1.0})
    link.send(busy(1, 2), rounds=10)
    link.sent = {1: 0, 2: 0}
    assert link.send({1: 5000, 2: 5000}).active == (1, 2)
    link.sent = {1: 0, 2: 0}
    assert link.send({1: 5000}, rounds=8).active == (1,)


def test_a_user_whose_entry_is_removed_or_added_comes_and_goes() -> None:
    link = Link({1: 1.0, 2: 1.0})
    link.send(busy(1, 2), rounds=10)
    del link.sent[2]
    assert link.send(busy(1)).active == (1,)
    link.sent[3], link.scale[3] = 0, 256
    assert link.send(busy(1, 3)).active == (1, 3)


def test_a_controller_that_takes_over_does_not_forget_users_it_has_not_seen_yet() -> None:
    link = Link(dict.fromkeys(range(1, 9), 1.0), State.take_over(parameters_for(CONFIG, 8)))
    # for all it knows, users 5 to 8 wait for their timeouts
    for _ in range(5):
        assert not link.send(busy(1, 2, 3, 4)).changed
        assert link.first_edge() == INTERVAL_BYTES // 8
    link.send(busy(1, 2, 3, 4), rounds=2)
    assert link.first_edge() == INTERVAL_BYTES // 4


def test_a_controller_that_takes_over_lets_users_join_at_once() -> None:
    link = Link(dict.fromkeys(range(1, 9), 1.0), State.take_over(parameters_for(CONFIG, 4)))
    assert not link.decision.changed
    assert link.send(busy(*range(1, 9))).changed
    assert link.first_edge() == INTERVAL_BYTES // 8


def test_a_controller_that_takes_over_brings_its_own_interval_and_bands_around_the_fair_share_in_force() -> None:
    other = dataclasses.replace(CONFIG, interval_us=30_000, bands=Bands(1, 2, 0.25))
    link = Link(dict.fromkeys(range(1, 9), 1.0), State.take_over(parameters_for(other, 8)))
    assert link.decision.changed
    assert link.decision.parameters == parameters_for(CONFIG, 8)


def test_the_programs_initial_bands_are_not_taken_over() -> None:
    unset = Parameters(60_000, (UNUSED_EDGE,) * 7, False, (0,) * 7, 0, 0, (0,) * 8)
    assert State.take_over(unset) == State()
    assert State.take_over(None) == State()


def test_a_clock_that_goes_back_is_refused() -> None:
    state = decide(CONFIG, State(), Sample(5, {})).state
    with pytest.raises(ValueError, match="older"):
        decide(CONFIG, state, Sample(4, {}))


def test_queue_sizes_are_those_of_the_paper() -> None:
    assert queue_sizes(10_000_000_000, 5 * MS, 5) == (4166, 1041, 154, 20, 20)
    assert queue_sizes(500_000_000, 10 * MS, 5) == (416, 104, 20, 20, 20)


def test_queues_that_no_band_uses_have_no_limit() -> None:
    assert parameters_for(CONFIG, 1).sizes == (416, 104, 20, 20, 20, 0, 0, 0)


def test_token_rates_are_the_edges_in_bytes_per_65536_us() -> None:
    parameters = parameters_for(CONFIG, 20)
    assert parameters.rates[0] == round(500e6 / 8 / 20 * 0.065536)
    assert parameters.burst_bytes == 2 * 31_250


def test_a_bucket_holds_packets_of_the_lightest_user() -> None:
    link = Link({1: 1.0, 2: 0.125})
    link.send(busy(1, 2))
    assert link.decision.parameters is not None
    assert link.decision.parameters.burst_bytes >= 10 * 1500 * 8


@pytest.mark.parametrize("weight", [0, -1, 1 / 256, 257, float("nan"), float("inf")])
def test_weights_that_the_switch_cannot_express_are_refused(weight: float) -> None:
    with pytest.raises(UsageError, match="weight"):
        scale_of_weight(weight)


@pytest.mark.parametrize(
    "wrong",
    [
        {"capacity_bps": 0},
        {"interval_us": 0},
        {"interval_us": 2**32},
        {"rtt_ns": 0},
        {"burst_bytes": MAX_BURST_BYTES + 1},
        {"flowlet_gap_us": -1},
        {"activity_window_ns": 0},
        {"active_bytes": 0},
    ],
)
def test_a_configuration_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        dataclasses.replace(CONFIG, **wrong)


CONFIGS = st.builds(
    Config,
    capacity_bps=st.integers(1, 10**12),
    bands=st.builds(Bands, st.floats(0.01, 1000), st.integers(1, 7), st.floats(0.01, 1000)),
    interval_us=st.integers(1, 2**32 - 1),
    rtt_ns=st.integers(1, 10**10),
    token_bucket=st.booleans(),
    flowlet_gap_us=st.integers(0, 2**32 - 1),
)


@given(CONFIGS, st.floats(1 / 256, 4096), st.integers(1, 0xFFFF))
def test_parameters_always_fit_the_action(config: Config, weight: float, scale: int) -> None:
    parameters = parameters_for(config, weight, scale)
    assert len(parameters.edges) == len(parameters.rates) == EDGES
    assert len(parameters.sizes) == QUEUES
    assert all(0 < edge < 2**32 for edge in parameters.edges + parameters.rates)
    assert all(0 <= size < 2**16 for size in parameters.sizes)
    assert parameters.burst_bytes << 4 < 2**32
    assert list(parameters.edges) == sorted(parameters.edges)
    assert parameters.edges.count(UNUSED_EDGE) == EDGES - config.bands.further
    assert all(size >= 20 for size in parameters.sizes[: config.bands.count])
    assert Parameters.from_action_data(parameters.action_data()) == parameters


@given(st.dictionaries(st.integers(1, 4095), st.tuples(st.floats(0.25, 16), st.booleans()), min_size=1, max_size=50))
def test_the_first_bands_of_the_active_users_fill_the_link_exactly(users: dict[int, tuple[float, bool]]) -> None:
    link = Link({user: weight for user, (weight, _) in users.items()})
    active = sorted(user for user, (_, sends) in users.items() if sends) or sorted(users)
    assert link.send(busy(*active)).active == tuple(active)
    # a user of scale s reaches edge 1 after edge * 256 / s of its bytes
    filled = sum(link.first_edge() * 256 / link.scale[user] for user in active)
    rounding = sum(256 / link.scale[user] for user in active)
    assert filled == pytest.approx(INTERVAL_BYTES, abs=rounding)


@given(st.lists(st.dictionaries(st.integers(1, 6), st.integers(0, 10**6), max_size=6), max_size=40))
def test_whatever_the_counters_do_the_law_answers_and_says_when_it_changes(counters: list[dict[int, int]]) -> None:
    state, in_force = State(), None
    for step, users in enumerate(counters):
        sample = Sample(step * POLL_MS * MS, {user: UserCounter(sent) for user, sent in users.items()})
        decision = decide(CONFIG, state, sample)
        assert decision.changed == (decision.parameters != in_force)
        assert set(decision.active) <= set(users)
        state, in_force = decision.state, decision.parameters
