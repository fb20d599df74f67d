"""`p4sched prove SCHEME`: proves that a program decides as the paper's rule."""

import time
from pathlib import Path
from typing import Annotated

import typer

from p4sched.errors import MissingError, P4schedError, UsageError, unknown_name
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program


def prove(
    programs: Annotated[
        list[str], typer.Argument(metavar="SCHEME | A.json B.json", help="A scheme, or two compiled programs.")
    ],
    program: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another program for this rule: P4, or JSON with its P4Info."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Limit for each claim.")] = 60,
) -> int:
    """Prove that a program decides as the paper's rule, for every packet, state and parameter.

    Or compare two programs for v1model: equal, or a packet that tells them apart. Exit code 1 if a claim is false, or
    if the solver gives up. Needs Z3 (pip install z3-solver).
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
        return _pair(Path(programs[0]), Path(programs[1]), seconds)
    return _scheme(programs[0], program, seconds)


def _scheme(name: str, source: Path | None, seconds: float) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.program import read  # noqa: PLC0415
    from p4sched.proofs.rules import RULES  # noqa: PLC0415
    from p4sched.proofs.theorem import confirmed, theorem  # noqa: PLC0415

    if name not in RULES:
        raise unknown_name("rule", name, list(RULES))
    if source is not None and source.suffix == ".json":
        built = Program.in_folder(source.parent, source.stem)
        if not built.p4info.is_file():
            raise MissingError(f"no file '{built.p4info}'; p4sched compile writes it beside the JSON")
    else:
        built = compiled_program(source.resolve() if source is not None else name)
    program, rule, p4info = read(built.json), RULES[name](), built.p4info.read_text(encoding="utf-8")
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
            return 1
        typer.echo(f"  {time.monotonic() - started:.0f} s")
    if open_claims:
        typer.echo(f"{name}: {proved} claims proved, {open_claims} open")
        return 1
    typer.echo(f"{name}: proved, {proved} claims in {time.monotonic() - started:.0f} s")
    return 0


def _pair(one: Path, two: Path, seconds: float) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.pair import compare  # noqa: PLC0415
    from p4sched.proofs.program import read  # noqa: PLC0415

    open_claims = 0
    for claim, answer, step in compare(read(one), read(two), seconds):
        if answer.proved is None:
            open_claims += 1
            typer.echo(f"? {claim.name}: the solver gave up after {answer.seconds:.0f} s")
        elif not answer.proved:
            typer.echo(f"✗ {claim.name} differs for this packet and state:")
            for line in example.lines(example.counterexample(step, answer.model), step):
                typer.echo(f"    {line}")
            return 1
    typer.echo(f"{open_claims} claims open" if open_claims else "equal")
    return int(open_claims > 0)
