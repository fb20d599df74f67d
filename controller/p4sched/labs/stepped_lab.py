"""A lab in which a student writes a part of a P4 program: the check in stepped time.

The program and the model get the same packets. The check stops at the first difference, and shows the inputs of both.
If there is no model, the solution takes its place.

Then the check looks for the mistake. Each candidate is the solution with one mistake. The check names the mistake if
only this candidate decides like the student's program on every packet of all trials. A mistake that explains less, or
as much as another one, could mislead the student.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.labs import proof
from p4sched.labs.decisions import PROGRAM, Decision, Trial, TrialDecisions, program_decisions
from p4sched.labs.explanations import MOST_URGENT, Arrival, Explain, Who, by_rank
from p4sched.labs.includes import keep_included
from p4sched.labs.lab import Lab, Marks
from p4sched.labs.mistakes import Mistake, mistakes
from p4sched.labs.register_probe import Probe
from p4sched.labs.sandbox import Sandbox, SubmissionError
from p4sched.labs.trace import LINK_BPS
from p4sched.labs.variants import Variants
from p4sched.p4rt.target import Target
from p4sched.paths import P4_DIR

CHECKED = "_checked"
"""End of the name of a program with the edits for the check."""
MOST_LINES = 16
"""Largest number of lines of the student's file in a message."""


@dataclass(frozen=True)
class Task:
    """A part of the program, and the trials that need it."""

    title: str
    marks: int
    trials: tuple[Trial, ...]
    marker: str
    """The comment in front of the part in the student's file."""


@dataclass(frozen=True)
class Place:
    """Folders and sandbox of a check."""

    work: Path
    scratch: Path
    sandbox: Sandbox


