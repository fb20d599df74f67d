"""The command line. `p4sched --help` shows it."""

import logging
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from p4sched.cli.invoke import invoke
from p4sched.errors import unknown_name
from p4sched.interrupts import interruptible
from p4sched.printable import printable_lines

ERRORS = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
PASS_ON_BUT_HELP = {**PASS_ON, "help_option_names": ["-h", "--help"]}

COMMANDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "run": ("run", "app", {}),
    "list": ("run", "list_experiments", {}),
    "lab": ("lab", "app", {}),
    "playground": ("playground", "playground", {}),
    "compile": ("compile", "compile_", {}),
    "stages": ("compile", "stages", {}),
    "switch": ("programs", "switch", PASS_ON),
    "as-bmv2": ("programs", "as_bmv2", {**PASS_ON_BUT_HELP, "allow_interspersed_args": False}),
    "lsp": ("programs", "lsp", PASS_ON),
    "port-rate": ("port_rate", "port_rate", {}),
    "topology": ("topology", "topology", {}),
    "shell": ("programs", "shell", PASS_ON_BUT_HELP),
    "doctor": ("doctor", "doctor", {}),
    "calibrate": ("calibrate", "calibrate", {}),
    "clean": ("clean", "clean", {}),
    "control": ("control", "control", {}),
    "replay": ("replay", "replay", {}),
    "watch": ("watch", "watch", {}),
    "report": ("report", "report", {}),
    "new-scheduler": ("schedulers", "new_scheduler", {}),
    "check": ("schedulers", "check", {}),
    "prove": ("prove", "prove", {}),
    "sweep": ("sweep", "sweep", {}),
    "attack": ("attack", "attack", {}),
    "compare": ("compare", "compare", {}),
    "reproduce": ("reproduce", "reproduce", {}),
    "stf": ("stf", "stf", {}),
    "trace": ("trace", "trace", {}),
    "certificates": ("tls", "certificates", {}),
}
"""For each command: its module in `p4sched.cli`, the function or app there, and typer's settings."""
OTHER_PROGRAMS = {name for name, (module, _, _) in COMMANDS.items() if module == "programs"}


@cache
def _loaded(name: str) -> Any:
    """A command."""
    module, attribute, settings = COMMANDS[name]
    found = getattr(import_module(f"p4sched.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name=name, context_settings=settings)(found)
    return typer.main.get_command(alone)


class Commands(TyperGroup):
    """Loads only the module of the given command, because loading all takes a second.

    For an unknown command, suggests the closest name.
    """

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """The command with this name, or None."""
        return _loaded(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Finds the command that the first argument names."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise unknown_name("command", args[0], list(COMMANDS))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="p4sched",
    help="A laboratory for packet scheduling on programmable switches.",
    epilog="Exit codes: 0 success; 1 failure, or a check found a fault; 2 wrong usage, such as an unknown option or a"
    " missing file; 130 Ctrl-C or SIGTERM.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from p4sched.versions import version_line  # noqa: PLC0415 - only for this option

        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show version and commit.")
    ] = False,
) -> None:
    """Makes the app a group: typer needs a command or a callback, and no command is loaded yet."""


def main() -> None:
    """Entry point. An expected error becomes one line on standard error and an exit code other than 0."""
    if isinstance(sys.stdout, TextIOWrapper):
        # a name that the terminal cannot show must not end the command
        sys.stdout.reconfigure(errors="backslashreplace")
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    # without a home matplotlib keeps its cache in /tmp, and warns
    logging.getLogger("matplotlib").addFilter(lambda record: record.levelno > logging.WARNING)
    # a program that replaces this one inherits its signal handling: leave it unchanged
    with nullcontext() if sys.argv[1:2] and sys.argv[1] in OTHER_PROGRAMS else interruptible():
        exit_code = run_command(sys.argv[1:])
    sys.exit(exit_code)


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code."""
    exit_code, message = invoke(typer.main.get_command(app), arguments)
    # no arguments at all: the help has been shown
    if message:
        # a message may contain text from files, which may control a terminal
        ERRORS.print(f"[bold red]p4sched:[/] {escape(printable_lines(message))}")
    return exit_code
