"""`p4sched compile` and `p4sched stages`."""

from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.p4rt.compile import Compiler, compile_program, parse_macro, print_stages
from p4sched.p4rt.target import Target


def compile_(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.p4", help="P4_16 program.")],
    out: Annotated[Path, typer.Option("-o", "--out", parser=folder, metavar="DIR", help="Output folder.")],
    compiler: Annotated[
        Compiler, typer.Option(help="p4sched's own compiler, or the p4c-bm2-ss on the PATH.")
    ] = Compiler.P4SCHED,
    arch: Annotated[Target, typer.Option(help="Architecture of the program.")] = Target.V1MODEL,
    macros: Annotated[
        list[str] | None,
        typer.Option(
            "-D",
            parser=parse_macro,
            metavar="NAME[=VALUE]",
            help="Define a macro; its name is appended to the names of the outputs.",
        ),
    ] = None,
) -> None:
    """Compile a P4 program to BMv2 JSON and P4Info."""
    writable.folder("--out", out)
    result = compile_program(program, out, compiler, macros or (), arch)
    typer.echo(f"{result.json}\n{result.p4info}")


def stages(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.p4", help="P4_16 program for a Tofino.")],
    arch: Annotated[Target, typer.Option(help="Architecture of the program.")] = Target.TNA,
    macros: Annotated[
        list[str] | None, typer.Option("-D", parser=parse_macro, metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None,
) -> int:
    """Place a program into the stages of a Tofino. Needs no chip. Reports what does not fit."""
    return print_stages(program, arch, macros or ())
