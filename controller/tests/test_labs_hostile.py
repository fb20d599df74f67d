"""Whatever a submission does gives a sentence on its own row, and all others get their marks, as root and as a user."""

import csv
import io
import os
import re
import shutil
import signal
import stat
import string
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab import P4SCHED

from p4sched.errors import UsageError
from p4sched.labs import catalogue, grading, submissions
from p4sched.labs.graded_submission import from_message, unchecked_submission
from p4sched.labs.grades import write
from p4sched.labs.sandbox import Limits
from p4sched.labs.submissions import names

LAB = catalogue.find("08")
FILE = "controller.py"
RIGHT = (LAB.solution / FILE).read_text()
NOBODY = 65534
SECRET = "the-secret-of-the-teacher"
LIMITS = Limits(seconds=5, memory_bytes=1 << 30)
SHUT_IN = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

# Each takes what it can, and tells it in an exception.
TAKES = """
import mmap, os, socket
def tried(what):
    try:
        return what()
    except OSError as error:
        return error.strerror
def fill(path):
    with open(path, "wb") as file:
        file.write(bytes(1 << 24))
"""
CODE = {
    "a number of 400 digits": ('def decide(m, s): return {"active": [1], "edges": [10**400] * 4}', "first one"),
    "5000 digits": (f'import os\nos.write(1, b"9" * 5000 + b"\\n")\n{RIGHT}', "wrote something else than answers"),
    "brackets": (f'import os\nos.write(1, b"[" * 20000 + b"\\n")\n{RIGHT}', "wrote something else than answers"),
    "lines": ('import os\nwhile True: os.write(1, b"[]\\n" * 20000)', "wrote more than 64 MB"),
    "many lines": ('import os\nos.write(1, b"[]\\n" * 1000000)\nos._exit(0)', "wrote something else than answers"),
    "deep": ("def decide(m, s):\n  x = []\n  for _ in range(700): x = [x]\n  return x", "something else than answers"),
    "no numbers": ('def decide(m, s): return {"active": [], "edges": [float("nan"), float("inf")]}', "first one"),
    "every descriptor": (
        f"import os\nfor fd in range(64):\n  try: os.write(fd, bytes(9999))\n  except OSError: pass\n{RIGHT}",
        "wrote something else than answers",
    ),
    "half a character": (r'raise Exception("\ud800")', r"Exception: \\ud800$"),
    "commands for a terminal": (r'raise Exception("\x1b[2J\x1b]0;x\x07\uffff")', r"\\x1b\[2J\\x1b\]0;x\\x07\\uffff"),
    "an exception without text": (
        "class E(Exception):\n  def __str__(self): raise self\nraise E()",
        "ended before it had answered",
    ),
    "exits": ("import os\nos._exit(7)", "ended before it had answered"),
    "crashes": ("import os\nos.kill(os.getpid(), 11)", "ended before it had answered"),
    "a large file": ("import os\nos.ftruncate(1, 60 << 20)", "more than 4 MB"),
    "environment": (
        f'{TAKES}raise Exception([tried(lambda: open(f"/proc/{{p}}/environ")) for p in ("self", 1)], os.environ)',
        r"\['No such file or directory', 'No such file or directory'\], environ\(\{'PATH': '/usr/bin:/bin'",
    ),
    "files": (
        f'{TAKES}raise Exception([tried(lambda: fill(p)) for p in ("/dev/shm/x", "/dev/x", "/x", "x", "/tmp/x")])',
        r"\['Read-only file system'(, 'Read-only file system'){4}\]",
    ),
    "memory": (
        f'{TAKES}raise Exception(tried(lambda: os.memfd_create("x")), tried(lambda: mmap.mmap(-1, 1 << 20)))',
        r"\('Operation not permitted', 'Operation not permitted'\)",
    ),
    "network": (
        f'{TAKES}raise Exception(tried(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1)))',
        "Network is unreachable",
    ),
}  # fmt: skip
"""By name of the submission: its code, and what its row says. None gets marks."""
RIGHT_NAMES = [b"anna", b"=1+1", b"Andr\xe9", b"\x1b[31mred", b"two\nlines", "\uffff".encode(), b"n" * 252, b"N" * 252]


