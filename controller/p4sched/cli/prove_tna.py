"""`p4sched prove SCHEME --on tna`: a program for Tofino decides as the rule of its page."""

import time
from pathlib import Path

import typer

from p4sched.errors import UsageError
from p4sched.p4rt.compile import compiled_program, source_file
from p4sched.p4rt.target import Target
from p4sched.schemes import SCHEMES

CHIPS = (Target.TNA, Target.T2NA)


def on_chip(word: str, target: Target, seconds: float) -> int:
    """Prints each claim that is false or open. Returns 1 if there is one."""
    from p4sched.proofs import example, logarithms, tna, tna_engine  # noqa: PLC0415 needs Z3
    from p4sched.proofs.folder import chip_rule_of, scheme_with_rule  # noqa: PLC0415
    from p4sched.proofs.tna_theorem import theorem  # noqa: PLC0415

    name = scheme_with_rule(word)
    built = compiled_program(_source(name, target), target=target)
    program = tna.read(built.json)
    rule = chip_rule_of(name, program, target)
    started, proved, not_proved = time.process_time(), 0, 0
    for number, case in enumerate(theorem(program, built.p4info.read_text(encoding="utf-8"), rule)):
        if number == 0:
            typer.echo("assumed:")
            for assumption in case.assumptions:
                typer.echo(f"  {assumption}")
        typer.echo(f"{case.name}:")
        for claim, answer in case.answers(seconds):
            proved += answer.proved is True
            not_proved += not answer.proved
            if answer.proved is None:
                typer.echo(f"  ? {claim.name}: the solver gave up after {answer.seconds:.0f} s")
            elif not answer.proved:
                typer.echo(f"  ✗ {claim.name}: false for this packet and state:")
                step = (case.plain or case).step
                for line in example.lines(tna_engine.counterexample(step, answer.model), step):
                    typer.echo(f"      {line}")
        typer.echo(f"  {time.process_time() - started:.0f} s")
    if rule.opaque:
        typer.echo("logarithms:")
        for text, holds in logarithms.claims(built.json):
            proved, not_proved = proved + holds, not_proved + (not holds)
            typer.echo(f"  {'✓' if holds else '✗'} {text}")
    said = f"{not_proved} not" if not_proved else f"in {time.process_time() - started:.0f} s"
    typer.echo(f"{name} on {target}: {proved} claims proved, {said}")
    return int(not_proved > 0)


def _source(name: str, target: Target) -> str | Path:
    """The program of a scheme for a chip."""
    of = SCHEMES[name].description
    in_folder = of.programs.files if of.programs is not None and not of.laboratory else {}
    files = in_folder or {one: file for one in CHIPS if (file := source_file(name, one)).is_file()}
    if target in files:
        return files[target] if in_folder else name
    chips = [one for one in CHIPS if one in files]
    other = f"; use --on {chips[0]}" if chips else ""
    raise UsageError(f"--on {target}: there is no program of {name} for it{other}")
