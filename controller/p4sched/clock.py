"""The time of a run: that of its event loop. In an event loop in virtual time no time passes while an answer from
outside is awaited, so whoever asks says so."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime


class VirtualTime(ABC):
    """What an event loop in virtual time adds to others."""

    @abstractmethod
    def time_ns(self) -> int:
        """Now, in ns."""

    @abstractmethod
    def standing(self) -> AbstractAsyncContextManager[None]:
        """Within it no time passes, and no other task is within it."""


def _virtual() -> VirtualTime | None:
    try:
        loop: object = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop if isinstance(loop, VirtualTime) else None


def now_ns() -> int:
    """The time of the run in ns, from an arbitrary start."""
    loop = _virtual()
    return time.monotonic_ns() if loop is None else loop.time_ns()


def time_of_day() -> datetime:
    """For records. Every run in virtual time begins at the same instant, so that its records are the same too."""
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
