"""SCRR (Sharafzadeh et al., NSDI 2025). The numbers follow by hand from the rule of the authors' qdisc, sch_scrr.c; the
functions that each example shows are named."""

import itertools
import random
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from p4sched import simulate
from p4sched.folders import models
from p4sched.folders.description import read
from p4sched.model import FULL, Model, Packet, Queued
from p4sched.paths import SCHEDULERS_DIR

FOLDER = SCHEDULERS_DIR / "scrr"
DESCRIPTION = read(FOLDER)
assert DESCRIPTION.model is not None
SCRR = models.load(DESCRIPTION.model)
BASIC, PLAIN, NPM, NMIA, NMNE, NEIA = ALL = range(6)
LARGEST = 1500
NUMBERS = itertools.count()


def scrr(version: int, size: int = 10_000, flow_size: int = 10_000) -> Model:
    return SCRR({"size": size, "flow_size": flow_size, "version": version})


def arrive(model: Model, flow: str, lengths: Iterable[int]) -> None:
    """Packets of a flow."""
    for length in lengths:
        assert model.enqueue(Packet(next(NUMBERS), 0, 0, ord(flow), length), 0) == Queued()


def leave(model: Model, packets: int = 10_000) -> str:
    """The flows of the packets that leave, one letter for each."""
    sent: list[str] = []
    while len(sent) < packets and (packet := model.dequeue(0)) is not None:
        sent.append(chr(packet.flow))
    return "".join(sent)


@pytest.mark.parametrize("version", [BASIC, PLAIN, NPM, NMNE])
def test_a_turn_is_as_long_as_the_largest_packet(version: int) -> None:
    """Starts of a: 0, 1500, 3000; of b: 0, 500, ... The second packet of a moves the advance to 1500, so b sends its
    packets that start at 500, 1000 and 1500 (`scrr_try_virtual_advance`, and the test after it)."""
    model = scrr(version)
    arrive(model, "a", [1500] * 3)
    arrive(model, "b", [500] * 6)
    assert leave(model) == "ab" + "abbb" + "abb"


@pytest.mark.parametrize("version", [NMIA, NEIA])
def test_with_initial_advance_the_first_start_is_a_length_after_the_round_before(version: int) -> None:
    """Starts of a: 1500, 3000, 4500; of b: 500, 1000, ... (`scrr_qdisc_neia_dequeue`)."""
    model = scrr(version)
    arrive(model, "a", [1500] * 3)
    arrive(model, "b", [500] * 6)
    assert leave(model) == "ab" + "abbbbb" + "a"


@pytest.mark.parametrize(
    ("version", "first_turn"), [(BASIC, 0), (PLAIN, 1), (NPM, 1), (NMIA, 15), (NMNE, 1), (NEIA, 15)]
)
def test_first_turn_of_a_new_flow_with_small_packets(version: int, first_turn: int) -> None:
    """Three flows with 1500 bytes a round, then 20 packets of 100 bytes. A list of new flows lets them begin at once.
    Initial advance gives them the 1500 bytes of a whole round; otherwise the second one starts after the advance."""
    model = scrr(version)
    for flow in "abc":
        arrive(model, flow, [1500] * 30)
    assert leave(model, 31) == "abc" * 10 + "a"
    arrive(model, "n", [100] * 20)
    sent = leave(model, 25)
    assert len(sent) - len(sent.lstrip("n")) == first_turn
    assert "n" in sent[:4]


def one_at_a_time(version: int, length: int) -> list[int]:
    """For packets of a light flow, one at a time among four busy flows: how many packets leave before each."""
    model = scrr(version)
    for flow in "abcd":
        arrive(model, flow, [1500] * 50)
    leave(model, 21)
    waits = []
    for _ in range(8):
        arrive(model, "n", [length])
        wait = 0
        while leave(model, 1) != "n":
            wait += 1
        waits.append(wait)
    return waits


