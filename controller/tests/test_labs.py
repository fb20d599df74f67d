"""The labs: a start gets no marks and says where to begin, a solution gets all, each wrong solution is told apart."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from p4sched.cli.main import run_command
from p4sched.errors import UsageError
from p4sched.labs import catalogue, checking, told, workspace
from p4sched.labs.catalogue import Entry
from p4sched.labs.lab import Checked
from p4sched.labs.sandbox import Sandbox
from p4sched.paths import ROOT

LABS = catalogue.labs()
BUILT = pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)


def check(entry: Entry, work: Path) -> Checked:
    checked, problem = checking.check(entry, work, Sandbox())
    assert problem is None
    return checked


def named(checked: Checked) -> set[str]:
    return {marks.mistake for marks in checked.marks if marks.mistake is not None}


def wrong() -> Iterator[Any]:
    for entry in LABS:
        listed = tomllib.loads((entry.folder / "wrong.toml").read_text())["wrong"]
        assert len(listed) >= 8, f"{entry.folder.name}: fewer than eight wrong solutions"
        for one in listed:
            yield pytest.param(entry, one, id=f"{entry.number}-{one['mistake']}")


@BUILT
@pytest.mark.parametrize("entry", LABS, ids=lambda entry: entry.folder.name)
def test_a_start_gets_no_marks_and_a_solution_gets_all(entry: Entry) -> None:
    begun = check(entry, entry.start)
    assert (begun.given, named(begun)) == (0, {"nothing yet"}), told.text(begun)
    solved = check(entry, entry.solution)
    assert (solved.given, solved.of) == (100, 100), told.text(solved)


@BUILT
@pytest.mark.parametrize(("entry", "one"), list(wrong()))
def test_a_wrong_solution_is_told_apart_by_the_name_of_its_mistake(
    entry: Entry, one: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copytree(entry.solution, tmp_path, dirs_exist_ok=True)
    for before, after in one["edits"]:
        file = tmp_path / one.get("file", entry.load().files[0])
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after))
    checked = check(entry, tmp_path)
    assert (named(checked), checked.given) == ({one["mistake"]}, one["marks"]), told.text(checked)


@pytest.mark.parametrize("entry", LABS, ids=lambda entry: entry.folder.name)
def test_a_lab_has_a_readme_with_all_parts_and_hints(entry: Entry) -> None:
    text = (entry.folder / "README.md").read_text()
    for part in ("## What you learn", "## Begin", "## Task 1", "## What you should see", "## Questions"):
        assert part in text, part
    assert f"{entry.load().minutes} minutes" in text
    assert len(entry.hints()) >= 4
    assert {path.name for path in entry.start.iterdir()} == {path.name for path in entry.solution.iterdir()}


@BUILT
def test_a_student_starts_checks_asks_for_hints_and_begins_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "mine"
    assert run_command(["lab", "start", "4", str(work)]) == 0
    assert run_command(["lab", "start", "04", str(work)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert run_command(["lab", "check", str(work), "--no-tcp"]) == 1
    assert "Begin with task 1" in capsys.readouterr().out
    shown = [workspace.next_hint(workspace.opened(work))[0] for _ in range(8)]
    hints = catalogue.find("aifo_admission").hints()
    assert shown == [*hints, hints[-1], hints[-1]]
    (work / "aifo_admission.p4").write_text("mine;")
    assert run_command(["lab", "check", str(work), "--no-tcp"]) == 1
    assert "aifo_admission.p4:1:" in capsys.readouterr().out
    assert run_command(["lab", "reset", str(work)]) == 0
    assert (work / "before-reset-1" / "aifo_admission.p4").read_text() == "mine;"
    assert run_command(["lab", "solution", str(work), "--write"]) == 0
    assert run_command(["lab", "check", str(work)]) == 0
    assert (work / "check" / "report.html").read_text().count("<img") == 2


def test_a_folder_that_is_no_lab_and_a_lab_that_is_not_there_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no lab"):
        workspace.opened(tmp_path)
    with pytest.raises(UsageError, match="did you mean '04-aifo_admission'"):
        catalogue.find("04-aifo_admision")
