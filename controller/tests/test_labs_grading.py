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
from p4sched.labs import catalogue, checking, grading, result_text, submissions, submitted_file, workspace
from p4sched.labs.sandbox import ClosedSandbox, Limits, Sandbox, SubmissionError, readable_tree
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
        "ben": right.replace("needed * (256 - (bit<64>) headroom)", "needed << 8"),
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
    command = ["lab", "grade", "04", str(where), "--out", str(tmp_path / "grades.csv"), "--seconds", "4"]
    assert run_command(command) == 0
    rows = list(csv.DictReader((tmp_path / "grades.csv").read_text().splitlines()))
    assert [row["marks"] for row in rows] == ["100", "60", "0", "0", "0", "100", "100"]
    told_of = {row["submission"]: row["mistakes"] + row["remark"] for row in rows}
    assert told_of["ben"] == "no headroom"
    assert re.search("memory|longer than|macro|too", told_of["carl"]), told_of["carl"]
    assert "/etc/passwd" in told_of["dora"]
    eva = next(row for row in rows if row["submission"] == "eva")
    linked = "aifo_admission.p4 is a link or not a plain file; hand in the file itself"
    assert (eva["mistakes"], eva["remark"]) == ("", linked)
    suites = ElementTree.parse(tmp_path / "grades.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0", "1", "3", "3", "3", "0", "0"]
    said = [failure.get("message") for failure in suites[4].iter("failure")]
    assert said == [linked] + [f"not checked: {linked}"] * 2
    assert "Likely mistake" in (tmp_path / "grades" / "ben.html").read_text()
    first = (tmp_path / "grades.csv").read_text().splitlines()
    assert run_command(command) == 0
    again = (tmp_path / "grades.csv").read_text().splitlines()
    # carl may meet his limit on time first, or that on memory
    assert [row for row in again if "carl" not in row] == [row for row in first if "carl" not in row]


@SHUT_IN
@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("while True: pass", "your program took longer than 1 s of CPU time"),
        ("import os\nwhile True: os.fork()", "other processes"),
        ("x = bytearray(1 << 40)", "more than 512 MB of memory"),
        ("while True: print('x' * 10**6)", "wrote more than 64 MB"),
        ("print('x' * (5 << 20))", "wrote more than 4 MB to its standard output"),
    ],
)
def test_what_goes_beyond_a_limit_gets_a_sentence(program: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match=says):
        run_python(program, tmp_path)


@SHUT_IN
def test_a_submission_sees_no_other_files_and_no_network(tmp_path: Path) -> None:
    asks = f"""
import os, socket
print([os.path.exists(path) for path in ({str(ROOT / "README.md")!r}, "/etc/passwd", "/proc", "/usr/share")])
for path in ("new", "/new", "/dev/new", "/dev/shm/new", "/tmp/new"):
    try:
        open(path, "w")
    except OSError as error:
        print(error.strerror)
try:
    socket.create_connection(("1.1.1.1", 53), timeout=1)
except OSError as error:
    print(error.strerror)
"""
    read_only = "Read-only file system\n" * 5
    assert run_python(asks, tmp_path) == f"{[False] * 4}\n{read_only}Network is unreachable\n"


@SHUT_IN
def test_what_waits_for_ever_is_ended(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="your program took longer than 1 s, and was ended"):
        run_python("import time\ntime.sleep(60)", tmp_path, wall_seconds=1)


