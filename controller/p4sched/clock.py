"""The time of a run: that of its event loop.

In virtual time, no time passes while an answer from outside is awaited, so a task announces such a wait. No time passes
between a message of a switch and the reaction of its controller, so a listener announces its conversation.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol


class Conversation(Protocol):
    """A controller's stream with a switch, and what went over it so far."""

    @property
    def device_id(self) -> int:
        """Device id of the switch."""

    @property
    def election_id(self) -> int:
        """Election id of the controller."""

    @property
    def received(self) -> int:
        """Packet-ins, digests and idle notices."""

    @property
    def sent(self) -> int:
        """Packet-outs and acknowledgements of digests."""

    async def heard(self, messages: int) -> None:
        """Waits until so many were received, or the stream has ended."""


class VirtualTime(ABC):
    """Additional methods of an event loop in virtual time."""

    @abstractmethod
    def time_ns(self) -> int:
        """Current time in ns."""

    @abstractmethod
    def standing(self) -> AbstractAsyncContextManager[None]:
        """A block in which time stands still and no other task runs in such a block."""

    @abstractmethod
    def converse(self, conversation: Conversation) -> None:
        """From now on, time waits until all messages of this conversation have been read."""

    @abstractmethod
    def fall_silent(self, conversation: Conversation) -> None:
        """Time no longer waits for this conversation."""

    @abstractmethod
    async def told(self) -> None:
        """Waits until the simulation has said what time it is, if it has been asked."""


def _virtual() -> VirtualTime | None:
    try:
        loop: object = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop if isinstance(loop, VirtualTime) else None


def converse(conversation: Conversation) -> None:
    """Registers a conversation with a switch, which somebody reads from now on."""
    loop = _virtual()
    if loop is not None:
        loop.converse(conversation)


def fall_silent(conversation: Conversation) -> None:
    """Ends a conversation: nobody reads it any more."""
    loop = _virtual()
    if loop is not None:
        loop.fall_silent(conversation)


async def time_told() -> None:
    """A message has come from outside: it is handled when it is known what time it is."""
    loop = _virtual()
    if loop is not None:
        await loop.told()


def now_ns() -> int:
    """The time of the run in ns, from an arbitrary start."""
    loop = _virtual()
    return time.monotonic_ns() if loop is None else loop.time_ns()


def time_of_day() -> datetime:
    """Time for records. Every run in virtual time begins at the same instant, so that its records are the same."""
    loop = _virtual()
    return datetime.now(UTC) if loop is None else datetime.fromtimestamp(loop.time_ns() / 1e9, UTC)


@asynccontextmanager
async def answer_awaited() -> AsyncIterator[None]:
    """An answer from outside is awaited: virtual time stands. There one answer is awaited at a time, so that the order
    of the questions, and not the haste of who answers, decides what comes out."""
    loop = _virtual()
    if loop is None:
        yield
    else:
        async with loop.standing():
            yield
