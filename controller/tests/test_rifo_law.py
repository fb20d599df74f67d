"""RIFO's control law, in stepped time, and its headroom against RIFO's own rule."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_port import MS, Port, Queue, gaps, histogram, poisson

from p4sched.errors import UsageError
from p4sched.laws.ranked import BUCKETS, State, Traffic
from p4sched.laws.rifo import (
    Config,
    Parameters,
    bucket_range,
    busy_headroom,
    stable_headroom,
    urgent_share,
)

CONFIG = Config(rate_bps=100_000_000, delay_ns=5 * MS, queue_packets=512)
FULL_POLL = 826
UNIFORM = histogram(range(128))


def traffic(load: float, dispersion: float = 1.0, ranks: tuple[int, ...] = UNIFORM) -> Traffic:
    """Of a link that sends 20 full-sized packets in 5 ms."""
    return Traffic(4000 * load, 1514, 4000 * 1514 * 8, load, dispersion, ranks)


def parameters(port: Port) -> Parameters:
    """In force now."""
    found = port.decisions[-1].parameters
    assert isinstance(found, Parameters)
    return found


def test_the_papers_defaults_come_out_for_a_queue_of_20_packets() -> None:
    found = CONFIG.parameters_for(traffic(1.0))
    assert (found.capacity_packets, found.tracking_packets) == (20, 50)


def test_the_buffer_follows_the_drain_rate_and_the_range_the_arrivals() -> None:
    port = Port(CONFIG)
    assert parameters(port).capacity_packets == 41
    port.polls(20, 413, 413)
    assert parameters(port).capacity_packets == 21
    assert parameters(port).tracking_packets == pytest.approx(103, rel=0.25)
    port.polls(20, 413, 3304)
    assert parameters(port).tracking_packets == pytest.approx(465, rel=0.25)


def test_the_range_is_never_a_single_packet() -> None:
    slow = Config(rate_bps=3_000_000, delay_ns=5 * MS, queue_packets=512, span_ns=MS)
    assert slow.parameters_for(slow.at_first()).tracking_packets == 2


def test_the_more_load_the_less_headroom() -> None:
    found = [stable_headroom(traffic(load), 160) for load in (1.2, 2, 3, 4)]
    assert found[1:3] == [pytest.approx(0.31, abs=0.01), pytest.approx(0.18, abs=0.01)]
    assert found == sorted(found, reverse=True)
    assert [stable_headroom(traffic(2.0, batch), 160) for batch in (1, 4, 16)] == [
        pytest.approx(0.31, abs=0.01),
        pytest.approx(0.25, abs=0.01),
        pytest.approx(0.17, abs=0.02),
    ]


def lost_among_urgent(k: float, load: float, buffer: int, ranks: Sequence[int], batch: int = 1) -> tuple[float, float]:
    """Share of the packets of the most urgent quarter of ranks that RIFO drops, and the link's idle share."""
    queue = Queue()
    low = high = count = urgent = lost = 0
    times = gaps(load, batch, len(ranks), random.Random(3))
    for rank, gap in zip(ranks, times, strict=True):
        queue.advance(gap)
        low, high = (min(low, rank), max(high, rank)) if count else (rank, rank)
        count = (count + 1) % (5 * buffer // 2)
        score = (high - rank) * buffer >= (high - low) * (buffer - queue.length)
        admitted = (queue.length <= k * buffer or high == low or score) and queue.length < buffer
        if admitted:
            queue.put()
        if rank < 32:
            urgent += 1
            lost += not admitted
    return lost / urgent, queue.idle / queue.now


@pytest.mark.parametrize(("load", "most"), [(1.2, 0.01), (2.0, 0.01), (3.0, 0.2)])
def test_the_headroom_of_the_law_protects_the_urgent_packets_where_the_papers_does_not(
    load: float, most: float
) -> None:
    source = random.Random(1)
    ranks = [source.randrange(128) for _ in range(50_000)]
    k = Config(10**8, 5 * MS, 512).parameters_for(traffic(load)).headroom_256 / 256
    assert k == pytest.approx(max(stable_headroom(traffic(load), 20), busy_headroom(traffic(load), 20, 0.05)), abs=0.01)
    k = min(0.5, stable_headroom(traffic(load), 160))
    lost, _ = lost_among_urgent(k, load, 160, ranks)
    lost_at_default, _ = lost_among_urgent(0.1, load, 160, ranks)
    assert lost < most
    assert lost_at_default > lost + 0.04
    # and it is near the most that the queue bears: a fifth of the buffer more, and it runs full
    lost_beyond, _ = lost_among_urgent(k + 0.2, load, 160, ranks)
    if load >= 2:
        assert lost_beyond > 0.4


def test_a_critically_loaded_link_stays_busy() -> None:
    source = random.Random(1)
    ranks = [source.randrange(128) for _ in range(50_000)]
    for buffer, batch in ((40, 1), (160, 1), (160, 4)):
        k = min(0.5, max(stable_headroom(traffic(1, batch), buffer), busy_headroom(traffic(1, batch), buffer, 0.05)))
        _, idle = lost_among_urgent(k, 1.0, buffer, ranks, batch)
        assert idle < 0.05, (buffer, batch, k)


def test_the_headroom_follows_load_and_ranks_as_they_are_measured() -> None:
    config = Config(rate_bps=400_000_000, delay_ns=5 * MS, queue_packets=512)
    source = random.Random(2)
    port = Port(config)
    found = []

    def poll(load: float) -> None:
        arrived = poisson(3302 * load, source)
        ranks = {bucket: arrived * count // 128 for bucket, count in enumerate(UNIFORM)}
        port.poll(3302, max(0, arrived - 3302), ranks=ranks)

    for load in (1.2, 2.0, 3.0, 1.2):
        for _ in range(40):
            poll(load)
        found.append(parameters(port).headroom_256 / 256)
    assert found == [0.5, pytest.approx(0.31, abs=0.05), pytest.approx(0.18, abs=0.05), pytest.approx(0.5, abs=0.05)]
    assert port.writes <= 1 + 4 * 3
    writes = port.writes
    for _ in range(300):
        poll(1.2)
    assert port.writes <= writes + 1


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=100).map(histogram),
    st.lists(st.floats(0, 1), min_size=2, max_size=10).map(sorted),
)
def test_the_urgent_share_rises_from_nothing_to_all(ranks: tuple[int, ...], places: list[float]) -> None:
    shares = [urgent_share(ranks, x) for x in places]
    assert shares == sorted(shares)
    assert urgent_share(ranks, 0) == 0
    assert urgent_share(ranks, 1) == pytest.approx(1)