@dataclass(frozen=True)
class Teacher:
    """Who grades."""

    words: Sequence[str]
    """Before a command."""
    folder: Path

    def grade(self, where: Path, *options: str) -> str:
        """Marks are in grades.csv of the folder; returns what the command shows."""
        command = [P4SCHED, "lab", "grade", "08", where, "--out", self.folder / "grades.csv", *options]
        ended = subprocess.run(
            [*self.words, *map(str, command)],
            env={**os.environ, "SECRET": SECRET},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout


@pytest.fixture(params=["root", "a user"])
def teacher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Teacher]:
    """Root, then an ordinary user."""
    if request.param == "root" or os.geteuid() != 0:
        if request.param == "root" and os.geteuid() != 0:
            pytest.skip("needs root")
        yield Teacher((), tmp_path)
        return
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    for command, lacks in (
        ([sys.executable, "-c", "import p4sched"], "an ordinary user cannot read the project"),
        (["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], "an ordinary user may not make namespaces"),
    ):
        if subprocess.run([*words, *command], capture_output=True, check=False).returncode != 0:
            pytest.skip(lacks)
    # pytest's own folder is for root alone
    with tempfile.TemporaryDirectory() as made:
        os.chown(made, NOBODY, NOBODY)
        yield Teacher(words, Path(made))


def submit(where: Path, name: str | bytes, content: str | bytes) -> None:
    """A folder with the file."""
    folder = os.path.join(os.fsencode(where), os.fsencode(name))
    os.mkdir(folder)
    with open(os.path.join(folder, FILE.encode()), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def rows_of(out: Path) -> dict[str, dict[str, str]]:
    """The lines of grades.csv by submission. XML and pages are there, too, and all can be shown."""
    text = out.read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert text.replace("\n", "").isprintable()
    assert len(ElementTree.parse(out.with_suffix(".xml")).getroot()) == len(rows)
    pages = list(out.with_suffix("").iterdir())
    assert len(pages) == len(rows)
    assert all(page.read_text(encoding="utf-8").endswith("</html>") for page in pages)
    assert all(len(os.fsencode(page.name)) < 256 for page in pages)
    return {row["submission"]: row for row in rows}


@SHUT_IN
def test_no_code_stops_or_fools_the_grading(teacher: Teacher) -> None:
    where = teacher.folder / "submissions"
    where.mkdir()
    for name, (code, _) in CODE.items():
        submit(where, name, code)
    for right in RIGHT_NAMES:
        submit(where, right, RIGHT)
    shown = teacher.grade(where, "--seconds", "5")
    assert shown.replace("\n", "").isprintable()
    rows = rows_of(teacher.folder / "grades.csv")
    assert len(rows) == len(CODE) + len(RIGHT_NAMES)
    for name, (_, says) in CODE.items():
        assert rows[name]["marks"] == "0", name
        assert says_so(rows[name]["remark"] or rows[name]["mistakes"], says), (name, rows[name])
    assert {row["marks"] for name, row in rows.items() if name not in CODE} == {"100"}
    written = [teacher.folder / "grades.csv", teacher.folder / "grades.xml", *(teacher.folder / "grades").iterdir()]
    assert not any(SECRET in file.read_text(encoding="utf-8") for file in written)


def says_so(text: str, pattern: str) -> bool:
    """Whether a pattern is in a text."""
    return re.search(pattern, text) is not None


def zipped(content: str | bytes, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    """A .zip with the file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr(FILE, content)
    return bytearray(made.getvalue())


def changed(archive: bytearray, local: int, central: int, value: int) -> bytearray:
    """With another byte in the two headers of a .zip with one file."""
    archive[local] = value
    archive[archive.index(b"PK\x01\x02") + central] = value
    return archive


def head(size: int, kind: bytes) -> bytes:
    """Of a .tar: that of its first file."""
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def tarred(content: str) -> bytearray:
    """A .tar.gz that holds this, not compressed: a changed byte stays readable."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=0) as archive:
        info = tarfile.TarInfo(FILE)
        info.size = len(content.encode())
        archive.addfile(info, io.BytesIO(content.encode()))
    return bytearray(made.getvalue())


def linked() -> bytes:
    """A .tar in which the file is a link."""
    info = tarfile.TarInfo(FILE)
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return info.tobuf(tarfile.GNU_FORMAT)


def linked_zip() -> bytearray:
    """A .zip in which the file is a link."""
    made = io.BytesIO()
    info = zipfile.ZipInfo(FILE)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return bytearray(made.getvalue())


@SHUT_IN
def test_no_archive_link_or_folder_stops_or_fools_the_grading(teacher: Teacher) -> None:
    where = teacher.folder / "submissions"
    where.mkdir()
    submit(where, "right", RIGHT)
    torn = zipped(RIGHT)
    torn[60] ^= 0xFF
    headless = zipped(RIGHT)
    headless[0] = 0
    flipped = tarred(RIGHT)
    flipped[flipped.index(RIGHT[:20].encode()) + 5] ^= 1
    far = zipped(RIGHT)[:-22] + b"PK\x06\x06" + bytes(52) + struct.pack("<4sLQL", b"PK\x06\x07", 5, 0, 9)
    archives: dict[str, tuple[bytes | bytearray, str]] = {
        "right.zip": (zipped(RIGHT, zipfile.ZIP_LZMA), ""),
        "encrypted.zip": (changed(zipped(RIGHT), 6, 8, 1), "encrypted"),
        "deflate64.zip": (changed(zipped(RIGHT), 8, 10, 9), "packed in a way that only few programs can unpack"),
        "torn.zip": (torn, "damaged"),
        "headless.zip": (headless, "damaged"),
        "far.zip": (far + b"PK\x05\x06" + b"\xff" * 16 + bytes(2), "damaged"),
        "bomb.zip": (zipped(bytes(1 << 28)), "larger than 1 MB"),
        "empty.tar": (b"", "not a .zip or .tar archive"),
        "heavy.tar": (head(1 << 40, tarfile.REGTYPE), "more than 256 MB"),
        "names.tar": (head(1 << 32, tarfile.XHDTYPE), "the check used more than 1024 MB of memory"),
        "alias.zip": (linked_zip(), "is a link or not a plain file"),
        "link.tar": (linked(), "is a link or not a plain file"),
        "whole.tar.gz": (tarred(RIGHT), ""),
        "flipped.tar.gz": (flipped, "damaged"),
        "zeros.tar": (b"", "there is no file"),
        "other.7z": (b"7z", "not a .zip or .tar archive"),
    }
    for name, (content, _) in archives.items():
        (where / name).write_bytes(content)
    # 4 GB and 1 TB that take no room on the disk
    os.truncate(where / "names.tar", 1 << 32)
    os.truncate(where / "zeros.tar", 1 << 40)
    links = {
        "file": "is a link or not a plain file",
        "folder": "there is no file",
        "pipe": "is a link or not a plain file",
    }
    for name in links:
        (where / name).mkdir()
    (where / "file" / FILE).symlink_to(where / "right" / FILE)
    (where / "folder" / "src").symlink_to(where / "right")
    os.mkfifo(where / "pipe" / FILE)
    (where / "other").symlink_to(where / "right")
    (where / "hard").mkdir()
    (where / "hard" / FILE).hardlink_to(where / "right" / FILE)
    teacher.grade(where)
    rows = rows_of(teacher.folder / "grades.csv")
    assert {name: row["marks"] for name, row in rows.items() if row["marks"] != "0"} == {
        "right": "100", "right.zip": "100", "hard": "100", "whole": "100",
    }  # fmt: skip
    for name, (_, says) in archives.items():
        assert says in rows[name if name in rows else name.partition(".")[0]]["remark"]
    for name, says in links.items():
        assert says in rows[name]["remark"]
    assert "it is a link" in rows["other"]["remark"]
    # which of two names of one file is the first one cannot be told
    assert "same file as that of right: a hard link" in rows["hard"]["remark"]
    assert "same file as that of hard: a hard link" in rows["right"]["remark"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupt_ends_whatever_runs(number: signal.Signals, tmp_path: Path) -> None:
    """Each of two submissions opens a pipe, and would wait for ever. When it has ended, so has the pipe.

    Those that were graded before keep their marks.
    """
    pipes = [tmp_path / "one", tmp_path / "two"]
    for pipe in pipes:
        os.mkfifo(pipe)
        (tmp_path / "submissions" / pipe.name).mkdir(parents=True)
        code = f"import signal\npipe = open({str(pipe)!r}, 'w')\npipe.write('here')\npipe.flush()\nsignal.pause()\n"
        (tmp_path / "submissions" / pipe.name / FILE).write_text(code)
    for quick in ("before", "waiting"):
        (tmp_path / "submissions" / quick).mkdir()
        (tmp_path / "submissions" / quick / FILE).write_text(RIGHT)
    command = [P4SCHED, "lab", "grade", "08", tmp_path / "submissions", "--trusted", "--seconds", "1000", "--jobs", "2"]
    with subprocess.Popen([*map(str, command), "--out", str(tmp_path / "grades.csv")]) as command_line:
        with pipes[0].open() as first, pipes[1].open() as second:
            assert (first.read(4), second.read(4)) == ("here", "here")
            command_line.send_signal(number)
            assert (first.read(), second.read()) == ("", "")
        assert command_line.wait() == 130
    rows = rows_of(tmp_path / "grades.csv")
    assert rows["before"]["marks"] == "100"
    assert {rows[name]["remark"] for name in ("one", "two", "waiting")} == {grading.NOT_GRADED}


def test_pages_do_not_go_among_the_submissions(tmp_path: Path) -> None:
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "anna.html").symlink_to(tmp_path / "elsewhere")
    for pages, says in ((tmp_path, "among the submissions"), (tmp_path / "grades", "which holds other files")):
        with pytest.raises(UsageError, match=says):
            submissions.submissions(tmp_path, [FILE], pages)


NAMES = st.binary(min_size=1, max_size=40) | st.text(min_size=1, max_size=20).map(
    lambda text: text.encode(errors="replace")
)
FILE_NAMES = NAMES.map(lambda name: name.replace(b"/", b"").replace(b"\0", b"")).filter(
    lambda name: name not in {b"", b".", b".."}
)


@settings(max_examples=50)
@given(st.lists(FILE_NAMES, unique=True, max_size=8), st.lists(st.sampled_from(string.ascii_letters), max_size=4))
def test_each_submission_has_a_name_of_its_own_that_can_be_shown(found: list[bytes], letters: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        paths = [Path(made) / os.fsdecode(name) for name in {*found, *(b"long" * 60 + one.encode() for one in letters)}]
        for path in paths:
            path.touch()
        called = names(paths, [FILE])
    assert len(set(called)) == len(paths)
    assert all(name.isprintable() and "/" not in name and len(name.encode()) < 200 for name in called)


@settings(max_examples=50)
@given(st.data())
def test_a_message_is_of_the_known_form_or_refused(data: st.DataObject) -> None:
    text = unchecked_submission(LAB, "anna", "why\x1b\ud800").message()
    assert from_message(LAB, "anna", text) == unchecked_submission(LAB, "anna", "why\x1b\ud800")
    place = data.draw(st.integers(0, len(text)))
    other = text[:place] + data.draw(st.text(max_size=3)) + text[place + data.draw(st.integers(0, 3)) :]
    try:
        message = from_message(LAB, "anna", other)
    except ValueError:
        return
    assert len(message.result.marks) == 4
    assert message.result.score <= message.result.maximum
    assert message.remark.isprintable()


ACTS = st.lists(
    st.builds(
        lambda fd, content: f"try: os.write({fd}, {content!r})\nexcept OSError: pass\n",
        st.integers(0, 9),
        st.binary(max_size=40)
        | st.sampled_from([b"[]\n", b"[[]]\n" * 9, b"{}\n", b'{"problem": 1}\n', b"NaN\n", b"9" * 5000]),
    ),
    max_size=3,
).map("".join)
ENDS = st.sampled_from([RIGHT, "def decide(memory, sample): return memory.setdefault(1, [])\n"]) | st.builds(
    "os._exit({})\n".format, st.integers(-300, 300)
)
TEXTS = st.builds(lambda acts, end: f"import os\n{acts}{end}".encode(), ACTS, ENDS) | st.binary(max_size=60)


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A .zip or a .tar, with some bytes changed."""
    text = draw(TEXTS)
    made = io.BytesIO()
    if draw(st.booleans()):
        made.write(zipped(text, draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]))))
    else:
        with tarfile.open(fileobj=made, mode=draw(st.sampled_from(["w", "w:gz", "w:bz2", "w:xz"]))) as archive:
            info = tarfile.TarInfo(draw(st.sampled_from([FILE, f"deep/{FILE}", f"../{FILE}", "other"])))
            info.size, info.type = len(text), draw(st.sampled_from([tarfile.REGTYPE, tarfile.LNKTYPE, tarfile.XHDTYPE]))
            archive.addfile(info, io.BytesIO(text))
    content = bytearray(made.getvalue())
    for _ in range(draw(st.integers(0, 3))):
        content[draw(st.integers(0, min(600, len(content) - 1)))] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content)


SUBMISSIONS = st.dictionaries(
    FILE_NAMES,
    TEXTS | st.tuples(st.sampled_from([b".zip", b".tar", b".tar.gz", b""]), archives()),
    min_size=8,
    max_size=8,
)


@SHUT_IN
@settings(max_examples=2)
@given(SUBMISSIONS)
def test_others_get_their_marks_whatever_is_handed_in(handed_in: dict[bytes, bytes | tuple[bytes, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as made:
        where = Path(made) / "submissions"
        where.mkdir()
        submit(where, "a right one", RIGHT)
        for name, content in handed_in.items():
            if isinstance(content, bytes):
                submit(where, name, content)
            else:
                ending, archive = content
                (where / os.fsdecode(name + ending)).write_bytes(archive)
        found = submissions.submissions(where, [FILE])
        graded = grading.grade(LAB, found, names(found, [FILE]), 2, LIMITS, isolated=True).submissions
        write(LAB, graded, Path(made) / "grades.csv")
        rows = rows_of(Path(made) / "grades.csv")
    assert rows["a right one"]["marks"] == "100"
    assert len(rows) == len(found)
    assert all(row["marks"] == "100" or row["remark"] or row["mistakes"] for row in rows.values())
