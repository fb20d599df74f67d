"""`p4sched run` and `p4sched list`: the experiments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand, TyperGroup

from p4sched.cli import experiments
from p4sched.cli.command_line import folder, is_explicit
from p4sched.cli.invoke import invoke
from p4sched.cli.run_all import run_all
from p4sched.errors import UsageError
from p4sched.lab import experiment
from p4sched.lab.experiment import HostKind, SwitchKind
from p4sched.p4rt.target import Target

ALL_ONLY = ("--quick", "--out", "--time-scale", "--switch", "--target", "--virtual", "--hosts")
"""Options of `p4sched run --all`. After an experiment's name, they belong to the experiment."""


class ExperimentGroup(TyperGroup):
    """The experiments as commands of `p4sched run`. Loads only the experiment that runs."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return experiment.names()

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand:  # type: ignore[override]
        found = experiment.load(cmd_name)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(name=found.name)(experiments.command(found))
        command = typer.main.get_command(alone)
        assert isinstance(command, TyperCommand)
        return command


app = typer.Typer(
    name="run",
    cls=ExperimentGroup,
    no_args_is_help=True,
    invoke_without_command=True,
    subcommand_metavar="EXPERIMENT [OPTIONS] | --all [OPTIONS]",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def run(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Run every experiment in turn.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --all: run the quick form of each.")] = False,
    out: Annotated[
        Path, typer.Option(parser=folder, metavar="DIR", help="With --all: results go to DIR/EXPERIMENT.")
    ] = Path("results"),
    scale: Annotated[
        str,
        typer.Option("--time-scale", metavar="N|auto", help="With --all: time scale of the experiments that have one."),
    ] = "auto",
    switch: Annotated[SwitchKind, typer.Option(help="With --all: the embedded switch, or BMv2.")] = SwitchKind.EMBEDDED,
    target: Annotated[
        Target, typer.Option(help="With --all: programs of the switch. Skips experiments without such programs.")
    ] = Target.V1MODEL,
    virtual: Annotated[bool, typer.Option("--virtual", help="With --all: run in virtual time.")] = False,
    hosts: Annotated[
        HostKind, typer.Option(help="With --all --virtual: hosts are models of TCP, or Linux kernels.")
    ] = HostKind.MODEL,
) -> int:
    """Run an experiment. 'p4sched run EXPERIMENT --help' shows its options."""
    if is_explicit(ctx, "--hosts") and not virtual:
        raise UsageError("--hosts has no effect without --virtual")
    name = ctx.invoked_subcommand
    if every and name is not None:
        raise UsageError(f"run --all runs every experiment: leave out '{name}' or --all")
    if every:

        def options(name: str) -> list[str]:
            found = experiment.load(name)
            scaled = [] if found.base is None else ["--time-scale", scale]
            aimed = [] if target is Target.V1MODEL else ["--target", target.value]
            in_time = (
                [] if found.simulated or not virtual else ["--virtual", experiments.hosts_option(found), hosts.value]
            )
            # a simulated experiment has no switch and refuses the option
            switched = [] if found.simulated else ["--switch", switch.value]
            return [*in_time, *switched, *aimed, *scaled, *(["--quick"] if quick else [])]

        def repeat(arguments: Sequence[str]) -> tuple[int, str]:
            return invoke(ctx.find_root().command, arguments)

        names = [name for name in experiment.names() if target in experiment.load(name).targets]
        return run_all(names, repeat, out, options, Console())
    if name is None:
        raise UsageError(f"no experiment: give --all, or one of: {', '.join(experiment.names())}")
    misplaced = [option for option in ALL_ONLY if is_explicit(ctx, option)]
    if misplaced:
        raise UsageError(f"{misplaced[0]} belongs after the experiment's name: run {name} {misplaced[0]} ...")
    return 0


def list_experiments() -> None:
    """List the experiments."""
    table = Table("experiment", "shows", box=None, header_style="bold")
    for name in experiment.names():
        table.add_row(name, escape(experiment.load(name).summary))
    Console().print(table)
