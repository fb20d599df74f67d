"""Who may read the live page."""

import asyncio
import http.client
import re
from collections.abc import Iterator, Mapping
from threading import Thread

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import CloseCode
from websockets.sync.client import connect

from p4sched.errors import P4schedError
from p4sched.live.hub import Hub
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
            return str(connection.recv(timeout=10))

    def status(self, path: str, headers: Mapping[str, str] = {}) -> int:
        """What it answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self._page.port, timeout=10)
        connection.request("GET", path, headers=dict(headers))
        status = connection.getresponse().status
        connection.close()
        return status


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A page that listens on the address of the parameter."""
    found = Served(Page(Hub(), getattr(request, "param", "127.0.0.1"), 0))
    yield found
    found.end()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Host": "elsewhere.example"}, 403),
    ],
)
def test_a_page_of_somebody_else_reaches_nothing(headers: Mapping[str, str], status: int, served: Served) -> None:
    assert [served.status(path, headers) for path in ("/", "/config.json", "/main.js", "/uplot.js")] == [status] * 4
    if "Origin" in headers:
        with pytest.raises(InvalidStatus, match="403"):
            served.first_message(headers)


def test_no_other_file_is_served(served: Served) -> None:
    assert [served.status(path) for path in ("/page.py", "/..%2Fpage.py", "/replay.json")] == [404] * 3


@pytest.mark.parametrize("served", ["0.0.0.0"], indirect=True)
def test_beyond_this_machine_a_token_is_needed(served: Served) -> None:
    token = served._page.token
    assert re.fullmatch(r"http://0\.0\.0\.0:\d+/\?token=\S{20,}", served._page.address)
    assert [served.status(path) for path in ("/", "/?token=x", "/main.js")] == [403] * 3
    assert served.status(f"/?token={token}") == 200
    told = {"Cookie": f"{served._page.cookie}={token}"}
    assert served.status("/main.js", told) == 200
    with pytest.raises(InvalidStatus, match="403"):
        served.first_message({})
    assert served.first_message(told) == "[]"


def test_a_port_that_is_taken_is_told() -> None:
    first = Page(Hub(), port=0)
    with first.listen(), pytest.raises(P4schedError, match="'--port 0' takes any port that is free"):
        Page(Hub(), port=first.port).listen()


def test_who_comes_late_is_told_the_scene_the_state_and_the_newest_frames() -> None:
    hub = Hub()
    hub.say({"kind": "scene", "title": "old"})
    hub.say({"kind": "frame", "t": 1})
    hub.say({"kind": "scene", "title": "new"})
    hub.say({"kind": "parameters", "switch": "s1", "port": None, "values": {"k": 1}})
    hub.say({"kind": "parameters", "switch": "s1", "port": None, "values": {"k": 2}})
    hub.say({"kind": "frame", "t": 2})

    async def first() -> str:
        async for text in hub.listen():
            return text
        raise AssertionError

    assert asyncio.run(first()) == (
        '[{"kind":"scene","title":"new"},'
        '{"kind":"parameters","switch":"s1","port":null,"values":{"k":2}},'
        '{"kind":"frame","t":2}]'
    )


def test_who_watches_is_told_that_the_page_ends(capfd: pytest.CaptureFixture[str]) -> None:
    page = Page(Hub(), "127.0.0.1", 0)
    served = Served(page)
    with connect(f"ws://127.0.0.1:{page.port}/messages", proxy=None) as connection:
        connection.recv(timeout=10)
        served.end()
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == CloseCode.SERVICE_RESTART
    assert capfd.readouterr().err == ""
