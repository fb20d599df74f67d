"""A lab exercise, its tasks, and the marks of a check."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from p4sched.labs.displayable import displayable, displayable_lines
from p4sched.labs.sandbox import Sandbox

NOT_CHECKED = "not checked: "


@dataclass(frozen=True)
class Marks:
    """Marks for one task, and the reasons."""

    task: str
    score: int
    maximum: int
    says: tuple[str, ...] = ()
    """Lines for the student: why marks are missing, and other remarks."""
    mistake: str | None = None
    """Name of the mistake, if it is a typical one."""

    def __post_init__(self) -> None:
        """Makes the lines printable, because they may contain text from a submission."""
        object.__setattr__(self, "says", displayable_lines(self.says))
        object.__setattr__(self, "mistake", None if self.mistake is None else displayable(self.mistake))

    @property
    def full(self) -> bool:
        """True if the task is done."""
        return self.score == self.maximum


@dataclass(frozen=True)
class CheckResult:
    """The result of a check of one submission. Equal submissions give equal results, without time and path."""

    lab: str
    marks: tuple[Marks, ...]
    figure: Path | None = field(default=None, compare=False)
    """Figure of the run with TCP."""
    remark: str = ""
    """Reason why the submission could not be checked, in one line; empty if it was checked."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "remark", displayable(self.remark))

    @property
    def score(self) -> int:
        """Sum of the marks."""
        return sum(marks.score for marks in self.marks)

    @property
    def maximum(self) -> int:
        """Sum of all possible marks."""
        return sum(marks.maximum for marks in self.marks)

    @property
    def full(self) -> bool:
        """True if all tasks are done."""
        return all(marks.full for marks in self.marks)


@dataclass(frozen=True)
class TcpRun:
    """The run with TCP at the end of a check: an experiment with the student's program."""

    experiment: str
    options: Sequence[str]
    shows: str
    """A sentence about the figure: what to see in it."""


@dataclass(frozen=True, kw_only=True)
class Lab(ABC):
    """A lab exercise. `labs/NN-name/check.py` defines one."""

    title: str
    minutes: int
    files: tuple[str, ...]
    """Files that the student hands in."""
    tcp: TcpRun | None = None
    folder: Path = Path()
    """Folder of the lab, which the catalogue sets."""

    @property
    def asks_solution(self) -> bool:
        """True if a check runs the solution and its mistakes, and so needs their files."""
        return False

    @abstractmethod
    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """Marks for the files in `work`.

        `scratch` is an empty folder. The student's files are read and run only in the sandbox.

        Raises:
            SubmissionError: the files cannot be checked: one is missing, does not compile, or exceeds a limit.
        """

    @abstractmethod
    def no_marks(self) -> tuple[Marks, ...]:
        """The tasks without marks and without reasons."""

    def needs(self) -> tuple[str, ...]:
        """The programs of the workspace in switch/ that a check runs."""
        return ()

    def unchecked_result(self, lab: str, why: str) -> CheckResult:
        """Result of a submission that cannot be checked. Each task has the reason, because some services show only one
        task."""
        first, *others = self.no_marks()
        lines = why.splitlines() or ["it cannot be checked"]
        marks = [replace(first, says=tuple(lines)), *(replace(one, says=(NOT_CHECKED + lines[0],)) for one in others)]
        return CheckResult(lab, tuple(marks), remark=lines[0])

    def variables(self, work: Path, scratch: Path) -> dict[str, str]:
        """Environment variables of the run with TCP, which select its programs."""
        del work, scratch
        return {}

    def prelude(self, work: Path) -> str:
        """Statements that run before the experiment in the same Python, each with a semicolon at its end."""
        return ""
