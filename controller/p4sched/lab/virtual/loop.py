"""An asyncio event loop in virtual time.

The loop has the clock of its simulation. When there is nothing left to do at this instant, and no task waits for an
answer from outside, the loop sends the time of its next timer to the simulation. It continues when the simulation
reaches this time. Without a simulation the loop goes from one timer to the next.

The result of a program in this loop does not depend on the speed of the machine: time stands still while the program
computes and while it waits for an answer (`p4sched.clock.await_answer`), and only one task at a time waits for an
answer. A controller in this loop receives a message of a switch (`p4sched.clock.converse`) at the instant at which it
was sent.
"""

import asyncio
import selectors
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeAlias

from p4sched.clock import Conversation, VirtualTime

NEVER_NS = 2**64 - 1
MessageCounts: TypeAlias = Sequence[tuple[Conversation, int]]
"""Number of messages from a switch in each conversation."""


class Simulation(Protocol):
    """Source of virtual time."""

    async def wait(self, until_ns: int, conversations: Sequence[Conversation]) -> tuple[int, MessageCounts]:
        """Waits until virtual time is `until_ns`, or a switch sends a message; returns the time, and the number of
        messages. Raises no error: the client of a failed simulation reports the error and leaves it."""


class _Selector(selectors.DefaultSelector):
    """Selector that asks the simulation before it waits."""

    def __init__(self) -> None:
        super().__init__()
        self.before_waiting: Callable[[float | None], float | None] = lambda timeout: timeout

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(self.before_waiting(timeout))


class VirtualLoop(asyncio.SelectorEventLoop, VirtualTime):
    """An asyncio event loop in virtual time."""

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        selector.before_waiting = self._before_waiting
        self._now_ns = 0
        self._origin_ns = 0
        self._simulation: Simulation | None = None
        self._time_request: asyncio.Task[None] | None = None
        self._holder: asyncio.Task[Any] | None = None
        self._depth = 0
        self._queue: deque[tuple[asyncio.Future[None], asyncio.Task[Any]]] = deque()
        self._conversations: list[Conversation] = []
        self._pending_time: asyncio.Future[None] | None = None

    def time(self) -> float:
        return self._now_ns / 1e9

    def time_ns(self) -> int:
        return self._now_ns

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Waits until the threads have ended. The timeout since Python 3.12 would end at once in virtual time."""
        await super().shutdown_default_executor()

    def join(self, simulation: Simulation, now_ns: int = 0) -> int:
        """Takes the time from the simulation, whose clock is at `now_ns`. Returns the simulation's time 0 on the clock
        of this loop, which never goes back."""
        assert self._simulation is None, "one simulation at a time"
        self._simulation = simulation
        self._origin_ns = max(0, self._now_ns - now_ns)
        self._now_ns = self._origin_ns + now_ns
        return self._origin_ns

    def leave(self) -> None:
        """Stops taking the time from the simulation."""
        self._simulation = None
        if self._time_request is not None:
            self._time_request.cancel()
            self._time_request = None
        self._resolve_time()

    def converse(self, conversation: Conversation) -> None:
        self._conversations.append(conversation)

    def fall_silent(self, conversation: Conversation) -> None:
        if conversation in self._conversations:
            self._conversations.remove(conversation)

    async def wait_for_time(self) -> None:
        if self._pending_time is not None:
            await asyncio.shield(self._pending_time)

    def _resolve_time(self) -> None:
        if self._pending_time is not None:
            self._pending_time.set_result(None)
            self._pending_time = None

    @asynccontextmanager
    async def stand_still(self) -> AsyncIterator[None]:
        task = asyncio.current_task()
        assert task is not None
        if self._holder is not task:
            await self._turn(task)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._next_turn()

    async def _turn(self, task: asyncio.Task[Any]) -> None:
        """Waits until no other task is within `stand_still`. Tasks enter in the order of their requests."""
        if self._holder is None:
            self._holder = task
            return
        request = (self.create_future(), task)
        self._queue.append(request)
        try:
            await request[0]
        except asyncio.CancelledError:
            if self._holder is task:
                self._next_turn()
            elif request in self._queue:
                self._queue.remove(request)
            raise

    def _next_turn(self) -> None:
        self._holder = None
        while self._queue and self._holder is None:
            turn, task = self._queue.popleft()
            if not turn.cancelled():
                self._holder = task
                turn.set_result(None)

    def _before_waiting(self, timeout: float | None) -> float | None:
        """`timeout` is the time to the next timer; 0: there is something to do; None: there is no timer."""
        if timeout is not None and timeout <= 0:
            return 0
        if self._holder is not None or self._time_request is not None:
            return None
        if self._simulation is not None:
            self._pending_time = self.create_future()
            self._time_request = self.create_task(self._wait(self._simulation, timeout))
            return 0
        if timeout is not None:
            self._now_ns += round(timeout * 1e9)
            return 0
        return None

    async def _wait(self, simulation: Simulation, timeout: float | None) -> None:
        since_ns = self._now_ns - self._origin_ns
        until_ns = NEVER_NS if timeout is None else since_ns + round(timeout * 1e9)
        now_ns, message_counts = await simulation.wait(until_ns, self._conversations)
        if self._simulation is simulation:
            self._now_ns = max(self._now_ns, self._origin_ns + now_ns)
            self._resolve_time()
            for conversation, messages in message_counts:
                await conversation.wait_for_messages(messages)
            self._time_request = None
