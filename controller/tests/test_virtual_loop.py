"""The event loop in virtual time: who waits for whom, without any simulation but one that the test plays."""

import asyncio
import threading
import time
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from p4sched import clock
from p4sched.clock import Conversation
from p4sched.lab.virtual.loop import NEVER_NS, MessageCounts, VirtualLoop

T = TypeVar("T")
S = 10**9


def in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Runs it."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


class Played:
    """A simulation that is asked to wait, and notes until when."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def wait(self, until_ns: int, conversations: Sequence[Conversation]) -> tuple[int, MessageCounts]:
        # an answer that takes a while, as one over a socket
        await asyncio.to_thread(time.sleep, 0.001)
        self.asked.append(until_ns)
        return until_ns, []


def test_an_hour_of_sleep_takes_no_time_and_is_an_hour() -> None:
    async def sleep() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    begun = time.monotonic()
    assert in_virtual_time(sleep()) == 3600
    assert time.monotonic() - begun < 3600


def test_sleepers_wake_in_the_order_of_their_times() -> None:
    async def all_of_them() -> list[tuple[str, int]]:
        woken: list[tuple[str, int]] = []

        async def sleeper(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            woken.append((name, clock.now_ns()))

        await asyncio.gather(sleeper("late", 0.3), sleeper("early", 0.1), sleeper("between", 0.2))
        return woken

    assert in_virtual_time(all_of_them()) == [
        ("early", 100_000_000),
        ("between", 200_000_000),
        ("late", 300_000_000),
    ]


def test_no_time_passes_while_an_answer_is_awaited() -> None:
    async def ask() -> int:
        ticking = asyncio.create_task(asyncio.sleep(0.5))
        async with clock.await_answer():
            await asyncio.to_thread(time.sleep, 0.02)
        assert not ticking.done()
        now = clock.now_ns()
        await ticking
        return now

    assert in_virtual_time(ask()) == 0


def test_answers_are_awaited_one_at_a_time_in_the_order_of_the_questions() -> None:
    async def ask_all() -> list[str]:
        said: list[str] = []

        async def ask(name: str, seconds: float) -> None:
            async with clock.await_answer(), clock.await_answer():
                said.append(f"{name} asks")
                await asyncio.to_thread(time.sleep, seconds)
                said.append(f"{name} knows")

        await asyncio.gather(ask("slow", 0.03), ask("fast", 0.0), ask("third", 0.0))
        return said

    names = ("slow", "fast", "third")
    assert in_virtual_time(ask_all()) == [f"{name} {what}" for name in names for what in ("asks", "knows")]


def test_who_is_cancelled_in_the_queue_leaves_the_others_their_turn() -> None:
    async def ask_all() -> list[str]:
        said: list[str] = []

        async def ask(name: str) -> None:
            async with clock.await_answer():
                await asyncio.to_thread(time.sleep, 0.01)
                said.append(name)

        tasks = [asyncio.create_task(ask(name)) for name in ("first", "second", "third")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return said

    assert in_virtual_time(ask_all()) == ["first", "third"]


def test_the_simulation_is_told_until_when_there_is_nothing_to_do_and_its_clock_decides() -> None:
    async def two_simulations() -> tuple[list[int], list[int], int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        first, second = Played(), Played()
        assert loop.join(first) == 0
        await asyncio.sleep(0.25)
        await asyncio.sleep(0.5)
        loop.leave()
        await asyncio.sleep(1)
        assert loop.join(second) == 1_750_000_000
        await asyncio.sleep(2)
        loop.leave()
        return first.asked, second.asked, clock.now_ns()

    first, second, end = in_virtual_time(two_simulations())
    assert first == [250_000_000, 750_000_000]
    # the second one begins with 0
    assert second == [2 * S]
    assert end == 3_750_000_000


def test_whoever_has_no_timer_waits_for_the_end_of_the_run() -> None:
    async def wait_for_it() -> int:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        seen: asyncio.Future[int] = loop.create_future()

        class Noting(Played):
            async def wait(self, until_ns: int, conversations: Sequence[Conversation]) -> tuple[int, MessageCounts]:
                seen.set_result(until_ns)
                return await super().wait(until_ns, conversations)

        loop.join(Noting())
        until_ns = await seen
        loop.leave()
        return until_ns

    assert in_virtual_time(wait_for_it()) == NEVER_NS


def test_records_of_two_runs_have_the_same_time_of_day() -> None:
    async def later() -> str:
        await asyncio.sleep(1.5)
        return clock.time_of_day().isoformat(timespec="milliseconds")

    assert in_virtual_time(later()) == in_virtual_time(later()) == "1970-01-01T00:00:01.500+00:00"


def test_a_run_that_is_interrupted_ends_while_time_stands() -> None:
    async def stuck() -> None:
        async with clock.await_answer():
            await asyncio.get_running_loop().create_future()

    async def main() -> None:
        task = asyncio.create_task(stuck())
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    with pytest.raises(asyncio.CancelledError):
        in_virtual_time(main())


def test_without_virtual_time_the_clock_is_the_machines() -> None:
    async def ask() -> int:
        async with clock.await_answer():
            return clock.now_ns()

    before = time.monotonic_ns()
    assert before <= asyncio.run(ask()) <= time.monotonic_ns()
    assert clock.time_of_day().year >= 2024


@pytest.mark.filterwarnings("error")
def test_the_end_waits_for_threads_whatever_the_virtual_time() -> None:
    async def main() -> "asyncio.Future[bool]":
        return asyncio.get_running_loop().run_in_executor(None, threading.Event().wait, 0.02)

    assert in_virtual_time(main()).done()
