"""A submission and its marks, and the message that carries them out of their process."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace

from p4sched.json_records import RecordError, check_fields, parse_json
from p4sched.labs import checking
from p4sched.labs.catalogue import Entry
from p4sched.labs.displayable import displayable
from p4sched.labs.lab import CheckResult
from p4sched.labs.page import page


@dataclass(frozen=True)
class GradedSubmission:
    """A submission and its marks."""

    name: str
    result: CheckResult
    page: str
    """HTML."""
    remark: str = ""
    """Reason why it could not be checked, or name of the checked file if there were several; mostly empty."""
    files: frozenset[tuple[int, ...]] = frozenset()
    """Device and inode of each file that it was read from."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "remark", displayable(self.remark))

    @property
    def mistakes(self) -> str:
        """Names of the mistakes; the first remark for a mistake without a name. Empty if the submission could not be
        checked."""
        if self.result.remark:
            return ""
        wrong = [marks for marks in self.result.marks if marks.says and not marks.full]
        return "; ".join(dict.fromkeys(marks.mistake or marks.says[0] for marks in wrong))

    def message(self) -> str:
        """Encodes the submission as JSON."""
        marks = [
            astuple(_TaskMarks(task_marks.score, task_marks.says, task_marks.mistake or ""))
            for task_marks in self.result.marks
        ]
        message = _Message((), self.result.remark, self.remark, tuple(sorted(self.files)), self.page)
        return json.dumps({**asdict(message), "marks": marks})


def graded_submission(
    entry: Entry, name: str, result: CheckResult, remarks: Sequence[str] = (), files: Iterable[tuple[int, int]] = ()
) -> GradedSubmission:
    """A graded submission with its page. `remarks`: additional remarks."""
    remark = "; ".join(filter(None, (*remarks, result.remark)))
    lab = entry.load()
    text = page(f"{checking.title(entry, lab)}: {name}", lab, result, None, displayable(remark) or None)
    return GradedSubmission(name, result, text, remark, frozenset(files))


def unchecked_submission(entry: Entry, name: str, why: str) -> GradedSubmission:
    """A submission that could not be checked."""
    return graded_submission(entry, name, entry.load().unchecked_result(entry.folder.name, why))


@dataclass(frozen=True)
class _TaskMarks:
    score: int
    says: tuple[str, ...]
    mistake: str


@dataclass(frozen=True)
class _Message:
    marks: tuple[_TaskMarks, ...]
    unchecked: str
    remark: str
    files: tuple[tuple[int, ...], ...]
    page: str


def from_message(entry: Entry, name: str, text: str) -> GradedSubmission:
    """Reads the result of `GradedSubmission.message`.

    Raises:
        ValueError: the text is no such message, or the marks do not fit the lab.
    """
    message = parse_json(text)
    if not isinstance(message, dict):
        raise RecordError("not an object")
    check_fields(_Message, message, others=False)
    tasks = entry.load().no_marks()
    if len(message["marks"]) != len(tasks) or any(
        score > task.maximum for task, (score, *_) in zip(tasks, message["marks"], strict=True)
    ):
        raise RecordError(f"{len(message['marks'])} tasks, or more marks than there are")
    marks = [
        replace(task, score=score, says=tuple(says), mistake=mistake or None)
        for task, (score, says, mistake) in zip(tasks, message["marks"], strict=True)
    ]
    message["page"].encode()
    result = CheckResult(entry.folder.name, tuple(marks), remark=message["unchecked"])
    files = frozenset(map(tuple, message["files"]))
    return GradedSubmission(name, result, message["page"], message["remark"], files)
