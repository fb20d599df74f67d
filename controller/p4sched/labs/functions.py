"""A lab in which a student writes a controller in Python: a function `decide(memory, sample)`.

The function and the reference get the same samples. The check stops at the first difference, and shows the inputs of
both. It names a mistake if the reference with this mistake gives the answers of the function to every sample of every
trial, and if no other known mistake explains as much.
"""

import json
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

from p4sched.labs import calling
from p4sched.labs.lab import Lab, Marks
from p4sched.labs.python_output import trial_answers
from p4sched.labs.sandbox import Sandbox, SubmissionError, readable_tree

Sample = Mapping[str, Any]
Answer = Mapping[str, Any] | None
Trial = tuple[Sample, ...]
Alike = Callable[[object, object], bool]
"""Compares two answers: the right one and the student's."""


def exactly(right: object, answer: object) -> bool:
    """True if both values are the same."""
    return right == answer


def rounded(right: object, answer: object) -> bool:
    """True if the difference of two numbers comes from rounding the result or its inputs."""
    if isinstance(right, list) and isinstance(answer, list):
        return len(right) == len(answer) and all(map(rounded, right, answer))
    if isinstance(right, int | float) and isinstance(answer, int | float):
        return abs(right - answer) <= 1 + 0.0006 * abs(right)
    return right == answer


def in_any_order(right: object, answer: object) -> bool:
    """True if both lists hold the same values, each once."""
    if not isinstance(right, list) or not isinstance(answer, list):
        return False
    return len(right) == len(answer) and all(answer.count(one) == 1 for one in right)


class Controller(ABC):
    """The reference, or the reference with mistakes."""

    @abstractmethod
    def decide(self, sample: Sample) -> Answer:
        """The answer to the next sample.

        Raises:
            ArithmeticError: a function with this mistake raises an exception.
        """

    @abstractmethod
    def explain(self) -> list[tuple[str, str]]:
        """The last decision, as lines (name, value)."""


@dataclass(frozen=True)
class FunctionMistake:
    """A typical mistake in one task."""

    name: str
    says: str
    parts: Mapping[str, Any]
    """Arguments with which the reference makes this mistake."""
    is_begun: bool = True
    """False if the first files contain this mistake in place of the task."""


@dataclass(frozen=True)
class FunctionTask:
    """A part of the function, and the samples that need it."""

    title: str
    marks: int
    trials: tuple[Trial, ...]
    keys: tuple[str, ...]
    """Keys of an answer that count."""
    mistakes: tuple[FunctionMistake, ...]
    first: int = 0
    """First sample whose answer counts."""
    right: tuple[Mapping[str, Any], ...] = ({},)
    """Arguments of the reference for each right way to do the task."""


@dataclass(frozen=True)
class TrialAnswers:
    """Answer of a function in a trial."""

    trial: Trial
    alone: Sequence[Any]
    in_turn: Sequence[Any]
    """Answers to the same trial, in turn with the other trials."""

    @cached_property
    def is_repeatable(self) -> bool:
        """True if both runs give the same answers, so the function depends only on memory and sample."""
        return json.dumps(self.alone) == json.dumps(self.in_turn)


@dataclass(frozen=True)
class _Difference:
    """The first wrong answer in a task."""

    trial: int
    in_turn: bool
    sample: int
    reference: Mapping[str, Any]

    @property
    def reached(self) -> tuple[bool, int, int]:
        """Position up to which the answers are right."""
        return self.in_turn, self.trial, self.sample


MORE_THAN_MEMORY = FunctionMistake(
    "more than memory",
    "your function answers the same samples in two ways: it does so when it serves other ports too, or an hour later. "
    "Keep everything in `memory`, not in global variables. Take the time from the sample, not from a clock.",
    {},
)
NOTHING_YET = "nothing yet"
MOST_BEGUN = 2
"""Largest number of mistakes that a check names together, without tasks that have not been begun."""


