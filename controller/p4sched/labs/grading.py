"""Grades many submissions: each in a sandbox of its own, several at a time."""

import csv
import json
import os
import stat
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from queue import SimpleQueue
from xml.etree import ElementTree as ET

from p4sched.errors import P4schedError, UsageError
from p4sched.labs import checking, told
from p4sched.labs.catalogue import Entry
from p4sched.labs.lab import Checked
from p4sched.labs.page import page
from p4sched.labs.sandbox import MEGABYTE, Closed, Limits, Sandbox, SubmissionError

ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".7z", ".rar")
"""The last two only to tell that they cannot be read."""
LARGEST_FILE = MEGABYTE
"""Bytes of a student's file; nobody writes so much."""
LARGEST_ARCHIVE = 256 * MEGABYTE
"""Bytes of a .tar archive, unpacked. It takes a second or two to read."""


@dataclass(frozen=True)
class Graded:
    """One submission and its marks."""

    name: str
    checked: Checked
    remark: str = ""
    """Why it could not be checked, or which of several files was; mostly empty."""

    @property
    def mistakes(self) -> str:
        """Their names; where one has no name, what is said first. None of a submission that could not be checked."""
        if self.checked.remark:
            return ""
        wrong = [marks for marks in self.checked.marks if marks.says and not marks.full]
        return "; ".join(dict.fromkeys(marks.mistake or marks.says[0] for marks in wrong))


def submissions(folder: Path, files: Sequence[str], pages: Path | None = None) -> list[Path]:
    """The folders and archives in a folder, by name. What is named as an archive counts, also if it is none.

    A file alone counts if it is of the kind of one of `files`, which students hand in: `carl.py` for `controller.py`.
    `pages` is the folder of pages from an earlier time, and no submission.

    Raises:
        UsageError: there are none.
    """
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is no folder with submissions")
    kinds = _kinds(files)
    found = sorted(path for path in folder.iterdir() if path.is_dir() or _is_archive(path) or path.suffix in kinds)
    if pages is not None:
        found = [path for path in found if path.resolve() != pages.resolve()]
    if not found:
        alone = " or ".join(sorted(kinds))
        raise UsageError(f"'{folder}' holds no submissions: each is a folder, a .zip or .tar file, or a {alone} file")
    return found


def _kinds(files: Sequence[str]) -> set[str]:
    return {PurePosixPath(file).suffix for file in files}


def grade(entry: Entry, found: Sequence[Path], jobs: int, limits: Limits, *, closed: bool) -> list[Graded]:
    """Marks of each, in their order. `closed`: in sandboxes; otherwise with limits only."""
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(jobs):
        slots.put(slot)

    def one(path: Path, name: str) -> Graded:
        slot = slots.get()
        try:
            return _graded(entry, path, name, Closed(limits, slot=slot) if closed else Sandbox(limits))
        finally:
            slots.put(slot)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, found, names(found, entry.load().files)))


def names(found: Sequence[Path], files: Sequence[str]) -> list[str]:
    """Of submissions in one folder: without the ending, unless another one would have the same name then."""
    short = [_without_ending(path, (*ARCHIVES, *_kinds(files))) for path in found]
    taken = Counter([*short, *(path.name for path, name in zip(found, short, strict=True) if path.name != name)])
    return [name if taken[name] == 1 else path.name for path, name in zip(found, short, strict=True)]


def _without_ending(path: Path, endings: Iterable[str]) -> str:
    if path.is_dir():
        return path.name
    ending = next((one for one in endings if path.name.lower().endswith(one)), "")
    return path.name[: len(path.name) - len(ending)] or path.name


def _graded(entry: Entry, path: Path, name: str, sandbox: Sandbox) -> Graded:
    lab = entry.load()
    remarks = []
    try:
        with tempfile.TemporaryDirectory(prefix="p4sched-grade-") as made:
            work = Path(made)
            for file in lab.files:
                text, remark = _read(path, file)
                remarks += [remark] if remark else []
                if text is not None:
                    (work / file).write_bytes(text)
            checked, _ = checking.check(entry, work, sandbox)
    except SubmissionError as error:
        checked = lab.unchecked(entry.folder.name, str(error))
    except P4schedError:
        raise
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        checked = lab.unchecked(entry.folder.name, f"the submission cannot be read: {error}")
    return Graded(name, checked, "; ".join([*remarks, *([checked.remark] if checked.remark else [])]))


def _is_archive(path: Path) -> bool:
    if not path.is_file():
        return False
    return path.name.lower().endswith(ARCHIVES) or zipfile.is_zipfile(path) or tarfile.is_tarfile(path)


