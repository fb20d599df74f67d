"""`p4sched run --all`: every experiment in turn, and at the end what became of each."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from p4sched.errors import INTERRUPTED, P4schedError
from p4sched.lab.run import result_folder
from p4sched.results import summaries
from p4sched.results.tables import print_table

Invoke = Callable[[Sequence[str]], tuple[int, str]]
"""Runs a command line of p4sched; gives its exit code, and the message of its error."""
Options = Callable[[str], Sequence[str]]
"""What stands behind an experiment's name, besides `--out`."""


@dataclass(frozen=True)
class Outcome:
    """What became of one experiment."""

    name: str
    seconds: float
    error: str = ""
    """Why it failed; empty when it did not."""
    doubts: Sequence[summaries.Doubt] = ()
    """Why parts of it are not to be believed."""
    exact: bool = False
    """Whether it was in virtual time."""

    @property
    def verdict(self) -> str:
        """In a word, with rich's markup."""
        if self.error:
            return "[bold red]failed[/]"
        return "[bold red]INVALID[/]" if self.doubts else "exact" if self.exact else "valid"


def run_all(names: Sequence[str], invoke: Invoke, out: Path, options: Options, console: Console) -> int:
    """Runs the experiments, with these options of each, into OUT/NAME. A failure does not stop the others; Ctrl-C does.

    Returns the exit code: 1 if one failed. INVALID runs are listed, and are no failure: they say so themselves.
    """
    with result_folder(out):
        return _run_all(names, invoke, out, options, console)


def _run_all(names: Sequence[str], invoke: Invoke, out: Path, options: Options, console: Console) -> int:
    outcomes: list[Outcome] = []
    for place, name in enumerate(names, start=1):
        console.print(f"\n[bold]{place}/{len(names)}  {name}[/]")
        arguments = ["run", name, "--out", str(out / name), *options(name)]
        begun = time.monotonic()
        code, error = _guarded(invoke, arguments, console)
        if code == INTERRUPTED:
            if outcomes:
                _print_end([*outcomes, Outcome(name, time.monotonic() - begun, "interrupted")], out, console)
            return INTERRUPTED
        outcomes.append(_outcome(name, time.monotonic() - begun, code, error, out / name))
        if outcomes[-1].error:
            console.print(f"[bold red]{name} failed:[/] {escape(outcomes[-1].error)}")
    _print_end(outcomes, out, console)
    return 1 if any(outcome.error for outcome in outcomes) else 0


def _guarded(invoke: Invoke, arguments: Sequence[str], console: Console) -> tuple[int, str]:
    """A fault of one experiment's code must not stop the others; it is shown in full, since it is to be mended."""
    try:
        return invoke(arguments)
    except Exception as error:
        console.print_exception()
        return 1, f"{type(error).__name__}: {error}"


def _outcome(name: str, seconds: float, code: int, error: str, folder: Path) -> Outcome:
    if code != 0:
        return Outcome(name, seconds, error or f"exit code {code}")
    try:
        content = summaries.read(folder).content
        exact = summaries.verdict(content) == summaries.EXACT
        return Outcome(name, seconds, doubts=summaries.doubts(content), exact=exact)
    except P4schedError as unread:
        return Outcome(name, seconds, str(unread))


def _print_end(outcomes: Sequence[Outcome], out: Path, console: Console) -> None:
    table = Table("experiment", "seconds", "run", "why", title="All experiments", title_justify="left")
    table.columns[1].justify = "right"
    for outcome in outcomes:
        why = outcome.error or "\n".join(map(str, outcome.doubts))
        table.add_row(outcome.name, f"{outcome.seconds:.0f}", outcome.verdict, escape(why))
    console.print()
    print_table(console, table)
    failed = [outcome.name for outcome in outcomes if outcome.error]
    invalid = [outcome.name for outcome in outcomes if outcome.doubts]
    if failed:
        console.print(f"[bold red]failed:[/] {', '.join(failed)}")
    if invalid:
        console.print(f"[bold red]INVALID, not to be believed:[/] {', '.join(invalid)}")
    console.print(f"results: {out}   all on one page: p4sched report {out}")