def run_python(program: str, folder: Path, wall_seconds: float = 60) -> str:
    python = Path(sys.base_prefix)
    readable_tree(folder)
    result = ClosedSandbox(Limits(1, wall_seconds, memory_bytes=512 << 20)).run(
        [str(python / "bin" / "python3"), "-I", "-c", program],
        "",
        folder,
        readable=[python / "bin", python / "lib"],
        processes=1,
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
    # on a busy machine it may not get its two seconds of CPU in the twenty that it may take
    assert re.search("took longer than (2 s of CPU time|20 s), and was ended", told_of["waits"]), told_of["waits"]
    assert "wrote more than 64 MB" in told_of["writes"]
    tried = re.search(r"\[(.*)\]", told_of["sends"])
    assert tried is not None
    kept_out = tried[1].strip("'").split("', '")
    assert kept_out[:2] == ["Network is unreachable", "Connection refused"]
    assert "worked" not in kept_out
    assert not new.exists()


@BUILT
@SHUT_IN
def test_an_archive_gives_its_file_and_nothing_else(tmp_path: Path) -> None:
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
    (where / "torn.zip").write_bytes((where / "above.zip").read_bytes()[:-40])
    (where / "notes.txt").write_text("no submission")
    rows = graded("04", where, tmp_path / "grades.csv")
    full = {"above", "deep", "root"}
    assert {student for student, row in rows.items() if row["marks"] == "100"} == full
    assert set(rows) - full == {"bomb", "hard", "soft", "torn"}
    assert rows["bomb"]["remark"] == f"{name} is larger than 1 MB"
    assert rows["torn"]["remark"] == "it is not a .zip or .tar archive, or it is damaged"
    for_links = f"{name} is a link or not a plain file; hand in the file itself"
    assert rows["hard"]["remark"] == rows["soft"]["remark"] == for_links
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["grades", "grades.csv", "grades.xml", "secret.p4", "submissions"]


def test_an_archive_that_grows_when_it_is_unpacked_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitted_file, "LARGEST_ARCHIVE", BOMB_BYTES // 2)
    with tarfile.open(tmp_path / "heavy.tar.gz", "w:gz", compresslevel=1) as packed:
        for member in "other", "law.py":
            info = tarfile.TarInfo(member)
            info.size = BOMB_BYTES
            packed.addfile(info, io.BytesIO(bytes(BOMB_BYTES)))
    with pytest.raises(SubmissionError, match="it holds more than 32 MB"):
        submitted_file.read(tmp_path / "heavy.tar.gz", "law.py")


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_files_that_windows_and_macos_add_or_rename(form: str, tmp_path: Path) -> None:
    """Windows may separate folders by backslashes; macOS adds properties under the same name, less deep."""
    with zipfile.ZipFile(tmp_path / "windows.zip", "w") as packed:
        packed.writestr("__MACOSX/law.py", "properties")
        packed.writestr("homework/first/law.py" if form == "folder" else "homework\\first\\law.py", "the law")
    submission = tmp_path / "windows.zip"
    if form == "folder":
        submission = tmp_path / "unpacked"
        shutil.unpack_archive(tmp_path / "windows.zip", submission)
    assert submitted_file.read(submission, "law.py").content == b"the law"


def test_names_that_look_the_same_are_told_apart(tmp_path: Path) -> None:
    both = [tmp_path / "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}", tmp_path / "Zoe\N{COMBINING DIAERESIS}"]
    for path in both:
        path.mkdir()
    first, second = submissions.names(both, ["law.py"])
    assert first == both[0].name
    assert second.startswith(f"{first}~")


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
    assert "ignored (not a folder, an archive or a file of the lab): notes.txt" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_place_where_no_marks_can_be_written_is_reported_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "submissions" / "anna").mkdir(parents=True)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.delattr(grading, "grade")
    command = ["lab", "grade", "09", str(tmp_path / "submissions"), "--trusted"]
    assert run_command([*command, "--out", str(tmp_path / "file" / "grades.csv")]) == 2
    assert "/file' is not a folder" in " ".join(capsys.readouterr().err.split())


def test_marks_beside_the_submissions_are_none_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "anna").mkdir()
    for _ in range(2):
        assert set(graded("09", tmp_path, tmp_path / "grades.csv", "--trusted")) == {"anna"}
    assert "left out" not in capsys.readouterr().out


