"""An asyncio event loop in virtual time.

Its clock is that of the simulation it takes part in. When nothing is left to do at this instant and no answer from
outside is awaited, the loop tells the simulation until when it has nothing to do, and goes on when it is told that
virtual time is there. Without a simulation it goes from one timer to the next.

What a program does in this loop does not depend on how fast anybody is: time stands while it computes and while it
awaits an answer (`p4sched.clock.answer_awaited`), and one answer is awaited at a time. What a switch says to a
controller in this loop (`p4sched.clock.converse`) is heard at the instant at which it was said.
"""

import asyncio
import selectors
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeAlias

from p4sched.clock import Conversation, VirtualTime

NEVER_NS = 2**64 - 1
Said: TypeAlias = Sequence[tuple[Conversation, int]]
"""Number of messages from a switch in each conversation."""


class Simulation(Protocol):
    """Source of virtual time."""

    async def wait(self, until_ns: int, conversations: Sequence[Conversation]) -> tuple[int, Said]:
        """Waits until virtual time is there, or a switch has something to say; returns the time, and what was said.
        Never fails: a failed simulation reports to its creator, and is left."""


class _Selector(selectors.DefaultSelector):
    """Selector that asks the simulation before it waits."""

    def __init__(self) -> None:
        super().__init__()
        self.before_waiting: Callable[[float | None], float | None] = lambda timeout: timeout

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(self.before_waiting(timeout))


class VirtualLoop(asyncio.SelectorEventLoop, VirtualTime):
    """See the head of this file."""

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        selector.before_waiting = self._before_waiting
        self._now_ns = 0
        self._origin_ns = 0
        self._simulation: Simulation | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._holder: asyncio.Task[Any] | None = None
        self._depth = 0
        self._queue: deque[tuple[asyncio.Future[None], asyncio.Task[Any]]] = deque()
        self._conversations: list[Conversation] = []
        self._time_asked: asyncio.Future[None] | None = None

    def time(self) -> float:
        return self._now_ns / 1e9

    def time_ns(self) -> int:
        return self._now_ns

    def join(self, simulation: Simulation, now_ns: int = 0) -> int:
        """Takes time from the simulation, whose clock is at `now_ns`. Returns its time 0 on this loop's clock, which
        never goes back."""
        assert self._simulation is None, "one simulation at a time"
        self._simulation = simulation
        self._origin_ns = max(0, self._now_ns - now_ns)
        self._now_ns = self._origin_ns + now_ns
        return self._origin_ns

    def leave(self) -> None:
        """The simulation has no say any more."""
        self._simulation = None
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._time_is_told()

    def converse(self, conversation: Conversation) -> None:
        self._conversations.append(conversation)

    def fall_silent(self, conversation: Conversation) -> None:
        if conversation in self._conversations:
            self._conversations.remove(conversation)

    async def told(self) -> None:
        if self._time_asked is not None:
            await asyncio.shield(self._time_asked)

    def _time_is_told(self) -> None:
        if self._time_asked is not None:
            self._time_asked.set_result(None)
            self._time_asked = None

    @asynccontextmanager
    async def standing(self) -> AsyncIterator[None]:
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
        """Waits until no other task is within `standing`; tasks come in in the order in which they asked."""
        if self._holder is None:
            self._holder = task
            return
        asked = (self.create_future(), task)
        self._queue.append(asked)
        try:
            await asked[0]
        except asyncio.CancelledError:
            if self._holder is task:
                self._next_turn()
            elif asked in self._queue:
                self._queue.remove(asked)
            raise

    def _next_turn(self) -> None:
        self._holder = None
        while self._queue and self._holder is None:
            turn, task = self._queue.popleft()
            if not turn.cancelled():
                self._holder = task
                turn.set_result(None)

    def _before_waiting(self, timeout: float | None) -> float | None:
        """`timeout` is the time to the next timer, 0 if there is something to do, None without a timer."""
        if timeout is not None and timeout <= 0:
            return 0
        if self._holder is not None or self._waiting is not None:
            return None
        if self._simulation is not None:
            self._time_asked = self.create_future()
            self._waiting = self.create_task(self._wait(self._simulation, timeout))
            return 0
        if timeout is not None:
            self._now_ns += round(timeout * 1e9)
            return 0
        return None

    async def _wait(self, simulation: Simulation, timeout: float | None) -> None:
        since_ns = self._now_ns - self._origin_ns
        until_ns = NEVER_NS if timeout is None else since_ns + round(timeout * 1e9)
        now_ns, said = await simulation.wait(until_ns, self._conversations)
        if self._simulation is simulation:
            self._now_ns = max(self._now_ns, self._origin_ns + now_ns)
            self._time_is_told()
            for conversation, messages in said:
                await conversation.heard(messages)
            self._waiting = None
