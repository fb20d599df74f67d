"""`p4sched watch`: the queues of a running switch, live."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, Any

import typer

from p4sched.errors import P4schedError
from p4sched.lab.announcement import announcements
from p4sched.lab.running import find_switch
from p4sched.live import source
from p4sched.live.hub import Hub
from p4sched.live.page import Page


def watch(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SWITCH]", help="A switch of the running lab (s1), or HOST:PORT; none: the newest run."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where the page listens; beyond this machine it asks for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0: any that is free.")] = 8080,
    pace: Annotated[float, typer.Option(min=0.0, help="In virtual time: seconds of it a second of yours.")] = 1.0,
) -> None:
    """Serve a page that shows the queues of running switches live."""
    hub = Hub()
    page = Page(hub, host, port)
    with suppress(KeyboardInterrupt):
        asyncio.run(_served(page, _reading(hub, name, source.Pace(pace))))


def _reading(hub: Hub, name: str | None, pace: source.Pace) -> Coroutine[Any, Any, None]:
    """What reads, for a switch or a run."""
    running = [each for each in announcements() if name is None or name in each.switches]
    if running:
        return source.run(hub, running[-1].run, pace)
    if name is None:
        raise P4schedError("no run of yours has a network now; start one, or name a switch: HOST:PORT")
    return source.switch(hub, source.Shown(name, {name: find_switch(name)}, source.WallClock()))


async def _served(page: Page, reading: Coroutine[Any, Any, None]) -> None:
    """Serves the page while it is read."""
    ready = asyncio.Event()
    serving = asyncio.create_task(page.serve(ready))
    await asyncio.wait([serving, asyncio.create_task(ready.wait())], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        reading.close()
        await serving
    typer.echo(page.address)
    try:
        await reading
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
