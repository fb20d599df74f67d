"""The macros of a P4 program. `-D` with another name would have no effect, so it is reported as a typing mistake."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from p4sched.errors import UsageError, unknown_name
from p4sched.paths import ARCHITECTURES_DIR, P4_DIR, TOFINO_DIR

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CONTINUED = "\\\n"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
GUARD = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n\s*#[ \t]*define[ \t]+\1[ \t]*$", re.MULTILINE | re.ASCII)
"""Guard of a file that is included only once."""
DEFINITION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE | re.ASCII)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:ifdef|ifndef|if|elif)\b(.*)$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
OPERATOR = "defined"


@dataclass(frozen=True)
class Macros:
    """Macros in a program and its included files."""

    options: frozenset[str]
    """Names in the program's own preprocessor conditions, without include guards and names of the architecture."""
    mentions: frozenset[str]
    """All names outside comments, without guards. Each could be a macro."""
    complete: bool
    """True if every included file was found."""


def macros_of(source: Path, folders: Sequence[Path]) -> Macros:
    """Reads a program and its included files; `folders`: additional folders for `#include`."""
    asked: set[str] = set()
    mentioned: set[str] = set()
    guards: set[str] = set()
    complete, seen, left = True, set(), [source]
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        text = _text(path)
        if not path.is_relative_to(ARCHITECTURES_DIR.resolve()):
            asked.update(name for condition in CONDITION.findall(text) for name in NAME.findall(condition))
        guards.update(GUARD.findall(text))
        mentioned.update(NAME.findall(text))
        for found in _included_files(text, path.parent, folders):
            if found is None:
                complete = False
            else:
                left.append(found)
    return Macros(frozenset(asked - guards - {OPERATOR}), frozenset(mentioned - guards), complete)


def _text(path: Path) -> str:
    """Text without comments, with continued lines joined."""
    return COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace").replace(CONTINUED, " "))


@cache
def _defined_by_the_lab() -> frozenset[str]:
    """Names that the laboratory's programs define themselves, which are no options of other programs."""
    sources = [path for folder in (P4_DIR, TOFINO_DIR) for path in folder.rglob("*.p4")]
    return frozenset(name for path in sources for name in DEFINITION.findall(_text(path)))


def _included_files(text: str, beside: Path, folders: Sequence[Path]) -> Iterator[Path | None]:
    """Each file that a text includes, also under a false condition; None for a missing file."""
    for quoted, bracketed in INCLUDE.findall(text):
        places = [*([beside] if quoted else []), *folders, ARCHITECTURES_DIR]
        paths = (place / (quoted or bracketed) for place in places)
        yield next((path.resolve() for path in paths if path.is_file()), None)


def require_known(source: Path, folders: Sequence[Path], macros: Sequence[str]) -> None:
    """Raises UsageError for a macro without effect on the program. A program of the laboratory must use it in a
    condition and must not define it; another program must mention it."""
    if not macros:
        return
    program_macros = macros_of(source, folders)
    if not program_macros.complete:
        # the compiler reports the missing file
        return
    for macro in macros:
        name = macro.partition("=")[0]
        if _of_the_lab(source):
            options = program_macros.options - _defined_by_the_lab()
            if name not in options:
                raise unknown_name(f"build option of {source.name}", name, sorted(options))
        elif name not in program_macros.mentions:
            raise UsageError(
                f"-D {name}: no line of {source.name} or its includes mentions it{_suggestion(name, program_macros)}"
            )


def _of_the_lab(source: Path) -> bool:
    return any(source.resolve().is_relative_to(folder.resolve()) for folder in (P4_DIR, TOFINO_DIR))


def _suggestion(name: str, program_macros: Macros) -> str:
    """Closest name, with names in conditions first."""
    for names in (program_macros.options, program_macros.mentions):
        close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.8)
        if close:
            return f"; did you mean '{close[0]}'?"
    return ""
