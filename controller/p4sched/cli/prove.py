"""`p4sched prove SCHEME`: proves that a program decides as the paper's rule."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p4sched.errors import MissingError, P4schedError, UsageError, unknown_name
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program
from p4sched.paths import cannot_write

if TYPE_CHECKING:
    from p4sched.proofs.refuting import Refutation, Sides

SOON = 3
"""Packets of a trace that is looked for before a proof."""


def prove(
    programs: Annotated[
        list[str], typer.Argument(metavar="SCHEME | A.json B.json", help="A scheme, or two compiled programs.")
    ],
    program: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another program for this rule: P4, or JSON with its P4Info."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Limit for each claim.")] = 60,
    most: Annotated[
        int, typer.Option("--packets", min=0, max=20, help="Length of the longest trace; 0 looks for none.")
    ] = 6,
    stf: Annotated[
        Path | None, typer.Option("--stf", metavar="FILE", help="Write the trace as a test: an STF file.")
    ] = None,
) -> int:
    """Prove that a program decides as the paper's rule, for every packet, state and parameter.

    Or compare two programs for v1model: equal, or a packet that tells them apart. If a claim is false, the shortest
    trace from the reset state shows it. Exit code 1 if a claim is false, or if the solver gives up. Needs Z3 (pip
    install z3-solver).
    """
    if len(programs) > 2:
        raise UsageError("one scheme, or two programs")
    if program is not None and not program.is_file():
        raise MissingError(f"no file '{program}'")
    try:
        import z3  # noqa: F401, PLC0415 not every installation has it
    except ModuleNotFoundError as error:
        raise P4schedError("a proof needs Z3, which is not installed: pip install z3-solver") from error
    if len(programs) == 2:
        return _pair(Path(programs[0]), Path(programs[1]), seconds, most, stf)
    return _scheme(programs[0], program, seconds, most, stf)


def _built(name: str, source: Path | None) -> Program:
    """The compiled program."""
    if source is None or source.suffix != ".json":
        return compiled_program(source.resolve() if source is not None else name)
    built = Program.in_folder(source.parent, source.stem)
    if not built.p4info.is_file():
        raise MissingError(f"no file '{built.p4info}'; p4sched compile writes it beside the JSON")
    return built


def _scheme(name: str, source: Path | None, seconds: float, most: int, stf: Path | None) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.bounded import RuleSide  # noqa: PLC0415
    from p4sched.proofs.program import read  # noqa: PLC0415
    from p4sched.proofs.refuting import Sides  # noqa: PLC0415
    from p4sched.proofs.rules import RULES  # noqa: PLC0415
    from p4sched.proofs.theorem import confirmed, theorem  # noqa: PLC0415

    if name not in RULES:
        raise unknown_name("rule", name, list(RULES))
    built = _built(name, source)
    program, rule, p4info = read(built.json), RULES[name](), built.p4info.read_text(encoding="utf-8")
    sides = Sides(program, RuleSide(rule, p4info), built.json, "the rule")
    if source is not None and (quick := sides.quick(min(most, SOON), seconds)) is not None:
        typer.echo(f"✗ {name}: a trace from the reset state shows it")
        return _told(sides, quick, stf)
    started, open_claims, proved = time.monotonic(), 0, 0
    for number, case in enumerate(theorem(program, p4info, rule)):
        if number == 0:
            typer.echo("assumed:")
            for assumption in case.assumptions:
                typer.echo(f"  {assumption}")
        typer.echo(f"{case.name}:")
        for claim, answer in case.answers(seconds):
            if answer.proved:
                proved += 1
                continue
            if answer.proved is None:
                open_claims += 1
                typer.echo(f"  ? {claim.name}: the solver gave up after {answer.seconds:.0f} s")
                continue
            typer.echo(f"  ✗ {claim.name}: false for this packet and state:")
            found = example.counterexample(case.step, answer.model)
            for line in example.lines(found, case.step):
                typer.echo(f"      {line}")
            typer.echo(f"      the engine:  {confirmed(built.json, p4info, program, rule, found)}")
            return _trace(sides, most, seconds, stf)
        typer.echo(f"  {time.monotonic() - started:.0f} s")
    if open_claims:
        typer.echo(f"{name}: {proved} claims proved, {open_claims} open")
        return 1
    typer.echo(f"{name}: proved, {proved} claims in {time.monotonic() - started:.0f} s")
    return 0


def _pair(one: Path, two: Path, seconds: float, most: int, stf: Path | None) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.bounded import ProgramSide  # noqa: PLC0415
    from p4sched.proofs.pair import compare  # noqa: PLC0415
    from p4sched.proofs.program import read  # noqa: PLC0415
    from p4sched.proofs.refuting import Sides  # noqa: PLC0415

    open_claims, first, second = 0, read(one), read(two)
    for claim, answer, step in compare(first, second, seconds):
        if answer.proved is None:
            open_claims += 1
            typer.echo(f"? {claim.name}: the solver gave up after {answer.seconds:.0f} s")
        elif not answer.proved:
            typer.echo(f"✗ {claim.name} differs for this packet and state:")
            for line in example.lines(example.counterexample(step, answer.model), step):
                typer.echo(f"    {line}")
            return _trace(Sides(second, ProgramSide(first), two, one.stem, one), most, seconds, stf)
    typer.echo(f"{open_claims} claims open" if open_claims else "equal")
    return int(open_claims > 0)


def _trace(sides: "Sides", most: int, seconds: float, stf: Path | None) -> int:
    """Looks for the shortest trace from the reset state. Returns 1."""
    if most == 0:
        return 1
    typer.echo("from the reset state:")
    return _told(sides, sides.shortest(most, seconds), stf)


def _told(sides: "Sides", found: "Refutation", stf: Path | None) -> int:
    for line in found.lines:
        typer.echo(f"  {line}")
    if stf is not None and found.script is None:
        raise P4schedError(f"'{stf}' was not written: there is no trace")
    if stf is not None and found.script is not None:
        try:
            stf.write_text(found.script, encoding="utf-8")
        except OSError as error:
            raise UsageError(cannot_write(stf, error)) from error
        typer.echo(f"  {stf} fails on this program, and passes on one that decides as {sides.by}")
    return 1
