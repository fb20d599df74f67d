"""`p4sched report DIR`: one HTML page of what runs left behind."""

from pathlib import Path
from typing import Annotated

import typer

from p4sched.errors import UsageError
from p4sched.lab import experiment
from p4sched.results.report import PAGE, page, read_runs
from p4sched.results.whole_file import write_whole


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Results of a run, or a folder of several.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help=f"The page; default: DIR/{PAGE}.")
    ] = None,
) -> None:
    """Make one HTML page of the figures and tables of one run, or of all runs in a folder."""
    found = read_runs(folder)
    path = out or folder / PAGE
    try:
        write_whole(path, page(found, path.parent, _shows))
    except OSError as error:
        raise UsageError(f"{path}: cannot write the page: {error.strerror}") from error
    typer.echo(str(path))


def _shows(name: str) -> str:
    """The experiment's own line on what it shows; nothing for one that this version does not have."""
    return experiment.load(name).summary if name in experiment.names() else ""
