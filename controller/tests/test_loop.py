"""The control loop on real switches. Direct counters are written over P4Runtime in place of arriving packets."""

import asyncio
import json
from pathlib import Path

import finsy as fy
import pytest
from lab import PATIENCE_S
from switches import RunningSwitch, found_parameters

from p4sched.control.bands import Bands
from p4sched.control.fdpa_loop import FdpaLoop, Update
from p4sched.control.laws import fdpa as law
from p4sched.control.loop import run_loops
from p4sched.control.replay import replay
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.users import prefix_user
from p4sched.schemes import LAWS

CONFIG = law.Config(500_000_000, Bands(1, 4, 0.5), 60_000, 10_000_000)
INTERVAL_BYTES = 3_750_000
PREFIXES = {user: f"10.0.0.{user}/32" for user in range(1, 9)}


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += 100_000_000
        return self.now_ns


async def send(session: Session, sent: dict[int, int], *users: int) -> None:
    """As if each of these users had sent another 100,000 bytes."""
    updates = []
    for user in users:
        sent[user] = sent.get(user, 0) + 100_000
        entry = fy.P4TableEntry("users_by_prefix", match=fy.P4TableMatch({"hdr.ipv4.src_addr": PREFIXES[user]}))
        updates.append(
            ~fy.P4DirectCounterEntry("user_prefix_counter", table_entry=entry,
                                     data=fy.P4CounterData(byte_count=sent[user], packet_count=sent[user] // 1000))
        )  # fmt: skip
    await session.finsy.write(updates)


async def test_the_edges_follow_4_8_and_4_users(switch: RunningSwitch, any_fdpa: Program, tmp_path: Path) -> None:
    log = tmp_path / "decisions.jsonl"
    sent: dict[int, int] = {}
    async with connect(switch.address, any_fdpa) as session:
        await session.insert([prefix_user(user, prefix) for user, prefix in PREFIXES.items()])
        loop = FdpaLoop(session, CONFIG, log=log, clock=Clock())
        await loop.step()
        writes = []
        for users, rounds in ((4, 10), (8, 10), (4, 10)):
            for _ in range(rounds):
                await send(session, sent, *range(1, users + 1))
                writes.append((await loop.step()).written)
            in_force = await found_parameters(session, law.Parameters)
            assert in_force is not None
            assert in_force.edges[0] == INTERVAL_BYTES // users
    # one MODIFY a change: 4 users appear, 8 appear at once, and 4 are forgotten 7 rounds after they stopped
    assert [round_ for round_, written in enumerate(writes) if written] == [0, 10, 26]
    assert all(entry.agrees for entry in replay(log, LAWS))
    assert sum(json.loads(line).get("changed", False) for line in log.read_text().splitlines()) == 4


async def test_a_second_loop_goes_on_where_the_first_was_killed(
    switch: RunningSwitch, any_fdpa: Program, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.jsonl"
    sent: dict[int, int] = {}
    clock = Clock()
    async with connect(switch.address, any_fdpa) as session:
        await session.insert([prefix_user(user, prefix) for user, prefix in PREFIXES.items()])
        loop = FdpaLoop(session, CONFIG, log=log, clock=clock)
        await loop.step()
        await send(session, sent, *PREFIXES)
        await loop.step()
    async with connect(switch.address, any_fdpa) as session:
        loop = FdpaLoop(session, CONFIG, log=log, clock=clock)
        for _ in range(5):
            await send(session, sent, 1, 2, 3, 4)
            assert not (await loop.step()).written
        in_force = await found_parameters(session, law.Parameters)
        assert in_force is not None
        assert in_force.edges[0] == INTERVAL_BYTES // 8
    assert all(entry.agrees for entry in replay(log, LAWS))


async def test_the_running_loop_reports_its_decisions(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session:
        await session.insert([prefix_user(1, PREFIXES[1]), prefix_user(2, PREFIXES[2])])
        updates: asyncio.Queue[Update] = asyncio.Queue()
        async with run_loops(FdpaLoop(session, CONFIG, poll_s=0.02, on_update=updates.put_nowait)):
            first = await asyncio.wait_for(updates.get(), PATIENCE_S)
            assert first.written
            await send(session, {}, 1, 2)
            while (await asyncio.wait_for(updates.get(), PATIENCE_S)).decision.active != (1, 2):
                pass


async def test_a_switch_that_goes_away_ends_the_block_with_one_error(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session:
        with pytest.raises(SessionError, match="does not answer"):  # noqa: PT012 - the block is what fails
            async with run_loops(FdpaLoop(session, CONFIG, poll_s=0.02)):
                await asyncio.to_thread(switch.stop)
                await asyncio.sleep(PATIENCE_S)
