"""A lab, its tasks, and the marks that a check gives."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from p4sched.labs.sandbox import Sandbox

NOT_CHECKED = "not checked: "


@dataclass(frozen=True)
class Marks:
    """What a student gets for one task, and why."""

    task: str
    given: int
    of: int
    says: tuple[str, ...] = ()
    """For the student, a line each: why it is not all of them, or what else there is to know."""
    mistake: str | None = None
    """The name of the mistake, if it is one of the typical ones."""

    @property
    def full(self) -> bool:
        """Whether the task is done."""
        return self.given == self.of


@dataclass(frozen=True)
class Checked:
    """A check of one submission. It holds no time and no place, so the same submission gives an equal one."""

    lab: str
    marks: tuple[Marks, ...]
    figure: Path | None = field(default=None, compare=False)
    """Of the run with TCP."""
    remark: str = ""
    """Why it could not be checked, in one line; empty if it could."""

    @property
    def given(self) -> int:
        """Marks of all tasks."""
        return sum(marks.given for marks in self.marks)

    @property
    def of(self) -> int:
        """Marks that there are."""
        return sum(marks.of for marks in self.marks)

    @property
    def full(self) -> bool:
        """Whether all tasks are done."""
        return all(marks.full for marks in self.marks)


@dataclass(frozen=True)
class TcpRun:
    """The run with TCP at the end of a check: an experiment with the student's program."""

    experiment: str
    options: Sequence[str]
    shows: str
    """What to look at in the figure: a sentence."""


@dataclass(frozen=True, kw_only=True)
class Lab(ABC):
    """A lab. `labs/NN-name/check.py` makes one."""

    title: str
    minutes: int
    files: tuple[str, ...]
    """What the student hands in."""
    tcp: TcpRun | None = None

    @abstractmethod
    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """Marks for the files in `work`.

        `scratch` is an empty folder. Whatever reads or runs the student's files does so in the sandbox.

        Raises:
            SubmissionError: they cannot be checked: one is not there, does not compile, or goes beyond a limit.
        """

    @abstractmethod
    def no_marks(self) -> tuple[Marks, ...]:
        """The tasks without marks, and without a word on why."""

    def unchecked(self, lab: str, why: str) -> Checked:
        """Of a submission that cannot be checked. Each task says why, for some services show one task only."""
        first, *others = self.no_marks()
        lines = why.splitlines() or ["it cannot be checked"]
        marks = [replace(first, says=tuple(lines)), *(replace(one, says=(NOT_CHECKED + lines[0],)) for one in others)]
        return Checked(lab, tuple(marks), remark=lines[0])

    def variables(self, work: Path, scratch: Path) -> dict[str, str]:
        """Environment of the run with TCP: which programs it takes."""
        del work, scratch
        return {}

    def prelude(self, work: Path) -> str:
        """What runs before the experiment, in the same Python: statements, each with a semicolon behind it."""
        return ""
