"""A probe between a user host and the server, during a block."""

from abc import abstractmethod

from p4sched.lab.probe import ProbeRecord
from p4sched.lab.stoppable import Stoppable


class ProbeStream(Stoppable):
    """A constant stream of small UDP packets; an asynchronous context manager that ends it."""

    @abstractmethod
    async def start(self) -> None:
        """Starts the stream. Raises LabError if it does not start."""

    @abstractmethod
    async def finish(self) -> ProbeRecord:
        """Ends the stream, waits for its last packets, and returns the record, with times on the event loop's clock."""

    @abstractmethod
    async def stop(self) -> None:
        """Ends the stream without a record."""
