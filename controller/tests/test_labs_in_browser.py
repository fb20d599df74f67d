"""The checks of labs without processes, as a browser runs them: the same text and marks as on the command line."""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from p4sched.labs import catalogue, checking, in_browser, result_text
from p4sched.labs.sandbox import Sandbox
from p4sched.paths import ROOT, rust_binary
from playground import labs_archive

BUILT = pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)
NO_HEADROOM = ("needed * (256 - (bit<64>) headroom)", "needed << 8")


def run(request: str) -> str:
    """The page's function, with a native program."""
    asked = json.loads(request)
    with tempfile.TemporaryDirectory() as root:
        for name, text in asked["files"].items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        name, *words = asked["words"]
        command = [str(rust_binary(f"p4sched-{name}")), *words]
        ended = subprocess.run(command, cwd=root, input=asked["input"], capture_output=True, text=True, check=False)
    return json.dumps({"code": ended.returncode, "output": ended.stdout, "errors": ended.stderr})


@BUILT
@pytest.mark.parametrize(
    ("number", "folder", "edit"),
    [
        ("04", "solution", NO_HEADROOM),
        ("04", "solution", ("verdict = REFUSED;", "verdict = REFUSED")),
        ("08", "start", None),
        ("11", "solution", None),
    ],
)
def test_a_check_in_a_browser_says_what_the_command_line_says(
    number: str, folder: str, edit: tuple[str, str] | None, tmp_path: Path
) -> None:
    entry = catalogue.find(number)
    (file,) = entry.load().files
    text = (entry.folder / folder / file).read_text(encoding="utf-8")
    if edit is not None:
        assert edit[0] in text
        text = text.replace(*edit)
    (tmp_path / file).write_text(text, encoding="utf-8")
    expected, _ = checking.check(entry, tmp_path, Sandbox(has_solver=False))
    found = json.loads(in_browser.check(number, {file: text}, run))
    assert found["text"] == result_text.text(expected)
    assert (found["score"], found["maximum"], found["remark"]) == (expected.score, expected.maximum, expected.remark)


def test_a_check_in_a_browser_says_which_file_is_missing() -> None:
    assert json.loads(in_browser.check("04", {}, run))["remark"] == "there is no file aifo_admission.p4"


def test_the_archive_of_the_page_needs_only_the_standard_library(tmp_path: Path) -> None:
    archive = tmp_path / "labs.zip"
    labs_archive.write(archive)
    with zipfile.ZipFile(archive) as made:
        made.extractall(tmp_path)
    program = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'controller')!r}];"
        "from p4sched.labs import catalogue, in_browser; in_browser.install();"
        "print(*[entry.number for entry in catalogue.labs() if entry.load()])"
    )
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    assert tuple(ended.stdout.split()) == labs_archive.LABS
