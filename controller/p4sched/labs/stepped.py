"""A lab in which a student writes a part of a P4 program: the check in stepped time.

The program and the model get the same packets. At the first difference the check stops, and shows what both saw.
Then it looks for the mistake: each candidate is the rule with one mistake in it. The one that decides as the student's
program on every packet is named.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.labs.decisions import Decided, Decision, Trial, decided
from p4sched.labs.lab import Lab, Marks
from p4sched.labs.rules import MOST_URGENT, Rule
from p4sched.labs.sandbox import Sandbox, SubmissionError
from p4sched.labs.trace import LINK_BPS
from p4sched.paths import P4_DIR

MakeRule = Callable[[Trial], Rule]
"""A port with the parameters of a trial."""
MOST_LINES = 16
"""Of the student's file that a message shows."""


@dataclass(frozen=True)
class Task:
    """A part of the program, and the trials that need it."""

    title: str
    marks: int
    trials: tuple[Trial, ...]
    marker: str
    """The comment in the student's file that the part stands behind."""


@dataclass(frozen=True)
class Mistake:
    """A typical mistake: the rule with it, and what to tell."""

    name: str
    says: str
    """Sentences for the student; they do not give the solution away."""
    rule: MakeRule
    marker: str = ""
    """The comment that it stands behind, if it is not the one of the task that shows it."""


