"""AIFO's control law, in stepped time; what all ranked laws share is shown here."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_port import MS, POLL_MS, Port, Queue, gaps, poisson

from p4sched.control.laws.aifo import Config, Parameters
from p4sched.control.laws.headroom import quantile_headroom
from p4sched.control.laws.port_counters import Sample
from p4sched.control.laws.ranked import State, decide
from p4sched.control.laws.traffic_estimate import MIN_DISPERSION, Traffic, index_of_dispersion
from p4sched.errors import UsageError
from p4sched.p4rt.reader import Count

# 100 Mbit/s carry 825.6 full-sized frames in 100 ms; 41.3 of them wait 5 ms.
CONFIG = Config(rate_bps=100_000_000, delay_ns=5 * MS, queue_packets=512)
FULL_POLL = 826


def parameters(port: Port) -> Parameters:
    """In force now."""
    found = port.decisions[-1].parameters
    assert isinstance(found, Parameters)
    return found


def test_the_papers_defaults_come_out_for_a_queue_of_20_packets() -> None:
    rate_bps = 20 * 1514 * 8 * 1000 // 5
    found = Config(rate_bps=rate_bps, delay_ns=5 * MS, queue_packets=20).parameters_for(
        Traffic(arrival_pps=4000, packet_bytes=1514, drain_bps=rate_bps, load=1, dispersion=1)
    )
    assert (found.target_packets, found.window_ranks, found.sampling) == (20, 20, 15)


def test_the_first_decision_fits_the_configured_rate_and_is_written_at_once() -> None:
    port = Port(CONFIG)
    assert port.writes == 1
    assert parameters(port) == Parameters(41, 512, math.ceil(0.1136 * 256), 20, 31)


def test_the_target_follows_the_measured_drain_rate() -> None:
    port = Port(CONFIG)
    port.polls(20, FULL_POLL, 400)
    assert parameters(port).target_packets == 41
    # the link has become half as fast: 413 packets in 100 ms
    port.polls(20, 413, 813)
    assert parameters(port).target_packets == 21
    port.polls(20, FULL_POLL, 400)
    assert parameters(port).target_packets == 41


def test_a_link_that_idles_shows_only_a_lower_bound_of_its_rate() -> None:
    port = Port(CONFIG)
    # bursts that overflow the queue, and pauses between them: what departs is half of what the link could carry
    port.polls(40, 413, 100, empty=10)
    assert port.decisions[-1].state.drain_bps == 100_000_000
    # no burst needed: without drops, too, the rate can only be found to be higher
    port.polls(40, 2 * FULL_POLL, 0, empty=500)
    drain_bps = port.decisions[-1].state.drain_bps
    assert drain_bps is not None
    assert drain_bps == pytest.approx(200_000_000, rel=0.01)


def test_a_burst_that_ends_within_a_poll_does_not_make_the_link_look_slow() -> None:
    port = Port(CONFIG)
    for _ in range(10):
        port.polls(2, FULL_POLL, 400)
        port.polls(1, 300, 100)
        port.polls(1, 0)
    assert parameters(port).target_packets == 41


def test_the_target_counts_packets_of_the_size_that_wait_and_fits_the_queue() -> None:
    port = Port(CONFIG)
    port.polls(20, 3 * FULL_POLL, 1200, size=505)
    assert parameters(port).target_packets == 124
    small = Port(Config(rate_bps=100_000_000, delay_ns=5 * MS, queue_packets=30))
    assert parameters(small).target_packets == 30
    assert parameters(small).capacity_packets == 30


def test_the_window_spans_a_set_time_of_arrivals() -> None:
    port = Port(CONFIG)
    for refused, sampling in ((0, 31), (FULL_POLL, 62), (9 * FULL_POLL, 310)):
        port.polls(20, FULL_POLL, refused)
        assert parameters(port).sampling == pytest.approx(sampling, rel=0.25)
    span = Port(Config(rate_bps=100_000_000, delay_ns=5 * MS, queue_packets=512, span_ns=10 * MS, window_ranks=32))
    assert parameters(span).sampling == round(82.56 / 32)
    # fewer arrivals than cells: every rank enters
    span.polls(20, 100)
    assert parameters(span).sampling == 1


def test_bursty_arrivals_get_headroom_and_smooth_ones_none() -> None:
    found = []
    for batch in (0, 1, 4, 16):
        source = random.Random(5)
        port = Port(CONFIG)
        for _ in range(100):
            arrived = batch * poisson(1200 / batch, source) if batch else 1200
            port.poll(FULL_POLL, max(0, arrived - FULL_POLL))
        found.append((port.state.dispersion, parameters(port).headroom_256 / 256))
    dispersions, headrooms = zip(*found, strict=True)
    assert dispersions[0] < 0.1
    assert dispersions[1:] == (pytest.approx(1, rel=1), pytest.approx(4, rel=1), pytest.approx(16, rel=1))
    assert headrooms[0] == 0
    assert 0.05 < headrooms[1] < 0.25
    assert headrooms[2] > headrooms[1]
    assert headrooms[3] == 0.5


def test_a_step_of_the_load_is_no_burstiness() -> None:
    port = Port(CONFIG)
    port.polls(40, FULL_POLL, 100)
    assert index_of_dispersion(port.state.steps) == MIN_DISPERSION
    port.polls(10, FULL_POLL, 2000)
    port.polls(10, FULL_POLL, 1000)
    port.polls(10, FULL_POLL, 3000)
    assert index_of_dispersion(port.state.steps) == MIN_DISPERSION


def test_a_slow_read_is_no_burstiness() -> None:
    """Counts that belong to an instant up to 6 ms off, as reads of 12 ms would give them."""

    def found(read_ns: int) -> float:
        source = random.Random(7)
        port = Port(CONFIG)
        late = 0.0
        for _ in range(64):
            before, late = late, source.uniform(-6, 6)
            port.poll(round(8 * (POLL_MS + late - before)), 100, read_ns=read_ns)
        dispersion = index_of_dispersion(port.state.steps)
        assert dispersion is not None
        return dispersion

    assert found(0) > 2
    assert found(12 * MS) < 1


def test_the_headroom_is_that_for_which_a_critically_loaded_link_idles_as_much_as_allowed() -> None:
    """The derivation's formula against the admission rule itself, ranks uniform in 0 .. 99."""
    for target, batch, loss in ((20, 1, 0.05), (40, 1, 0.05), (80, 4, 0.05), (80, 1, 0.03), (160, 8, 0.06)):
        k = quantile_headroom(batch, target, loss, 0.99)
        idle = idle_share(target, k, batch)
        assert 0.7 * loss < idle < 1.2 * loss, (target, batch, loss, k, idle)