def test_a_light_flow_that_comes_back_at_once() -> None:
    """A flow without a packet keeps a turn in the round, so that it cannot come back as a new one: it waits for the
    others (`scrr_qdisc_npm_dequeue`). Without empty turns its finish tells whether it had its share of the round
    (`scrr_qdisc_nmne_enqueue`): with 100 bytes it had not, until its finish passes the advance."""
    assert one_at_a_time(NPM, 100) == [0, 4, 4, 4, 4, 4, 4, 4]
    assert one_at_a_time(NEIA, 100) == [0] * 8
    assert max(one_at_a_time(NEIA, 1500)[1:]) == 4


def test_the_order_of_waiting_packets_depends_on_later_arrivals() -> None:
    """So no rank, round or queue that is chosen at arrival gives this order: it needs a choice at departure."""
    orders = []
    for others in ([], [1500] * 3):
        model = scrr(NEIA)
        arrive(model, "a", [100] * 20)
        arrive(model, "b", [100] * 20)
        before = leave(model, 4)
        arrive(model, "c", others)
        orders.append(before + leave(model).replace("c", ""))
    alone, with_c = orders
    assert alone == "ab" * 20
    assert "aaaaaaaaaa" in with_c


def busy_flows(version: int, seed: int, backlog: int = 60) -> list[tuple[int, int]]:
    """Flow and length of 3000 packets that leave while five flows always have `backlog` packets. Each flow has its own
    lengths, the first one 64 bytes."""
    source = random.Random(seed)
    lengths = [[64], [1500], [200, 1500], range(64, 1501), [600]]
    model = scrr(version)
    sent = []
    for number in range(backlog * len(lengths)):
        flow = number % len(lengths)
        model.enqueue(Packet(next(NUMBERS), 0, 0, flow, source.choice(lengths[flow])), 0)
    for _ in range(3000):
        packet = model.dequeue(0)
        assert packet is not None
        sent.append((packet.flow, packet.bytes))
        model.enqueue(Packet(next(NUMBERS), 0, 0, packet.flow, source.choice(lengths[packet.flow])), 0)
    return sent


@pytest.mark.parametrize("version", ALL)
def test_a_burst_is_smaller_than_two_packets_of_the_largest_length(version: int) -> None:
    """sch_scrr.c, head comment: "Burstiness"."""
    for seed in range(5):
        largest = burst = 0
        last = None
        for flow, length in busy_flows(version, seed):
            burst = burst + length if flow == last else length
            last, largest = flow, max(largest, burst)
        assert LARGEST < largest < 2 * LARGEST


@pytest.mark.parametrize("version", ALL)
def test_busy_flows_get_the_same_bytes_whatever_their_packets(version: int) -> None:
    """sch_scrr.c, head comment: "Fairness"."""
    for seed in range(5):
        got = [0] * 5
        furthest = 0
        for flow, length in busy_flows(version, seed):
            got[flow] += length
            furthest = max(furthest, max(got) - min(got))
        assert min(got) > 90 * LARGEST
        assert furthest < 3 * LARGEST


def test_starts_at_arrival_cost_a_flow_that_has_less_waiting_than_it_could_send_in_a_turn() -> None:
    """20 packets of 64 bytes are less than the 1500 bytes of a turn. The next to arrive starts at the advance, later
    than the finish of the 20th (`scrr_qdisc_enqueue`). The versions without packet metadata compute its start when it
    leaves."""
    shares = []
    for version in (PLAIN, NPM):
        sent = busy_flows(version, seed=1, backlog=20)
        got = [sum(length for flow, length in sent if flow == number) for number in range(5)]
        shares.append(got[0] / (sum(got[1:]) / 4))
    at_arrival, at_departure = shares
    assert at_arrival < 0.9
    assert at_departure > 0.97


