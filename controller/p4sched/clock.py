"""The time of a run, which is the time of its event loop.

Virtual time stands still while a task waits for an answer from outside, so a task announces such a wait. It also
stands still between a message of a switch and the reaction of the controller, so a listener announces its conversation.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol


class Conversation(Protocol):
    """A controller's stream with a switch, and its message counts."""

    @property
    def device_id(self) -> int:
        """Device id of the switch."""

    @property
    def election_id(self) -> int:
        """Election id of the controller."""

    @property
    def received(self) -> int:
        """Number of packet-ins, digests and idle notices."""

    @property
    def sent(self) -> int:
        """Number of packet-outs and digest acknowledgements."""

    async def wait_for_messages(self, messages: int) -> None:
        """Waits until `messages` were received or the stream has ended."""


class VirtualTime(ABC):
    """Additional methods of an event loop in virtual time."""

    @abstractmethod
    def time_ns(self) -> int:
        """Current time in ns."""

    @abstractmethod
    def stand_still(self) -> AbstractAsyncContextManager[None]:
        """A block in which time stands still. Only one task at a time is in such a block."""

    @abstractmethod
    def converse(self, conversation: Conversation) -> None:
        """Makes time wait, from here on, until all messages of this conversation are read."""

    @abstractmethod
    def fall_silent(self, conversation: Conversation) -> None:
        """Ends the effect of `converse`: time does not wait for this conversation."""

    @abstractmethod
    async def wait_for_time(self) -> None:
        """Waits for the simulation's answer to a pending question for the time, if there is one."""


def _virtual() -> VirtualTime | None:
    try:
        loop: object = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop if isinstance(loop, VirtualTime) else None


def converse(conversation: Conversation) -> None:
    """Registers a conversation with a switch; its messages are read from here on."""
    loop = _virtual()
    if loop is not None:
        loop.converse(conversation)


def fall_silent(conversation: Conversation) -> None:
    """Ends a conversation: its messages are not read any more."""
    loop = _virtual()
    if loop is not None:
        loop.fall_silent(conversation)


async def wait_for_time() -> None:
    """Waits until the time of a message from outside is known, so that it can be handled."""
    loop = _virtual()
    if loop is not None:
        await loop.wait_for_time()


def now_ns() -> int:
    """The time of the run in ns, from an arbitrary start."""
    loop = _virtual()
    return time.monotonic_ns() if loop is None else loop.time_ns()


def time_of_day() -> datetime:
    """Time of day for records. All runs in virtual time begin at the same instant."""
    loop = _virtual()
    return datetime.now(UTC) if loop is None else datetime.fromtimestamp(loop.time_ns() / 1e9, UTC)


@asynccontextmanager
async def await_answer() -> AsyncIterator[None]:
    """A block that waits for an answer from outside while virtual time stands still.

    Only one such block runs at a time in virtual time. So the order of the questions, not the speed of the answers,
    decides the result.
    """
    loop = _virtual()
    if loop is None:
        yield
    else:
        async with loop.stand_still():
            yield
