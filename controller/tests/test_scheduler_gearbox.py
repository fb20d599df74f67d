"""Gearbox: the values of the authors' testbench, an example by hand, and what must hold for any packets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4sched import simulate
from p4sched.folders import models
from p4sched.folders.description import read
from p4sched.folders.schemes import forget, of_folder
from p4sched.model import FULL, Packet, Queued
from p4sched.paths import SCHEDULERS_DIR

FOLDER = SCHEDULERS_DIR / "gearbox"
DESCRIPTION = read(FOLDER)
TICK = 64
"""Bytes of a round in the testbench."""


def gearbox(**parameters: int) -> Any:
    """A model with the hardware's sizes: L = 4, N = 16."""
    assert DESCRIPTION.model is not None
    default = {each.name: each.default for each in DESCRIPTION.parameters}
    return models.load(DESCRIPTION.model)({**default, "burst": 2**32 - 1, **parameters})


class Bench:
    """Packets with a length in rounds, as in the testbench."""

    def __init__(self, **parameters: int) -> None:
        self.model = gearbox(**parameters)
        self.sent = 0

    def enqueue(self, flow: int, rounds: int) -> tuple[int, str, int, int] | None:
        """Finish time (rounds), set, FIFO and level; None if the packet is dropped."""
        self.sent += 1
        packet = Packet(self.sent, 0, 0, flow, rounds * TICK)
        before = [[len(fifo) for fifo in level.fifos] for level in self.model.level]
        verdict = self.model.enqueue(packet, 0)
        if not isinstance(verdict, Queued):
            return None
        level = self.model.level[verdict.queue]
        number = next(place for place, fifo in enumerate(level.fifos) if len(fifo) > before[verdict.queue][place])
        finish = self.model.last[flow].finish // self.model.unit
        return finish, "AB"[number // 16], number % 16, verdict.queue

    def dequeue(self) -> int:
        """Number of the packet that leaves."""
        packet = self.model.dequeue(0)
        assert packet is not None
        return int(packet.id)


def test_the_testbench_of_the_hardware() -> None:
    """The asserted values of tb_gearboxI_test_set_01_0219.vhd, Enq 01 to Enq 09, and its VC of 16 after Deq 03."""
    bench = Bench(whole_sets=0)
    assert bench.enqueue(flow=0, rounds=5) == (5, "A", 5, 0)
    assert bench.enqueue(flow=0, rounds=12) == (17, "A", 1, 1)
    assert bench.enqueue(flow=1, rounds=6) == (6, "A", 6, 0)
    assert bench.enqueue(flow=2, rounds=99999) is None
    assert [bench.dequeue() for _ in range(3)] == [1, 3, 2]
    assert bench.model.clock == 16
    assert bench.enqueue(flow=0, rounds=2) == (19, "A", 1, 1), "the flow stays in level 1"
    assert bench.enqueue(flow=1, rounds=2) == (18, "B", 2, 0)
    assert bench.enqueue(flow=0, rounds=2) == (21, "A", 1, 1)
    assert bench.enqueue(flow=0, rounds=2) == (23, "A", 1, 1)
    assert bench.enqueue(flow=0, rounds=2) == (25, "A", 1, 1)
    assert bench.enqueue(flow=1, rounds=12) == (30, "B", 14, 0)


def test_whole_sets_keep_a_packet_in_the_finest_level() -> None:
    """With the rule of the authors' ns-3 model, round 17 is in level 0's next set: 17 / 16 - 0 = 1."""
    bench = Bench()
    assert bench.enqueue(flow=0, rounds=5) == (5, "A", 5, 0)
    assert bench.enqueue(flow=0, rounds=12) == (17, "B", 1, 0)
    assert bench.enqueue(flow=0, rounds=14) == (31, "B", 15, 0)
    assert bench.enqueue(flow=0, rounds=1) == (32, "A", 2, 1)


def test_a_coarse_fifo_is_sent_in_equal_shares() -> None:
    """N = 4: eight packets in a FIFO of four rounds leave two a round, behind the packets of level 0."""
    model = gearbox(levels=2, fifos=4, tick=TICK, weights=1)
    light = 256 * 8  # weight 1/8: 64 bytes take 8 rounds
    for number in range(8):
        assert model.enqueue(Packet(number, light, 0, number, 64), 0) == Queued(1)
    assert model.enqueue(Packet(8, 256, 0, 8, 128), 0) == Queued(0)
    left = []
    while (packet := model.dequeue(0)) is not None:
        left.append((packet.id, model.clock))
        if packet.id == 0:
            assert model.enqueue(Packet(9, 256, 0, 9, 64), 0) == Queued(0)
    assert left == [(8, 2), (0, 8), (1, 8), (9, 9), (2, 9), (3, 9), (4, 10), (5, 10), (6, 11), (7, 11)]


def test_what_is_too_far_ahead_or_finds_no_room_moves_no_finish() -> None:
    model = gearbox(levels=1, fifos=8, tick=100, burst=4, size=3, fifo_size=1)
    assert model.enqueue(Packet(0, 0, 0, 1, 400), 0) is FULL, "the burst is 4 rounds"
    assert model.enqueue(Packet(1, 0, 0, 1, 399), 0) == Queued(0)
    assert model.enqueue(Packet(2, 0, 0, 2, 310), 0) is FULL, "the FIFO of round 3 holds a packet"
    assert model.enqueue(Packet(3, 0, 0, 2, 210), 0) == Queued(0)
    assert model.last[2].finish == 210 * 256
    assert model.enqueue(Packet(4, 0, 0, 3, 10), 0) == Queued(0)
    assert model.enqueue(Packet(5, 0, 0, 4, 110), 0) is FULL, "three packets wait"


Step = tuple[int, int, int] | None
"""Flow, bytes and scale of a packet that arrives; None: one leaves."""
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(st.none(), st.tuples(st.integers(1, 5), st.sampled_from([64, 300, 1514]), st.integers(16, 2048))),
    max_size=200,
)
SIZES = st.fixed_dictionaries(
    {"levels": st.integers(1, 4), "fifos": st.integers(2, 6), "tick": st.sampled_from([32, 100, 1514])}
)


