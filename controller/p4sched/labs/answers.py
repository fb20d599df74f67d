"""A lab whose answers are numbers and words: the student measures, and writes what comes out into answers.toml."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.labs.lab import Lab, Marks
from p4sched.labs.sandbox import Sandbox, SubmissionError

FILE = "answers.toml"
Answer = int | float | str


@dataclass(frozen=True)
class Slip:
    """A wrong answer that many give, and what to tell."""

    name: str
    answer: Answer
    says: str


@dataclass(frozen=True)
class Question:
    """A task with one answer."""

    title: str
    key: str
    """In answers.toml."""
    marks: int
    answer: Answer
    asks: str
    """What the answer is, with its unit: a sentence for whoever has it wrong."""
    slips: Sequence[Slip] = ()
    tolerance: float = 0
    """Of a number, as a share of it."""


@dataclass(frozen=True, kw_only=True)
class AnswersLab(Lab):
    """A lab with answers.toml."""

    questions: tuple[Question, ...]

    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """See `Lab`. Nothing of the student's is run."""
        del scratch, sandbox
        try:
            # "sig": editors on Windows put a mark first
            found = tomllib.loads((work / FILE).read_text(encoding="utf-8-sig"))
        except FileNotFoundError as error:
            raise SubmissionError(f"there is no file {FILE}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SubmissionError(f"{FILE} is not TOML: {error}. Words need quotes; numbers do not.") from error
        return tuple(_marks(question, found.get(question.key)) for question in self.questions)

    def no_marks(self) -> tuple[Marks, ...]:
        """See `Lab`."""
        return tuple(Marks(question.title, 0, question.marks) for question in self.questions)


def _marks(question: Question, answer: object) -> Marks:
    title, of = question.title, question.marks
    if not isinstance(answer, int | float | str) or isinstance(answer, bool):
        return Marks(title, 0, of, (f"{FILE} has no number or text '{question.key}'. {question.asks}",))
    if answer in {0, ""}:
        return Marks(title, 0, of, (f"'{question.key}' is not answered yet. {question.asks}",), "nothing yet")
    if _same(answer, question.answer, question.tolerance):
        return Marks(title, of, of)
    if isinstance(answer, str) and not isinstance(question.answer, str):
        text = f"{question.key} = {answer!r} is text. Write a number, without quotes and without a unit."
        return Marks(title, 0, of, (text, question.asks))
    says = [f"{question.key} = {answer!r} is not right.", question.asks]
    slip = next((slip for slip in question.slips if _same(answer, slip.answer, question.tolerance)), None)
    if slip is None:
        return Marks(title, 0, of, tuple(says))
    return Marks(title, 0, of, (*says, f"Likely mistake: {slip.says}"), slip.name)


def _same(answer: Answer, right: Answer, tolerance: float) -> bool:
    if isinstance(answer, str) or isinstance(right, str):
        return "".join(str(answer).split()).lower() == str(right).lower()
    return abs(answer - right) <= tolerance * abs(right)
