"""Decisions of variants of a lab's file, by trial: the solution, its mistakes, its mutants."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from p4sched.labs.decisions import PROGRAM, Decision, Trial, request
from p4sched.labs.sandbox import Sandbox
from p4sched.p4rt.target import Target
from p4sched.paths import rust_binary


class ProgramLab(Protocol):
    """A lab whose solution is a part of a P4 program."""

    @property
    def folder(self) -> Path:
        """Folder of the lab."""

    @property
    def file(self) -> str:
        """File that students change."""

    @property
    def places(self) -> Mapping[str, str]:
        """Places of the student's files in the program's folder."""

    @property
    def scheme(self) -> str:
        """Scheme that the program implements."""

    @property
    def target(self) -> Target:
        """Target of the program."""

    def prepare(self, work: Path, scratch: Path) -> Path:
        """Puts the files of `work` into a copy of the program; returns the program."""


class Variants:
    """Runs one text after another in one process, which starts at the first request.

    The texts belong to the project, so they need no sandbox.
    """

    def __init__(self, lab: ProgramLab, trials: Sequence[Trial], sandbox: Sandbox | None = None) -> None:
        self._lab, self._trials, self._sandbox = lab, trials, sandbox or Sandbox()
        self._asked: _DecisionsProcess | None = None

    def __enter__(self) -> "Variants":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._asked is not None:
            self._asked.close()

    def decisions(self, text: str, trial: int) -> list[Decision] | str:
        """The decisions in a trial, or an error message."""
        if self._asked is None:
            self._asked = _DecisionsProcess(self._lab, self._sandbox)
        answer = self._asked.answer(text, self._trials[trial])
        return str(answer["error"]) if "error" in answer else list(answer["program"])


class _DecisionsProcess:
    """`p4sched-decisions`, and a copy of the lab's program."""

    def __init__(self, lab: ProgramLab, sandbox: Sandbox) -> None:
        self._lab = lab
        self._folder = tempfile.TemporaryDirectory(prefix="p4sched-variants-")
        work, scratch = Path(self._folder.name) / "work", Path(self._folder.name) / "scratch"
        scratch.mkdir()
        shutil.copytree(lab.folder / "solution", work)
        self._program = lab.prepare(work, scratch)
        self._place = next(scratch.rglob(lab.places[lab.file]))
        self._text, self._number = self._place.read_text(encoding="utf-8"), 0
        self._process = sandbox.converse(rust_binary(PROGRAM))

    def answer(self, text: str, trial: Trial) -> dict[str, Any]:
        """Answer to one request."""
        if text != self._text:
            self._place.write_text(text, encoding="utf-8")
            # a new name makes the process compile the program again
            self._text, self._number = text, self._number + 1
        program = self._program.with_stem(f"{self._program.stem}_{self._number}")
        if not program.exists():
            shutil.copyfile(self._program, program)
        question = request(program, self._lab.scheme, trial, target=self._lab.target, model=False)
        answer: dict[str, Any] = json.loads(self._process.answer(json.dumps(question)))
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._process.close()
        self._folder.cleanup()
