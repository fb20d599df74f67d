"""The form of all traffic: it runs during a block, and ends with it."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Stoppable(ABC):
    """An asynchronous context manager that stops at the end of its block."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @abstractmethod
    async def stop(self) -> None:
        """Ends everything that was started."""
