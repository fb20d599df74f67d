"""`p4sched report DIR`: one HTML page of the results of runs."""

from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import writable
from p4sched.errors import UsageError
from p4sched.lab import experiment
from p4sched.results.report import PAGE, page, read_runs
from p4sched.results.whole_file import write_whole


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of one run, or of several runs.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help=f"File to write; default: DIR/{PAGE}.")
    ] = None,
) -> None:
    """Make one HTML page with the figures and tables of all runs in a folder."""
    found = read_runs(folder)
    path = out or folder / PAGE
    writable.file("--out", path)
    try:
        write_whole(path, page(found, path.parent, _shows))
    except OSError as error:
        raise UsageError(f"{path}: cannot write the page: {error.strerror}") from error
    typer.echo(str(path))


def _shows(name: str) -> str:
    """Summary of an experiment; empty if this version does not have it."""
    return experiment.load(name).summary if name in experiment.names() else ""
