"""`p4sched prove SCHEME`: proves that a program decides as the paper's rule."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import Annotated

import typer

from p4sched.cli import writable
from p4sched.cli.own_process import in_own_process
from p4sched.cli.prove_laws import laws
from p4sched.cli.prove_scheme import limits as limits_of
from p4sched.cli.prove_scheme import mutants as mutants_of
from p4sched.cli.prove_scheme import scheme
from p4sched.cli.prove_trace import trace
from p4sched.errors import MissingError, P4schedError, UsageError
from p4sched.folders.description import FILE, read
from p4sched.p4rt.target import Target
from p4sched.paths import SCHEDULERS_DIR
from p4sched.schemes import SCHEMES

ALL = "all"
"""All schemes that have a rule."""
LAWS = "laws"
"""The control laws."""


def prove(
    programs: Annotated[
        list[str],
        typer.Argument(
            metavar="SCHEME | FOLDER | all | laws | A.json B.json",
            help="A scheme, its folder, all, the control laws, or two programs.",
        ),
    ],
    program: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another program for this rule: P4, or JSON with its P4Info."),
    ] = None,
    limits: Annotated[
        bool, typer.Option("--limits", help="Which limits of the parameters does the proof need? Exceeds each by one.")
    ] = False,
    mutants: Annotated[
        int, typer.Option(metavar="N", min=0, help="Test the proof: change the program in N ways, and prove each.")
    ] = 0,
    conditions: Annotated[
        int, typer.Option(metavar="N", min=0, help="The same, with N changes of conditions within actions.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the choice of mutants.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Limit for each question about a claim.")] = 60,
    most: Annotated[
        int, typer.Option("--packets", min=0, max=20, help="Length of the longest trace; 0 looks for none.")
    ] = 6,
    size: Annotated[
        int | None,
        typer.Option(
            "--bytes",
            metavar="N",
            min=1,
            max=65_535,
            help="Two programs: only packets of up to N bytes, for parsers with a loop.",
        ),
    ] = None,
    target: Annotated[
        Target,
        typer.Option("--on", help="The program for this target: the schemes of tofino-port have rules for a Tofino."),
    ] = Target.V1MODEL,
    stf: Annotated[
        Path | None, typer.Option("--stf", metavar="FILE", help="Write the trace as a test: an STF file.")
    ] = None,
) -> int:
    """Prove that a program decides as the paper's rule, for every packet, state and parameter.

    Or compare two programs for v1model: equal, or a packet that tells them apart. If a claim is false, the command
    looks for a short trace from the reset state. Exit code 1 if a claim is false, or if the solver gives up. Needs
    two solvers (pip install bitwuzla z3-solver).
    """
    changed = mutants or conditions
    if len(programs) > 2:
        raise UsageError("one scheme, or two programs")
    if len(programs) == 2:
        _require_files(programs)
    if (len(programs) == 2 or programs[0] in {ALL, LAWS}) and (program is not None or limits or changed):
        raise UsageError("--program, --limits, --mutants and --conditions take one scheme, not two programs")
    if len(programs) < 2 and size is not None:
        raise UsageError("--bytes takes two programs")
    if limits and changed:
        raise UsageError(
            "--limits asks about the parameters, --mutants and --conditions about changes: give one of them"
        )
    if target is not Target.V1MODEL and (len(programs) == 2 or programs[0] in {ALL, LAWS}):
        raise UsageError("--on takes one scheme")
    if target is not Target.V1MODEL and stf is not None:
        raise UsageError("--stf has packets for v1model; without it, --on shows the engine's answer to one packet")
    if program is not None and not program.is_file():
        raise MissingError(f"no file '{program}'")
    if stf is not None and (programs[0] in {ALL, LAWS} or limits or changed or most == 0):
        raise UsageError("--stf takes a trace: not all, laws, --limits, --mutants, --conditions or --packets 0")
    if stf is not None:
        writable.file("--stf", stf)
    for solver in ("bitwuzla", "z3"):
        if find_spec(solver) is None:
            raise P4schedError(f"a proof needs {solver}, which is not installed: pip install bitwuzla z3-solver")

    def work() -> int:
        with _one_sentence():
            if programs == [LAWS]:
                return laws()
            if len(programs) == 2:
                return _pair(Path(programs[0]), Path(programs[1]), seconds, most, stf, size)
            if programs == [ALL]:
                return _all(seconds)
            if changed:
                return mutants_of(programs[0], program, target, (mutants, conditions), seed, seconds)
            if limits:
                return limits_of(programs[0], program, target, seconds)
            return scheme(programs[0], program, target, seconds, most, stf)

    return in_own_process(work, "the solver ended: perhaps the proof needs more memory than there is")


def _require_files(programs: list[str]) -> None:
    """Raises UsageError if one of two programs is the name of something that is proved alone."""
    for name in programs:
        if name in {ALL, LAWS, *SCHEMES} and not Path(name).exists():
            raise UsageError(f"'{name}' stands alone; two programs are files of BMv2 JSON, which p4sched compile makes")


def _all(seconds: float) -> int:
    """Proves all schemes that have a rule, each in a process of its own."""
    from p4sched.proofs.rules import RULES  # noqa: PLC0415 needs Z3

    others = [folder for folder in sorted(SCHEDULERS_DIR.iterdir()) if (folder / FILE).is_file()]
    names = [name for name in SCHEMES if name in RULES]
    names += [folder.name for folder in others if folder.name not in names and read(folder).proof is not None]
    codes = [
        in_own_process(partial(scheme, name, None, Target.V1MODEL, seconds, 0, None), f"{name}: the solver ended")
        for name in names
    ]
    typer.echo(f"{codes.count(0)} of {len(names)} schemes proved")
    return max(codes)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Makes an error of a solver, or of a term that is too large, one for the user."""
    try:
        import bitwuzla  # noqa: F401, PLC0415 not every installation has the solvers
        import z3  # noqa: PLC0415
    except Exception as error:
        # their libraries may need more memory than there is
        raise P4schedError(f"the solvers cannot be loaded: {error}") from error
    try:
        yield
    except MemoryError as error:
        raise P4schedError("the proof needs more memory than there is") from error
    except RecursionError as error:
        raise P4schedError("a term of the proof is nested too deep: the program has too many statements") from error
    except z3.Z3Exception as error:
        raise P4schedError(f"Z3 ended with an error: {error}") from error
    except P4schedError:
        raise
    except Exception as error:
        place = _place_in_rule(error)
        if place is None:
            raise
        raise P4schedError(f"{place}: {type(error).__name__}: {error}") from error