@dataclass(frozen=True, kw_only=True)
class SteppedLab(Lab):
    """A lab with a P4 program."""

    places: Mapping[str, str]
    """Path of each file of the student, below the folder of the programs."""
    program: str
    """NAME of NAME.p4."""
    scheme: str
    explain: Explain
    who: Who = by_rank
    tasks: tuple[Task, ...]
    has_model: bool = True
    one_queue: bool = False
    target: Target = Target.V1MODEL
    edits: tuple[tuple[str, str], ...] = ()
    """Edits (text, replacement) of the checked copy of the program, with which a trace reaches more of it."""
    probe: Probe | None = None
    """Reads the student's registers."""
    decision_cache: dict[tuple[str, int], list[Decision]] = field(default_factory=dict, compare=False, repr=False)
    """Cache of the decisions of the solution and of the mistakes, by text and trial."""

    @property
    def asks_solution(self) -> bool:
        """See `Lab`."""
        return True

    @property
    def file(self) -> str:
        """File that the student writes."""
        (file,) = self.files
        return file

    @property
    def trials(self) -> list[Trial]:
        """Trials of all tasks."""
        return [trial for task in self.tasks for trial in task.trials]

    def check(self, work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        try:
            runs = self.decisions(work, scratch, self.trials, sandbox)
        except SubmissionError as error:
            raise SubmissionError(self._as_submitted(str(error))) from error
        marks = self.marks(runs, work, scratch, sandbox)
        return self._proved(marks, Place(work, scratch, sandbox)) if all(one.full for one in marks) else marks

    def _proved(self, marks: tuple[Marks, ...], place: Place) -> tuple[Marks, ...]:
        """The marks after the solver's question about all packets. If it finds a trace or a state that the program
        decides differently, the last task with decisions is not done."""
        number = self.folder.name.partition("-")[0]
        if number not in proof.LABS:
            return marks
        found = self._proof(number, place)
        last = len(self.tasks) - 1
        if found.right is False:
            own = self._of_trace(found, place)
            return tuple(own if at == last else one for at, one in enumerate(marks)) if own else marks
        says = (*marks[last].says, *found.says)
        return tuple(replace(one, says=says) if at == last else one for at, one in enumerate(marks))

    def _proof(self, number: str, place: Place) -> proof.Proof:
        """The solver's answer. The solution is compiled with the same files as the student's program."""
        student = self.unedited(place.scratch)
        with tempfile.TemporaryDirectory(prefix="p4sched-solution-") as made:
            file = self.folder / "solution" / self.file
            solution = proof.with_solution(student, self.places[self.file], file, Path(made) / "solution")
            return proof.prove(number, student, solution, self.target, place.sandbox)

    def unedited(self, scratch: Path) -> Path:
        """The program with the student's files, without the edits for the check."""
        return scratch / P4_DIR.name / f"{self.program}.p4"

    def _of_trace(self, found: proof.Proof, place: Place) -> Marks | None:
        """Marks of the last task; the program decides this trace differently."""
        task = self.tasks[-1]
        if found.trial is not None:
            try:
                runs = self.decisions(place.work, place.scratch, [found.trial], place.sandbox)
            except SubmissionError:
                runs = []
            with Variants(self, [found.trial], place.sandbox) as variants:
                for run in runs:
                    difference = self._differs(0, found.trial, [run], variants)
                    if difference is not None:
                        return self._marks(task, difference, lambda: None, place)
        return Marks(task.title, 0, task.marks, found.says) if found.is_certain else None

    def marks(self, runs: Sequence[TrialDecisions], work: Path, scratch: Path, sandbox: Sandbox) -> tuple[Marks, ...]:
        """Marks of each task. `runs`: the decisions in all trials."""
        place, numbers, all_marks = Place(work, scratch, sandbox), iter(range(len(runs))), []
        with Variants(self, self.trials, sandbox) as variants:
            mistake = cache(lambda: self._mistake(runs, variants))
            for task in self.tasks:
                own = [self._differs(next(numbers), trial, runs, variants) for trial in task.trials]
                all_marks.append(self._marks(task, next(filter(None, own), None), mistake, place))
        return tuple(all_marks)

    def no_marks(self) -> tuple[Marks, ...]:
        return tuple(Marks(task.title, 0, task.marks) for task in self.tasks)

    def decisions(self, work: Path, scratch: Path, trials: Sequence[Trial], sandbox: Sandbox) -> list[TrialDecisions]:
        """Decisions of the student's program.

        Raises:
            SubmissionError: it cannot be compiled or run.
        """
        program = self.prepare(work, scratch)
        return program_decisions(program, self.scheme, trials, sandbox, model=self.has_model)

    def needs(self) -> tuple[str, ...]:
        return (PROGRAM,)

    def prepare(self, work: Path, scratch: Path) -> Path:
        """The program to check, with the student's files, in a folder without other files."""
        return self.apply_edits(self.isolate(self.programs(P4_DIR, work, scratch), scratch))

    def apply_edits(self, program: Path) -> Path:
        """A copy of the program in the same folder, with the edits for the check."""
        if not self.edits:
            return program
        text = program.read_text(encoding="utf-8")
        for before, after in self.edits:
            if before not in text:
                raise P4schedError(f"{program.name} has no '{before}'; the lab is wrong")
            text = text.replace(before, after)
        copy = program.with_stem(f"{program.stem}{CHECKED}")
        copy.write_text(text, encoding="utf-8")
        return copy

    def variables(self, work: Path, scratch: Path) -> dict[str, str]:
        return {"P4SCHED_P4": str(self.programs(P4_DIR, work, scratch))}

    def programs(self, original: Path, work: Path, scratch: Path) -> Path:
        """A copy of a folder of programs with the student's files in their places.

        Raises:
            SubmissionError: a file is missing.
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

    def isolate(self, tree: Path, scratch: Path) -> Path:
        """The program in `tree`. Removes all files of `scratch` that the program with the first files does not include.

        So a student's file cannot include the rule that the student should write.
        """
        program = tree / f"{self.program}.p4"
        keep_included(
            scratch, program, {tree / place: self.folder / "start" / name for name, place in self.places.items()}
        )
        return program

    def _as_submitted(self, message: str) -> str:
        """A message of the compiler with the student's file names."""
        for name, place in self.places.items():
            message = message.replace(place, name)
        message = message.replace(f"{CHECKED}.p4:", ".p4:")
        file = re.match(r"([\w/]+\.p4):\d", message)
        if file is None or file[1] in self.places:
            return message
        first, *rest = message.split("\n")
        return "\n".join(
            [f"{first}; {file[1]} belongs to the lab and includes your {' and '.join(self.places)}", *rest]
        )

    def _marks(
        self, task: Task, difference: "_Difference | None", likely_mistake: Callable[[], Mistake | None], place: Place
    ) -> Marks:
        if difference is None:
            return Marks(task.title, task.marks, task.marks)
        mistake, inputs = likely_mistake(), self._inputs(difference)
        if self.probe is not None:
            inputs = self._with_registers(inputs, difference.trial, difference.number, place)
        says = [
            f"Packet {difference.number + 1} of {len(difference.trial.packets)} is the first one that your program "
            "decides differently.",
            *(f"  {what:<8} {value}" for what, value in inputs),
            f"  {'model':<8} {self._in_words(difference.expected)}",
            f"  {'program':<8} {self._in_words(difference.run.program[difference.number])}",
        ]
        if mistake is not None:
            says += ["", f"Likely mistake: {mistake.says}"]
        says += ["", *self._lines((mistake and mistake.marker) or task.marker, place.work)]
        return Marks(task.title, 0, task.marks, tuple(says), mistake.name if mistake else None)

    def _inputs(self, difference: "_Difference") -> list[tuple[str, str]]:
        """Lines that show the packet and the inputs of the rule."""
        until = difference.number + 1
        packets = difference.trial.packets[:until]
        packet = packets[-1]
        size_and_time = f"{packet.frame_bytes} bytes, at {packet.at_ns / 1000:.3f} us, link {LINK_BPS / 1e9:g} Gbit/s"
        arrival = Arrival(difference.trial, packets, difference.run.lengths[:until])
        return [("packet", f"{self.who(packet)}, {size_and_time}"), *self.explain(arrival)]

    def _with_registers(
        self, lines: Sequence[tuple[str, str]], trial: Trial, number: int, place: Place
    ) -> list[tuple[str, str]]:
        """Adds a line with the student's registers before the packet, after the line with those of the model."""
        assert self.probe is not None
        try:
            (run,) = self.decisions(place.work, place.scratch, [self.probe.trial(trial, number)], place.sandbox)
        except SubmissionError:
            return list(lines)
        contents = self.probe.read(trial, run.program[number:])
        return [
            line
            for what, value in lines
            for line in [(what, value), *([("", contents)] if what == self.probe.what else [])]
        ]

    def _differs(
        self, number: int, trial: Trial, runs: Sequence[TrialDecisions], variants: Variants
    ) -> "_Difference | None":
        """First packet of a trial with another decision than expected."""
        run = runs[number]
        expected = self._known_decisions(variants, self._solution, number) if run.model is None else run.model
        pairs = enumerate(zip(expected, run.program, strict=True))
        place = next((place for place, (right, decision) in pairs if right != decision), None)
        return None if place is None else _Difference(trial, run, place, expected[place])

    def _known_decisions(self, variants: Variants, text: str, number: int) -> list[Decision]:
        """Decisions of the solution, or of a known mistake, in a trial. They are cached."""
        if (text, number) not in self.decision_cache:
            decisions = variants.decisions(text, number)
            if isinstance(decisions, str):
                raise P4schedError(f"{self.program}: a known mistake does not run: {decisions}; the lab is wrong")
            self.decision_cache[text, number] = decisions
        return self.decision_cache[text, number]

    @property
    def _solution(self) -> str:
        return (self.folder / "solution" / self.file).read_text(encoding="utf-8")

    def _mistake(self, runs: Sequence[TrialDecisions], variants: Variants) -> Mistake | None:
        """The mistake that decides like the program on every packet, if there is exactly one."""
        short_first = sorted(range(len(runs)), key=lambda number: len(runs[number].program))
        candidates = [
            mistake
            for mistake in mistakes(self.folder, self.file)
            if all(
                self._known_decisions(variants, mistake.text, number) == runs[number].program for number in short_first
            )
        ]
        return candidates[0] if len({mistake.name for mistake in candidates}) == 1 else None

    def _lines(self, marker: str, work: Path) -> list[str]:
        """The lines of a task in the student's file: from its marker to the end of the control."""
        for name in self.places:
            lines = (work / name).read_text(errors="replace").splitlines()
            firsts = [number for number, line in enumerate(lines) if marker in line]
            if not firsts:
                firsts = [number for number, line in enumerate(lines) if re.match(r"\s*apply\b", line)]
            numbers = sorted({number for first in firsts for number in _of_control(lines, first)})
            if numbers:
                cut = ["     | ..."] if numbers[-1] == firsts[-1] + MOST_LINES - 1 else []
                return [f"{name}:", *(f"{number + 1:4} | {lines[number]}" for number in numbers), *cut]
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


@dataclass(frozen=True)
class _Difference:
    """The first packet of a trial with another decision than expected."""

    trial: Trial
    run: TrialDecisions
    number: int
    """Number of the packet."""
    expected: Decision


def _of_control(lines: Sequence[str], first: int) -> Iterator[int]:
    """Numbers of the lines from `first` to the end of the control or of the RegisterAction, without empty ones."""
    for number in range(first, min(first + MOST_LINES, len(lines))):
        if lines[number].startswith("}") or lines[number].strip() == "};":
            return
        if lines[number].strip():
            yield number
