"""Mutants of the solutions in Python, through the labs' checks: `python -m p4sched.labs.python_mutants [LAB...]`.

A mutant is the solution with one change. It should get full marks only if it gives the answers of the solution. A
mutant with full marks is compared with the reference on the lab's space, which is much larger than the trials of its
tasks.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

from p4sched.errors import UsageError
from p4sched.labs import calling, catalogue
from p4sched.labs.catalogue import Entry
from p4sched.labs.functions import Answer, FunctionLab, Sample, Trial, TrialAnswers
from p4sched.labs.python_changes import Mutant, mutants

PARTS = 200
"""Number of parts of a lab's space. A part has some hundred samples."""


@dataclass
class MutantCounts:
    """Outcomes of the mutants of a lab."""

    killed: int = 0
    equivalent: list[Mutant] = field(default_factory=list)
    """Mutants with full marks and the same answers in the lab's space."""
    survived: list[Mutant] = field(default_factory=list)
    """Mutants with full marks but other answers."""

    @property
    def total(self) -> int:
        """Number of all mutants."""
        return self.killed + len(self.equivalent) + len(self.survived)


class Trials:
    """Trials of a lab, and the answers of its references."""

    def __init__(self, lab: FunctionLab, trials: Sequence[Trial], keys: Sequence[str], first: int = 0) -> None:
        """`keys`: keys of the answers that count. `first`: first sample that counts."""
        self._lab, self._trials, self._keys, self._first = lab, trials, keys, first
        self._expected = cache(self._computed)

    def _computed(self, trial: int) -> list[list[Answer]]:
        return [list(self._lab.expected(reference, self._trials[trial])) for reference in self._lab.references()]

    def hold(self, code: CodeType) -> bool:
        """True if a program gives the answers of one of the references in all trials, each trial alone."""
        left = list(range(len(self._lab.references())))
        for number, trial in enumerate(self._trials):
            memory: dict[str, Any] = {}
            expected = self._expected(number)
            try:
                decide = calling.function(code)
            except Exception:
                return False
            for place, sample in enumerate(trial):
                answer = _answer(decide, memory, sample)
                if place >= self._first:
                    left = [one for one in left if self._lab.same(expected[one][place], answer, self._keys)]
                if not left:
                    return False
        return True


def _answer(decide: calling.Decide, memory: dict[str, Any], sample: Sample) -> object:
    try:
        return decide(memory, sample)
    except Exception:
        return None


def run_function(source: str, trials: Sequence[Trial], file: str = "mutant.py") -> list[TrialAnswers]:
    """Answers of the function of a program, without a sandbox."""
    code = compile(source, file, "exec")
    lines = [json.dumps(trial) for trial in trials]
    alone, in_turn = (map(json.loads, answers(code, lines)) for answers in (calling.alone, calling.in_turn))
    return [TrialAnswers(*one) for one in zip(trials, alone, in_turn, strict=True)]


def count_mutants(entry: Entry, most: int | None = None, parts: int = PARTS) -> MutantCounts:
    """Outcomes of the mutants of a lab's solution. `most`: approximate size of a sample."""
    lab = entry.load()
    assert isinstance(lab, FunctionLab)
    (file,) = lab.files
    tasks = [Trials(lab, task.trials, task.keys, task.first) for task in lab.tasks]
    space = Trials(lab, [trial for part in range(parts) for trial in lab.space(part)], tuple(lab.alike))
    counts = MutantCounts()
    for mutant in mutants((entry.solution / file).read_text(encoding="utf-8"), most):
        code = compile(mutant.source, file, "exec")
        # runs the whole check only if no single trial has failed
        full = all(task.hold(code) for task in tasks) and all(
            marks.full for marks in lab.judge(run_function(mutant.source, lab.trials))
        )
        if not full:
            counts.killed += 1
        elif space.hold(code):
            counts.equivalent.append(mutant)
        else:
            counts.survived.append(mutant)
    return counts


def main(names: Sequence[str]) -> int:
    """Prints lines for each lab. Returns 1 if a mutant gets full marks and is not equivalent."""
    entries = [catalogue.find(one) for one in names] or catalogue.labs()
    labs = [entry for entry in entries if isinstance(entry.load(), FunctionLab)]
    if not labs:
        raise UsageError("none of these labs has a function in Python")
    survived = 0
    for entry in labs:
        counts = count_mutants(entry)
        print(
            f"lab {entry.number}: {counts.total} mutants, {counts.killed} killed, {len(counts.equivalent)} equivalent, "
            f"{len(counts.survived)} survived"
        )
        for kind, listed_mutants in (("equivalent", counts.equivalent), ("SURVIVED", counts.survived)):
            for mutant in listed_mutants:
                print(f"  {kind}: {mutant.what}")
        survived += len(counts.survived)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
