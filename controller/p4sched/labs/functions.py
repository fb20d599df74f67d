"""A lab in which a student writes a controller in Python: a function `decide(memory, sample)`.

The function and the reference get the same samples. At the first difference the check stops, and shows what both saw.
The mistake is found as in `stepped`: each candidate is the reference with one mistake in it.
"""

import json
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.labs.lab import Lab, Marks
from p4sched.labs.sandbox import Sandbox, SubmissionError, readable_tree

Sample = Mapping[str, Any]
Answer = Mapping[str, Any] | None
TOLERANCE = 0.002
"""As a share of a number: how a student rounds is no mistake."""

# Runs in a Python of its own, which knows nothing of p4sched. Each line of the input is a trial: a list of samples.
RUNNER = """
import json, sys, traceback
file = sys.argv[1]
answers, sys.stdout = sys.stdout, sys.stderr
def problem(error):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else lines[-1] if lines else None
    said = error.msg if isinstance(error, SyntaxError) else error
    place = file if line is None else f"{file}, line {line}"
    return f"{place}: {type(error).__name__}: {said}"
try:
    names = {"__name__": "lab"}
    # From bytes: Python itself drops the mark that editors on Windows put first.
    exec(compile(open(file, "rb").read(), file, "exec"), names)
    if not callable(names.get("decide")):
        print(json.dumps({"problem": f"{file}: there is no function decide"}), file=answers)
        sys.exit()
    for line in sys.stdin:
        memory, found = {}, []
        for number, sample in enumerate(json.loads(line)):
            try:
                found.append(names["decide"](memory, sample))
                json.dumps(found[-1])
            except (MemoryError, BlockingIOError):
                raise
            except Exception as error:
                found[number:] = [{"problem": problem(error)}]
                break
        print(json.dumps(found), file=answers)
except (MemoryError, BlockingIOError):
    raise
except Exception as error:
    print(json.dumps({"problem": problem(error)}), file=answers)
"""


class Controller(ABC):
    """The reference, or the reference with one mistake in it."""

    @abstractmethod
    def decide(self, sample: Sample) -> Answer:
        """The answer to the next sample."""

    @abstractmethod
    def explain(self) -> list[tuple[str, str]]:
        """The last decision: (what, its value) for each line."""


@dataclass(frozen=True)
class FunctionTask:
    """A part of the function, and the samples that need it."""

    title: str
    marks: int
    trials: tuple[tuple[Sample, ...], ...]
    keys: tuple[str, ...]
    """What of the answers counts."""
    first: int = 0
    """The first sample whose answer counts."""


@dataclass(frozen=True)
class FunctionMistake:
    """A typical mistake: the reference with it, and what to tell."""

    name: str
    says: str
    controller: Callable[[], Controller]


