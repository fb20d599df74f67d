"""Sends messages to all viewers, and keeps those that later viewers need."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeAlias

Message: TypeAlias = Mapping[str, Any]
"""Message to a page; `docs/WATCH.md` lists the kinds."""
Command: TypeAlias = Callable[[str], Awaitable[None]]
"""Executes the request of a page, in JSON."""
KEPT_FRAMES = 1200
"""Number of frames kept for later viewers: a minute at 20 a second."""
KEPT_MARKS = 2000
BEHIND = 200
"""Largest number of messages that wait for a slow page. Then the oldest are dropped."""
MARKS = ("decision", "change", "note")


class Hub:
    """Messages since the last scene, and the listeners."""

    def __init__(self) -> None:
        self._scene: str | None = None
        self._state: dict[tuple[object, ...], str] = {}
        self._frames: deque[str] = deque(maxlen=KEPT_FRAMES)
        self._marks: deque[str] = deque(maxlen=KEPT_MARKS)
        self._listeners: set[asyncio.Queue[str]] = set()
        self.command: Command | None = None
        """Handler of the requests of pages; None: there is none."""
        self.taps: list[Callable[[Message, str], None]] = []
        """Functions that get each message and its JSON at once."""

    def say(self, message: Message) -> None:
        """Sends a message to all viewers."""
        text = json.dumps(message, separators=(",", ":"))
        for tap in self.taps:
            tap(message, text)
        kind = message["kind"]
        if kind == "scene":
            if not message.get("same"):
                self._state.clear()
                self._frames.clear()
                self._marks.clear()
            self._scene = text
        elif kind == "frame":
            self._frames.append(text)
        elif kind in MARKS:
            self._marks.append(text)
        else:
            self._state[(kind, message.get("switch"), message.get("port"))] = text
        for queue in self._listeners:
            if queue.qsize() >= BEHIND:
                queue.get_nowait()
            queue.put_nowait(text)

    async def listen(self) -> AsyncIterator[str]:
        """Yields all current messages as a JSON list, then every new message as JSON."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            known = [] if self._scene is None else [self._scene]
            yield f"[{','.join([*known, *self._state.values(), *self._marks, *self._frames])}]"
            while True:
                yield await queue.get()
        finally:
            self._listeners.discard(queue)
