"""`p4sched trace PROGRAM CAPTURE`: shows how captured packets pass through a program, without a network."""

import cmd
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from thriftpy2.thrift import TException

from p4sched.bmv2 import runtime_json
from p4sched.bmv2.base import complaint
from p4sched.bmv2.cli import Commands
from p4sched.bmv2.connection import connect
from p4sched.bmv2.program import InputError
from p4sched.bmv2.program import Program as Names
from p4sched.errors import P4schedError, UsageError
from p4sched.p4rt.compile import compile_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.target import Target
from p4sched.paths import rust_binary

MOST_PACKETS = 10**12
"""Limit above the size of any capture."""


class EntryCommands(Commands):
    """Commands of `simple_switch_CLI` from a file. Stops at the first wrong line."""

    def onecmd(self, line: str) -> bool:
        """Runs one line; raises an error if it is wrong."""
        return cmd.Cmd.onecmd(self, line)

    def default(self, line: str) -> None:
        """Refuses an unknown command."""
        raise InputError(f"no command '{line.split(maxsplit=1)[0]}'")

    def do_shell(self, line: str) -> None:
        """Refuses to run programs."""
        raise InputError(f"'{line}' is a shell command, which is not supported here")

    def do_help(self, arg: str) -> None:
        """Refuses `help`: the output is discarded."""
        raise InputError(f"'help {arg}".rstrip() + "' needs a terminal: use simple_switch_CLI")


def trace(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM", help="P4 program, or BMv2 JSON.")],
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE", help="pcap or pcapng file.")],
    entries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Commands of simple_switch_CLI, one per line, or JSON as in the exercises of p4lang/tutorials.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=510, metavar="N", help="Port on which the packets arrive.")] = 1,
    packet: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_PACKETS, metavar="N", help="Show only packet N; the packets before it still pass."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
    arch: Annotated[Target, typer.Option(help="Architecture of a P4 program.")] = Target.V1MODEL,
) -> int:
    """Show how captured packets pass through a program. Needs no network and no root.

    Shows parser states, tables, keys, actions, changed fields, queues, and each packet that leaves, with its port.
    Packets pass one at a time, in stepped time.
    """
    for path in (program, capture, entries):
        if path is not None and path.is_dir():
            raise UsageError(f"'{path}' is a folder, not a file")
        if path is not None and not path.exists():
            raise UsageError(f"no file '{path}'")
    options = ["--port", str(port), *(["--packet", str(packet)] if packet else []), *(["--json"] if json else [])]
    if program.suffix == ".json":
        built = Program.in_folder(program.parent, program.stem)
        return _run(program, built.p4info if built.p4info.is_file() else None, capture, entries, options)
    with tempfile.TemporaryDirectory() as folder:
        built = compile_program(program, Path(folder), target=arch)
        return _run(built.json, built.p4info, capture, entries, options)


def _run(json: Path, p4info: Path | None, capture: Path, entries: Path | None, options: list[str]) -> int:
    command = [str(rust_binary("p4sched-packet-trace")), str(json), str(capture), *options]
    if p4info is not None:
        command += ["--p4info", str(p4info)]
    if entries is not None:
        command.append("--await-entries")
    pipe = subprocess.PIPE
    # keeps file descriptors open: the capture may be /dev/fd/63, a pipe of the shell
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, close_fds=False) as bench:
        assert bench.stdin
        assert bench.stdout
        assert bench.stderr
        # no port means failure; the reason is read below
        listening = bench.stdout.readline() if entries is not None else b""
        try:
            if entries is not None and listening:
                _write(entries, json, int(listening))
        finally:
            bench.stdin.close()
        sys.stdout.flush()
        try:
            shutil.copyfileobj(bench.stdout, sys.stdout.buffer)
            sys.stdout.flush()
        except BrokenPipeError:
            # the reader of the pipe is gone: prevents a second error when Python flushes
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            bench.kill()
            return 1
        problem = bench.stderr.read().decode(errors="replace").strip()
    if bench.returncode != 0:
        raise P4schedError(problem or f"p4sched-packet-trace failed with status {bench.returncode}")
    return 0


def _write(entries: Path, json: Path, port: int) -> None:
    """Writes the entries to the switch that listens on this port."""
    text = entries.read_text(errors="replace")
    try:
        program = Names(json.read_text(errors="replace"))
    except InputError as error:
        raise P4schedError(f"{json}: {error}") from error
    commands = EntryCommands(connect("127.0.0.1", port), program)
    try:
        for place, command in runtime_json.commands(text, program) if entries.suffix == ".json" else _lines(text):
            _run_command(commands, command, f"{entries}:{place}")
    except InputError as error:
        raise P4schedError(f"{entries}: {error}") from error


def _run_command(commands: EntryCommands, command: str, place: str) -> None:
    try:
        # discards the output of the command
        with contextlib.redirect_stdout(io.StringIO()):
            commands.onecmd(command)
    except (InputError, OverflowError, TException) as error:
        said = (complaint(error) or str(error)).removeprefix("Error: ")
        raise P4schedError(f"{place}: {said}") from error


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Commands, each with its line number."""
    for number, line in enumerate(text.splitlines(), 1):
        command = line.partition("#")[0].strip()
        if command:
            yield str(number), command
