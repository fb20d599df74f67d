"""Counts the messages of a controller's stream with a switch, so that in virtual time no message is handled late."""

import asyncio
from collections.abc import Iterable

import finsy as fy
from finsy.p4entity import P4UpdateList, encode_updates
from finsy.proto import p4r

from p4sched.clock import wait_for_time
from p4sched.p4rt.tls import Tls

UNHEARD = ("arbitration", "error")
"""Parts of a stream that no controller acts on."""


class ConversingSwitch(fy.Switch):  # type: ignore[misc] # final, but nothing else of finsy shows when a message comes
    """finsy's switch. It counts the messages of its stream (`p4sched.clock.Conversation`)."""

    def __init__(self, address: str, device_id: int, tls: Tls | None) -> None:
        credentials = None if tls is None else tls.credentials
        super().__init__(address, address, fy.SwitchOptions(device_id=device_id, channel_credentials=credentials))
        self.received = 0
        self.sent = 0
        self._more = asyncio.Condition()
        self._ended = False

    async def wait_for_messages(self, messages: int) -> None:
        """Waits until `messages` were received or the stream has ended."""
        async with self._more:
            await self._more.wait_for(lambda: self._ended or self.received >= messages)

    async def write(self, entities: Iterable[P4UpdateList], *, strict: bool = True, warn_only: bool = False) -> None:
        """Same as in finsy."""
        messages = encode_updates(entities, self.p4info)
        self.sent += sum(isinstance(message, p4r.StreamMessageRequest) for message in messages)
        await super().write(messages, strict=strict, warn_only=warn_only)

    async def _handle_stream_message(self, msg: p4r.StreamMessageResponse) -> None:
        if msg.WhichOneof("update") in UNHEARD:
            await super()._handle_stream_message(msg)
            return
        await wait_for_time()
        await super()._handle_stream_message(msg)
        async with self._more:
            self.received += 1
            self._more.notify_all()

    async def _receive_until_closed(self) -> None:
        try:
            await super()._receive_until_closed()  # type: ignore[no-untyped-call]
        finally:
            async with self._more:
                self._ended = True
                self._more.notify_all()