@dataclass(frozen=True, kw_only=True)
class SteppedLab(Lab):
    """A lab with a P4 program."""

    places: Mapping[str, str]
    """Where each file of the student belongs, below the folder of the programs."""
    program: str
    """NAME of NAME.p4."""
    scheme: str
    rule: MakeRule
    tasks: tuple[Task, ...]
    mistakes: tuple[Mistake, ...]
    has_model: bool = True
    one_queue: bool = False

    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """See `Lab`."""
        trials = [trial for task in self.tasks for trial in task.trials]
        try:
            runs = self.decided(work, scratch, trials, sandbox)
        except SubmissionError as error:
            raise SubmissionError(self._as_submitted(str(error))) from error
        return self.marks(list(zip(trials, runs, strict=True)), work, scratch, sandbox)

    def marks(
        self, everywhere: Sequence[tuple[Trial, Decided]], work: Path, scratch: Path, sandbox: Sandbox
    ) -> tuple[Marks, ...]:
        """Of each task. `everywhere`: all trials, and what was decided in them."""
        del scratch, sandbox
        given, done = [], 0
        for task in self.tasks:
            own = everywhere[done : done + len(task.trials)]
            done += len(task.trials)
            given.append(self._marks(task, own, everywhere, work))
        return tuple(given)

    def no_marks(self) -> tuple[Marks, ...]:
        """See `Lab`."""
        return tuple(Marks(task.title, 0, task.marks) for task in self.tasks)

    def decided(self, work: Path, scratch: Path, trials: Sequence[Trial], sandbox: Sandbox) -> list[Decided]:
        """What the student's program decides.

        Raises:
            SubmissionError: it cannot be compiled or run.
        """
        tree = self.programs(P4_DIR, work, scratch)
        return decided(tree / f"{self.program}.p4", self.scheme, trials, sandbox, model=self.has_model)

    def variables(self, work: Path, scratch: Path) -> dict[str, str]:
        """See `Lab`."""
        return {"P4SCHED_P4": str(self.programs(P4_DIR, work, scratch))}

    def programs(self, original: Path, work: Path, scratch: Path) -> Path:
        """The programs of a folder with the student's files in their places.

        Raises:
            SubmissionError: a file is not there.
        """
        tree = scratch / original.name
        shutil.copytree(original, tree, dirs_exist_ok=True)
        for name, place in self.places.items():
            if not (work / name).is_file():
                raise SubmissionError(f"there is no file {name}")
            try:
                (work / name).read_bytes().decode()
            except UnicodeDecodeError as error:
                line = error.object[: error.start].count(b"\n") + 1
                raise SubmissionError(f"{name}:{line}: this is not UTF-8; save the file as UTF-8") from error
            shutil.copyfile(work / name, tree / place)
        return tree

    def _as_submitted(self, message: str) -> str:
        """A message of the compiler with the student's own names of the files."""
        for name, place in self.places.items():
            message = message.replace(place, name)
        return message

    def _marks(
        self,
        task: Task,
        own: Sequence[tuple[Trial, Decided]],
        everywhere: Sequence[tuple[Trial, Decided]],
        work: Path,
    ) -> Marks:
        for trial, run in own:
            found = self._first_difference(trial, run)
            if found is None:
                continue
            number, expected, lines = found
            # with a part of the work done, the start is no explanation any more
            mistake = self._mistake(everywhere) or self._mistake(own, ("nothing yet",))
            says = [
                f"Packet {number + 1} of {len(trial.packets)} is the first one that your program decides differently.",
                *lines,
                f"  {'model':<8} {self._in_words(expected)}",
                f"  {'program':<8} {self._in_words(run.program[number])}",
            ]
            if mistake is not None:
                says += ["", f"Likely mistake: {mistake.says}"]
            says += ["", *self._lines((mistake and mistake.marker) or task.marker, work)]
            return Marks(task.title, 0, task.marks, tuple(says), mistake.name if mistake else None)
        return Marks(task.title, task.marks, task.marks)

    def _first_difference(self, trial: Trial, run: Decided) -> tuple[int, Decision, list[str]] | None:
        """Number of the packet, what the model decides on it, and why."""
        rule = self.rule(trial)
        for number, (packet, lengths) in enumerate(zip(trial.packets, run.lengths, strict=True)):
            expected = rule.decide(packet, lengths)
            if run.model is not None and run.model[number] != expected:
                raise P4schedError(f"{self.program}: rule and model differ at packet {number + 1}; the lab is wrong")
            if expected != run.program[number]:
                who = f"user {packet.user}" if packet.user else f"rank {packet.rank}"
                at_us = packet.at_ns / 1000
                told = [
                    ("packet", f"{who}, {packet.frame_bytes} bytes, at {at_us:.3f} us, link {LINK_BPS / 1e9:g} Gbit/s")
                ]
                told += rule.explain()
                return number, expected, [f"  {what:<8} {value}" for what, value in told]
        return None

    def _mistake(self, runs: Sequence[tuple[Trial, Decided]], but: Sequence[str] = ()) -> Mistake | None:
        """The first mistake, but for some names, with which the rule decides as the program on every packet."""
        listed = (mistake for mistake in self.mistakes if mistake.name not in but)
        return next((mistake for mistake in listed if all(_agree(mistake, *run) for run in runs)), None)

    def _lines(self, marker: str, work: Path) -> list[str]:
        """The lines of the student's file that a task is about: from its marker to the end of the control."""
        for name in self.places:
            lines = (work / name).read_text(errors="replace").splitlines()
            firsts = [number for number, line in enumerate(lines) if marker in line]
            if not firsts:
                firsts = [number for number, line in enumerate(lines) if re.match(r"\s*apply\b", line)]
            shown = sorted({number for first in firsts for number in _of_control(lines, first)})
            if shown:
                cut = ["     | ..."] if shown[-1] == firsts[-1] + MOST_LINES - 1 else []
                return [f"{name}:", *(f"{number + 1:4} | {lines[number]}" for number in shown), *cut]
        return []

    def _in_words(self, decision: Decision) -> str:
        match decision:
            case int(priority) if not self.one_queue or priority != 0:
                return f"the packet enters queue {MOST_URGENT + 1 - priority} (priority {priority})"
            case int():
                return "the packet enters the queue: verdict ADMITTED"
            case "refused":
                return "the packet is refused: verdict REFUSED"
            case "full":
                return "the packet is dropped because its queue is full: verdict FULL"
            case _:
                return "the packet is neither in a queue nor counted as dropped"


def _of_control(lines: Sequence[str], first: int) -> Iterator[int]:
    """Numbers of the lines from `first` to the end of the control or of the RegisterAction, without empty ones."""
    for number in range(first, min(first + MOST_LINES, len(lines))):
        if lines[number].startswith("}") or lines[number].strip() == "};":
            return
        if lines[number].strip():
            yield number


def _agree(mistake: Mistake, trial: Trial, run: Decided) -> bool:
    rule = mistake.rule(trial)
    return all(
        rule.decide(packet, lengths) == did
        for packet, lengths, did in zip(trial.packets, run.lengths, run.program, strict=True)
    )