def idle_share(target: int, k: float, batch: int, packets: int = 60_000) -> float:
    """Share of the time that a link loaded with 1 idles behind AIFO."""
    source = random.Random(3)
    queue, window = Queue(), [100] * 20
    for number, gap in enumerate(gaps(1.0, batch, packets, source)):
        queue.advance(gap)
        rank = source.randrange(100)
        if number % 15 == 0:
            window[number // 15 % 20] = rank
        smaller = sum(entry < rank for entry in window)
        if queue.length <= target and smaller * target * (1 - k) <= 20 * (target - queue.length):
            queue.put()
    return queue.idle / queue.now


def test_the_papers_headroom_allows_8_7_percent_and_a_constant_bit_rate_needs_none() -> None:
    assert quantile_headroom(1, 20, 0.087, 0.5) == pytest.approx(0.1, abs=0.005)
    assert quantile_headroom(1, 20, 0.05, 0.5) == pytest.approx(0.34, abs=0.005)
    assert quantile_headroom(1, 80, 0.05, 0.5) == pytest.approx(0.03, abs=0.005)
    assert quantile_headroom(0.1, 80, 0.05, 0.5) == 0


@given(
    dispersion=st.floats(0.0625, 1e4),
    more=st.floats(1, 10),
    target=st.integers(1, 65535),
    loss=st.floats(0.001, 0.9),
)
def test_more_burstiness_never_means_less_headroom(dispersion: float, more: float, target: int, loss: float) -> None:
    less = quantile_headroom(dispersion, target, loss, 0.5)
    assert 0 <= less <= quantile_headroom(dispersion * more, target, loss, 0.5) <= 0.5


def test_noise_writes_next_to_nothing() -> None:
    """A minute of Poisson arrivals at 1.5 times the drain rate, read a millisecond early or late."""
    source = random.Random(11)
    port = Port(CONFIG)
    late = 0.0
    for _ in range(600):
        before, late = late, source.uniform(-1, 1)
        share = (POLL_MS + late - before) / POLL_MS
        admitted = round(825.6 * share)
        port.poll(admitted, max(0, poisson(1238 * share, source) - admitted), read_ns=2 * MS)
    # the first, the one that finds out about the load, and at most one more
    assert port.writes <= 3
    assert parameters(port).target_packets == pytest.approx(41, abs=2)


def test_no_change_at_all_of_steady_traffic_is_written_twice() -> None:
    port = Port(CONFIG)
    port.polls(600, FULL_POLL, 400)
    assert port.writes <= 3
    written = port.writes
    port.polls(600, FULL_POLL, 400)
    assert port.writes == written


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(0, 1), st.integers(64, 9000)),
        max_size=100,
    )
)
def test_no_traffic_writes_more_often_than_every_500_ms_or_what_the_program_cannot_hold(
    polls: list[tuple[int, int, int, int]],
) -> None:
    port = Port(CONFIG)
    for admitted, refused, empty, size in polls:
        port.poll(admitted, refused, empty=empty, size=size)
    assert port.writes <= 1 + len(polls) // 5
    for decision in port.decisions:
        # reading back checks every range
        assert Parameters.from_action_data(decision.parameters.action_data()) == decision.parameters
    # the same samples make the same decisions
    state = State()
    for sample, before in zip(port.samples, port.decisions, strict=True):
        again = decide(CONFIG, state, sample)
        assert again == before
        state = again.state


