"""The command line. `p4sched --help` shows it."""

import errno
import logging
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from p4sched.cli import control, experiments, lab, replay, tls
from p4sched.cli.attack import attack
from p4sched.cli.given import folder, given
from p4sched.cli.report import report
from p4sched.cli.run_all import run_all
from p4sched.cli.stf import stf
from p4sched.cli.sweep import sweep
from p4sched.cli.trace import trace
from p4sched.cli.watch import watch
from p4sched.errors import INTERRUPTED, P4schedError, UsageError, unknown_name
from p4sched.lab import experiment
from p4sched.lab.experiment import HostKind, SwitchKind
from p4sched.lab.running import find_switch
from p4sched.p4rt.compile import Compiler, compile_program, parse_macro, print_stages
from p4sched.p4rt.target import Target
from p4sched.p4rt.tls import trouble
from p4sched.paths import BMV2_NAMES_DIR, READING_SHELL, SHELL_PYTHON, rust_binary

FULL = (errno.ENOSPC, errno.EDQUOT)
"""There is no room left to write to."""
ERRORS = Console(stderr=True, highlight=False, soft_wrap=True)


ALL_ONLY = ("--quick", "--out", "--time-scale", "--switch", "--target", "--virtual", "--hosts")
"""Of `p4sched run --all`; behind an experiment's name they are its own."""


class SuggestingGroup(TyperGroup):
    """Names the likeliest command when there is none of the name given."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Finds the command that the first argument names."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise unknown_name("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


class ExperimentGroup(TyperGroup):
    """The experiments as commands of `p4sched run`, each loaded only when it is asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Names of all experiments."""
        return experiment.names()

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand:  # type: ignore[override]
        """The experiment's function as a command."""
        found = experiment.load(cmd_name)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name=found.name)(experiments.command(found))
        command = typer.main.get_command(app)
        assert isinstance(command, TyperCommand)
        return command


