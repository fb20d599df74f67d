"""`p4sched watch`: the queues of running switches, live."""

from functools import partial
from typing import Annotated

import typer

from p4sched.errors import UsageError


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
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the page; default: 8080, or any if that is taken.")
    ] = None,
    run: Annotated[
        int | None, typer.Option(metavar="PID", help="The networks of this run, also those that are still to come.")
    ] = None,
    pace: Annotated[float, typer.Option(min=0.0, help="In virtual time: seconds of it in a second of yours.")] = 1.0,
) -> None:
    """Serve a page that shows the queues of running switches live."""
    from p4sched.live.watching import Look, look  # noqa: PLC0415 - a server, which other commands need not load

    if name is not None and run is not None:
        raise UsageError("a run or a switch: leave out --run, or SWITCH")
    look(Look(name, run, host, port, pace), partial(print, flush=True))