def test_a_change_of_the_traffic_is_followed_within_a_second_and_a_half() -> None:
    port = Port(CONFIG)
    port.polls(30, FULL_POLL, 400)
    port.polls(15, 413, 2000)
    assert parameters(port).target_packets == 21
    assert parameters(port).sampling == pytest.approx(90, rel=0.25)


def test_other_traffic_is_followed_within_half_a_second_and_what_was_before_is_forgotten() -> None:
    port = Port(CONFIG)
    port.polls(30, FULL_POLL, 400)
    # frames of 200 bytes in place of 1514
    port.polls(5, 6_250, 6_250, size=200)
    assert parameters(port).target_packets == 312
    assert parameters(port).sampling == pytest.approx(469, rel=0.01)
    # and back
    port.polls(5, FULL_POLL, 400)
    assert parameters(port).target_packets == 41


def test_burstiness_that_comes_with_other_traffic_is_seen_within_a_second() -> None:
    source = random.Random(9)
    port = Port(CONFIG)
    port.polls(60, FULL_POLL, 400)
    assert parameters(port).headroom_256 == 0
    for _ in range(10):
        arrived = 64 * poisson(2500 / 64, source)
        port.poll(FULL_POLL, max(0, arrived - FULL_POLL))
    assert parameters(port).headroom_256 == 128


def test_an_idle_port_keeps_its_parameters() -> None:
    port = Port(CONFIG)
    port.polls(20, 413, 400)
    before = parameters(port)
    port.polls(100, 0)
    assert parameters(port) == before
    port.polls(3, 1)
    assert parameters(port) == before


def test_a_pause_is_neither_a_low_rate_nor_burstiness() -> None:
    port = Port(CONFIG)
    port.polls(40, FULL_POLL, 400)
    before, writes = port.state, port.writes
    for _ in range(10):
        port.polls(15, 0)
        port.polls(15, FULL_POLL, 400)
    assert port.writes == writes
    assert port.state.dispersion == before.dispersion


def test_a_counter_that_was_reset_is_no_negative_arrival() -> None:
    port = Port(CONFIG)
    port.polls(60, FULL_POLL, 400)
    written = port.writes
    port.reset()
    port.polls(20, FULL_POLL, 400)
    assert port.writes == written


