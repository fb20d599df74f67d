"""`p4sched compile` and `p4sched stages`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.errors import UsageError
from p4sched.folders.schemes import absolute, find
from p4sched.p4rt.compile import Compiler, compile_program, parse_macro, print_stages, source_file
from p4sched.p4rt.target import Target
from p4sched.schemes import SCHEMES


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


def is_scheme(program: Path) -> bool:
    """True if a word names a scheduler, not a program: a folder, or no path and no ending."""
    # os.path says no where Path raises an error
    return os.path.isdir(program) or (
        len(program.parts) == 1 and program.suffix != ".p4" and not os.path.isfile(program)
    )


def stages(
    program: Annotated[
        Path,
        typer.Argument(
            metavar="PROGRAM.p4|SCHEDULER", help="P4_16 program for a Tofino, or a scheduler: its name or its folder."
        ),
    ],
    arch: Annotated[
        Target | None,
        typer.Option(help="Architecture of the program; default: tna, or all of the scheduler's.", show_default=False),
    ] = None,
    macros: Annotated[
        list[str] | None, typer.Option("-D", parser=parse_macro, metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None,
) -> int:
    """Place a program into the stages of a Tofino. Needs no chip. Reports what does not fit."""
    if arch is Target.V1MODEL or not is_scheme(program):
        return print_stages(program, arch or Target.TNA, macros or ())
    # a folder is a scheduler if it has the file of one
    scheme = SCHEMES[find(str(absolute(program) if os.path.isdir(program) else program), SCHEMES, "scheme or program")]
    chips = [target for target in scheme.targets if target is not Target.V1MODEL and arch in (None, target)]
    if not chips:
        raise UsageError(f"{program}: {scheme.not_on(arch or Target.TNA)}")
    files = {target: source_file(scheme.source(target), target) for target in chips}
    return max(print_stages(file, target, macros or ()) for target, file in files.items())
