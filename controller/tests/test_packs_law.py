"""PACKS's control law, in stepped time, and its split of the buffer against another one."""

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_port import MS, Port, poisson

from p4sched.control.laws import aifo
from p4sched.control.laws.packs import Config, Parameters, queue_sizes
from p4sched.control.laws.ranked import State
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.errors import UsageError

CONFIG = Config(rate_bps=100_000_000, delay_ns=5 * MS, queue_packets=64)
FULL_POLL = 826


def parameters(port: Port) -> Parameters:
    """In force now."""
    found = port.decisions[-1].parameters
    assert isinstance(found, Parameters)
    return found


def test_a_constant_bit_rate_that_lets_80_packets_wait_gets_the_papers_queues() -> None:
    """PACKS 6.1: 8 queues of 10 packets, k = 0."""
    rate_bps = 80 * 1514 * 8 * 200
    config = Config(rate_bps=rate_bps, delay_ns=5 * MS, queue_packets=64)
    found = config.parameters_for(Traffic(17_600, 1514, rate_bps, load=1.1, dispersion=0.0625))
    assert found.sizes == (10,) * 8
    assert found.headroom_256 == 0
    # 6.1 has a window of 1000 arrivals; here 16 entries stand for 75 ms of them
    assert found.sampling * found.window_ranks == pytest.approx(1320, rel=0.02)


@given(st.integers(1, 8), st.integers(0, 60_000))
def test_the_queues_share_the_buffer_evenly_and_completely(queues: int, more: int) -> None:
    sizes = queue_sizes(queues + more, queues)
    assert len(sizes) == queues
    assert sum(sizes) == queues + more
    assert max(sizes) - min(sizes) <= 1
    assert sorted(sizes, reverse=True) == list(sizes)


def test_the_buffer_follows_the_measured_drain_rate() -> None:
    port = Port(CONFIG)
    assert sum(parameters(port).sizes) == 41
    port.polls(20, 413, 813)
    assert sum(parameters(port).sizes) == 21
    port.polls(20, FULL_POLL, 400)
    assert sum(parameters(port).sizes) == 41


def test_no_queue_is_deeper_than_the_switchs_and_none_is_empty() -> None:
    deep = Config(rate_bps=10**10, delay_ns=5 * MS, queue_packets=64)
    assert deep.parameters_for(deep.at_first()).sizes == (64,) * 8
    shallow = Config(rate_bps=3_000_000, delay_ns=5 * MS, queue_packets=64)
    assert shallow.parameters_for(shallow.at_first()).sizes == (1,) * 8


@given(
    rate=st.integers(10**8, 10**10),
    load=st.floats(0.1, 10),
    dispersion=st.floats(0.0625, 100),
    size=st.floats(64, 1514),
)
def test_buffer_window_and_headroom_are_aifos(rate: int, load: float, dispersion: float, size: float) -> None:
    """Theorem 2: the same packets are dropped with the same total."""
    seen = Traffic(load * rate / 8 / size, size, rate, load, dispersion)
    packs = Config(rate, 5 * MS, queue_packets=4096, window_ranks=20).parameters_for(seen)
    single = aifo.Config(rate, 5 * MS, queue_packets=8 * 4096, window_ranks=20).parameters_for(seen)
    assert sum(packs.sizes) == max(8, single.target_packets)
    if single.target_packets >= 8:
        assert packs.headroom_256 == single.headroom_256
    assert packs.sampling == single.sampling


def test_noise_writes_nothing_more() -> None:
    source = random.Random(4)
    port = Port(CONFIG)
    for _ in range(600):
        port.poll(FULL_POLL, max(0, poisson(1238, source) - FULL_POLL))
    # the first, the load, and twice the burstiness, of which the first polls tell little
    assert port.writes <= 4


def inversions(sizes: Sequence[int], ranks: Sequence[int], load: float) -> int:
    """Packets that PACKS sends while a more urgent one waits; |W| = 32, S = 4, k = 0, a constant bit rate."""
    queues: list[deque[int]] = [deque() for _ in sizes]
    window, waiting = [1000] * 32, Counter[int]()
    found, free_at, buffer = 0, 0.0, sum(sizes)
    for number, rank in enumerate(ranks):
        now = number / load
        while free_at <= now and (queue := next(filter(None, queues), None)):
            sent = queue.popleft()
            waiting[sent] -= 1
            found += any(count for lower, count in waiting.items() if lower < sent)
            free_at += 1
        if number % 4 == 3:
            window[number // 4 % 32] = rank
        smaller = sum(entry < rank for entry in window)
        free = 0
        for queue, size in zip(queues, sizes, strict=True):
            free += size - len(queue)
            if smaller * buffer <= 32 * free and len(queue) < size:
                if free_at <= now:
                    free_at = now + 1
                else:
                    queue.append(rank)
                    waiting[rank] += 1
                break
    return found


@pytest.mark.parametrize("load", [1.5, 2.0])
def test_sizes_fitted_to_the_ranks_that_are_admitted_are_no_better_than_equal_ones(load: float) -> None:
    """Why the law does not look at the rank histogram: seven queues for the admitted share of the ranks, one for the
    rest, against eight equal ones."""
    source = random.Random(6)
    ranks = [source.randrange(100) for _ in range(20_000)]
    urgent = round(80 / load)
    fitted = (*queue_sizes(urgent, 7), 80 - urgent)
    assert inversions(queue_sizes(80, 8), ranks, load) < inversions(fitted, ranks, load)


def test_action_data_leaves_out_queues_that_do_not_exist() -> None:
    found = Config(10**8, 5 * MS, 64, queues=3).parameters_for(CONFIG.at_first())
    data = found.action_data()
    assert [data[f"size_{number}"] for number in range(1, 9)] == [14, 14, 13, 0, 0, 0, 0, 0]
    assert Parameters.from_action_data(data) == found


def test_pinned_parameters_stay_and_the_programs_own_are_nothing_to_keep() -> None:
    port = Port(Config(100_000_000, 5 * MS, 64, fixed={"B": 80, "S": 1, "k": 0}))
    port.polls(50, 413, 5000)
    assert parameters(port) == Parameters()
    assert State.take_over(Parameters()) == State()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Config(10**8, 5 * MS, 64, queues=9), "number of queues n = 9 is out of range: 1 to 8"),
        (lambda: Config(10**8, 5 * MS, 64, queues=0), "number of queues n = 0 is out of range: 1 to 8"),
        (lambda: Config(10**8, 5 * MS, 64, window_ranks=33), r"window \|W\| = 33 is out of range: 1 to 32"),
        (
            lambda: Config(10**8, 5 * MS, 64, fixed={"B": 7}),
            "buffer B = 7 is out of range: 8 to 512 packets in 8 queues",
        ),
        (lambda: Config(10**8, 5 * MS, 64, fixed={"B": 513}), "buffer B = 513 is out of range"),
        (lambda: Config(10**8, 5 * MS, 64, fixed={"S": 0}), "sampling S = 0 is out of range"),
        (lambda: Config(10**8, 5 * MS, 64, fixed={"k": 1}), r"headroom k = 1 is not in \[0, 1\)"),
        (lambda: Parameters(sizes=()), "number of queues n = 0"),
        (lambda: Parameters(sizes=(10, 0)), "queue size B_2 = 0"),
    ],
)
def test_a_bad_value_is_one_clear_sentence(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
