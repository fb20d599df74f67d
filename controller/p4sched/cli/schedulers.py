"""`p4sched new-scheduler` and `p4sched check`: a scheduler in a folder of its own."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from p4sched.checks import folder as checking
from p4sched.checks import isolated
from p4sched.errors import P4schedError, UsageError
from p4sched.folders import settings
from p4sched.folders.new import new
from p4sched.folders.schemes import absolute, find, forget, is_path, of_folder
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES

EVERY_S = 0.3
"""Time between two looks at the files, with --watch."""


class FailedError(P4schedError):
    """A check found a fault; it is printed already."""


def new_scheduler(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to make; its name is the scheduler's.")],
) -> None:
    """Write the folder of a new scheduler: a FIFO that runs and passes its check, with TODOs for your rule."""
    for file in new(folder):
        typer.echo(str(file))
    typer.echo(f"next: p4sched check {folder}")


def check(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER|NAME", help="Folder of the scheduler, or the name of a known one.")
    ] = ".",
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the packets and parameters.")] = 1,
    tcp: Annotated[
        bool | None,
        typer.Option("--tcp/--no-tcp", help="Also compare over a minute of TCP; default: yes, but not with --watch."),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Check again each time a file of the folder changes.")] = False,
) -> None:
    """Check the folder of a scheduler: compile it, compare program and model packet by packet, place it in the chip.

    A scheme of the laboratory has its model in Rust: only its programs are compiled and placed.
    """
    console = Console(highlight=False)
    if not watch:
        if not _checked(console, _scheme(folder), seed, tcp=tcp is not False):
            raise FailedError
        return
    if not os.path.isdir(folder):
        raise UsageError(f"--watch: '{folder}' is not a folder")
    place = absolute(folder)
    while True:
        before = _state(place)
        try:
            _checked(console, of_folder(place), seed, tcp=tcp is True)
        except P4schedError as error:
            console.print(f"[bold red]✗[/] {escape(str(error))}")
        console.print("[dim]waiting for a change; Ctrl-C ends[/]")
        while _state(place) == before:
            time.sleep(EVERY_S)
        forget(place)


def _scheme(word: str) -> Scheme:
    """The scheme in a folder, or with a name; either may have settings behind it."""
    if os.path.isdir(word) or (is_path(word) and not settings.split(word)[1]):
        return of_folder(absolute(word))
    return SCHEMES[find(word, SCHEMES, "folder or scheme")]


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Time of change and size of each file: an editor may empty and write a file within one tick of the clock."""
    found = {}
    for path in folder.rglob("*"):
        try:
            if path.is_file() and "__pycache__" not in path.parts:
                status = path.stat()
                found[str(path)] = status.st_mtime_ns, status.st_size
        except OSError:
            continue
    return found


def _checked(console: Console, scheme: Scheme, seed: int, *, tcp: bool) -> bool:
    passed = True
    for step in isolated.steps(scheme, seed, tcp=tcp and not scheme.in_laboratory):
        passed &= step.passed
        sign = "[bold red]✗[/]" if not step.passed else "[yellow]![/]" if step.warns else "[green]✓[/]"
        console.print(f"{sign} {escape(step.title)}")
        for line in step.lines:
            console.print(f"  {escape(line)}", soft_wrap=True)
    if scheme.in_laboratory:
        console.print(f"[dim]{escape(scheme.title)} is of the laboratory: the tests check its model and its law[/]")
    elif lacks := checking.missing(scheme.description):
        console.print(f"[dim]missing: {', '.join(lacks)}[/]")
    return passed
