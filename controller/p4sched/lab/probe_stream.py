"""A probe between a user host and the server, during a block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from p4sched.lab.probe import ProbeRecord


class ProbeStream(ABC):
    """A constant stream of small UDP packets; an asynchronous context manager that ends it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @abstractmethod
    async def start(self) -> None:
        """Starts the stream. Raises LabError if it does not start."""

    @abstractmethod
    async def finish(self) -> ProbeRecord:
        """Ends the stream, waits for its last packets, and returns the record, with times on the event loop's clock."""

    @abstractmethod
    async def stop(self) -> None:
        """Ends the stream without a record."""
