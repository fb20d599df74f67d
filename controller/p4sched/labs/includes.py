"""The files that a P4 program includes."""

import re
from collections.abc import Mapping
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def included_files(program: Path, instead: Mapping[Path, Path]) -> set[Path]:
    """The program and all files that it includes, under any condition. `instead`: files to read in place of others."""
    files: set[Path] = set()
    waiting = [program.resolve()]
    while waiting:
        file = waiting.pop()
        if file not in files and file.is_file():
            files.add(file)
            text = instead.get(file, file).read_text(encoding="utf-8")
            waiting += [(file.parent / name).resolve() for name in INCLUDE.findall(text)]
    return files


def keep_included(folder: Path, program: Path, instead: Mapping[Path, Path]) -> None:
    """Removes all other files from a folder, which is a copy, because a student's file could include them."""
    included = included_files(program, {file.resolve(): other for file, other in instead.items()})
    for path in folder.resolve().rglob("*"):
        if not path.is_dir() and path not in included:
            path.unlink()
