"""`p4sched replay LOG`: repeats every decision of a controller from its logged inputs."""

from pathlib import Path
from typing import Annotated

import typer

from p4sched.control.replay import replay as decisions_again
from p4sched.errors import P4schedError
from p4sched.folders.schemes import find
from p4sched.schemes import LAWS, SCHEMES


def replay(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="Decision log of a controller (JSON lines).")],
    scheme: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder of the scheduler, if its law is in one.")
    ] = None,
) -> None:
    """Repeat all decisions of a log and compare. Shows the first difference, with exit code 1."""
    if scheme is not None:
        find(scheme, SCHEMES)
    count = 0
    for count, entry in enumerate(decisions_again(log, LAWS), 1):  # noqa: B007 - the last value is the number of them
        if not entry.agrees:
            raise P4schedError(f"{log}:{entry.line}: {entry.difference}")
    if count == 0:
        raise P4schedError(f"{log}: holds no decision")
    typer.echo(f"{count} decision{'' if count == 1 else 's'}, all as logged")
