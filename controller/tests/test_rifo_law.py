"""RIFO's control law, in stepped time, and its model of the queue against RIFO's own rule."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_port import MS, Port, Queue, gaps, histogram, poisson

from p4sched.control.laws.port_counters import BUCKETS
from p4sched.control.laws.ranked import State
from p4sched.control.laws.rifo import Config, Parameters, agreement, bucket_range, urgent_share
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.errors import UsageError

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


def test_a_link_that_is_just_loaded_gets_the_longest_queue_and_the_range_of_the_span() -> None:
    found = CONFIG.parameters_for(traffic(1.0))
    # 20 packets wait 5 ms; 300 arrive in 15 times that
    assert (found.capacity_packets, found.tracking_packets) == (20, 300)


def test_the_more_overload_the_shorter_the_queue() -> None:
    """Uniform ranks: when a packet leaves a full queue of B = 1 / (1 - 1/load), the most urgent 1/load are admitted."""
    found = [CONFIG.parameters_for(traffic(load, 0.0625)).capacity_packets for load in (1.0, 1.25, 1.5, 2.0)]
    assert found == [20, pytest.approx(5, abs=1), 3, 2]


def test_bursts_get_a_longer_queue_than_single_packets() -> None:
    found = [CONFIG.parameters_for(traffic(1.5, batch)).capacity_packets for batch in (1, 8, 64)]
    assert found == sorted(found)
    assert found[0] < found[-1] == 20


def test_the_range_follows_the_arrivals() -> None:
    port = Port(CONFIG)
    port.polls(20, 413, 413)
    assert parameters(port).tracking_packets == pytest.approx(620, rel=0.25)
    port.polls(20, 413, 3304)
    assert parameters(port).tracking_packets == pytest.approx(2788, rel=0.25)


def test_the_range_is_never_a_single_packet() -> None:
    slow = Config(rate_bps=3_000_000, delay_ns=5 * MS, queue_packets=512, span_ns=MS)
    assert slow.parameters_for(slow.at_first()).tracking_packets == 2


def measured(buffer: int, headroom: int, load: float, batch: int) -> float:
    """Share of the packets an ideal scheduler would send, ranks below 128 / load, among what RIFO's rule sends of
    Poisson batches of one rank; uniform ranks."""
    source, queue = random.Random(3), Queue()
    low = high = count = sent = 0
    times = gaps(load, batch, 60_000, source)
    rank = 0
    for number, gap in enumerate(times):
        rank = source.randrange(128) if number % batch == 0 else rank
        queue.advance(gap)
        low, high = (min(low, rank), max(high, rank)) if count else (rank, rank)
        count = (count + 1) % 3000
        score = (high - rank) * buffer >= (high - low) * (buffer - queue.length)
        if (queue.length <= headroom or high == low or score) and queue.length < buffer:
            queue.put()
            sent += rank < 128 / load
    return sent / queue.now


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("load", [1.0, 1.5, 2.0, 4.0])
def test_the_predicted_agreement_is_that_of_rifos_rule(load: float, batch: int) -> None:
    for buffer, headroom in ((2, 0), (3, 1), (5, 2), (10, 5), (20, 10), (40, 20)):
        if buffer < batch:
            continue
        predicted = agreement(traffic(load, batch), buffer, headroom)
        assert predicted == pytest.approx(measured(buffer, headroom, load, batch), abs=0.12), (buffer, headroom)


def idle(buffer: int, times: list[float]) -> float:
    """Share of the time that the link idles if a queue of `buffer` packets admits whatever fits."""
    queue = Queue()
    for gap in times:
        queue.advance(gap)
        if queue.length < buffer:
            queue.put()
    return queue.idle / queue.now


@pytest.mark.parametrize("dispersion", [0.25, 1.0, 6.0])
@pytest.mark.parametrize("buffer", [10, 20])
def test_the_predicted_idling_of_a_just_loaded_link_is_that_of_a_queue(buffer: int, dispersion: float) -> None:
    """A Brownian motion of variance I that is reflected at 0 and K is pushed up there by I / (2 K) in a unit of time,
    and by a sum of variance I T / 3 in the time T. K is between B and B + 1 + I/2: the packet that is being sent, and
    the part of a batch that fits, are beyond what a diffusion tells."""
    count, source = 150_000, random.Random(1)
    if dispersion < 1:
        stages = round(1 / dispersion)
        times = [source.gammavariate(stages, 1 / stages) for _ in range(count)]
    else:
        times = gaps(1.0, round(dispersion), count, source)
    # a load of 1, everything within the headroom: what a PIFO sends is missed only where the link idles
    predicted = 1 - agreement(traffic(1.0, dispersion), buffer, buffer)
    places = dispersion / 2 * (1 / buffer - 1 / (buffer + 1 + dispersion / 2))
    assert predicted == pytest.approx(idle(buffer, times), abs=places + 4 * math.sqrt(dispersion / 3 / count))


@pytest.mark.parametrize(("load", "batch"), [(1.0, 1), (1.0, 6), (1.5, 1), (2.0, 1), (2.0, 6), (4.0, 1)])
def test_no_other_setting_is_much_better_than_that_of_the_law(load: float, batch: int) -> None:
    found = CONFIG.parameters_for(traffic(load, batch))
    mine = measured(found.capacity_packets, found.headroom_packets, load, batch)
    others = [measured(buffer, headroom, load, batch) for buffer in (2, 3, 5, 10, 20) for headroom in (0, buffer // 2)]
    assert mine > 0.85 * max(others)
    if load >= 2 and batch == 1:
        # the paper's B = 20, k = 0.1
        assert mine > measured(20, 2, load, batch) + 0.1


def test_the_queue_follows_load_and_ranks_as_they_are_measured_and_noise_writes_next_to_nothing() -> None:
    config = Config(rate_bps=400_000_000, delay_ns=5 * MS, queue_packets=512)
    source = random.Random(2)
    port = Port(config)
    found = []

    def poll(load: float) -> None:
        arrived = poisson(3302 * load, source)
        ranks = {bucket: arrived * count // 128 for bucket, count in enumerate(UNIFORM)}
        port.poll(3302, max(0, arrived - 3302), ranks=ranks)

    for load in (1.0, 2.0, 1.0):
        for _ in range(40):
            poll(load)
        found.append(parameters(port).capacity_packets)
    assert found[0] > 50
    assert found[1] < 20
    assert found[2] > 50
    writes = port.writes
    assert writes <= 1 + 3 * 3
    for _ in range(300):
        poll(1.0)
    assert port.writes <= writes + 3


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=100).map(histogram),
    st.lists(st.floats(0, 1), min_size=2, max_size=10).map(sorted),
)
def test_the_urgent_share_rises_from_nothing_to_all(ranks: tuple[int, ...], places: list[float]) -> None:
    shares = [urgent_share(ranks, x) for x in places]
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert urgent_share(ranks, 1) == pytest.approx(1)


def test_the_urgent_share_of_uniform_ranks_is_the_share_of_the_range() -> None:
    for x in (0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
        assert urgent_share(UNIFORM, x) == pytest.approx(x, abs=0.03)
        # the highest bucket, 64 .. 127, is filled up to 99 only
        assert urgent_share(histogram(range(100)), x) == pytest.approx(x, abs=0.03)
        assert urgent_share((0,) * BUCKETS, x) == x


def test_the_urgent_share_of_ranks_that_crowd_at_the_far_end_is_small() -> None:
    """Density of rank r proportional to exp(r / 25), below 100: below the share x, (e^4x - 1) / (e^4 - 1)."""
    ranks = histogram([rank for rank in range(100) for _ in range(round(10 * math.exp(rank / 25)))])
    for x in (0.25, 0.5, 0.75):
        assert urgent_share(ranks, x) == pytest.approx((math.exp(4 * x) - 1) / (math.exp(4) - 1), abs=0.05)


def test_few_ranks_are_counted_one_by_one() -> None:
    two = histogram([0, 0, 0, 1])
    assert [urgent_share(two, x) for x in (0, 0.5, 0.99, 1)] == [0.75, 0.75, 0.75, 1]


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
    assert found.headroom_packets <= found.capacity_packets // 2


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
        (lambda: Config(10**8, 5 * MS, 512, fixed={"C": 20}), "no parameter of RIFO 'C'; use one of: B, T, k"),
        (lambda: Parameters(tracking_packets=0), "tracking range T = 0"),
    ],
)
def test_a_bad_value_is_one_clear_sentence(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
