"""A submission and its marks, and the message that carries them out of their process."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace

from p4sched.labs import checking
from p4sched.labs.catalogue import Entry
from p4sched.labs.lab import Checked
from p4sched.labs.page import page
from p4sched.labs.shown import displayable
from p4sched.recorded import RecordError, check_fields, parsed


@dataclass(frozen=True)
class Graded:
    """A submission and its marks."""

    name: str
    checked: Checked
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
        if self.checked.remark:
            return ""
        wrong = [marks for marks in self.checked.marks if marks.says and not marks.full]
        return "; ".join(dict.fromkeys(marks.mistake or marks.says[0] for marks in wrong))

    def message(self) -> str:
        """Encodes the submission as JSON."""
        marks = [astuple(_TaskMarks(one.given, one.says, one.mistake or "")) for one in self.checked.marks]
        message = _Message((), self.checked.remark, self.remark, tuple(sorted(self.files)), self.page)
        return json.dumps({**asdict(message), "marks": marks})


def graded(
    entry: Entry, name: str, checked: Checked, remarks: Sequence[str] = (), files: Iterable[tuple[int, int]] = ()
) -> Graded:
    """A graded submission with its page. `remarks`: additional remarks."""
    remark = "; ".join(filter(None, (*remarks, checked.remark)))
    lab = entry.load()
    text = page(f"{checking.title(entry, lab)}: {name}", lab, checked, None, displayable(remark) or None)
    return Graded(name, checked, text, remark, frozenset(files))


def ungraded(entry: Entry, name: str, why: str) -> Graded:
    """A submission that could not be checked."""
    return graded(entry, name, entry.load().unchecked(entry.folder.name, why))


@dataclass(frozen=True)
class _TaskMarks:
    given: int
    says: tuple[str, ...]
    mistake: str


@dataclass(frozen=True)
class _Message:
    marks: tuple[_TaskMarks, ...]
    unchecked: str
    remark: str
    files: tuple[tuple[int, ...], ...]
    page: str


def from_message(entry: Entry, name: str, text: str) -> Graded:
    """Reads the result of `Graded.message`.

    Raises:
        ValueError: the text is no such message, or the marks do not fit the lab.
    """
    message = parsed(text)
    if not isinstance(message, dict):
        raise RecordError("not an object")
    check_fields(_Message, message, others=False)
    tasks = entry.load().no_marks()
    if len(message["marks"]) != len(tasks) or any(
        given > task.of for task, (given, *_) in zip(tasks, message["marks"], strict=True)
    ):
        raise RecordError(f"{len(message['marks'])} tasks, or more marks than there are")
    marks = [
        replace(task, given=given, says=tuple(says), mistake=mistake or None)
        for task, (given, says, mistake) in zip(tasks, message["marks"], strict=True)
    ]
    message["page"].encode()
    checked = Checked(entry.folder.name, tuple(marks), remark=message["unchecked"])
    files = frozenset(map(tuple, message["files"]))
    return Graded(name, checked, message["page"], message["remark"], files)
