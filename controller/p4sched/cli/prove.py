"""`p4sched prove SCHEME`: proves that a program decides as the paper's rule."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p4sched.cli import writable
from p4sched.cli.own_process import in_own_process
from p4sched.cli.prove_laws import laws
from p4sched.cli.prove_tna import on_chip
from p4sched.errors import MissingError, P4schedError, UsageError
from p4sched.folders.description import FILE, read
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.target import Target
from p4sched.paths import SCHEDULERS_DIR, cannot_write
from p4sched.schemes import SCHEMES

if TYPE_CHECKING:
    from p4sched.proofs import program as proofs
    from p4sched.proofs.refuting import Refutation, Sides
    from p4sched.proofs.rules.scheme import Rule

ALL = "all"
"""All schemes that have a rule."""
SOON = 3
"""Packets of a trace that is looked for before a proof."""


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
    if len(programs) > 2:
        raise UsageError("one scheme, or two programs")
    if (len(programs) == 2 or programs == [ALL]) and (program is not None or limits or mutants or conditions):
        raise UsageError("--program, --limits, --mutants and --conditions take one scheme, not two programs")
    if target is not Target.V1MODEL and (
        len(programs) > 1 or program is not None or limits or mutants or conditions or stf is not None
    ):
        raise UsageError("--on takes one scheme, and no other option than --seconds")
    if program is not None and not program.is_file():
        raise MissingError(f"no file '{program}'")
    if stf is not None:
        writable.file("--stf", stf)
    for solver in ("bitwuzla", "z3"):
        if find_spec(solver) is None:
            raise P4schedError(f"a proof needs {solver}, which is not installed: pip install bitwuzla z3-solver")

    def work() -> int:
        with _one_sentence():
            if programs == ["laws"] or target is not Target.V1MODEL:
                return laws() if programs == ["laws"] else on_chip(programs[0], target, seconds)
            if len(programs) == 2:
                return _pair(Path(programs[0]), Path(programs[1]), seconds, most, stf)
            if programs == [ALL]:
                return _all(seconds)
            if mutants or conditions:
                return _mutants(programs[0], program, (mutants, conditions), seed, seconds)
            if limits:
                return _limits(programs[0], program, seconds)
            return _scheme(programs[0], program, seconds, most, stf)

    return in_own_process(work, "the solver ended: perhaps the proof needs more memory than there is")


def _all(seconds: float) -> int:
    """Proves all schemes that have a rule, each in a process of its own."""
    from p4sched.proofs.rules import RULES  # noqa: PLC0415 needs Z3

    others = [folder for folder in sorted(SCHEDULERS_DIR.iterdir()) if (folder / FILE).is_file()]
    names = [name for name in SCHEMES if name in RULES]
    names += [folder.name for folder in others if folder.name not in names and read(folder).proof is not None]
    codes = [
        in_own_process(partial(_scheme, name, None, seconds, 0, None), f"{name}: the solver ended") for name in names
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


def _scheme(word: str, source: Path | None, seconds: float, most: int, stf: Path | None) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.refuting import Sides  # noqa: PLC0415
    from p4sched.proofs.sides import RuleSide  # noqa: PLC0415
    from p4sched.proofs.theorem import confirmed, theorem  # noqa: PLC0415

    name, built, program, rule = _built(word, source)
    p4info = built.p4info.read_text(encoding="utf-8")
    sides = Sides(program, RuleSide(rule, p4info), built.json, "the rule")
    if source is not None and (quick := sides.quick(min(most, SOON), seconds)) is not None:
        typer.echo(f"✗ {name}: a trace from the reset state shows it")
        return _told(sides, quick, stf)
    started, open_claims, proved = time.process_time(), 0, 0
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
            step = (case.plain or case).step
            found = example.counterexample(step, answer.model)
            for line in example.lines(found, step):
                typer.echo(f"      {line}")
            typer.echo(f"      the engine:  {confirmed(built.json, p4info, program, rule, found)}")
            return _trace(sides, most, seconds, stf)
        typer.echo(f"  {time.process_time() - started:.0f} s")
    if open_claims:
        typer.echo(f"{name}: {proved} claims proved, {open_claims} open")
        return 1
    typer.echo(f"{name}: proved, {proved} claims in {time.process_time() - started:.0f} s")
    return 0


def _limits(word: str, source: Path | None, seconds: float) -> int:
    from p4sched.proofs.ranges import findings  # noqa: PLC0415 needs Z3

    _, built, program, rule = _built(word, source)
    still_open = 0
    for found in findings(program, built.p4info.read_text(encoding="utf-8"), rule, seconds):
        still_open += found.open
        said = f"false without it: {found.broken}" if found.broken else "all claims are true without it"
        typer.echo(f"{found.limit}: {f'{found.open} claims open' if found.open else said}")
    return int(still_open > 0)


def _mutants(word: str, source: Path | None, most: tuple[int, int], seed: int, seconds: float) -> int:
    """Fates of mutants, and of those with another condition within an action: as many of each as `most`."""
    from p4sched.proofs import mutants  # noqa: PLC0415 needs Z3

    name, built, _, rule = _built(word, source)
    tree = json.loads(built.json.read_text(encoding="utf-8"))
    said = {True: "refuted", False: "proved", None: "open"}
    still_open = 0
    kinds = ("", mutants.changes), (", conditions within actions", mutants.changes_within_actions)
    for (kind, changes), wanted in zip(kinds, most, strict=True):
        if not wanted:
            continue
        count = dict.fromkeys(said, 0)
        chosen = mutants.sample(changes(tree), wanted, seed)
        for fate in mutants.fates(name, tree, chosen, built.p4info.read_text(encoding="utf-8"), rule, seconds):
            count[fate.refuted] += 1
            if not fate.refuted:
                typer.echo(f"  {said[fate.refuted]}: {fate.name}{f' ({fate.reason})' if fate.reason else ''}")
        typer.echo(f"{name}{kind}: " + ", ".join(f"{count[fate]} {word}" for fate, word in said.items()))
        still_open += count[None]
    return int(still_open > 0)


def _built(word: str, source: Path | None) -> "tuple[str, Program, proofs.Program, Rule]":
    """Name of a scheme, its program or another one, as it is and as a proof reads it, and the rule."""
    from p4sched.proofs.folder import rule_of, scheme_with_rule  # noqa: PLC0415 needs Z3
    from p4sched.proofs.program import read as read_program  # noqa: PLC0415

    name = scheme_with_rule(word)
    if source is not None and source.suffix == ".json":
        built = Program.in_folder(source.parent, source.stem)
        if not built.p4info.is_file():
            raise MissingError(f"no file '{built.p4info}'; p4sched compile writes it beside the JSON")
    else:
        built = compiled_program(source.resolve() if source is not None else _program(name))
    program = read_program(built.json)
    return name, built, program, rule_of(name, program)


def _program(name: str) -> str | Path:
    """The program of a scheme."""
    of = SCHEMES[name].description
    return name if of.laboratory or of.programs is None else of.programs.files[Target.V1MODEL]


def _pair(one: Path, two: Path, seconds: float, most: int, stf: Path | None) -> int:
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3
    from p4sched.proofs.pair import compare  # noqa: PLC0415
    from p4sched.proofs.program import read as read_program  # noqa: PLC0415
    from p4sched.proofs.refuting import Sides  # noqa: PLC0415
    from p4sched.proofs.sides import ProgramSide  # noqa: PLC0415

    open_claims, first, second = 0, read_program(one), read_program(two)
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
    """Looks for a short trace from the reset state. Returns 1."""
    if most == 0:
        return 1
    typer.echo("from the reset state:")
    return _told(sides, sides.shortest(most, seconds), stf)


def _told(sides: "Sides", found: "Refutation", stf: Path | None) -> int:
    for line in found.lines:
        typer.echo(f"  {line}")
    if stf is not None and found.script is None:
        raise P4schedError(f"'{stf}' was not written: there is no trace")
    if stf is not None and not found.is_confirmed:
        raise P4schedError(f"'{stf}' was not written: it would pass on this program")
    if stf is not None and found.script is not None:
        try:
            stf.write_text(found.script, encoding="utf-8")
        except OSError as error:
            raise UsageError(cannot_write(stf, error)) from error
        typer.echo(f"  {stf} fails on this program, and passes on one that decides as {sides.by}")
    return 1