def test_the_urgent_share_of_uniform_ranks_is_the_share_of_the_range() -> None:
    for x in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        assert urgent_share(UNIFORM, x) == pytest.approx(x)
        assert urgent_share((0,) * BUCKETS, x) == x
    # ranks 64 .. 127 only: the range starts at 64
    assert urgent_share(histogram(range(64, 128)), 0.5) == pytest.approx(0.5)


def test_buckets_are_those_of_the_program() -> None:
    for rank in (0, 1, 2, 3, 4, 7, 8, 1000, 2**31, 2**32 - 1):
        low, end = bucket_range(rank.bit_length())
        assert low <= rank < end


@given(
    load=st.floats(0, 100),
    dispersion=st.floats(0.0625, 1000),
    rate=st.integers(10**7, 10**11),
    size=st.floats(64, 9000),
    ranks=st.lists(st.integers(0, 2**32 - 1), max_size=30).map(histogram),
)
def test_any_traffic_gets_parameters_that_the_program_can_hold(
    load: float, dispersion: float, rate: int, size: float, ranks: tuple[int, ...]
) -> None:
    seen = Traffic(load * rate / 8 / size, size, rate, load, dispersion, ranks)
    found = CONFIG.parameters_for(seen)
    assert found == Parameters.from_action_data(found.action_data())
    assert found.capacity_packets <= 512
    assert found.headroom_256 <= 128


def test_pinned_parameters_stay_and_the_programs_own_are_nothing_to_keep() -> None:
    port = Port(Config(100_000_000, 5 * MS, 512, fixed={"B": 20, "T": 50, "k": 0.1}))
    port.polls(50, 413, 5000)
    assert parameters(port) == Parameters(20, 26, 50) == Parameters()
    assert State.take_over(Parameters()) == State()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Config(10**8, 5 * MS, 512, fixed={"T": 0}), "tracking range T = 0 is out of range: 1 to 4294967295"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"B": 0}), "queue size B = 0 is out of range: 1 to 512"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"B": 1000}), "queue size B = 1000 is out of range: 1 to 512"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"k": 1.5}), r"headroom k = 1.5 is not in \[0, 1\)"),
        (lambda: Config(10**8, 5 * MS, 512, fixed={"C": 20}), "no parameter of RIFO 'C'; there is: B, T, k"),
        (lambda: Parameters(tracking_packets=0), "tracking range T = 0"),
    ],
)
def test_a_bad_value_is_one_clear_sentence(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
