"""Snapshots of a switch: its queues, and cells of counters and registers, in one small message each.

In real time the switch sends them by itself, because a request for each would cost twice the CPU time. In virtual time
each snapshot is requested, while time stands still.
"""

import asyncio
from contextlib import suppress

from p4sched.p4rt.reader import SwitchGoneError, clear_errors
from p4sched.p4rt.tls import Tls, channel
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.proto.traffic_manager_pb2_grpc import TrafficManagerStub

TIMEOUT_S = 2.0


class Snapshots:
    """The snapshots of one switch."""

    def __init__(self, address: str, every_s: float, tls: Tls | None = None) -> None:
        """`every_s`: real time between snapshots; 0: each snapshot is requested."""
        self._address = address
        self._every_ns = round(every_s * 1e9)
        self._channel = channel(address, tls)
        # the generated stub is typed for synchronous channels as well
        self._stub = TrafficManagerStub(self._channel)
        self._request = pb.WatchRequest()
        self._receiving: asyncio.Task[None] | None = None
        self._arrived = asyncio.Event()
        self._newest: pb.Snapshot | None = None

    async def close(self) -> None:
        """Closes the connection."""
        await self._stop()
        await self._channel.close()

    async def set_interval(self, every_s: float) -> None:
        """Sets the time between snapshots, if the switch sends them by itself."""
        every_ns = round(every_s * 1e9)
        if every_ns != self._every_ns:
            self._every_ns = every_ns
            await self.ask_for(self._request)

    async def ask_for(self, request: pb.WatchRequest) -> None:
        """Selects the ports and cells of later snapshots."""
        await self._stop()
        self._request = pb.WatchRequest()
        self._request.CopyFrom(request)
        self._request.interval_ns = self._every_ns
        if self._every_ns:
            self._receiving = asyncio.create_task(self._receive())

    async def newest(self) -> pb.Snapshot:
        """The last received snapshot. Raises SessionError."""
        if self._receiving is None or self._newest is None:
            return await self.next()
        return self._newest

    async def next(self) -> pb.Snapshot:
        """A new snapshot. Raises SessionError."""
        if self._receiving is None:
            return await self._fetch()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._arrived.wait()
        except TimeoutError:
            raise self._gone() from None
        if self._receiving.done():
            await self._receiving
        self._arrived.clear()
        assert self._newest is not None
        return self._newest

    async def _receive(self) -> None:
        try:
            with clear_errors(self._address, "watch it"):
                async for found in self._stub.Watch(self._request):
                    self._newest = found
                    self._arrived.set()
            raise self._gone()
        finally:
            self._arrived.set()

    async def _fetch(self) -> pb.Snapshot:
        with clear_errors(self._address, "read a snapshot"):
            async for found in self._stub.Watch(self._request, timeout=TIMEOUT_S):
                return found
        raise self._gone()

    async def _stop(self) -> None:
        if self._receiving is not None:
            self._receiving.cancel()
            with suppress(asyncio.CancelledError, SwitchGoneError):
                await self._receiving
        self._receiving = self._newest = None
        self._arrived.clear()

    def _gone(self) -> SwitchGoneError:
        return SwitchGoneError(f"switch {self._address}: does not answer; is it running?")
