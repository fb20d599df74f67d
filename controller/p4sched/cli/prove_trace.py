"""The end of `p4sched prove` for a wrong program: a short trace, and its STF file."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from p4sched.errors import P4schedError, UsageError
from p4sched.paths import cannot_write

if TYPE_CHECKING:
    from p4sched.proofs.refuting import Refutation, Sides


def trace(sides: "Sides", most: int, seconds: float, stf: Path | None) -> int:
    """Looks for a short trace from the reset state. Returns 1."""
    if most == 0:
        return 1
    typer.echo("from the reset state:")
    return told(sides, sides.shortest(most, seconds), stf)


def told(sides: "Sides", found: "Refutation", stf: Path | None) -> int:
    for line in found.lines:
        typer.echo(f"  {line}")
    if stf is not None and found.script is None:
        reason = "the trace has a pause that is too long for it" if found.is_confirmed else "there is no trace"
        raise P4schedError(f"'{stf}' was not written: {reason}")
    if stf is not None and not found.is_confirmed:
        raise P4schedError(f"'{stf}' was not written: it would pass on this program")
    if stf is not None and found.fails_on_both:
        raise P4schedError(f"'{stf}' was not written: it would fail on {sides.by}, too")
    if stf is not None and found.script is not None:
        try:
            stf.write_text(found.script, encoding="utf-8")
        except OSError as error:
            raise UsageError(cannot_write(stf, error)) from error
        typer.echo(f"  {stf} fails on this program, and passes on one that decides as {sides.by}")
    return 1
