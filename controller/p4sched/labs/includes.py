"""The files that a P4 program includes."""

import re
from collections.abc import Mapping
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def included(program: Path, instead: Mapping[Path, Path]) -> set[Path]:
    """The program and all files that it includes, under any condition. `instead`: files to read in place of others."""
    found: set[Path] = set()
    waiting = [program.resolve()]
    while waiting:
        file = waiting.pop()
        if file not in found and file.is_file():
            found.add(file)
            text = instead.get(file, file).read_text(encoding="utf-8")
            waiting += [(file.parent / name).resolve() for name in INCLUDE.findall(text)]
    return found


def keep_included(folder: Path, program: Path, instead: Mapping[Path, Path]) -> None:
    """Removes all other files from a folder, which is a copy, because a student's file could include them."""
    kept = included(program, {file.resolve(): other for file, other in instead.items()})
    for path in folder.resolve().rglob("*"):
        if not path.is_dir() and path not in kept:
            path.unlink()