@dataclass(frozen=True, kw_only=True)
class FunctionLab(Lab):
    """A lab with a function `decide`. `files` has one file."""

    tasks: tuple[FunctionTask, ...]
    controller: Callable[[], Controller]
    mistakes: tuple[FunctionMistake, ...]
    stands_in: str = ""
    """The function of `students_law` that puts the student's function into the place of a law, for the run with TCP."""

    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """See `Lab`."""
        (file,) = self.files
        if not (work / file).is_file():
            raise SubmissionError(f"there is no file {file}")
        found = self._answers(work / file, scratch / "function", sandbox)
        return tuple(self._marks(task, found) for task in self.tasks)

    def no_marks(self) -> tuple[Marks, ...]:
        """See `Lab`."""
        return tuple(Marks(task.title, 0, task.marks) for task in self.tasks)

    def prelude(self, work: Path) -> str:
        """See `Lab`."""
        return f"from p4sched.labs import students_law; students_law.{self.stands_in}({str(work / self.files[0])!r}); "

    def _answers(self, file: Path, folder: Path, sandbox: Sandbox) -> dict[int, list[Any]]:
        """Of the student's function, by the identity of the trial."""
        folder.mkdir()
        shutil.copyfile(file, folder / file.name)
        readable_tree(folder)
        python = Path(sys.base_prefix)
        trials = [trial for task in self.tasks for trial in task.trials]
        lines = "".join(f"{json.dumps(trial)}\n" for trial in trials)
        command = [str(python / "bin" / "python3"), "-I", "-c", RUNNER, file.name]
        result = sandbox.run(command, lines, folder, readable=[python], processes=1, what="your function")
        try:
            answers = [json.loads(line) for line in result.stdout.splitlines()]
        except json.JSONDecodeError:
            answers = []
        if answers and isinstance(answers[0], dict):
            raise SubmissionError(str(answers[0].get("problem")))
        if len(answers) != len(trials) or not all(isinstance(answer, list) for answer in answers):
            raise SubmissionError(f"{file.name} ended before it had answered all samples")
        return {id(trial): answer for trial, answer in zip(trials, answers, strict=True)}

    def _marks(self, task: FunctionTask, found: Mapping[int, list[Any]]) -> Marks:
        for trial in task.trials:
            controller, answers = self.controller(), found[id(trial)]
            for number, sample in enumerate(trial):
                right = controller.decide(sample)
                answer = answers[number] if number < len(answers) else None
                if isinstance(answer, dict) and "problem" in answer:
                    return Marks(task.title, 0, task.marks, (f"Sample {number + 1}: {answer['problem']}",))
                if number >= task.first and not _same(right, answer, task.keys):
                    says = self._difference(task, trial, number, controller, answer)
                    # with a part of the work done, the start is no explanation any more
                    mistake = self._mistake(found, self.tasks) or self._mistake(found, [task], ("nothing yet",))
                    if mistake is not None:
                        says += ["", f"Likely mistake: {mistake.says}"]
                    return Marks(task.title, 0, task.marks, tuple(says), mistake.name if mistake else None)
        return Marks(task.title, task.marks, task.marks)

    def _difference(
        self, task: FunctionTask, trial: Sequence[Sample], number: int, controller: Controller, answer: object
    ) -> list[str]:
        right = self._fresh(trial[: number + 1])
        lines = [f"Sample {number + 1} of {len(trial)} is the first one that your function answers differently."]
        lines += [f"  {what:<10} {value}" for what, value in controller.explain()]
        shown = {key: right.get(key) for key in task.keys} if isinstance(right, Mapping) else right
        own = {key: answer.get(key) for key in task.keys} if isinstance(answer, Mapping) else answer
        return [*lines, f"  {'expected':<10} {shown}", f"  {'yours':<10} {own}"]

    def _fresh(self, samples: Sequence[Sample]) -> Answer:
        """The answer to the last of these samples."""
        controller = self.controller()
        return [controller.decide(sample) for sample in samples][-1]

    def _mistake(
        self, found: Mapping[int, list[Any]], tasks: Sequence[FunctionTask], but: Sequence[str] = ()
    ) -> FunctionMistake | None:
        """The first mistake with which the reference answers as the student's function to every sample."""
        trials = [(task, trial) for task in tasks for trial in task.trials]
        for mistake in self.mistakes:
            if mistake.name in but:
                continue
            if all(_agree(mistake.controller(), task, trial, found[id(trial)]) for task, trial in trials):
                return mistake
        return None


def _agree(controller: Controller, task: FunctionTask, trial: Sequence[Sample], answers: Sequence[Any]) -> bool:
    if len(answers) != len(trial):
        return False
    expected = [controller.decide(sample) for sample in trial]
    return all(_same(one, other, task.keys) for one, other in list(zip(expected, answers, strict=True))[task.first :])


def _same(right: object, answer: object, keys: Sequence[str]) -> bool:
    if not isinstance(right, Mapping) or not isinstance(answer, Mapping):
        return right is None and answer is None
    return all(_alike(right.get(key), answer.get(key)) for key in keys)


def _alike(right: object, answer: object) -> bool:
    if isinstance(right, list) and isinstance(answer, list):
        return len(right) == len(answer) and all(map(_alike, right, answer))
    if isinstance(right, int | float) and isinstance(answer, int | float):
        return abs(right - answer) <= max(1, TOLERANCE * abs(right)) if right > 1000 else abs(right - answer) < 0.5
    return right == answer
