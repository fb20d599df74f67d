"""Grading: each submission is shut in, and gets its marks whatever the others do."""

import csv
import io
import json
import re
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from p4sched.cli.main import run_command
from p4sched.errors import UsageError
from p4sched.labs import catalogue, checking, grading, told, workspace
from p4sched.labs.sandbox import Closed, Limits, Sandbox, SubmissionError, readable_tree
from p4sched.paths import ROOT

BUILT = pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)
BOMB_BYTES = 64 << 20
SHUT_IN = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

EXPLODING = """#define A0 x + x + x + x + x + x + x + x
{}
control AifoAdmission(in bit<8> smaller, in bit<8> window_size, in bit<32> length, in bit<16> target,
                      in bit<8> headroom, out bit<2> verdict) {{
    apply {{ bit<32> x = 1; x = A20; verdict = 0; }}
}}
""".format("\n".join(f"#define A{n} A{n - 1} + A{n - 1} + A{n - 1} + A{n - 1}" for n in range(1, 21)))


@BUILT
@SHUT_IN
def test_grading_shuts_each_submission_in_and_gives_each_its_marks(tmp_path: Path) -> None:
    """A submission that takes all memory, one that reads other files, links and archives: nobody else loses marks."""
    entry = catalogue.find("4")
    name = "aifo_admission.p4"
    right = (entry.solution / name).read_text()
    texts = {
        "anna": right,
        "ben": right.replace("needed <= offered", "needed < offered"),
        "carl": EXPLODING,
        "dora": '#include "/etc/passwd"\n' + right,
    }
    where = tmp_path / "submissions"
    for student, text in texts.items():
        (where / student / "deep").mkdir(parents=True)
        (where / student / "deep" / name).write_text(text)
    (where / "eva").mkdir()
    (where / "eva" / name).symlink_to(entry.solution / name)
    shutil.make_archive(str(where / "fritz"), "zip", entry.solution)
    shutil.make_archive(str(where / "greta"), "gztar", entry.solution)
    command = ["lab", "grade", "04", str(where), "--out", str(tmp_path / "grades.csv"), "--seconds", "10"]
    assert run_command(command) == 0
    rows = list(csv.DictReader((tmp_path / "grades.csv").read_text().splitlines()))
    assert [row["marks"] for row in rows] == ["100", "40", "0", "0", "0", "100", "100"]
    told_of = {row["submission"]: row["mistakes"] + row["remark"] for row in rows}
    assert told_of["ben"] == "strict comparison"
    assert re.search("memory|longer than|macro|too", told_of["carl"]), told_of["carl"]
    assert "/etc/passwd" in told_of["dora"]
    eva = next(row for row in rows if row["submission"] == "eva")
    assert (eva["mistakes"], eva["remark"]) == ("", "there is no file aifo_admission.p4")
    suites = ElementTree.parse(tmp_path / "grades.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0", "2", "3", "3", "3", "0", "0"]
    said = [failure.get("message") for failure in suites[4].iter("failure")]
    assert said == ["there is no file aifo_admission.p4"] + ["not checked: there is no file aifo_admission.p4"] * 2
    assert "Likely mistake" in (tmp_path / "grades" / "ben.html").read_text()
    first = (tmp_path / "grades.csv").read_bytes()
    assert run_command(command) == 0
    assert (tmp_path / "grades.csv").read_bytes() == first


@SHUT_IN
@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("while True: pass", "your program took longer than 1 s of CPU time"),
        ("import os\nwhile True: os.fork()", "other processes"),
        ("x = bytearray(1 << 40)", "more than 512 MB of memory"),
        ("while True: print('x' * 10**6)", "wrote more than 64 MB"),
        ("f = open('/tmp/x', 'wb')\nwhile True: f.write(bytes(10**6)); f.flush()", "wrote more than 64 MB"),
    ],
)
def test_what_goes_beyond_a_limit_gets_a_sentence(program: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match=says):
        run_python(program, tmp_path)


