"""A live page for tests: its server in a thread."""

import asyncio
import http.client
from collections.abc import Mapping
from contextlib import closing
from threading import Thread

from lab import PATIENCE_S
from websockets.sync.client import connect

from p4sched.live.page import Page


class Served:
    """A page, served in a thread of its own."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._loop = asyncio.new_event_loop()
        listening = page.listen()
        self._serving = self._loop.create_task(page.serve(listening))
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serving)
        except asyncio.CancelledError:
            self._loop.close()

    def end(self) -> None:
        """Ends it."""
        self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join()

    def first_message(self, headers: Mapping[str, str]) -> str:
        """What comes first over the WebSocket."""
        url = f"ws://127.0.0.1:{self._page.port}/messages"
        with connect(url, additional_headers=dict(headers), proxy=None) as connection:
            return str(connection.recv(timeout=PATIENCE_S))

    def status(self, path: str, headers: Mapping[str, str] = {}) -> int:
        """What it answers."""
        return self._answer(path, headers).status

    def headers(self, path: str, headers: Mapping[str, str] = {}) -> http.client.HTTPMessage:
        """The headers of the answer."""
        return self._answer(path, headers).headers

    def _answer(self, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        with closing(http.client.HTTPConnection("127.0.0.1", self._page.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", path, headers=dict(headers))
            return connection.getresponse()
