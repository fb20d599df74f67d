"""`p4sched watch`: serves a page and reads the switches for it."""

import asyncio
import json
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from rich.live import Live

from p4sched.errors import P4schedError, StoppedError
from p4sched.json_records import malformed
from p4sched.lab.announcement import announcements
from p4sched.lab.processes import identify
from p4sched.lab.switch_lookup import find_switch
from p4sched.live import source
from p4sched.live.budget import Budget
from p4sched.live.hub import Hub
from p4sched.live.page import NotListeningError, Page
from p4sched.live.run_replay import read_replays
from p4sched.live.site import write_site
from p4sched.live.text import TextView
from p4sched.p4rt.tls import Tls

TEXTS_PER_S = 4
FAREWELL_S = 0.1
"""Time for the last message to reach the pages."""
REPLAY = {"mode": "replay"}
Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Address:
    """Address of the page."""

    host: str
    port: int | None
    """Port; None: the default port, or a free port if it is taken."""


@dataclass(frozen=True)
class WatchOptions:
    """Request of the command line."""

    name: str | None
    """A switch; None: the newest run."""
    run: int | None
    """Process id of a run."""
    pace: float
    record: bool
    text: bool
    """True: also show text in the terminal."""
    tls: Tls | None = None
    """TLS settings for the switch."""


def watch(options: WatchOptions, at: Address, say: Say) -> None:
    """Serves the page until the run has ended. Raises StoppedError after Ctrl-C or SIGTERM."""
    hub = Hub()
    reading = _reading(hub, options, say)
    with _stoppable():
        if options.text:
            view = TextView()
            hub.taps.append(lambda _, message: view.take(json.loads(message)))
            with Live(view, refresh_per_second=TEXTS_PER_S):
                _serve(Page(hub, at.host, at.port), reading, say)
        else:
            _serve(Page(hub, at.host, at.port), reading, say)


def play(folder: Path, at: Address, export: Path | None, say: Say) -> None:
    """Serves a page that replays a finished run, or writes it into a folder. Raises StoppedError after a signal."""
    replays = [replay.record() for replay in read_replays(folder)]
    with malformed(f"{folder}: its logs have numbers that no page can show"):
        runs = json.dumps({"runs": replays}, separators=(",", ":"), allow_nan=False)
    if export is not None:
        say(str(write_site(export, runs)))
        return
    page = Page(Hub(), at.host, at.port, REPLAY, runs)
    with _stoppable():
        _serve(page, _for_ever(), say)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Runs until Ctrl-C or SIGTERM."""
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError from None


def _serve(page: Page, reading: Coroutine[Any, Any, None], say: Say) -> None:
    of_interrupt = signal.getsignal(signal.SIGINT)
    try:
        is_complete = asyncio.run(_served(page, reading, say))
    finally:
        signal.signal(signal.SIGINT, of_interrupt)
    if not is_complete:
        raise StoppedError


async def _for_ever() -> None:
    await asyncio.Event().wait()


def _reading(hub: Hub, options: WatchOptions, say: Say) -> Coroutine[Any, Any, None]:
    """Reader of a switch or a run."""
    name = options.name
    source_options = source.SourceOptions(source.Pace(options.pace), record=options.record)
    if options.run is not None:
        process = identify(options.run)
        if process is None:
            raise P4schedError(f"--run {options.run}: there is no such process")
        return source.run(hub, process, source_options)
    running = [network for network in announcements() if name is None or name in network.switches]
    if running:
        return source.run(hub, running[-1].run, source_options)
    if name is None:
        raise P4schedError("you have no running lab; start one, or name a switch: HOST:PORT")
    switches = {name: replace(find_switch(name), tls=options.tls)}
    return source.switch(hub, source.Source(name, switches, source.WallClock(Budget(source.EVERY_S))), say)


async def _served(page: Page, reading: Coroutine[Any, Any, None], say: Say) -> bool:
    """Serves the page while `reading` runs. After SIGTERM, pages get the message that the run has ended.

    After Ctrl-C they get no message: they keep their view, and a new server may follow. Returns False after both.
    """
    try:
        listening = page.listen()
    except NotListeningError:
        reading.close()
        raise
    task = asyncio.current_task()
    assert task is not None
    ended = asyncio.Event()

    def end() -> None:
        if not ended.is_set():
            ended.set()
            task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    serving = asyncio.create_task(page.serve(listening))
    for address in page.addresses:
        say(address)
    try:
        await reading
        ended.set()
        is_complete = True
    except asyncio.CancelledError:
        is_complete = False
        # the end takes a moment; a second Ctrl-C would break it off within asyncio
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        if ended.is_set():
            page.hub.say({"kind": "end"})
            await asyncio.sleep(FAREWELL_S)
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    return is_complete