def test_a_controller_that_takes_over_keeps_what_it_finds_until_it_has_watched_for_a_second() -> None:
    found = Parameters(33, 512, 40, 20, 100)
    port = Port(CONFIG, State.take_over(found))
    port.polls(9, FULL_POLL, 400)
    assert port.writes == 0
    assert port.decisions[-1].traffic is None
    port.polls(1, FULL_POLL, 400)
    assert port.writes == 1
    assert parameters(port).target_packets == 41


def test_pinned_values_are_written_at_take_over_however_near_the_found_ones_are() -> None:
    config = Config(rate_bps=100_000_000, delay_ns=5 * MS, queue_packets=512, fixed={"C": 30, "k": 0.1, "S": 15})
    found = Parameters(28, 512, 40, 20, 13)
    port = Port(config, State.take_over(found))
    assert port.writes == 1
    assert parameters(port) == Parameters(30, 512, 26, 20, 15)
    port.polls(30, FULL_POLL, 400)
    assert port.writes == 1


def test_the_programs_own_defaults_are_nothing_to_keep() -> None:
    assert State.take_over(Parameters()) == State()
    assert State.take_over(None) == State()
    assert Parameters().action_data() == {
        "target_packets": 20,
        "capacity_packets": 20,
        "headroom_256": 26,
        "window_ranks": 20,
        "sampling": 15,
    }


def test_pinned_parameters_stay() -> None:
    port = Port(Config(100_000_000, 5 * MS, 512, fixed={"C": 20, "S": 15, "k": 0.1}))
    port.polls(50, 413, 5000)
    assert parameters(port) == Parameters(20, 512, 26, 20, 15)
    assert port.writes == 1


def test_a_sample_older_than_the_one_before_is_refused() -> None:
    port = Port(CONFIG)
    port.now_ns = -1
    with pytest.raises(ValueError, match="older"):
        port.look()


def test_two_samples_of_one_instant_are_one() -> None:
    port = Port(CONFIG)
    port.look()
    assert port.state.steps == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Config(0, 5 * MS, 512), "rate 0 bit/s is not positive"),
        (lambda: Config(10**8, 0, 512), "delay target 0 ns is not positive"),
        (lambda: Config(10**8, 1000, 512), "less than one packet"),
        (lambda: Config(10**8, 5 * MS, 0), "queue depth = 0 is out of range: 1 to 65535"),
        (lambda: Config(10**8, 5 * MS, 512, window_ranks=33), r"window \|W\| = 33 is out of range: 1 to 32"),
        (lambda: Config(10**8, 5 * MS, 512, window_ranks=0), r"window \|W\| = 0 is out of range"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"C": 0}), "target length C = 0 is out of range"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"C": 513}), "target length C = 513 is out of range: 1 to 512"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"C": 1.5}), "C = 1.5 is not a whole number"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"S": 0}), "sampling S = 0 is out of range"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"k": 1}), r"headroom k = 1 is not in \[0, 1\)"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"k": -0.1}), r"headroom k = -0.1 is not in \[0, 1\)"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"T": 50}), "no parameter of AIFO 'T'; use one of: C, S, k"),
        (lambda: Config(10**8, 5 * MS, 512, loss=0), r"loss 0 is not in \(0, 1\)"),
        (lambda: Config(10**8, 5 * MS, 512, max_headroom=1), "largest headroom 1 is not in"),
        (lambda: Config(10**8, 5 * MS, 512, span_ns=-1), "span -1 ns is negative"),
        (lambda: Config(10**8, 5 * MS, 512, hold_ns=0), "hold_ns 0 is not positive"),
        (lambda: Parameters(target_packets=0), "target length C = 0"),
        (lambda: Parameters(headroom_256=256), "headroom K = 256"),
    ],
)
def test_a_bad_value_is_one_clear_sentence(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_samples_and_configurations_survive_the_log() -> None:
    sample = Sample(5, 2, Count(1, 2), Count(3, 4), Count(5, 6), tuple(range(33)), tuple(range(33, 66)))
    assert Sample.from_record({"time_ns": 5, **sample.record()}) == sample
    config = Config(10**8, 5 * MS, 512, fixed={"k": 0.25}, window_ranks=32)
    assert Config.from_record(config.record()) == config