@SHUT_IN
def test_a_submission_sees_no_other_files_and_no_network(tmp_path: Path) -> None:
    asks = f"""
import os, socket
print(os.path.exists({str(ROOT / "README.md")!r}), os.path.exists("/etc/passwd"), len(os.listdir("/proc")) > 200)
try:
    open("new", "w")
except OSError as error:
    print(error.strerror)
try:
    socket.create_connection(("1.1.1.1", 53), timeout=1)
except OSError as error:
    print(error.strerror)
"""
    assert run_python(asks, tmp_path) == "False False False\nRead-only file system\nNetwork is unreachable\n"


@SHUT_IN
def test_what_waits_for_ever_is_ended(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="your program took longer than 1 s, and was ended"):
        run_python("import time\ntime.sleep(60)", tmp_path, wall_seconds=1)


def run_python(program: str, folder: Path, wall_seconds: float = 60) -> str:
    python = Path(sys.base_prefix)
    readable_tree(folder)
    result = Closed(Limits(1, wall_seconds, memory_bytes=512 << 20)).run(
        [str(python / "bin" / "python3"), "-I", "-c", program], "", folder, readable=[python], processes=1
    )
    return result.stdout


def graded(lab: str, where: Path, out: Path, *options: str) -> dict[str, dict[str, str]]:
    """The lines of grades.csv by submission."""
    assert run_command(["lab", "grade", lab, str(where), "--out", str(out), *options]) == 0
    return {row["submission"]: row for row in csv.DictReader(out.read_text().splitlines())}


FORKS = """
import os
try:
    child = os.fork()
except OSError:
    child = -1
if child == 0:
    while True:
        pass
"""
FORKS_FOR_EVER = "import os\nwhile True: os.fork()\n"
SENDS = """
import socket
def tried(what):
    try:
        what()
    except OSError as error:
        return error.strerror
    return "worked"
FOUND = [
    tried(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1)),
    tried(lambda: socket.create_connection(("127.0.0.1", 22), timeout=1)),
    tried(lambda: open("/etc/hostname")),
    tried(lambda: open(OTHER)),
    tried(lambda: open("new", "w")),
    tried(lambda: open(NEW, "w")),
]
raise ValueError(FOUND)
"""


@SHUT_IN
def test_python_that_forks_sends_or_reads_costs_nobody_else_anything(tmp_path: Path) -> None:
    right = (catalogue.find("08").solution / "controller.py").read_text()
    where = tmp_path / "submissions"
    other = where / "right" / "controller.py"
    new = Path("/tmp") / f"p4sched-{tmp_path.name}"
    texts = {
        "forks": FORKS + right,
        "forks-for-ever": FORKS_FOR_EVER,
        "right": right,
        "sends": f"OTHER, NEW = {str(other)!r}, {str(new)!r}\n{SENDS}",
        "waits": "while True: pass\n",
        "writes": "while True: print('x' * 10**6)\n",
    }
    for student, text in texts.items():
        (where / student).mkdir(parents=True)
        (where / student / "controller.py").write_text(text)
    rows = graded("08", where, tmp_path / "grades.csv", "--seconds", "2", "--jobs", "6")
    assert {name for name, row in rows.items() if row["marks"] == "100"} == {"forks", "right"}
    told_of = {name: row["mistakes"] + row["remark"] for name, row in rows.items()}
    assert "other processes" in told_of["forks-for-ever"]
    assert "took longer than 2 s" in told_of["waits"]
    assert "wrote more than 64 MB" in told_of["writes"]
    tried = re.search(r"\[(.*)\]", told_of["sends"])
    assert tried is not None
    *kept_out, own = tried[1].strip("'").split("', '")
    assert kept_out[:2] == ["Network is unreachable", "Connection refused"]
    assert "worked" not in kept_out
    # /tmp is the sandbox's own
    assert own == "worked"
    assert not new.exists()