@pytest.mark.parametrize("version", ALL)
def test_a_flow_keeps_its_order_and_nothing_is_lost(version: int) -> None:
    source = random.Random(version)
    model = scrr(version, size=60, flow_size=20)
    waiting: dict[int, deque[Packet]] = {flow: deque() for flow in range(8)}
    full = 0
    for number in range(20_000):
        if source.random() < (0.3, 0.5, 0.7)[number // 1000 % 3]:
            packet = Packet(number, 0, 0, source.randrange(8), source.choice([64, 500, 1500]))
            queue = waiting[packet.flow]
            at_limit = len(queue) >= 20 or sum(map(len, waiting.values())) >= 60
            assert model.enqueue(packet, number) == (FULL if at_limit else Queued())
            full += at_limit
            if not at_limit:
                queue.append(packet)
        else:
            sent = model.dequeue(number)
            assert (sent is None) == (not any(waiting.values()))
            assert sent is None or sent == waiting[sent.flow].popleft()
        assert len(model) == sum(map(len, waiting.values()))
    assert full


def operations(version: int) -> Iterator[tuple[int, int] | None]:
    """Arrivals (flow, length) and departures (None): busy and idle times, and new flows now and then."""
    source = random.Random(version)
    for number in range(3000):
        often = (0.7, 0.45, 0.2)[number // 40 % 3]
        arrives = source.random() < often
        yield (source.randrange(6) + number // 100, source.choice((64, 200, 500, 1500))) if arrives else None


CHECKSUMS = {BASIC: 1767031503, PLAIN: 3927279262, NPM: 4094207026, NMIA: 741221528, NMNE: 3749769608, NEIA: 3632723694}


@pytest.mark.parametrize(("version", "checksum"), CHECKSUMS.items())
def test_departures_and_clocks_are_those_of_the_qdisc(version: int, checksum: int) -> None:
    """The functions of sch_scrr.c, compiled as a program, gave the checksums: of the number of each packet that leaves,
    then virtual_advance, virtual_dequeue, virtual_previous and rounds_advance, a line for each departure."""
    model: Any = scrr(version, size=50, flow_size=20)
    lines = []
    number = 0
    for operation in operations(version):
        if operation is not None:
            model.enqueue(Packet(number, 0, 0, *operation), 0)
            number += 1
        else:
            sent = model.dequeue(0)
            clocks = (model.advance, model.latest, model.previous, model.turns_left)
            lines.append(f"{-1 if sent is None else sent.id} {' '.join(map(str, clocks))}\n")
    assert zlib.crc32("".join(lines).encode()) == checksum


def round_trips(ports: dict[str, object]) -> Sequence[float]:
    """Packets that two flows with one packet at a time send among six flows that always wait."""
    link = simulate.Link.of("100mbit", "10us")
    transport = {"control": "new_reno", "handshake": False, "delayed_ack": None}
    scenario = simulate.Scenario(
        topology=simulate.Dumbbell(8, simulate.Link.of("1gbit", "10us"), link),
        ports=simulate.Ports("fifo"),
        flows=[
            *(simulate.Flow(f"u{number}", "server", 10**9, transport="bulk") for number in range(1, 7)),
            *(simulate.Flow(f"u{number}", "server", 10**9, transport="light") for number in (7, 8)),
        ],
        transports={"bulk": {**transport, "window": 30_000}, "light": {**transport, "mss": 200, "window": 200}},
        end_ns=300_000_000,
    )
    received = simulate.run({**scenario.to_json(), "ports": ports}).flows["received_bytes"]
    return [float(received[-1]) / 200, float(received[:6].min() / received[:6].max())]


def test_light_flows_in_a_network_wait_less_than_with_drr() -> None:
    parameters = {"size": 1000, "flow_size": 1000, "version": NEIA}
    packets, equal = round_trips({"scheme": str(FOLDER), "parameters": parameters})
    with_drr, _ = round_trips({"scheme": "drr", "queues": 1, "queue_size": 1000})
    assert packets > 1.5 * with_drr
    assert equal > 0.99
