"""`p4sched run --all`: runs every experiment, one after another, then prints all results."""

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
"""Runs a command line of p4sched; returns its exit code and its error message."""
Options = Callable[[str], Sequence[str]]
"""Arguments after an experiment's name, without `--out`."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one experiment."""

    name: str
    seconds: float
    error: str = ""
    """Error message; empty if it did not fail."""
    doubts: Sequence[summaries.Doubt] = ()
    """Reasons to doubt some of the results."""
    exact: bool = False
    """True if it ran in virtual time."""

    @property
    def verdict(self) -> str:
        """One word with markup of rich."""
        if self.error:
            return "[bold red]failed[/]"
        return "[bold red]INVALID[/]" if self.doubts else "exact" if self.exact else "valid"


def run_all(names: Sequence[str], invoke: Invoke, out: Path, options: Options, console: Console) -> int:
    """Runs the experiments with their options into OUT/NAME. A failure does not stop the others; Ctrl-C does.

    Returns the exit code: 1 if one failed. INVALID runs are listed, but are no failures.
    """
    with result_folder(out):
        return _run_all(names, invoke, out, options, console)


def _run_all(names: Sequence[str], invoke: Invoke, out: Path, options: Options, console: Console) -> int:
    outcomes: list[Outcome] = []
    for place, name in enumerate(names, start=1):
        console.print(f"\n[bold]{place}/{len(names)}  {name}[/]")
        arguments = ["run", name, "--out", str(out / name), *options(name)]
        begun = time.monotonic()
        code, error = _invoke_safely(invoke, arguments, console)
        if code == INTERRUPTED:
            if outcomes:
                _print_end([*outcomes, Outcome(name, time.monotonic() - begun, "interrupted")], out, console)
            return INTERRUPTED
        outcomes.append(_outcome(name, time.monotonic() - begun, code, error, out / name))
        if outcomes[-1].error:
            console.print(f"[bold red]{name} failed:[/] {escape(outcomes[-1].error)}")
    _print_end(outcomes, out, console)
    return 1 if any(outcome.error for outcome in outcomes) else 0


def _invoke_safely(invoke: Invoke, arguments: Sequence[str], console: Console) -> tuple[int, str]:
    """Runs one experiment. Shows an unexpected exception in full; the other experiments still run."""
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
        console.print(f"[bold red]INVALID, do not use:[/] {', '.join(invalid)}")
    console.print(f"results: {out}   as one page: p4sched report {out}")
