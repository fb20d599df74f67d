"""Compiles P4 programs with p4sched's own compiler, or with p4c if it is installed."""

import difflib
import hashlib
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from p4sched.errors import P4schedError, UsageError
from p4sched.p4rt.build_options import require_known
from p4sched.p4rt.program import Program
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.paths import P4_DIR, TOFINO_DIR, cannot_write, is_file, rust_binary, tool


class Compiler(StrEnum):
    """The compiler; both compilers take the same options."""

    P4SCHED = "p4sched"
    P4C = "p4c"


_MACRO = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(=.*)?", re.ASCII)


class CompileError(P4schedError):
    """An error of the compiler. The message is the compiler's output."""


def parse_macro(text: str) -> str:
    """Checks a macro for the option `-D` of both compilers: NAME or NAME=VALUE."""
    if _MACRO.fullmatch(text) is None:
        raise UsageError(
            f"-D '{text}' is not NAME or NAME=VALUE with a NAME of letters, digits and '_', for example WORKER_PACKETS"
        )
    return text


def compile_program(
    source: Path,
    out: Path,
    compiler: Compiler = Compiler.P4SCHED,
    macros: Sequence[str] = (),
    target: Target = Target.V1MODEL,
) -> Program:
    """Writes OUT/NAME.json and OUT/NAME.p4info.txtpb for NAME.p4. With macros, the names are OUT/NAME-MACRO.json and so
    on, so that each build has its own files."""
    _require(source)
    if compiler is Compiler.P4C and target is not Target.V1MODEL:
        raise UsageError(f"--compiler p4c: p4c-bm2-ss supports only v1model, not {target}; see tofino-port/README.md")
    require_known(source, PROGRAMS[target].includes, macros)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompileError(cannot_write(out, error)) from error
    program = Program.in_folder(out, built_name(source.stem, macros))
    # The files appear together and complete: a failed or interrupted run keeps the previous files.
    json, p4info = (path.with_name(f".{os.getpid()}.{path.name}") for path in (program.json, program.p4info))
    command = [
        *_command(compiler, target, macros),
        *("-o", str(json)),
        *("--p4runtime-files", str(p4info)),
        str(source),
    ]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode == -signal.SIGINT:
            raise KeyboardInterrupt
        if result.returncode != 0:
            said = (result.stderr or result.stdout).strip()
            raise CompileError(said or f"{command[0]} failed with status {result.returncode} and said nothing")
        json.replace(program.json)
        p4info.replace(program.p4info)
    finally:
        json.unlink(missing_ok=True)
        p4info.unlink(missing_ok=True)
    return program


def compiled_program(
    program: str | Path,
    compiler: Compiler = Compiler.P4SCHED,
    macros: Sequence[str] = (),
    target: Target = Target.V1MODEL,
) -> Program:
    """A program for a target: NAME of the laboratory's NAME.p4, or a file. Compiles it only if a source or the compiler
    is newer."""
    of_target = PROGRAMS[target]
    source = source_file(program, target)
    own = source.parent != of_target.folder
    # programs of one name in different folders have different places
    place = hashlib.sha256(os.fsencode(source.parent)).hexdigest()[:12] if own else ""
    built = Program.in_folder(of_target.build / place, built_name(source.stem, macros))
    outputs = (built.json, built.p4info)
    folders = (*of_target.includes, source.parent) if own else of_target.includes
    sources = [*(path for folder in folders for path in folder.rglob("*.p4")), _binary(compiler)]
    if all(map(is_file, outputs)):
        newest = max(path.stat().st_mtime_ns for path in sources)
        if min(path.stat().st_mtime_ns for path in outputs) > newest:
            return built
    return compile_program(source, of_target.build / place, compiler, macros, target)


def source_file(program: str | Path, target: Target) -> Path:
    """File of a program: NAME of the laboratory's NAME.p4 for a target, or a file."""
    return PROGRAMS[target].folder / f"{program}.p4" if isinstance(program, str) else program


def print_stages(source: Path, target: Target, macros: Sequence[str] = ()) -> int:
    """Prints the placement of a program in the stages of its chip. Returns the exit code: 1 if it does not fit."""
    return subprocess.run(_stages(source, target, macros), check=False).returncode


def stage_sums(source: Path, target: Target, macros: Sequence[str] = ()) -> dict[str, tuple[int, int]]:
    """What a program takes of each resource of its chip, and what the chip has, by the columns of `print_stages`."""
    command = _stages(source, target, macros)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise P4schedError(f"{source}: p4sched-p4c --stages failed: {done.stderr.strip()}")
    header, _, below = done.stdout.partition("\n\n")[2].partition("\n")
    rows = {row[0]: row[1:] for line in below.splitlines() if (row := line.split())}
    names = re.split(r"\s{2,}", header.strip())[1:]
    pairs = zip(names, rows["total"], rows["of"], strict=True)
    return {name: (int(taken), int(there)) for name, taken, there in pairs}


def _stages(source: Path, target: Target, macros: Sequence[str] = ()) -> list[str]:
    if target is Target.V1MODEL:
        raise UsageError("--arch v1model: v1model has no stages; a program for tna or t2na has")
    _require(source)
    require_known(source, PROGRAMS[target].includes, macros)
    return [*_command(Compiler.P4SCHED, target, macros), "--stages", str(source)]


def _command(compiler: Compiler, target: Target, macros: Sequence[str]) -> list[str]:
    """A compiler and its options, without the outputs and the program."""
    return [
        str(_binary(compiler)),
        *PROGRAMS[target].compiler_options,
        *(word for folder in PROGRAMS[target].includes for word in ("-I", str(folder))),
        *(word for macro in macros for word in ("-D", macro)),
    ]


def _require(source: Path) -> None:
    """Raises UsageError unless the program exists."""
    try:
        found, is_folder = source.is_file(), source.is_dir()
    except OSError as error:
        raise UsageError(f"cannot read the P4 program '{source}': {error.strerror}") from error
    if is_folder:
        raise UsageError(f"'{source}' is a folder, not a P4 program")
    if not found:
        raise UsageError(f"no P4 program '{source}'{_suggestion(source)}")


def built_name(name: str, macros: Sequence[str]) -> str:
    """Name of the files that NAME.p4 is compiled to with these macros."""
    return "-".join([name, *(re.sub(r"[^a-z0-9_=]+", "_", macro.lower()) for macro in macros)])


def _binary(compiler: Compiler) -> Path:
    if compiler is Compiler.P4C:
        return tool("p4c-bm2-ss", "it is p4c's compiler for BMv2; without --compiler p4c, p4sched's own is used")
    return rust_binary("p4sched-p4c")


def _suggestion(source: Path) -> str:
    programs = {path.name: path for folder in (TOFINO_DIR, P4_DIR) for path in folder.glob("*.p4")}
    close = difflib.get_close_matches(f"{source.stem}.p4", programs, n=1)
    return f"; did you mean '{os.path.relpath(programs[close[0]])}'?" if close else ""