def play(model: Any, steps: Sequence[Step]) -> Iterator[tuple[str, Packet, int]]:
    """The queued packets, with their level, and those that leave, with 0."""
    for number, step in enumerate([*steps, *[None] * len(steps)]):
        if step is None:
            packet = model.dequeue(0)
            if packet is not None:
                yield "out", packet, 0
        else:
            flow, size, scale = step
            packet = Packet(number, scale, 0, flow, size)
            verdict = model.enqueue(packet, 0)
            if isinstance(verdict, Queued):
                yield "in", packet, verdict.queue


@settings(max_examples=300, deadline=None)
@given(STEPS, SIZES)
def test_flows_keep_their_order_and_packets_leave_within_the_rounds_of_their_fifo(
    steps: list[Step], sizes: dict[str, int]
) -> None:
    model = gearbox(**sizes, weights=1)
    waiting: dict[int, list[int]] = {}
    spans: dict[int, range] = {}
    for what, packet, number in play(model, steps):
        if what == "in":
            width = model.level[number].rounds
            turn = model.last[packet.flow].finish // model.unit // width
            spans[packet.id] = range(turn * width, (turn + 1) * width)
            waiting.setdefault(packet.flow, []).append(packet.id)
        else:
            assert waiting[packet.flow].pop(0) == packet.id
            assert model.clock in spans[packet.id]
    assert len(model) == 0
    assert not any(waiting.values())


def test_the_rule_of_the_hardware_can_reorder_a_flow() -> None:
    """VC = 5, N = 16: round 18 is 13 ahead, in level 0; round 30 is 25 ahead, in level 1, sent from round 16 on."""
    bench = Bench(whole_sets=0)
    bench.enqueue(flow=0, rounds=5)
    bench.dequeue()
    bench.enqueue(flow=1, rounds=13)
    bench.enqueue(flow=1, rounds=12)
    assert [bench.dequeue(), bench.dequeue()] == [3, 2]


@pytest.fixture
def scheme() -> Iterator[str]:
    yield of_folder(Path(FOLDER).resolve()).name
    forget(Path(FOLDER).resolve())


def scenario(ports: dict[str, Any]) -> dict[str, Any]:
    """Four TCP flows over one link for a second."""
    link = simulate.Link.of("1gbit", "10us")
    flows = [{"source": f"u{number}", "destination": "server", "bytes": 10**9} for number in (1, 2, 3, 4)]
    return {
        "end_ns": 1_000_000_000,
        "topology": simulate.Dumbbell(4, link, simulate.Link.of("20mbit", "1ms")).to_json(),
        "ports": ports,
        "transports": {"tcp": {"control": "cubic"}},
        "flows": {"list": flows},
    }


def test_one_level_is_approximate_fair_queueing(scheme: str) -> None:
    """A level alone is AFQ's calendar: N rounds of g bytes."""
    sizes = {"fifos": 16, "tick": 2048, "fifo_size": 8, "size": 128, "levels": 1, "burst": 100, "whole_sets": 1}
    ours = simulate.run(scenario({"scheme": scheme, "parameters": {**sizes, "weights": 0}}))
    afq = simulate.run(scenario({"scheme": "afq", "queues": 16, "queue_size": 8, "log_bytes_per_round": 11}))
    assert (ours.flows["received_bytes"] == afq.flows["received_bytes"]).all()
    assert (ours.flows["sent_segments"] == afq.flows["sent_segments"]).all()
    assert ours.flows["retransmitted"].sum() > 0, "packets are dropped, too"


def test_bandwidth_follows_the_weights(scheme: str) -> None:
    sizes = {"levels": 3, "fifos": 8, "tick": 256, "burst": 128, "fifo_size": 100, "size": 100, "whole_sets": 1}
    asked = scenario({"scheme": scheme, "parameters": {**sizes, "weights": 1}})
    for number, flow in enumerate(asked["flows"]["list"]):
        flow["rank"] = (256, 256, 128, 64)[number]
    received = simulate.run(asked).flows["received_bytes"]
    shares = received / received.sum()
    assert shares == pytest.approx([1 / 8, 1 / 8, 2 / 8, 4 / 8], rel=0.05)