@BUILT
@SHUT_IN
def test_an_archive_gives_its_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths with .. in them, links, bombs, and what is no archive."""
    entry = catalogue.find("4")
    name = "aifo_admission.p4"
    right = (entry.solution / name).read_bytes()
    where = tmp_path / "submissions"
    where.mkdir()
    secret = tmp_path / "secret.p4"
    secret.write_bytes(right)
    for student, members in {
        "above": {f"../../{name}": right},
        "bomb": {name: bytes(BOMB_BYTES)},
        "deep": {"other": bytes(BOMB_BYTES), f"deep/{name}": right},
    }.items():
        with zipfile.ZipFile(where / f"{student}.zip", "w", zipfile.ZIP_DEFLATED) as made:
            for member, content in members.items():
                made.writestr(member, content)
    for student, kind in (("hard", tarfile.LNKTYPE), ("soft", tarfile.SYMTYPE)):
        with tarfile.open(where / f"{student}.tar.gz", "w:gz") as packed:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, str(secret)
            packed.addfile(link)
    with tarfile.open(where / "root.tar", "w") as packed:
        info = tarfile.TarInfo(f"/etc/../{name}")
        info.size = len(right)
        packed.addfile(info, io.BytesIO(right))
    monkeypatch.setattr(grading, "LARGEST_ARCHIVE", BOMB_BYTES // 2)
    with tarfile.open(where / "heavy.tar.gz", "w:gz", compresslevel=1) as packed:
        for member, content in ("other", bytes(BOMB_BYTES)), (name, right):
            info = tarfile.TarInfo(member)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    (where / "torn.zip").write_bytes((where / "above.zip").read_bytes()[:-40])
    (where / "notes.txt").write_text("no submission")
    rows = graded("04", where, tmp_path / "grades.csv")
    full = {"above", "deep", "root"}
    assert {student for student, row in rows.items() if row["marks"] == "100"} == full
    assert set(rows) - full == {"bomb", "hard", "heavy", "soft", "torn"}
    assert rows["bomb"]["remark"] == f"{name} is larger than 1 MB"
    assert rows["heavy"]["remark"] == "it holds more than 32 MB"
    assert rows["torn"]["remark"] == "torn.zip is no .zip or .tar archive, or it is damaged"
    assert rows["hard"]["remark"] == rows["soft"]["remark"] == f"there is no file {name}"
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["grades", "grades.csv", "grades.xml", "secret.p4", "submissions"]


RIGHT_LAW = catalogue.find("09").solution / "law.py"


@SHUT_IN
def test_submissions_with_names_alike_are_told_apart_and_none_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "submissions"
    for folder in ("bob", "twice/new", "twice/old"):
        (where / folder).mkdir(parents=True)
    for file in ("bob/law.py", "carl.py", "twice/new/law.py", "twice/old/law.py"):
        shutil.copyfile(RIGHT_LAW, where / file)
    for name, kind in (("eva.meier", "zip"), ("eva.schmidt", "zip"), ("bob", "gztar")):
        shutil.make_archive(str(where / name), kind, RIGHT_LAW.parent)
    (where / "notes.txt").write_text("no submission")
    (where / "none").mkdir()
    rows = graded("09", where, tmp_path / "new" / "folder" / "grades.csv")
    assert set(rows) == {"bob", "bob.tar.gz", "carl", "eva.meier", "eva.schmidt", "none", "twice"}
    assert {name for name, row in rows.items() if row["marks"] != "100"} == {"none"}
    assert (rows["none"]["mistakes"], rows["none"]["remark"]) == ("", "there is no file law.py")
    assert rows["twice"]["remark"] == "graded is new/law.py; at the same depth there is old/law.py"
    pages = {page.stem for page in (tmp_path / "new" / "folder" / "grades").iterdir()}
    assert pages == set(rows)
    assert "left out, for it is neither a folder nor an archive nor a file of the lab: notes.txt" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_place_where_no_marks_can_be_written_is_told_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "submissions" / "anna").mkdir(parents=True)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.delattr(grading, "grade")
    command = ["lab", "grade", "09", str(tmp_path / "submissions"), "--trusted"]
    assert run_command([*command, "--out", str(tmp_path / "file" / "grades.csv")]) == 2
    assert "cannot be made: Not a directory" in " ".join(capsys.readouterr().err.split())


def test_marks_beside_the_submissions_are_none_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "anna").mkdir()
    for _ in range(2):
        assert set(graded("09", tmp_path, tmp_path / "grades.csv", "--trusted")) == {"anna"}
    assert "left out" not in capsys.readouterr().out


def test_gradescope_says_why_a_submission_could_not_be_checked(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    (tmp_path / "empty").mkdir()
    assert run_command(["lab", "grade", "08", str(tmp_path / "empty"), "--trusted", "--gradescope", str(results)]) == 0
    found = json.loads(results.read_text())
    assert found["output"] == "there is no file controller.py\n0 of 100 marks"
    assert [test["output"] for test in found["tests"]][:2] == [
        "there is no file controller.py",
        "not checked: there is no file controller.py",
    ]


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (b"def decides(memory, sample): pass\n", "controller.py: there is no function decide"),
        (b"decide = 3\n", "controller.py: there is no function decide"),
        (b"\ndecide = \n", "controller.py, line 2: SyntaxError: invalid syntax"),
        (b"\xef\xbb\xbf" + (catalogue.find("08").solution / "controller.py").read_bytes(), ""),
    ],
)
def test_a_controller_that_cannot_be_checked_gets_a_sentence(text: bytes, remark: str, tmp_path: Path) -> None:
    (tmp_path / "controller.py").write_bytes(text)
    checked, _ = checking.check(catalogue.find("08"), tmp_path, Sandbox())
    assert (checked.remark, checked.given) == (remark, 0 if remark else 100)


@pytest.mark.parametrize(
    ("before", "after", "given", "says"),
    [
        ('"leaf3-spine1"', '" leaf3 - Spine1 "', 100, ""),
        ("# Task 1", "\ufeff# Task 1", 100, ""),
        ("= 88", '= "88 Mbit/s"', 80, "Write a number, without quotes and without a unit."),
        ('"leaf3-spine1"', "leaf3-spine1", 0, "Words need quotes; numbers do not."),
    ],
)
def test_how_an_answer_is_written_is_told(before: str, after: str, given: int, says: str, tmp_path: Path) -> None:
    entry = catalogue.find("10")
    text = (entry.solution / "answers.toml").read_text()
    assert before in text
    (tmp_path / "answers.toml").write_text(text.replace(before, after), encoding="utf-8")
    checked, _ = checking.check(entry, tmp_path, Sandbox())
    assert checked.given == given
    assert says in told.text(checked)


def test_a_folder_without_the_file_that_names_its_lab_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file \.p4sched-lab\.json in it.*Copy it from"):
        workspace.opened(tmp_path)


@pytest.mark.parametrize(
    ("service", "file", "hidden"),
    [
        ("gradescope", "Dockerfile", ("labs/*/solution", "labs/*/wrong.toml")),
        (
            "github-classroom",
            ".github/workflows/classroom.yml",
            ("--tmpfs /p4sched/labs/08-fdpa_controller/solution ", "/p4sched/labs/08-fdpa_controller/wrong.toml:ro"),
        ),
    ],
)
def test_what_a_service_runs_has_no_solutions(service: str, file: str, hidden: tuple[str, str], tmp_path: Path) -> None:
    where = tmp_path / "exported"
    assert run_command(["lab", "export", "08", str(where), "--to", service, "--image", "example.org/lab"]) == 0
    text = (where / file).read_text()
    assert all(part in text for part in hidden)
