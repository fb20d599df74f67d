"""`p4sched new-scheduler` and `p4sched check`: a scheduler in a folder of its own."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from p4sched.checks import folder as checking
from p4sched.checks import isolated
from p4sched.errors import P4schedError
from p4sched.folders.new import new
from p4sched.folders.schemes import absolute, forget, of_folder

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
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the scheduler.")] = Path(),
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the packets and parameters.")] = 1,
    tcp: Annotated[
        bool | None, typer.Option("--tcp/--no-tcp", help="With a minute of TCP; default: yes, not with --watch.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Check again each time a file of the folder changes.")] = False,
) -> None:
    """Check the folder of a scheduler: compile it, compare program and model packet by packet, place it in the chip."""
    console = Console(highlight=False)
    if not watch:
        if not _checked(console, folder, seed, tcp=tcp is not False):
            raise FailedError
        return
    while True:
        before = _state(folder)
        try:
            _checked(console, folder, seed, tcp=tcp is True)
        except P4schedError as error:
            console.print(f"[bold red]✗[/] {escape(str(error))}")
        console.print("[dim]waiting for a change; Ctrl-C ends[/]")
        while _state(folder) == before:
            time.sleep(EVERY_S)
        forget(absolute(folder))


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


def _checked(console: Console, folder: Path, seed: int, *, tcp: bool) -> bool:
    scheme = of_folder(absolute(folder))
    passed = True
    for step in isolated.steps(scheme, seed, tcp=tcp):
        passed &= step.passed
        sign = "[bold red]✗[/]" if not step.passed else "[yellow]![/]" if step.warns else "[green]✓[/]"
        console.print(f"{sign} {escape(step.title)}")
        for line in step.lines:
            console.print(f"  {escape(line)}", soft_wrap=True)
    if lacks := checking.missing(scheme.description):
        console.print(f"[dim]missing: {', '.join(lacks)}[/]")
    return passed
