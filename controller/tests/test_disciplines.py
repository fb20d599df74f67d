"""A calendar and a tree on a running switch: what they are set to can be read, and frames leave in their order.

The link is slow, and all other frames are sent while it carries the first one. A run in which they were not all in the
queue well before it had carried that one says nothing: it is repeated with a longer one.
"""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from lab import PATIENCE_S
from switches import start_switch
from wires import OUT_PORT, Wires, wires

from p4sched.p4rt.compile import compile_program
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.session import connect
from p4sched.p4rt.traffic_manager import Calendar, EmbeddedTrafficManager, PortSettings, Scrr, Tree, TreeNode
from p4sched.proto.enums import CalendarPlace, Discipline

PROGRAM = Path(__file__).with_name("ordered.p4")
RATE_BPS = 1000
FIRST_BYTES = (60, 300, 1500)
"""The first frame: 0.5, 2.4 and 12 s on the link."""
SAFE_SHARE = 0.6

CALENDAR = PortSettings(
    OUT_PORT,
    rate_bps=RATE_BPS,
    discipline=Discipline.CALENDAR,
    buffer_packets=50,
    rank_field="order.rank",
    calendar=Calendar(
        4,
        1514,
        queue_packets=9,
        turn_bytes=0,
        turn_ns=0,
        place=CalendarPlace.AHEAD,
        rank_width=0,
        levels=2,
        burst_rounds=0,
        whole_sets=True,
    ),
)
assert CALENDAR.calendar is not None
GEARBOX = replace(
    CALENDAR,
    discipline=Discipline.GEARBOX,
    user_field="order.leaf",
    calendar=replace(CALENDAR.calendar, bytes_per_round=60, burst_rounds=3),
)
SCRR = PortSettings(
    OUT_PORT,
    rate_bps=RATE_BPS,
    discipline=Discipline.SCRR,
    buffer_packets=50,
    user_field="order.leaf",
    scrr=Scrr(flow_packets=2, version=5),
)
SHAPE = Tree(
    nodes=(
        TreeNode(Discipline.PIFO),
        TreeNode(Discipline.PIFO, buffer_packets=20),
        TreeNode(Discipline.DRR, quantum_bytes=1514),
    ),
    leaf_field="order.leaf",
    rank_fields=("order.below",),
)
TREE = PortSettings(
    OUT_PORT,
    rate_bps=RATE_BPS,
    discipline=Discipline.TREE,
    buffer_packets=50,
    rank_field="order.rank",
    user_field="order.number",
    tree=SHAPE,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip")


class TooSlowError(Exception):
    """Not all frames were in the queue in time."""


@dataclass(frozen=True)
class Sent:
    """Where a discipline puts a frame."""

    leaf: int = 0
    rank: int = 0
    below: int = 0

    def frame(self, number: int, size: int = 60) -> bytes:
        """The frame itself."""
        header = bytes(12) + b"\x88\xb5" + bytes((self.leaf, self.rank, self.below, number))
        return header.ljust(size, b"\0")


@asynccontextmanager
async def running(folder: Path, links: Wires) -> AsyncIterator[EmbeddedTrafficManager]:
    """The traffic manager of a switch that runs `ordered.p4`."""
    switch = start_switch("embedded", folder, links.near)
    try:
        async with connect(switch.address, compile_program(PROGRAM, folder)):
            manager = EmbeddedTrafficManager(switch.address)
            try:
                yield manager
            finally:
                await manager.close()
    finally:
        switch.stop()


async def departures(
    manager: EmbeddedTrafficManager, links: Wires, sent: Sequence[Sent], first_bytes: int, dropped: int
) -> list[int]:
    """The numbers of the frames in the order in which they leave."""
    began = time.monotonic()
    for number, each in enumerate(sent):
        links.sender.send(each.frame(number, 60 if number else first_bytes))
    queued = 0
    while queued < len(sent):
        assert time.monotonic() < began + PATIENCE_S + first_bytes, "the switch did not take all frames"
        queue = (await manager.stats([OUT_PORT]))[OUT_PORT].queues[0]
        queued = queue.enqueued_packets + queue.dropped_packets
    if time.monotonic() > began + SAFE_SHARE * first_bytes * 8 / RATE_BPS:
        raise TooSlowError
    assert queue.dropped_packets == dropped
    return [(await links.departure())[17] for _ in range(len(sent) - dropped)]


async def order(
    folder: Path, settings: PortSettings, sent: Sequence[Sent], first_bytes: int, dropped: int
) -> tuple[list[int], int | None]:
    """The numbers of the frames in the order in which they leave; at the end, the round that is served."""
    with wires() as links:
        async with running(folder, links) as manager:
            await manager.set_ports([settings])
            found = {port.port: port for port in await manager.ports()}[OUT_PORT]
            assert settings == replace(
                found,
                delay_ns=None,
                queues={},
                quantum_bytes=None,
                user_field=settings.user_field,
                rank_field=settings.rank_field,
                calendar=settings.calendar and found.calendar,
                scrr=settings.scrr and found.scrr,
            )
            numbers = await departures(manager, links, sent, first_bytes, dropped)
            stats = (await manager.stats([OUT_PORT]))[OUT_PORT]
            return numbers, stats.round if stats.HasField("round") else None


@pytest.mark.parametrize(
    ("settings", "sent", "expected", "dropped", "served"),
    [
        # The first frame is in round 0; rank 4 is a round too far.
        (CALENDAR, [Sent(rank=rank) for rank in (0, 2, 4, 0, 1)], [0, 3, 4, 1], 1, 2),
        # Leaf 1 goes before leaf 2, and sorts by the rank below; there is no leaf 3.
        (
            TREE,
            [Sent(2), Sent(2, 5), Sent(1, 1, 9), Sent(3), Sent(1, 1, 4)],
            [0, 4, 2, 1],
            1,
            None,
        ),
        # The first frame costs its user less than a byte a byte: it is in round 0. A user may be two rounds ahead.
        (GEARBOX, [Sent(9, 1), Sent(1), Sent(1), Sent(1), Sent(2)], [0, 1, 4, 2], 1, 2),
        # Two packets of user 1 wait, so its next one is dropped. Its turn ends after one packet.
        (SCRR, [Sent(1), Sent(1), Sent(1), Sent(1), Sent(2)], [0, 1, 4, 2], 1, None),
    ],
    ids=["calendar", "tree", "gearbox", "scrr"],
)
def test_frames_leave_in_the_order_of_the_discipline(
    settings: PortSettings, sent: list[Sent], expected: list[int], dropped: int, served: int | None, tmp_path: Path
) -> None:
    for first_bytes in FIRST_BYTES:
        try:
            found = asyncio.run(order(tmp_path, settings, sent, first_bytes, dropped))
        except TooSlowError:
            continue
        assert found == (expected, served)
        return
    pytest.fail(f"this machine takes more than {SAFE_SHARE * 8 * FIRST_BYTES[-1] / RATE_BPS:g} s for a few frames")


async def test_what_can_not_work_is_one_sentence_that_says_what_would(tmp_path: Path) -> None:
    cycle = Tree((TreeNode(Discipline.PIFO), TreeNode(Discipline.PIFO, parent=1)))
    cases = [
        (replace(CALENDAR, rank_field="order.rang"), "rank_field: the program has no field 'order.rang'"),
        (replace(CALENDAR, rank_field=None), "discipline calendar needs rank_field"),
        (replace(CALENDAR, calendar=Calendar(queues=5000)), "the calendar has 5000 queues; use 1 to 4096"),
        (replace(TREE, tree=cycle), "tree: the parent of node 1 is 1; it must come before its children"),
        (replace(TREE, tree=replace(SHAPE, leaf_field="")), "discipline tree needs leaf_field"),
    ]
    with wires() as links:
        async with running(tmp_path, links) as manager:
            for settings, problem in cases:
                with pytest.raises(SessionError, match=problem) as caught:
                    await manager.set_ports([settings])
                assert "\n" not in str(caught.value)
