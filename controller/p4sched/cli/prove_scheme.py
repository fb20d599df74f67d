"""`p4sched prove SCHEME`: its program, or another one, against its rule; on v1model or on a chip."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from p4sched.cli.prove_trace import told, trace
from p4sched.errors import MissingError, UsageError
from p4sched.p4rt.compile import compiled_program, source_file
from p4sched.p4rt.program import Program, read_schema
from p4sched.p4rt.target import Target
from p4sched.schemes import SCHEMES

if TYPE_CHECKING:
    from p4sched.proofs.comparison import Comparison
    from p4sched.proofs.refuting import Sides

CHIPS = (Target.TNA, Target.T2NA)
SOON = 3
"""Packets of a trace that is looked for before a proof."""


def scheme(word: str, source: Path | None, target: Target, seconds: float, most: int, stf: Path | None) -> int:
    """Prints each claim that is false or open. Returns 1 if there is one.

    Stops at the first one that is false. `most`: packets of the trace that is then looked for, on v1model.
    """
    from p4sched.proofs import example  # noqa: PLC0415 needs Z3

    of = _comparison(word, source, target)
    sides = None if target in CHIPS else _sides(of)
    quick = sides.quick(min(most, SOON), seconds) if sides is not None and source is not None else None
    if sides is not None and quick is not None:
        typer.echo(f"✗ {of.name}: a trace from the reset state shows it")
        return told(sides, quick, stf)
    started, open_claims, proved = time.process_time(), 0, 0
    for number, case in enumerate(of.theorem(of.program)):
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
            found = of.counterexample(case, claim, answer, seconds)
            for line in example.lines(found, (case.plain or case).step):
                typer.echo(f"      {line}")
            typer.echo(f"      the engine:  {of.confirmed(found)}")
            return 1 if sides is None else trace(sides, most, seconds, stf)
        typer.echo(f"  {time.process_time() - started:.0f} s")
    wrong = 0
    for number, (text, holds) in enumerate(of.of_tables()):
        if number == 0:
            typer.echo("logarithms:")
        proved, wrong = proved + holds, wrong + (not holds)
        typer.echo(f"  {'✓' if holds else '✗'} {text}")
    name = f"{of.name} on {target}" if target in CHIPS else of.name
    if open_claims or wrong:
        typer.echo(f"{name}: {proved} claims proved, {open_claims} open{f', {wrong} false' if wrong else ''}")
        return 1
    typer.echo(f"{name}: proved, {proved} claims in {time.process_time() - started:.0f} s")
    return 0


def _sides(of: "Comparison") -> "Sides":
    from p4sched.proofs.refuting import Sides  # noqa: PLC0415 needs Z3
    from p4sched.proofs.sides import RuleSide  # noqa: PLC0415

    return Sides(of.program, RuleSide(of.rule, of.p4info), of.built.json, "the rule")


def limits(word: str, source: Path | None, target: Target, seconds: float) -> int:
    """Prints for each limit of the parameters whether the proof needs it. Returns 1 if claims are open."""
    from p4sched.proofs.ranges import findings  # noqa: PLC0415 needs Z3

    of, still_open, count = _comparison(word, source, target), 0, 0
    for found in findings(of, seconds):
        count += 1
        still_open += found.open
        said = f"false without it: {found.broken}" if found.broken else "all claims are true without it"
        typer.echo(f"{found.limit}: {f'{found.open} claims open' if found.open else said}")
    if not count:
        typer.echo(f"{of.name}: its parameters have no limits")
    return int(still_open > 0)


def mutants(word: str, source: Path | None, target: Target, most: tuple[int, int], seed: int, seconds: float) -> int:
    """Prints the mutants that are not refuted. Returns 1 if some are open.

    `most`: how many mutants, and how many with another condition within an action.
    """
    from p4sched.proofs.mutants import changes, changes_within_actions, fates, sample  # noqa: PLC0415 needs Z3

    of, still_open = _comparison(word, source, target), 0
    name = f"{of.name} on {target}" if target in CHIPS else of.name
    said = {True: "refuted", False: "proved", None: "open"}
    kinds = (name, changes), (f"{name}, conditions within actions", changes_within_actions)
    for (kind, found), wanted in zip(kinds, most, strict=True):
        if not wanted:
            continue
        count = dict.fromkeys(said, 0)
        for fate in fates(of, sample(found(of.tree), wanted, seed), seconds):
            count[fate.refuted] += 1
            if not fate.refuted:
                typer.echo(f"  {said[fate.refuted]}: {fate.name}{f' ({fate.reason})' if fate.reason else ''}")
        typer.echo(f"{kind}: " + ", ".join(f"{count[fate]} {word}" for fate, word in said.items()))
        still_open += count[None]
    return int(still_open > 0)


def _comparison(word: str, source: Path | None, target: Target) -> "Comparison":
    """The program of a scheme, or another one, and the rule."""
    from p4sched.proofs import comparison, tna_comparison  # noqa: PLC0415 needs Z3
    from p4sched.proofs.folder import scheme_with_rule  # noqa: PLC0415

    name = scheme_with_rule(word)
    if source is not None and source.suffix == ".json":
        built = Program.in_folder(source.parent, source.stem)
        if not built.p4info.is_file():
            raise MissingError(f"no file '{built.p4info}'; p4sched compile writes it beside the JSON")
        read_schema(built.p4info, b"")
    elif source is not None:
        built = compiled_program(source.resolve(), target=target)
    else:
        built = compiled_program(_chip_program(name, target) if target in CHIPS else _program(name), target=target)
    of: Comparison = (
        tna_comparison.comparison(name, built, target) if target in CHIPS else comparison.comparison(name, built)
    )
    action = f"{of.rule.control}.{of.rule.action}"
    if f'"{action}"' not in of.p4info:
        raise UsageError(f"'{built.p4info}' is not the P4Info of this program: it has no action '{action}'")
    return of


def _program(name: str) -> str | Path:
    """The program of a scheme."""
    of = SCHEMES[name].description
    return name if of.laboratory or of.programs is None else of.programs.files[Target.V1MODEL]


def _chip_program(name: str, target: Target) -> str | Path:
    """The program of a scheme for a chip."""
    of = SCHEMES[name].description
    in_folder = of.programs.files if of.programs is not None and not of.laboratory else {}
    files = in_folder or {one: file for one in CHIPS if (file := source_file(name, one)).is_file()}
    if target in files:
        return files[target] if in_folder else name
    chips = [one for one in CHIPS if one in files]
    other = f"; use --on {chips[0]}" if chips else ""
    raise UsageError(f"--on {target}: there is no program of {name} for it{other}")