def _read(submission: Path, name: str) -> tuple[bytes | None, str]:
    """A file of a submission, from the folder that is least deep; None if it is not there. And a remark, or "".

    Of a submission that is a file alone: the file itself.
    """
    if submission.is_dir():
        return _from_folder(submission, name)
    if zipfile.is_zipfile(submission):
        with zipfile.ZipFile(submission) as archive:
            member, remark = _least_deep([one for one in archive.namelist() if PurePosixPath(one).name == name])
            if member is None:
                return None, ""
            with archive.open(member) as file:
                return _bounded(file.read, name), remark
    if not _is_archive(submission):
        return (_plain_file(submission, name) if submission.suffix == PurePosixPath(name).suffix else None), ""
    if not tarfile.is_tarfile(submission):
        raise SubmissionError(f"{submission.name} is no .zip or .tar archive, or it is damaged")
    with tarfile.open(submission) as archive:
        files = {one.name: one for one in _members(archive) if one.isfile() and PurePosixPath(one.name).name == name}
        member, remark = _least_deep(list(files))
        packed = None if member is None else archive.extractfile(files[member])
        return (None, "") if packed is None else (_bounded(packed.read, name), remark)


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Of an archive that must be unpacked to be listed."""
    for one in archive:
        if one.offset_data + one.size > LARGEST_ARCHIVE:
            raise SubmissionError(f"it holds more than {LARGEST_ARCHIVE // MEGABYTE} MB")
        yield one


def _from_folder(folder: Path, name: str) -> tuple[bytes | None, str]:
    # A link could name a file of the teacher.
    paths = [path for path in folder.rglob(name) if path.resolve().is_relative_to(folder.resolve())]
    path, remark = _least_deep([path.relative_to(folder).as_posix() for path in paths])
    return (None, "") if path is None else (_plain_file(folder / path, name), remark)


def _plain_file(path: Path, name: str) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise SubmissionError(f"{name} is no plain file")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return _bounded(file.read, name)


def _least_deep(paths: Sequence[str]) -> tuple[str | None, str]:
    """The one that counts, and a remark if there are others at its depth."""
    depth = min((path.count("/") for path in paths), default=0)
    least = sorted({path for path in paths if path.count("/") == depth})
    if len(least) < 2:
        return (least[0] if least else None), ""
    return least[0], f"graded is {least[0]}; at the same depth there is {', '.join(least[1:])}"


def _bounded(read: Callable[[int], bytes], name: str) -> bytes:
    text = read(LARGEST_FILE + 1)
    if len(text) > LARGEST_FILE:
        raise SubmissionError(f"{name} is larger than {LARGEST_FILE // MEGABYTE} MB")
    return text


def pages_of(out: Path) -> Path:
    """The folder of the pages of OUT.csv. Makes it, so that a place where nothing can be written is told in time.

    Raises:
        UsageError: it cannot be made.
    """
    pages = out.with_suffix("")
    try:
        pages.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out}: the folder '{pages}' cannot be made: {error.strerror}") from error
    return pages


def write(entry: Entry, graded: Sequence[Graded], out: Path) -> Path:
    """Writes OUT.csv, OUT.xml (JUnit), and a page for each submission in the folder OUT; returns that folder."""
    pages = pages_of(out)
    lab = entry.load()
    with out.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["submission", *(marks.task for marks in lab.no_marks()), "marks", "of", "mistakes", "remark"])
        for one in graded:
            given = [marks.given for marks in one.checked.marks]
            total = [one.checked.given, one.checked.of]
            rows.writerow([_plain(one.name), *given, *total, _plain(one.mistakes), _plain(one.remark)])
    _junit(graded).write(out.with_suffix(".xml"), encoding="utf-8", xml_declaration=True)
    for one in graded:
        heading = f"{checking.title(entry, lab)}: {one.name}"
        text = page(heading, lab, one.checked, None, one.remark or None)
        (pages / f"{one.name}.html").write_text(text, encoding="utf-8")
    return pages


def _plain(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t"} else text


def _junit(graded: Sequence[Graded]) -> "ET.ElementTree[ET.Element]":
    suites = ET.Element("testsuites")
    for one in graded:
        wrong = [marks for marks in one.checked.marks if not marks.full]
        counts = {"tests": str(len(one.checked.marks)), "failures": str(len(wrong))}
        suite = ET.SubElement(suites, "testsuite", {"name": one.name, **counts})
        for marks in one.checked.marks:
            case = ET.SubElement(suite, "testcase", {"classname": one.checked.lab, "name": marks.task})
            if not marks.full:
                said = marks.mistake or (marks.says[0] if marks.says else one.remark)
                failure = ET.SubElement(case, "failure", {"message": _xml(said)})
                failure.text = _xml("\n".join(marks.says))
    ET.indent(suites)
    return ET.ElementTree(suites)


def _xml(text: str) -> str:
    """Without the control characters that XML cannot have."""
    return "".join(one if one >= " " or one in "\n\t" else "?" for one in text)


def gradescope(graded: Graded) -> str:
    """results.json as Gradescope wants it (gradescope-autograders.readthedocs.io)."""
    tests = [
        {"name": marks.task, "score": marks.given, "max_score": marks.of, "output": "\n".join(marks.says)}
        for marks in graded.checked.marks
    ]
    total = told.text(graded.checked).splitlines()[-1]
    output = f"{graded.remark}\n{total}" if graded.remark else total
    return f"{json.dumps({'output': output, 'tests': tests}, indent=2)}\n"
