"""Who may read the live page."""

import asyncio
import gc
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from lab import P4SCHED, PATIENCE_S
from pages import Served
from switches import RunningSwitch
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import CloseCode
from websockets.sync.client import connect as open_socket

from mininet_topos.nodes import free_port
from p4sched.cli.main import run_command
from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError
from p4sched.live import source
from p4sched.live.budget import Budget
from p4sched.live.hub import Hub
from p4sched.live.page import Page
from p4sched.p4rt.program import Program
from p4sched.p4rt.session import connect
from p4sched.paths import ROOT


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
    assert [served.status(path) for path in ("/", "/?token=x", "/?token=%C3%A9", "/main.js")] == [403] * 4
    assert served.status("/main.js", {"Cookie": f"{served._page.cookie}=\xe9"}) == 403
    assert served.status(f"/?token={token}") == 200
    told = {"Cookie": f"{served._page.cookie}={token}"}
    assert served.status("/main.js", told) == 200
    with pytest.raises(InvalidStatus, match="403"):
        served.first_message({})
    assert served.first_message(told) == "[]"


@pytest.mark.parametrize(("served", "loopback"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")], indirect=["served"])
def test_each_address_that_is_printed_can_be_opened(served: Served, loopback: str) -> None:
    port, token = served._page.port, served._page.token
    addresses = served._page.addresses
    # of this machine last; a machine without a network has no other one
    assert addresses[-1] == f"http://{loopback}:{port}/?token={token}"
    browser = build_opener(ProxyHandler({}))
    for address in addresses:
        with browser.open(address, timeout=PATIENCE_S) as answer:
            assert answer.status == 200


def test_no_answer_may_stand_in_a_frame_of_somebody_else(served: Served) -> None:
    for path in ("/", "/main.js", "/config.json", "/none"):
        assert "frame-ancestors 'none'" in served.headers(path)["Content-Security-Policy"]
    forbidden = served.headers("/", {"Host": "elsewhere.example"})
    assert "frame-ancestors 'none'" in forbidden["Content-Security-Policy"]


@contextmanager
def watching(errors: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A page. Nobody answers at the address of the switch: the page waits for it."""
    words = ["watch", f"127.0.0.1:{free_port()}", "--port", "0"]
    with (
        errors.open("w") as file,
        subprocess.Popen([P4SCHED, *words], stdout=subprocess.PIPE, stderr=file, cwd=ROOT) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://")
        yield process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_page_as_any_other_command(number: signal.Signals, tmp_path: Path) -> None:
    with watching(tmp_path / "errors") as process:
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 130
    assert (tmp_path / "errors").read_text() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_page_no_less_orderly(number: signal.Signals, tmp_path: Path) -> None:
    with watching(tmp_path / "errors") as process:
        while process.poll() is None:
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
    assert "Traceback" not in (tmp_path / "errors").read_text()


async def test_a_page_without_its_switch_says_what_it_waits_for_and_how_to_start_one(
    embedded_switch: RunningSwitch, fdpa: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "HINT_S", 0.0)
    embedded_switch.stop()
    address = embedded_switch.address
    said: asyncio.Queue[str] = asyncio.Queue()
    shown = source.Source(address, {address: SwitchAddress(address)}, source.WallClock(Budget(source.EVERY_S)))
    reading = asyncio.create_task(source.switch(Hub(), shown, said.put_nowait))
    assert (await said.get()).startswith(f"waiting for the switch: switch {address}: does not answer")
    assert f"--grpc-server-addr {address}' starts one" in await said.get()
    embedded_switch.start()
    embedded_switch.wait_until_it_answers()
    async with connect(address, fdpa):
        assert await said.get() == "the switch is there"
    reading.cancel()


def test_a_port_that_is_taken_is_reported() -> None:
    first = Page(Hub(), port=0)
    with first.listen(), pytest.raises(P4schedError, match="'--port 0' takes any port that is free"):
        Page(Hub(), port=first.port).listen()


@pytest.mark.parametrize("host", ["192.0.2.1", "nohost.invalid", "é", "x" * 70 + ".org", "::2"])
def test_an_address_of_another_machine_is_one_line(host: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["watch", f"127.0.0.1:{free_port()}", "--host", host]) == 1
    gc.collect()
    (line,) = capfd.readouterr().err.splitlines()
    assert f"cannot listen on {host}: " in line
    assert line.endswith("'--host' takes an address of this machine, for example 127.0.0.1 or 0.0.0.0")


@pytest.mark.parametrize("host", ["", " "])
def test_no_address_is_refused(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["watch", "--host", host]) == 2
    assert "--host needs an address of this machine" in capsys.readouterr().err


def test_a_late_viewer_gets_the_scene_the_state_and_the_newest_frames() -> None:
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


def test_viewers_learn_that_the_page_ends(capfd: pytest.CaptureFixture[str]) -> None:
    page = Page(Hub(), "127.0.0.1", 0)
    served = Served(page)
    with open_socket(f"ws://127.0.0.1:{page.port}/messages", proxy=None) as connection:
        connection.recv(timeout=PATIENCE_S)
        served.end()
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=PATIENCE_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == CloseCode.SERVICE_RESTART
    assert capfd.readouterr().err == ""