def _place_in_rule(error: Exception) -> str | None:
    """Where the rule of a folder raised an error: its file and line."""
    rules = {str(of.description.proof.file) for of in SCHEMES.values() if of.description.proof is not None}
    places = [
        f"{frame.filename}:{frame.lineno}" for frame in extract_tb(error.__traceback__) if frame.filename in rules
    ]
    return places[-1] if places else None


def _pair(one: Path, two: Path, seconds: float, most: int, stf: Path | None, size: int | None) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.pair import compare  # noqa: PLC0415
    from p4sched.proofs.program import limited, read_pair  # noqa: PLC0415
    from p4sched.proofs.refuting import Sides  # noqa: PLC0415
    from p4sched.proofs.sides import ProgramSide  # noqa: PLC0415

    open_claims, (first, second) = 0, read_pair(one, two)
    if size is not None:
        first, second = limited(first, size), limited(second, size)
    for claim, answer, step in compare(first, second, seconds):
        if answer.proved is None:
            open_claims += 1
            typer.echo(f"? {claim.name}: the solver gave up after {answer.seconds:.0f} s")
        elif not answer.proved:
            typer.echo(f"✗ {claim.name} differs for this packet and state:")
            for line in example.lines(example.counterexample(step, answer.model), step):
                typer.echo(f"    {line}")
            return trace(Sides(second, ProgramSide(first), two, one.stem, one), most, seconds, stf)
    limit = "" if size is None else f" for packets of up to {size} bytes"
    typer.echo(f"{open_claims} claims open" if open_claims else f"equal{limit}")
    return int(open_claims > 0)
