"""`p4sched watch`: a live page of the queues of running switches."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import tls, writable
from p4sched.errors import UsageError
from p4sched.folders.schemes import find
from p4sched.schemes import SCHEMES


def watch(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SWITCH]", help="A switch of the running lab (s1), or HOST:PORT; default: the newest run."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address of the page; other machines need a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the page; default: 8080, or a free port if that is taken."),
    ] = None,
    run: Annotated[
        int | None, typer.Option(metavar="PID", help="Watch all networks of this run, also those that start later.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Also show the queues in this terminal.")] = False,
    record: Annotated[bool, typer.Option("--record", help="With --run: record what is shown, in live.jsonl.")] = False,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Replay a finished run from its folder, for example results/fdpa_fairness."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --replay: write the page into DIR, for any web server; serve nothing."),
    ] = None,
    scheme: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder of the scheduler that the switch runs, or ran.")
    ] = None,
    pace: Annotated[float, typer.Option(min=0.0, help="Virtual seconds shown in one second.")] = 1.0,
    ssl: tls.Ssl = False,
    cacert: tls.Authority = None,
    cert: tls.Certificate = None,
    private_key: tls.Key = None,
) -> None:
    """Serve a page that shows the queues of running switches live, or replays a finished run."""
    if not host.strip():
        raise UsageError("--host needs an address of this machine, for example 127.0.0.1 or 0.0.0.0")
    if [name, run, replay].count(None) < 2:
        raise UsageError("give only one of SWITCH, --run and --replay")
    if record and run is None:
        raise UsageError("--record has no effect without --run")
    if text and replay is not None:
        raise UsageError("--text has no effect with --replay")
    if export is not None and replay is None:
        raise UsageError("--export has no effect without --replay")
    if export is not None:
        writable.folder("--export", export)
    if scheme is not None:
        find(scheme, SCHEMES)
    encrypted = tls.from_options(ssl, cacert, cert, private_key)
    if encrypted is not None and (name is None or ":" not in name):
        raise UsageError("--ssl, --cacert, --cert and --private-key have no effect without HOST:PORT")
    from p4sched.live import watching  # noqa: PLC0415 - a server, which other commands need not load

    say = partial(print, flush=True)
    at = watching.Address(host, port)
    if replay is not None:
        watching.play(replay, at, export, say)
    else:
        watching.watch(watching.WatchOptions(name, run, pace, record, text, encrypted), at, say)
