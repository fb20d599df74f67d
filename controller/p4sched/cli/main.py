"""The command line. `p4sched --help` shows it."""

import logging
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from p4sched.cli.invoke import invoke
from p4sched.errors import unknown_name

ERRORS = Console(stderr=True, highlight=False, soft_wrap=True)

PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
PASS_ON_BUT_HELP = {**PASS_ON, "help_option_names": ["-h", "--help"]}

COMMANDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "run": ("run", "app", {}),
    "list": ("run", "list_experiments", {}),
    "lab": ("lab", "app", {}),
    "compile": ("compile", "compile_", {}),
    "stages": ("compile", "stages", {}),
    "switch": ("programs", "switch", PASS_ON),
    "as-bmv2": ("programs", "as_bmv2", {**PASS_ON_BUT_HELP, "allow_interspersed_args": False}),
    "shell": ("programs", "shell", PASS_ON_BUT_HELP),
    "calibrate": ("calibrate", "calibrate", {}),
    "clean": ("clean", "clean", {}),
    "control": ("control", "control", {}),
    "replay": ("replay", "replay", {}),
    "watch": ("watch", "watch", {}),
    "report": ("report", "report", {}),
    "sweep": ("sweep", "sweep", {}),
    "attack": ("attack", "attack", {}),
    "stf": ("stf", "stf", {}),
    "trace": ("trace", "trace", {}),
    "certificates": ("tls", "certificates", {}),
}
"""Of each command its module in `p4sched.cli`, the function or app there, and typer's settings."""


class Commands(TyperGroup):
    """Loads the module of the command that is asked for, and only that: all of them take a second.

    Names the likeliest command when there is none of the name given.
    """

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """What is behind a name; None if nothing is."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, settings = COMMANDS[cmd_name]
        found = getattr(import_module(f"p4sched.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_group(found)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(name=cmd_name, context_settings=settings)(found)
        return typer.main.get_command(alone)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Finds the command that the first argument names."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise unknown_name("command", args[0], list(COMMANDS))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="p4sched",
    help="A laboratory for packet scheduling on programmable switches.",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _all() -> None:
    """Makes a group of the app: typer asks for a command or this, and the commands are not loaded yet."""


def main() -> None:
    """Every foreseen error is one line on standard error, and an exit code that is not zero."""
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code."""
    exit_code, message = invoke(typer.main.get_command(app), arguments)
    # no arguments at all: the help has been shown
    if message:
        ERRORS.print(f"[bold red]p4sched:[/] {escape(message)}")
    return exit_code