def test_marks_of_an_earlier_run_among_the_submissions_are_none_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "submissions"
    for name in ("anna", "carl"):
        (where / name).mkdir(parents=True)
    # a student's folder beside a student's file of the same name is not a folder of pages
    (where / "carl" / "page.html").write_text("x")
    (where / "carl.csv").write_text("x")
    assert set(graded("09", where, where / "q.csv", "--trusted")) == {"anna", "carl"}
    capsys.readouterr()
    assert set(graded("09", where, tmp_path / "grades.csv", "--trusted")) == {"anna", "carl"}
    said = " ".join(capsys.readouterr().out.split())
    assert "ignored (not a folder, an archive or a file of the lab): carl.csv marks:" in said


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
    assert (checked.remark, checked.score) == (remark, 0 if remark else 100)


@pytest.mark.parametrize(
    ("before", "after", "given", "says"),
    [
        ('"leaf3-spine1"', '" leaf3 - Spine1 "', 100, ""),
        ("# Task 1", "\ufeff# Task 1", 100, ""),
        ("= 88", '= "88 Mbit/s"', 80, "Write digits and a point, without a unit."),
        ('"leaf3-spine1"', "leaf3-spine1", 0, "Words need quotes; numbers do not."),
    ],
)
def test_how_an_answer_is_written_is_reported(before: str, after: str, given: int, says: str, tmp_path: Path) -> None:
    entry = catalogue.find("10")
    text = (entry.solution / "answers.toml").read_text()
    assert before in text
    (tmp_path / "answers.toml").write_text(text.replace(before, after), encoding="utf-8")
    checked, _ = checking.check(entry, tmp_path, Sandbox())
    assert checked.score == given
    assert says in result_text.text(checked)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"link = " + b"[" * 10_000, "too many brackets"),
        (b"link = " + b"9" * 5000, "a number of thousands of digits"),
        (b"a." * 30_000 + b"a = 1", "larger than 50000 bytes"),
        (b"link = '\xe9'", "not UTF-8"),
        (b"rate_mbit = " + b"9" * 400, "rate_mbit = inf is not right."),
    ],
)
def test_answers_that_nobody_can_read_are_reported(text: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_bytes(text)
    checked, _ = checking.check(catalogue.find("10"), tmp_path, Sandbox())
    assert checked.score == 0
    assert says in result_text.text(checked)


def test_a_folder_without_the_file_that_names_its_lab_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file \.p4sched-lab\.json in it.*Copy it from"):
        workspace.open_workspace(tmp_path)


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


@BUILT
@SHUT_IN
def test_an_error_in_a_file_of_the_lab_says_how_it_concerns_the_student(tmp_path: Path) -> None:
    (tmp_path / "fdpa_bands.p4").write_text('#include "users.p4"\n')
    checked, _ = checking.check(catalogue.find("07"), tmp_path, ClosedSandbox())
    assert checked.remark.splitlines()[0] == (
        "fdpa.p4:18:5: no type 'FdpaBands' is declared here; fdpa.p4 belongs to the lab and includes your fdpa_bands.p4"
    )


@BUILT
@pytest.mark.parametrize(
    ("lab", "file"),
    [
        ("02", "tail_drop.p4"),
        ("03", "../fifo.p4"),
        ("06", "aifo_admission.p4"),
        ("07", "rate_estimator.p4"),
        ("07", "select_band.p4"),
        ("07", "weighted.p4"),
        ("11", "../../p4/include/sp_pifo_mapping.p4"),
        ("11", "/usr/include/stdio.h"),
    ],
)
@SHUT_IN
def test_a_p4_file_includes_only_what_its_start_and_its_program_do(lab: str, file: str, tmp_path: Path) -> None:
    entry = catalogue.find(lab)
    (name,) = entry.load().files
    (tmp_path / name).write_text(f'#include "{file}"\n{(entry.solution / name).read_text()}')
    checked, _ = checking.check(entry, tmp_path, ClosedSandbox())
    assert checked.score == 0
    assert "no file '" in checked.remark
    assert Path(file).name in checked.remark
