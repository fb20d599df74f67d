"""Checks a lab in a browser, where no process can start: the page runs the programs of the workspace.

The page (`playground/`) runs this module in Pyodide. It gives a function that runs one program on files and an input.
"""

import datetime
import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.labs import catalogue, checking, result_text
from p4sched.labs.calling import CLOCKS
from p4sched.labs.chip import COMPILER
from p4sched.labs.decisions import PROGRAM as DECISIONS
from p4sched.labs.lab import CheckResult
from p4sched.labs.sandbox import Conversation, Result, Sandbox
from p4sched.paths import RELEASE_DIR

Run = Callable[[str], str]
"""Runs a program. Takes JSON: `words`, `files` (text by path, relative to the root) and `input`. Returns JSON: `code`,
`output` and `errors`."""
PREFIX = "p4sched-"
"""Beginning of the names of programs and of temporary folders."""


@dataclass(frozen=True)
class Programs:
    """The programs of the workspace, as a function of the page."""

    run: Run

    def __call__(self, words: Sequence[str], text: str) -> Result:
        """Runs a program. It sees the temporary folders that its words and its input name."""
        root = f"{tempfile.gettempdir()}/"
        folders = set(re.findall(rf"{re.escape(root)}{PREFIX}[^/\"\s]+", "\n".join([*words, text])))
        files = {
            str(path).removeprefix("/"): path.read_text(encoding="utf-8", errors="replace")
            for folder in folders
            for path in Path(folder).rglob("*")
            if path.is_file()
        }
        relative = root.removeprefix("/")

        def inside(there: str) -> str:
            return there.replace(f"{root}{PREFIX}", f"{relative}{PREFIX}")

        def outside(there: str) -> str:
            return re.sub(rf"(?<!/){re.escape(relative)}{PREFIX}", f"{root}{PREFIX}", there)

        request = {"words": [inside(word) for word in words], "files": files, "input": inside(text)}
        answer = json.loads(self.run(json.dumps(request)))
        return Result(answer["code"], outside(answer["output"]), outside(answer["errors"]))


class PageConversation(Conversation):
    """A program that the page runs again for each line."""

    def __init__(self, programs: Programs, name: str) -> None:
        self._programs, self._name = programs, name

    def answer(self, line: str) -> str:
        """See `Conversation`."""
        return self._programs([self._name], f"{line}\n").stdout

    def close(self) -> None:
        """See `Conversation`."""


@dataclass(frozen=True)
class InBrowser(Sandbox):
    """The sandbox in a browser. The browser sets the limits, and the page has a button that ends a check."""

    programs: Programs = Programs(lambda _: "")

    def converse(self, binary: Path) -> Conversation:
        """See `Sandbox`."""
        return PageConversation(self.programs, _name(binary))

    def run(
        self,
        command: Sequence[str],
        stdin_text: str,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        readable: Sequence[Path] = (),
        processes: int | None = None,
        what: str = "your program",
        writable: Path | None = None,
    ) -> Result:
        """See `Sandbox`. Python runs in this process."""
        del variables, readable, processes, what, writable
        program = Path(command[0])
        if program.name.startswith(PREFIX):
            return self.programs([_name(program), *command[1:]], stdin_text)
        # python3 -I -c PROGRAM WORDS
        return _run_python(command[3], command[4:], stdin_text, folder)


def install() -> None:
    """Makes an empty file for each program, where a check looks for it."""
    RELEASE_DIR.mkdir(parents=True, exist_ok=True)
    for name in (DECISIONS, COMPILER):
        (RELEASE_DIR / name).touch()


def check(lab: str, files: Mapping[str, str], run: Run) -> str:
    """Checks a student's files. Returns JSON of `record`.

    Args:
        lab: its number or name
        files: text of each file by its name
        run: runs a program of the workspace
    """
    entry = catalogue.find(lab)
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}work-") as made:
        work = Path(made)
        for name in entry.load().files:
            if name in files:
                (work / name).write_bytes(files[name].encode())
        result, _ = checking.check(entry, work, InBrowser(has_solver=False, programs=Programs(run)))
    return json.dumps(record(result))


def record(result: CheckResult) -> dict[str, Any]:
    """A result for the page: `marks`, `score`, `maximum`, `remark`, and `text` as on the command line."""
    marks = [
        {"task": one.task, "score": one.score, "maximum": one.maximum, "says": list(one.says), "mistake": one.mistake}
        for one in result.marks
    ]
    found = {"lab": result.lab, "marks": marks, "score": result.score, "maximum": result.maximum}
    return {**found, "remark": result.remark, "text": result_text.text(result)}


def _name(program: Path) -> str:
    return program.name.removeprefix(PREFIX)


def _run_python(program: str, words: Sequence[str], text: str, folder: Path) -> Result:
    """Runs a program in this process, and puts back what it changes: the folder, the words, the clocks."""
    output, errors, before = io.StringIO(), io.StringIO(), os.getcwd()
    clocks = {name: getattr(time, name) for name in CLOCKS}
    modules, argv, stdin = dict(sys.modules), sys.argv, sys.stdin
    calendar = datetime.datetime
    try:
        os.chdir(folder)
        sys.argv, sys.stdin = ["-c", *words], io.StringIO(text)
        with redirect_stdout(output), redirect_stderr(errors):
            exec(compile(program, "calling.py", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        os.chdir(before)
        sys.argv, sys.stdin = argv, stdin
        for name, clock in clocks.items():
            setattr(time, name, clock)
        datetime.datetime = calendar  # type: ignore[misc]
        for name in set(sys.modules) - set(modules):
            del sys.modules[name]
    return Result(code, output.getvalue(), errors.getvalue())