app = typer.Typer(
    name="p4sched",
    help="A laboratory for packet scheduling on programmable switches.",
    cls=SuggestingGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
run_app = typer.Typer(
    name="run",
    cls=ExperimentGroup,
    no_args_is_help=True,
    invoke_without_command=True,
    subcommand_metavar="EXPERIMENT [OPTIONS] | --all [OPTIONS]",
)
app.add_typer(run_app)
app.add_typer(lab.app)


@run_app.callback()
def run(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Run every experiment in turn.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --all: the quick form of each.")] = False,
    out: Annotated[
        Path, typer.Option(parser=folder, metavar="DIR", help="With --all: results go to DIR/EXPERIMENT.")
    ] = Path("results"),
    scale: Annotated[
        str, typer.Option("--time-scale", metavar="N|auto", help="With --all: of every experiment that has one.")
    ] = "auto",
    switch: Annotated[
        SwitchKind, typer.Option(help="With --all: the project's own switch, or BMv2.")
    ] = SwitchKind.EMBEDDED,
    target: Annotated[
        Target, typer.Option(help="With --all: whose programs the switch runs. Experiments without any are left out.")
    ] = Target.V1MODEL,
    virtual: Annotated[bool, typer.Option("--virtual", help="With --all: in virtual time.")] = False,
    hosts: Annotated[
        HostKind, typer.Option(help="With --all --virtual: models of TCP, or Linux kernels.")
    ] = HostKind.MODEL,
) -> int:
    """Run an experiment. 'p4sched run EXPERIMENT --help' shows its options."""
    if given(ctx, "--hosts") and not virtual:
        raise UsageError("--hosts means nothing without --virtual")
    name = ctx.invoked_subcommand
    if every and name is not None:
        raise UsageError(f"run --all runs every experiment: leave out '{name}', or --all")
    if every:

        def options(name: str) -> list[str]:
            found = experiment.load(name)
            scaled = [] if found.base is None else ["--time-scale", scale]
            aimed = [] if target is Target.V1MODEL else ["--target", target.value]
            in_time = (
                [] if found.simulated or not virtual else ["--virtual", experiments.hosts_option(found), hosts.value]
            )
            # what is simulated has no switch, and says so
            switched = [] if found.simulated else ["--switch", switch.value]
            return [*in_time, *switched, *aimed, *scaled, *(["--quick"] if quick else [])]

        names = [name for name in experiment.names() if target in experiment.load(name).targets]
        return run_all(names, _invoke, out, options, Console())
    if name is None:
        raise UsageError(f"run which experiment? --all, or one of: {', '.join(experiment.names())}")
    misplaced = [option for option in ALL_ONLY if given(ctx, option)]
    if misplaced:
        raise UsageError(f"{misplaced[0]} belongs behind the experiment's name: run {name} {misplaced[0]} ...")
    return 0


PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


@app.command("list")
def list_experiments() -> None:
    """List the experiments."""
    table = Table("experiment", "shows", box=None, header_style="bold")
    for name in experiment.names():
        table.add_row(name, escape(experiment.load(name).summary))
    Console().print(table)


@app.command("compile")
def compile_(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.p4", help="P4_16 program.")],
    out: Annotated[Path, typer.Option("-o", "--out", parser=folder, metavar="DIR", help="Folder of the outputs.")],
    compiler: Annotated[
        Compiler, typer.Option(help="p4sched's own compiler, or p4c-bm2-ss if that is on the PATH.")
    ] = Compiler.P4SCHED,
    arch: Annotated[Target, typer.Option(help="Architecture that the program is written for.")] = Target.V1MODEL,
    macros: Annotated[
        list[str] | None,
        typer.Option(
            "-D", parser=parse_macro, metavar="NAME[=VALUE]", help="Define a macro; the outputs are named NAME-MACRO."
        ),
    ] = None,
) -> None:
    """Compile a P4 program to BMv2 JSON and P4Info."""
    result = compile_program(program, out, compiler, macros or (), arch)
    typer.echo(f"{result.json}\n{result.p4info}")


@app.command("stages")
def stages(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.p4", help="P4_16 program for a Tofino.")],
    arch: Annotated[Target, typer.Option(help="Architecture that the program is written for.")] = Target.TNA,
    macros: Annotated[
        list[str] | None, typer.Option("-D", parser=parse_macro, metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None,
) -> int:
    """Place a program into the stages of the chip, without the chip; say what the chip has no room for."""
    return print_stages(program, arch, macros or ())


@app.command("switch", context_settings=PASS_ON)
def switch(ctx: typer.Context) -> None:
    """Run the embedded switch. It takes the options of simple_switch_grpc; '--help' shows them."""
    binary = str(rust_binary("p4sched-switch"))
    os.execv(binary, [binary, *ctx.args])


@app.command(
    "as-bmv2",
    context_settings={**PASS_ON, "allow_interspersed_args": False, "help_option_names": ["-h", "--help"]},
)
def as_bmv2(
    ctx: typer.Context,
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="What to run, with its arguments.")],
) -> None:
    """Run a command that finds this project's switch and compiler under BMv2's and p4c's names.

    simple_switch, simple_switch_grpc, simple_switch_CLI, p4c and p4c-bm2-ss are first on its PATH.
    """
    for name in ("p4sched-switch", "p4sched-p4c"):
        rust_binary(name)
    path = f"{BMV2_NAMES_DIR}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    try:
        os.execvpe(command, [command, *ctx.args], {**os.environ, "PATH": path})
    except FileNotFoundError as error:
        raise P4schedError(f"no command '{command}' on the PATH") from error
    except OSError as error:
        raise P4schedError(f"{command}: cannot be run: {error.strerror}") from error


@app.command("shell", context_settings={**PASS_ON, "help_option_names": ["-h", "--help"]})
def shell(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    primary: Annotated[bool, typer.Option("--primary", help="Write as well, if no controller does.")] = False,
    ssl: tls.Ssl = False,
    cacert: tls.Authority = None,
    cert: tls.Certificate = None,
    private_key: tls.Key = None,
) -> None:
    """Open p4runtime-shell on a running switch. It only reads, also where no controller writes.

    Further options go to p4runtime-shell: '--election-id 0,20' takes the writing over from the controller.
    """
    found = replace(find_switch(name), tls=tls.asked(ssl, cacert, cert, private_key))
    if not SHELL_PYTHON.is_file():
        raise P4schedError(f"{SHELL_PYTHON} is missing; 'make setup' installs p4runtime-shell")
    _check_that_it_listens(found.address)
    wrong = trouble(found.address, found.tls)
    if wrong is not None:
        raise P4schedError(f"switch {found.address}: {wrong}")
    arguments = ["--grpc-addr", found.address, "--device-id", str(found.device_id)]
    if any(word.split("=")[0] == "--election-id" for word in ctx.args):
        if primary:
            raise UsageError("--primary and --election-id exclude each other")
        arguments = ["-m", "p4runtime_sh", *arguments]
    else:
        # below every controller's election id, so that the shell does not take the switch from it
        asked = ["--primary"] if primary else []
        arguments = [str(READING_SHELL), *asked, *arguments, "--election-id", "0,1"]
    files = {"--cacert": cacert, "--cert": cert, "--private-key": private_key}
    if found.tls is not None:
        arguments += ["--ssl", *(word for name, path in files.items() if path for word in (name, str(path)))]
    arguments += ctx.args
    os.execv(SHELL_PYTHON, [str(SHELL_PYTHON), *arguments])


def _check_that_it_listens(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise P4schedError(f"switch {address}: does not answer ({error.strerror or error}); is it running?") from error


@app.command("calibrate")
def calibrate() -> None:
    """Measure for some seconds what this machine carries now."""
    from p4sched.cli.calibrate import calibrate  # noqa: PLC0415 - needs Mininet, which the other commands do not

    calibrate()


@app.command("clean")
def clean() -> None:
    """Remove what a crashed run left behind: processes, namespaces, links, temporary folders."""
    from p4sched.lab.run import clean as clean_lab  # noqa: PLC0415 - needs Mininet, which the other commands do not

    removed = clean_lab()
    typer.echo("\n".join(removed) if removed else "nothing to clean")


app.command("control")(control.control)
app.command("replay")(replay.replay)
app.command("watch")(watch)
app.command("report")(report)
app.command("sweep")(sweep)
app.command("attack")(attack)
app.command("stf")(stf)
app.command("trace")(trace)
app.command("certificates")(tls.certificates)


def main() -> None:
    """Every foreseen error is one line on standard error, and an exit code that is not zero."""
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code."""
    exit_code, message = _invoke(arguments)
    # no arguments at all: the help has been shown
    if message:
        ERRORS.print(f"[bold red]p4sched:[/] {escape(message)}")
    return exit_code


def _invoke(arguments: Sequence[str]) -> tuple[int, str]:
    """Runs one command line; its exit code, and the message of the error if there was one."""
    try:
        result = app(list(arguments), prog_name="p4sched", standalone_mode=False)
    except TyperException as error:
        # typer's own errors: a missing argument, an unknown option, a value of the wrong type
        return error.exit_code, error.format_message()
    except P4schedError as error:
        return error.exit_code, str(error)
    except OSError as error:
        if error.errno not in FULL:
            raise
        return 1, f"{error.filename or 'output'}: cannot be written: {error.strerror}"
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED, "interrupted"
    # typer turns Ctrl-C within a command into this result
    return (result if isinstance(result, int) else 0), "interrupted" if result == INTERRUPTED else ""
