"""A lab with a program for a chip, which must make the decisions of the model and fit into the stages.

The decisions are checked as in `stepped_lab`. The last task uses `p4sched-p4c --stages`.
"""

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from p4sched.labs.decisions import Trial, TrialDecisions, program_decisions
from p4sched.labs.lab import Marks
from p4sched.labs.sandbox import Sandbox, SubmissionError
from p4sched.labs.stepped_lab import SteppedLab
from p4sched.p4rt.target import Target
from p4sched.paths import P4_DIR, TOFINO_DIR, rust_binary

COMPILER = "p4sched-p4c"
NOT_YET = "First the decisions: this task counts when all tasks before it are done."
MESSAGE = re.compile(r"(?P<file>\S+\.p4):(?P<line>\d+):\d+: (?P<says>.+)")
"""A message of the compiler. The two lines after it show the place in the program."""
LINES_OF_MESSAGE = 3
WIDTH = 110
"""Width of a message, in columns."""
CHAIN = re.compile(r" The longest chain of dependencies is (?P<chain>.+); shorten it, or leave a part to another pass")
PLACE = re.compile(r"(?P<file>\w+\.p4):(?P<line>\d+)$")


@dataclass(frozen=True)
class Limit:
    """A limit of the chip, and its explanation."""

    name: str
    pattern: str
    """Pattern of the compiler's message."""
    says: str


@dataclass(frozen=True, kw_only=True)
class ChipLab(SteppedLab):
    """A lab with a program for Tofino 1."""

    target: Target = Target.TNA
    fits: Marks
    """The last task, without its marks."""
    limits: tuple[Limit, ...]

    def no_marks(self) -> tuple[Marks, ...]:
        return (*super().no_marks(), self.fits)

    def decisions(self, work: Path, scratch: Path, trials: Sequence[Trial], sandbox: Sandbox) -> list[TrialDecisions]:
        program = self.prepare(work, scratch)
        shared = scratch / P4_DIR.name
        return program_decisions(program, self.scheme, trials, sandbox, target=self.target, includes=[shared])

    def prepare(self, work: Path, scratch: Path) -> Path:
        return self.apply_edits(self.isolate(self._tree(work, scratch), scratch))

    def needs(self) -> tuple[str, ...]:
        return (*super().needs(), COMPILER)

    def unedited(self, scratch: Path) -> Path:
        return scratch / TOFINO_DIR.name / f"{self.program}.p4"

    def variables(self, work: Path, scratch: Path) -> dict[str, str]:
        return {"P4SCHED_TOFINO": str(self._tree(work, scratch))}

    def marks(self, runs: Sequence[TrialDecisions], work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        decisions = super().marks(runs, work, scratch, sandbox)
        try:
            refused, report = self._placement(self.unedited(scratch), sandbox)
        except SubmissionError as error:
            return (*decisions, replace(self.fits, says=(str(error),)))
        right = all(marks.full for marks in decisions)
        if not refused:
            score = self.fits.maximum if right else 0
            return (*decisions, replace(self.fits, score=score, says=tuple(report) if right else (NOT_YET,)))
        says = [line for message in refused for line in self._message_lines(message, work)]
        if not right:
            return (*decisions, replace(self.fits, says=(NOT_YET, "", *says)))
        limit = next((limit for limit in self.limits if re.search(limit.pattern, refused[0])), None)
        if limit is not None:
            says += [f"Likely mistake: {limit.says}"]
        return (*decisions, replace(self.fits, says=tuple(says), mistake=limit.name if limit else None))

    def _tree(self, work: Path, scratch: Path) -> Path:
        shutil.copytree(P4_DIR, scratch / P4_DIR.name, dirs_exist_ok=True)
        return self.programs(TOFINO_DIR, work, scratch)

    def _placement(self, program: Path, sandbox: Sandbox) -> tuple[list[str], list[str]]:
        """Errors of the placement, as messages of three lines, and the report if there are no errors."""
        binary = rust_binary(COMPILER).resolve()
        result = sandbox.run(
            [str(binary), "--stages", "--arch", self.target.value, str(program)],
            "",
            program.parent,
            readable=[binary, program.parent.parent / P4_DIR.name],
            processes=8,
        )
        report_lines = result.stdout.splitlines()
        if result.returncode == 0:
            return [], [report_lines[0].replace(f"{program.parent}/", ""), *dict.fromkeys(_registers(report_lines))]
        lines = result.stderr.splitlines()
        firsts = [number for number, line in enumerate(lines) if MESSAGE.match(line)]
        if not firsts:
            raise SubmissionError(f"the stages could not be counted: {result.stderr.strip() or 'it was ended'}")
        return ["\n".join(lines[first : first + LINES_OF_MESSAGE]) for first in firsts], []

    def _message_lines(self, message: str, work: Path) -> Iterator[str]:
        """The message of the compiler, with a line for each link of a chain of dependencies."""
        first, *shown = message.splitlines()
        found = MESSAGE.match(first)
        assert found is not None
        chain = CHAIN.search(first)
        place = f"{Path(found['file']).name}, line {found['line']}"
        yield from textwrap.wrap(f"{place}: {CHAIN.sub('', found['says'])}", WIDTH)
        yield from (f"  {line}" for line in shown)
        if chain is not None:
            yield "Each of these waits for the one before it:"
            yield from (f"  {self._link(link, work)}" for link in chain["chain"].split(" -> "))
        yield ""

    def _link(self, link: str, work: Path) -> str:
        """A link of a chain, with the line of the program if it is the student's."""
        place = PLACE.search(link)
        if place is None or place["file"] not in self.places:
            return link
        return f"{link:<40} | {(work / place['file']).read_text().splitlines()[int(place['line']) - 1].strip()}"


def _registers(report_lines: Sequence[str]) -> Iterator[str]:
    """Lines about registers in the report of the stages."""
    stage = ""
    for line in report_lines:
        if re.match(r"stage \d+$", line):
            stage = line
        found = re.search(r"register (?:pipe\.\w+\.)?(\S+)", line)
        if found is not None:
            yield f"  {stage}: {found[1]}"
