"""Runs mutants of a lab's solution through the lab's check."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from p4sched.labs import catalogue, proof
from p4sched.labs.catalogue import Entry
from p4sched.labs.chip import ChipLab
from p4sched.labs.mutants.change import Mutant, mutants
from p4sched.labs.sandbox import Sandbox
from p4sched.labs.stepped_lab import SteppedLab
from p4sched.labs.variants import Variants
from p4sched.paths import P4_DIR

LABS = ("02", "03", "04", "05", "06", "07", "11")
"""Labs with a P4 rule that has a symbolic counterpart."""
SHARED = ("queue_sizes.p4", "bands.p4", "verdict.p4")
"""Files of `p4/shared` with fields and constants of the solutions."""
FIELDS = """
    bit<16> meta.user; bit<16> meta.scale;
    bit<32> standard_metadata.packet_length; bit<48> standard_metadata.ingress_global_timestamp;
"""
"""Fields of headers and metadata that the solutions read."""
OF_THE_COMPILER = re.compile(r"\.p4:\d+:\d+:")


class Outcome(Enum):
    """Result of a check on a mutant."""

    REFUSED = "does not compile"
    KILLED = "killed"
    SURVIVED = "full marks"


@dataclass(frozen=True)
class Solution:
    """The solution of a lab, in one file."""

    entry: Entry
    file: str
    text: str
    included: tuple[str, ...]
    """Texts of the files with its fields and constants."""

    def mutants(self) -> list[Mutant]:
        """All mutants."""
        return mutants(self.text, self.included)


def solution(number: str) -> Solution:
    """The solution of a lab."""
    entry = catalogue.find(number)
    (file,) = entry.load().files
    included = tuple((P4_DIR / "shared" / name).read_text(encoding="utf-8") for name in SHARED)
    included += (FIELDS,)
    return Solution(entry, file, (entry.solution / file).read_text(encoding="utf-8"), included)


class Bench:
    """Runs a lab's trials one after the other, until a mutant decides differently from the solution."""

    def __init__(self, of: Solution, lab: SteppedLab, variants: Variants) -> None:
        self._of, self._lab, self._variants = of, lab, variants
        self._expected = [variants.decisions(of.text, number) for number in range(len(lab.trials))]

    def outcome(self, mutant: Mutant) -> Outcome:
        """Outcome of a mutant."""
        for number, expected in enumerate(self._expected):
            decisions = self._variants.decisions(mutant.text, number)
            if isinstance(decisions, str):
                return Outcome.REFUSED if OF_THE_COMPILER.search(decisions) else Outcome.KILLED
            if decisions != expected:
                return Outcome.KILLED
        return Outcome.SURVIVED if not isinstance(self._lab, ChipLab) or self._fits(mutant) else Outcome.KILLED

    def _fits(self, mutant: Mutant) -> bool:
        """True if the whole check gives full marks, so the program also fits the chip."""
        with tempfile.TemporaryDirectory(prefix="p4sched-mutant-") as made:
            work, scratch = Path(made) / "work", Path(made) / "scratch"
            shutil.copytree(self._of.entry.solution, work)
            scratch.mkdir()
            (work / self._of.file).write_text(mutant.text, encoding="utf-8")
            return all(marks.full for marks in self._lab.check(work, scratch, Sandbox()))


class Equivalence:
    """Asks the solvers whether a program is equivalent to the solution. `folder`: for the compiled programs."""

    def __init__(self, of: Solution, folder: Path) -> None:
        lab = of.entry.load()
        assert isinstance(lab, SteppedLab)
        self._of, self._lab, self._folder = of, lab, folder
        self._solution = self.compiled("solution", of.text)

    def is_equivalent(self, text: str, seconds: float) -> bool | None:
        """See `equivalence.is_equivalent`."""
        # imported here because it needs Z3
        from p4sched.labs.equivalence import is_equivalent, program  # noqa: PLC0415

        other = self.compiled(f"program_{len(list(self._folder.iterdir()))}", text)
        info = self._solution.with_suffix(".p4info.txtpb").read_text(encoding="utf-8")
        return is_equivalent(self._of.entry.number, program(self._solution), program(other), info, seconds)

    def compiled(self, name: str, text: str) -> Path:
        """A program with this file of the student, as JSON."""
        work, scratch = self._folder / name / "work", self._folder / name / "scratch"
        shutil.copytree(self._of.entry.solution, work)
        scratch.mkdir()
        (work / self._of.file).write_text(text, encoding="utf-8")
        self._lab.prepare(work, scratch)
        made = self._folder / name / "made"
        made.mkdir()
        return proof.compiled(self._lab.unedited(scratch), made, self._lab.target, Sandbox())


def outcomes(of: Solution, every: Sequence[Mutant]) -> Iterator[tuple[Mutant, Outcome]]:
    """Checks the mutants, in order."""
    lab = of.entry.load()
    assert isinstance(lab, SteppedLab)
    with Variants(lab, lab.trials) as variants:
        bench = Bench(of, lab, variants)
        for mutant in every:
            yield mutant, bench.outcome(mutant)
