"""A page, and what reads for it: `p4sched watch` from the command line to the end."""

import asyncio
import json
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from rich.live import Live

from p4sched.errors import P4schedError
from p4sched.lab.announcement import announcements
from p4sched.lab.processes import identify
from p4sched.lab.running import find_switch
from p4sched.live import source
from p4sched.live.hub import Hub
from p4sched.live.page import Page
from p4sched.live.recorded import recorded
from p4sched.live.site import write_site
from p4sched.live.text import TextView
from p4sched.p4rt.tls import Tls

TEXTS_PER_S = 4
FAREWELL_S = 0.1
"""For the last message to reach the pages."""
REPLAY = {"mode": "replay"}
Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Address:
    """Where the page listens."""

    host: str
    port: int | None
    """None: the usual one, or any if that is taken."""


@dataclass(frozen=True)
class Look:
    """What the command line asks for."""

    name: str | None
    """A switch; None: the newest run."""
    run: int | None
    """A run's process."""
    pace: float
    record: bool
    text: bool
    """In the terminal too."""
    tls: Tls | None = None
    """With the switch."""


def look(asked: Look, at: Address, say: Say) -> None:
    """Serves the page until the run has ended or Ctrl-C."""
    hub = Hub()
    reading = _reading(hub, asked)
    with suppress(KeyboardInterrupt):
        if asked.text:
            view = TextView()
            hub.taps.append(lambda _, message: view.take(json.loads(message)))
            with Live(view, refresh_per_second=TEXTS_PER_S):
                asyncio.run(_served(Page(hub, at.host, at.port), reading, say))
        else:
            asyncio.run(_served(Page(hub, at.host, at.port), reading, say))


def play(folder: Path, at: Address, export: Path | None, say: Say) -> None:
    """Serves a page that plays a finished run until Ctrl-C, or writes it into a folder."""
    runs = json.dumps({"runs": [found.record() for found in recorded(folder)]}, separators=(",", ":"))
    if export is not None:
        say(str(write_site(export, runs)))
        return
    page = Page(Hub(), at.host, at.port, REPLAY, runs)
    with suppress(KeyboardInterrupt):
        asyncio.run(_served(page, _for_ever(), say))


async def _for_ever() -> None:
    await asyncio.Event().wait()


def _reading(hub: Hub, asked: Look) -> Coroutine[Any, Any, None]:
    """What reads, for a switch or a run."""
    name = asked.name
    manner = source.Manner(source.Pace(asked.pace), record=asked.record)
    if asked.run is not None:
        process = identify(asked.run)
        if process is None:
            raise P4schedError(f"--run {asked.run}: there is no such process")
        return source.run(hub, process, manner)
    running = [each for each in announcements() if name is None or name in each.switches]
    if running:
        return source.run(hub, running[-1].run, manner)
    if name is None:
        raise P4schedError("no run of yours has a network now; start one, or name a switch: HOST:PORT")
    return source.switch(hub, source.Shown(name, {name: replace(find_switch(name), tls=asked.tls)}, source.WallClock()))


async def _served(page: Page, reading: Coroutine[Any, Any, None], say: Say) -> None:
    """Serves the page while it is read. SIGTERM is an orderly end too: pages are told that the run has ended.

    After Ctrl-C they are told nothing: what they show goes on, and another server may come.
    """
    listening = page.listen()
    task = asyncio.current_task()
    assert task is not None
    ended = asyncio.Event()

    def end() -> None:
        ended.set()
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    serving = asyncio.create_task(page.serve(listening))
    say(page.address)
    try:
        with suppress(asyncio.CancelledError):
            await reading
            ended.set()
    finally:
        if ended.is_set():
            page.hub.say({"kind": "end"})
            await asyncio.sleep(FAREWELL_S)
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
