"""The manual page p4sched(1), made from the commands: `python manual.py` prints it."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import typer

from p4sched.cli.main import app
from p4sched.versions import version_line


def page(date: str) -> str:
    """The page in the language of man(7)."""
    root = typer.main.get_command(app)
    lines = [
        f'.TH P4SCHED 1 "{date}" "{_text(version_line())}" "User Commands"',
        ".SH NAME",
        "p4sched \\- a laboratory for packet scheduling on programmable switches",
        ".SH SYNOPSIS",
        ".B p4sched",
        ".I COMMAND",
        "[\\fIARGUMENT\\fR]...",
        ".SH DESCRIPTION",
        _text(root.help or ""),
        "Each command has \\fB\\-\\-help\\fR.",
        ".SH OPTIONS",
        *_options(root),
        ".SH COMMANDS",
        *_commands(root, ()),
        ".SH EXIT STATUS",
        _text((root.epilog or "").removeprefix("Exit codes: ").capitalize()),
        ".SH ENVIRONMENT",
        ".TP",
        ".B P4SCHED_CACHE",
        "Folder of compiled programs, in place of ~/.cache/p4sched.",
        ".TP",
        ".B P4SCHED_P4\\fR, \\fBP4SCHED_TOFINO",
        "Folders of programs, in place of those that are installed.",
        ".SH SEE ALSO",
        "\\fBp4sched doctor\\fR shows what this machine can do, and where the programs, schedulers and labs are.",
    ]
    return "\n".join(lines) + "\n"


def _commands(group: Any, above: tuple[str, ...]) -> Iterator[str]:
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        words = (*above, name)
        if getattr(command, "list_commands", None) and len(words) < 2:
            yield from _commands(command, words)
            continue
        arguments = command.collect_usage_pieces(typer.Context(command))
        yield f".SS {_text(' '.join(('p4sched', *words, *arguments)))}"
        for number, paragraph in enumerate((command.help or "").split("\n\n")):
            yield from (".PP", _text(paragraph)) if number else (_text(paragraph),)
        yield from _options(command)


def _options(command: Any) -> Iterator[str]:
    context = typer.Context(command)
    for option in command.get_params(context):
        if option.param_type_name == "option" and (record := option.get_help_record(context)):
            name, meaning = record
            yield from (".TP", f".B {_text(name)}", _text(meaning))


def _text(text: str) -> str:
    """Text without what roff would read as a request or an escape."""
    line = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line


if __name__ == "__main__":
    sys.stdout.write(page(datetime.now(UTC).date().isoformat()))
