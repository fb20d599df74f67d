"""Was an option given on the command line, or is its value the default? And what to say of one that means nothing."""

from collections.abc import Iterable
from pathlib import Path

import typer

from p4sched.errors import UsageError


def given(context: typer.Context, option: str) -> bool:
    """Whether the command line gave this option, as "--rate"."""
    return given_options(context)[option]


def given_options(context: typer.Context) -> dict[str, bool]:
    """Whether the command line gave each option of the command."""
    found: dict[str, bool] = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        stood = source is not None and source.name == "COMMANDLINE"
        found |= dict.fromkeys((*parameter.opts, *parameter.secondary_opts), stood)
    return found


def refuse(context: typer.Context, options: Iterable[str], why: str) -> None:
    """Raises UsageError if one of the options was given: "--rate means nothing WHY"."""
    for option in options:
        if given(context, option):
            raise UsageError(f"{option} means nothing {why}")


def folder(text: object) -> Path:
    """The folder that an option names. No name at all would be the current one, which nobody means."""
    if not str(text).strip():
        raise UsageError("the name of the folder is empty; '.' is the current one")
    return Path(str(text))
