"""A lab whose answers are numbers and words: the student measures and writes the results into answers.toml."""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.labs.lab import Lab, Marks
from p4sched.labs.sandbox import Sandbox, SubmissionError

FILE = "answers.toml"
Answer = int | float | str
LARGEST_FILE = 50_000
"""Largest size in bytes. The time to parse TOML grows with its square."""
LONGEST_INTEGER = 1000
"""Bits of the longest integer. Longer integers become infinite, because a float cannot hold them."""


@dataclass(frozen=True)
class Slip:
    """A typical wrong answer and its message."""

    name: str
    answer: Answer
    says: str


@dataclass(frozen=True)
class Question:
    """A task with one answer."""

    title: str
    key: str
    """Key in answers.toml."""
    marks: int
    answer: Answer
    asks: str
    """A sentence for students with a wrong answer: the wanted value, with its unit."""
    slips: Sequence[Slip] = ()
    tolerance: float = 0
    """Relative tolerance of a number."""
    slip_tolerance: float | None = None
    """Relative tolerance of the numbers of the slips; None: that of the answer."""


@dataclass(frozen=True, kw_only=True)
class AnswersLab(Lab):
    """A lab with answers.toml."""

    questions: tuple[Question, ...]

    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """See `Lab`. Runs no code of the student."""
        del scratch, sandbox
        found = _read(work / FILE)
        return tuple(_marks(question, found.get(question.key)) for question in self.questions)

    def no_marks(self) -> tuple[Marks, ...]:
        return tuple(Marks(question.title, 0, question.marks) for question in self.questions)


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise SubmissionError(f"there is no file {FILE}")
    if path.stat().st_size > LARGEST_FILE:
        raise SubmissionError(f"{FILE} is larger than {LARGEST_FILE} bytes")
    try:
        # "sig": editors on Windows write a byte order mark
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{FILE} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SubmissionError(f"{FILE} is not TOML: {error}. Words need quotes; numbers do not.") from error
    except (ValueError, RecursionError) as error:
        raise SubmissionError(f"{FILE} has a number of thousands of digits, or too many brackets") from error


def _marks(question: Question, answer: object) -> Marks:
    title, of = question.title, question.marks
    if not isinstance(answer, int | float | str) or isinstance(answer, bool):
        return Marks(title, 0, of, (f"{FILE} has no number or text '{question.key}'. {question.asks}",))
    if isinstance(answer, int) and answer.bit_length() > LONGEST_INTEGER:
        answer = math.inf
    if isinstance(answer, str) and not isinstance(question.answer, str):
        answer = _number(answer)
    if answer in {0, ""}:
        return Marks(title, 0, of, (f"'{question.key}' is not answered yet. {question.asks}",), "nothing yet")
    if _same(answer, question.answer, question.tolerance):
        return Marks(title, of, of)
    if isinstance(answer, str) and not isinstance(question.answer, str):
        text = f"{question.key} = {answer!r} is not a number. Write digits and a point, without a unit."
        return Marks(title, 0, of, (text, question.asks))
    says = [f"{question.key} = {answer!r} is not right.", question.asks]
    tolerance = question.tolerance if question.slip_tolerance is None else question.slip_tolerance
    slips = [slip for slip in question.slips if _same(answer, slip.answer, tolerance)]
    if len(slips) != 1:
        return Marks(title, 0, of, tuple(says))
    return Marks(title, 0, of, (*says, f"Likely mistake: {slips[0].says}"), slips[0].name)


def _number(text: str) -> Answer:
    """The number in quotes, or the text if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return text


def _same(answer: Answer, right: Answer, tolerance: float) -> bool:
    if isinstance(answer, str) or isinstance(right, str):
        return isinstance(answer, str) and isinstance(right, str) and _words(answer) == _words(right)
    return right - tolerance * abs(right) <= answer <= right + tolerance * abs(right)


def _words(answer: str) -> str:
    """Letters and digits only, so that leaf1-spine2 equals `Leaf1 - Spine2`."""
    return "".join(re.findall(r"[a-z0-9]+", answer.lower()))