@dataclass(frozen=True, kw_only=True)
class FunctionLab(Lab):
    """A lab with a function `decide`. `files` has one file."""

    tasks: tuple[FunctionTask, ...]
    controller: Callable[..., Controller]
    """The reference. With the parts of a mistake as arguments, it makes this mistake."""
    alike: Mapping[str, Alike]
    """Comparison for each key of an answer."""
    space: Callable[[int], Sequence[Trial]]
    """Makes part N of a much larger set of trials, which tests mutants."""
    stands_in: str = ""
    """The function of `students_law` that replaces a law with the student's function, for the run with TCP."""

    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        (file,) = self.files
        if not (work / file).is_file():
            raise SubmissionError(f"there is no file {file}")
        return self.judge(self._answers(work / file, scratch / "function", sandbox))

    def no_marks(self) -> tuple[Marks, ...]:
        return tuple(Marks(task.title, 0, task.marks) for task in self.tasks)

    def prelude(self, work: Path) -> str:
        return f"from p4sched.labs import students_law; students_law.{self.stands_in}({str(work / self.files[0])!r}); "

    @property
    def trials(self) -> list[Trial]:
        """Trials of all tasks."""
        return [trial for task in self.tasks for trial in task.trials]

    def judge(self, answers: Sequence[TrialAnswers]) -> tuple[Marks, ...]:
        """The marks for the answers in all trials."""
        differences, position = [], 0
        for task in self.tasks:
            differences.append(self.difference(task, answers[position : position + len(task.trials)]))
            position += len(task.trials)
        if not any(differences):
            return tuple(Marks(task.title, task.marks, task.marks) for task in self.tasks)
        mistakes = self._explanation(answers)
        if all(differences) and not any(mistake.is_begun for mistake in mistakes):
            mistakes = [replace(mistake, name=NOTHING_YET) for mistake in mistakes[:1]]
        all_marks, position = [], 0
        for task, difference in zip(self.tasks, differences, strict=True):
            if difference is None:
                all_marks.append(Marks(task.title, task.marks, task.marks))
            else:
                mistake = _of_task(task, mistakes)
                says = self._lines(task, difference, answers[position + difference.trial])
                if mistake is not None:
                    says += ["", f"Likely mistake: {mistake.says}"]
                all_marks.append(Marks(task.title, 0, task.marks, tuple(says), mistake.name if mistake else None))
            position += len(task.trials)
        return tuple(all_marks)

    def difference(self, task: FunctionTask, answers: Sequence[TrialAnswers]) -> _Difference | None:
        """First wrong answer in the trials of a task, compared with the reference that agrees longest; None if all are
        right."""
        differences = []
        for reference in self.references():
            difference = self._difference(task, answers, reference)
            if difference is None:
                return None
            differences.append(difference)
        return max(differences, key=lambda difference: difference.reached)

    def _difference(
        self, task: FunctionTask, answers: Sequence[TrialAnswers], reference: Mapping[str, Any]
    ) -> _Difference | None:
        for in_turn in (False, True):
            for number, answer in enumerate(answers):
                if in_turn and answer.is_repeatable:
                    continue
                sample = self._differs(
                    reference,
                    answer.trial,
                    answer.in_turn if in_turn else answer.alone,
                    task.keys,
                    task.first,
                )
                if sample is not None:
                    return _Difference(number, in_turn, sample, reference)
        return None

    def _differs(
        self, parts: Mapping[str, Any], trial: Trial, answers: Sequence[Any], keys: Sequence[str], first: int = 0
    ) -> int | None:
        """First sample that the reference with these parts answers differently."""
        return self.first_difference(self.expected(parts, trial), answers, keys, first)

    def expected(self, parts: Mapping[str, Any], trial: Trial) -> Iterator[Answer]:
        """Answers of the reference with these parts; None: it raises an exception."""
        controller = self.controller(**parts)
        for sample in trial:
            try:
                yield controller.decide(sample)
            except ArithmeticError:
                yield None

    def first_difference(
        self, expected: Iterable[Answer], answers: Sequence[Any], keys: Sequence[str], first: int = 0
    ) -> int | None:
        """First sample, from `first` on, with another answer than the expected one."""
        for number, right in enumerate(expected):
            answer = answers[number] if number < len(answers) else None
            if number >= first and not self.same(right, answer, keys):
                return number
        return None

    def same(self, right: Answer, answer: object, keys: Sequence[str]) -> bool:
        """True if an answer is right. `right` is None if the reference raised an exception."""
        if right is None:
            return _problem(answer) is not None
        if not isinstance(answer, Mapping):
            return False
        return all(self.alike[key](right[key], answer.get(key)) for key in keys)

    def references(self) -> list[Mapping[str, Any]]:
        """The arguments of the reference for all right ways."""
        return [_merged(ways) for ways in product(*(task.right for task in self.tasks))]

    def agrees(self, reference: Mapping[str, Any], answers: Sequence[TrialAnswers]) -> bool:
        """True if the reference gives all of these answers, alone and in turn."""
        keys = tuple(self.alike)
        return all(
            self._differs(reference, answer.trial, sequence, keys) is None
            for answer in answers
            for sequence in (answer.alone, *([] if answer.is_repeatable else [answer.in_turn]))
        )

    def _explanation(self, answers: Sequence[TrialAnswers]) -> Sequence[FunctionMistake]:
        """The smallest set of mistakes, at most one in each task, with which the reference gives all answers of the
        function. Empty if there is no such set, or if another set explains as much."""
        if not all(trial_answer.is_repeatable for trial_answer in answers):
            return [MORE_THAN_MEMORY]
        keys, reference = tuple(self.alike), self.references()[0]
        # trials with a wrong answer come first
        answers = sorted(
            answers,
            key=lambda trial_answer: self._differs(reference, trial_answer.trial, trial_answer.alone, keys) is None,
        )
        for count in range(1, len(self.tasks) + 1):
            found: dict[tuple[str, ...], Sequence[FunctionMistake]] = {}
            for tasks in combinations(self.tasks, count):
                for mistakes in product(*(task.mistakes for task in tasks)):
                    begun = sum(mistake.is_begun for mistake in mistakes)
                    if begun <= MOST_BEGUN and self._explain(mistakes, answers):
                        found[tuple(mistake.name for mistake in mistakes)] = mistakes
            if found:
                return next(iter(found.values())) if len(found) == 1 else ()
        return ()

    def _explain(self, mistakes: Sequence[FunctionMistake], answers: Sequence[TrialAnswers]) -> bool:
        wrong = _merged([mistake.parts for mistake in mistakes])
        return any(self.agrees({**way, **wrong}, answers) for way in self.references())

    def _lines(self, task: FunctionTask, difference: _Difference, answers: TrialAnswers) -> list[str]:
        number, trial = difference.sample, answers.trial
        sequence = answers.in_turn if difference.in_turn else answers.alone
        answer = sequence[number] if number < len(sequence) else None
        problem = _problem(answer)
        if problem is not None:
            return [f"Sample {number + 1}: {problem}"]
        controller = self.controller(**difference.reference)
        right = [controller.decide(sample) for sample in trial[: number + 1]][-1]
        lines = [f"Sample {number + 1} of {len(trial)} is the first one that your function answers differently."]
        if difference.in_turn:
            lines.append("Here it serves several ports in turn, and each has a memory of its own.")
        lines += [f"  {what:<10} {value}" for what, value in controller.explain()]
        expected = {key: _round(right.get(key)) for key in task.keys} if right is not None else right
        yours = {key: answer.get(key) for key in task.keys} if isinstance(answer, Mapping) else answer
        return [*lines, f"  {'expected':<10} {expected}", f"  {'yours':<10} {yours}"]

    def _answers(self, file: Path, folder: Path, sandbox: Sandbox) -> list[TrialAnswers]:
        """Answers of the student's function in all trials."""
        folder.mkdir()
        shutil.copyfile(file, folder / file.name)
        readable_tree(folder)
        python = Path(sys.base_prefix)
        trials = self.trials
        lines = "".join(f"{json.dumps(trial)}\n" for trial in trials)
        program = Path(calling.__file__).read_text(encoding="utf-8")
        command = [str(python / "bin" / "python3"), "-I", "-c", program, file.name]
        result = sandbox.run(
            command, lines, folder, readable=[python / "bin", python / "lib"], processes=1, what="your function"
        )
        answers = trial_answers(result.stdout, [len(trial) for trial in (*trials, *trials)], file.name)
        return [TrialAnswers(*one) for one in zip(trials, answers[: len(trials)], answers[len(trials) :], strict=True)]


def _merged(parts: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def _round(value: object) -> object:
    """A value of the reference, rounded to the digits that count."""
    if isinstance(value, list):
        return [_round(one) for one in value]
    return round(value, 1) if isinstance(value, float) else value


def _problem(answer: object) -> str | None:
    """The message of an exception, if there is one in place of an answer."""
    found = answer.get("problem") if isinstance(answer, Mapping) else None
    return found if isinstance(found, str) else None


def _of_task(task: FunctionTask, mistakes: Sequence[FunctionMistake]) -> FunctionMistake | None:
    """The mistake to name for a wrong task: the mistake of this task, or the first."""
    return next((mistake for mistake in mistakes if mistake in task.mistakes), mistakes[0] if mistakes else None)
