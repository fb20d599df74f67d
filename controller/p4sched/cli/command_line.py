"""Finds out which options the command line has, and refuses options that have no meaning."""

from collections.abc import Iterable
from pathlib import Path

import typer

from p4sched.errors import UsageError


def is_explicit(context: typer.Context, option: str) -> bool:
    """True if the command line has this option, such as "--rate"."""
    return explicit_options(context)[option]


def explicit_options(context: typer.Context) -> dict[str, bool]:
    """Maps each option of the command to True if the command line has it."""
    explicit: dict[str, bool] = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        on_command_line = source is not None and source.name == "COMMANDLINE"
        explicit |= dict.fromkeys((*parameter.opts, *parameter.secondary_opts), on_command_line)
    return explicit


def refuse(context: typer.Context, options: Iterable[str], why: str) -> None:
    """Raises UsageError if the command line has one of the options: "--rate has no effect WHY"."""
    for option in options:
        if is_explicit(context, option):
            raise UsageError(f"{option} has no effect {why}")


def folder(text: object) -> Path:
    """The folder that an option names. Refuses an empty name, which would be the current folder."""
    if not str(text).strip():
        raise UsageError("the name of the folder is empty; '.' is the current folder")
    return Path(str(text))
