"""`p4sched stf PATH...`: runs Simple Test Framework files against programs, in stepped time."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from p4sched.errors import UsageError
from p4sched.p4rt.compile import CompileError, compile_program
from p4sched.paths import rust_binary
from p4sched.printable import printable_lines


class Result(StrEnum):
    """Result of a script."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Run:
    """The result of one script; `text` describes its faults."""

    script: Path
    result: Result
    text: str = ""


def stf(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Scripts NAME.stf, or folders with scripts.")],
    program: Annotated[
        Path | None,
        typer.Option("--program", metavar="FILE", help="P4 program or BMv2 JSON for all scripts."),
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Also list the scripts that passed.")] = False,
) -> int:
    """Run Simple Test Framework files: packets into a program, and the packets expected from it.

    The program of NAME.stf is NAME.p4 or NAME.json in the same folder. Needs no root. Exit code 1 if a script fails.
    """
    scripts = list(_scripts(paths))
    if program is not None and not program.is_file():
        raise UsageError(f"no file '{program}'")
    rust_binary("p4sched-stf")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda script: _run(script, program, verbose=verbose), scripts))
    for run in runs:
        if verbose or run.result is not Result.PASSED:
            # a script may hold characters that control a terminal
            typer.echo(printable_lines(f"{run.script}: {run.result}{f': {run.text}' if run.text else ''}"))
    counts = {result: sum(run.result is result for run in runs) for result in Result}
    typer.echo(", ".join(f"{count} {result}" for result, count in counts.items()))
    return int(counts[Result.FAILED] > 0)


def _scripts(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob("*.stf"))
            if not found:
                raise UsageError(f"no *.stf in '{path}'")
            yield from found
        elif path.is_file():
            yield path
        else:
            raise UsageError(f"no file or folder '{path}'")


def _run(script: Path, program: Path | None, *, verbose: bool) -> Run:
    beside: list[Path] = []
    if program is None:
        beside = [script.with_suffix(suffix) for suffix in (".p4", ".json")]
        program = next((path for path in beside if path.is_file()), None)
        if program is None:
            return Run(script, Result.SKIPPED, f"neither {beside[0].name} nor {beside[1].name} in its folder")
    if program.suffix == ".json":
        return _against(script, program, verbose=verbose)
    if not _for_v1model(program):
        result = Result.SKIPPED if beside else Result.FAILED
        return Run(script, result, f"{program.name} is not for v1model")
    with tempfile.TemporaryDirectory() as folder:
        try:
            json = compile_program(program, Path(folder)).json
        except CompileError as error:
            return Run(script, Result.FAILED, str(error))
        return _against(script, json, verbose=verbose)


def _for_v1model(program: Path) -> bool:
    """True if the program, or a file that it includes, names the architecture or its package."""
    sources = [program]
    for source in sources:
        text = source.read_text(errors="replace")
        if "v1model.p4" in text or "V1Switch" in text:
            return True
        included = [source.parent / name for name in re.findall(r'#\s*include\s+"([^"]+)"', text)]
        sources += [path for path in included if path.is_file() and path not in sources]
    return False


def _against(script: Path, json: Path, *, verbose: bool) -> Run:
    command = [str(rust_binary("p4sched-stf")), *(["--verbose"] if verbose else []), str(json), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    text = (done.stdout or done.stderr).strip()
    return Run(script, Result.FAILED if done.returncode else Result.PASSED, text)
