"""The labs: a start gets no marks and says where to begin, a solution gets all, each wrong solution is told apart."""

import csv
import json
import re
import runpy
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from p4sched.cli.main import run_command
from p4sched.control.bands import Bands
from p4sched.control.laws import aifo, fdpa
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.errors import UsageError
from p4sched.labs import catalogue, checking, proof, result_text, workspace
from p4sched.labs.answers import AnswersLab
from p4sched.labs.catalogue import Entry
from p4sched.labs.functions import FunctionLab
from p4sched.labs.lab import CheckResult
from p4sched.labs.rules.aifo_law import AifoLaw
from p4sched.labs.rules.fdpa_controller import FdpaController
from p4sched.labs.sandbox import Sandbox
from p4sched.p4rt.users import UserCounter
from p4sched.paths import ROOT

LABS = catalogue.labs()
RULES_IN_P4 = [entry for entry in LABS if entry.number in {"03", "04", "05", "06", "07", "11"}]
BUILT = pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)


@pytest.fixture(autouse=True)
def only_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the trials of a check find; test_labs_proof.py is about the solver."""
    monkeypatch.setattr(proof, "LABS", ())


def check(entry: Entry, work: Path) -> CheckResult:
    checked, problem = checking.check(entry, work, Sandbox())
    assert problem is None
    return checked


def named(checked: CheckResult) -> set[str]:
    return {marks.mistake for marks in checked.marks if marks.mistake is not None}


def wrong() -> Iterator[Any]:
    for entry in LABS:
        listed = tomllib.loads((entry.folder / "wrong.toml").read_text())["wrong"]
        assert len(listed) >= 8, f"{entry.folder.name}: fewer than eight wrong solutions"
        for one in (one for one in listed if "marks" in one):
            yield pytest.param(entry, one, id=f"{entry.number}-{one['mistake']}")


@BUILT
@pytest.mark.parametrize("entry", LABS, ids=lambda entry: entry.folder.name)
def test_a_start_gets_no_marks_and_a_solution_gets_all(entry: Entry) -> None:
    begun = check(entry, entry.start)
    assert (begun.score, named(begun)) == (0, {"nothing yet"}), result_text.text(begun)
    solved = check(entry, entry.solution)
    assert (solved.score, solved.maximum) == (100, 100), result_text.text(solved)


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
    assert (named(checked), checked.score) == ({one["mistake"]}, one["marks"]), result_text.text(checked)


@BUILT
@pytest.mark.parametrize("number", ["02", "11"])
def test_a_message_of_the_compiler_names_the_students_file(number: str, tmp_path: Path) -> None:
    lab = catalogue.find(number).load()
    (file,) = lab.files
    (tmp_path / file).write_text("control {}\n")
    first, *_ = checking.check(catalogue.find(number), tmp_path, Sandbox())[0].marks
    assert first.says[0].startswith(f"{file}:1:"), first.says


@pytest.mark.parametrize("entry", LABS, ids=lambda entry: entry.folder.name)
def test_a_lab_has_a_readme_with_all_parts_and_hints(entry: Entry) -> None:
    text = (entry.folder / "README.md").read_text()
    for part in ("## What you learn", "## Begin", "## Task 1", "## What you should see", "## Questions"):
        assert part in text, part
    assert f"{entry.load().minutes} minutes" in text
    assert len(entry.hints()) >= 4
    assert {path.name for path in entry.solution.iterdir()} == set(entry.load().files)
    assert set(entry.load().files) <= {path.name for path in entry.start.iterdir()}


@BUILT
def test_the_answers_of_lab_01_are_what_its_script_measures() -> None:
    script = runpy.run_path(str(catalogue.find("01").start / "one_queue.py"))
    measured = {size: script["measured"](size) for size in (15, 20, 40, 400)}
    assert measured[15][0] < 0.95 <= measured[20][0]
    lab = catalogue.find("01").load()
    assert isinstance(lab, AnswersLab)
    right = {question.key: question.answer for question in lab.questions}
    assert measured[400][2] / measured[40][2] == pytest.approx(right["times_longer"], rel=0.01)
    assert measured[400][1] == pytest.approx(right["full_queue_ms"], rel=0.01)


@BUILT
def test_the_tables_of_lab_10_are_those_of_its_fabric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue.find("10")
    script = runpy.run_path(str(entry.folder / "fabric.py"))
    monkeypatch.setitem(script["main"].__globals__, "START", tmp_path)
    script["main"]()
    for name in ("ports.csv", "flows.csv"):
        assert (tmp_path / name).read_text() == (entry.start / name).read_text()
    ports = list(csv.DictReader((tmp_path / "ports.csv").open()))
    assert max(ports, key=lambda port: float(port["queue_mean"]))["to"] == "spine1"
    inside = [port for port in ports if not port["to"].startswith("h")]
    assert sum(int(port["dropped_full"]) for port in inside) == 184


@BUILT
def test_the_answers_of_lab_12_are_those_of_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue.find("12")
    script = runpy.run_path(str(entry.folder / "tenants.py"))
    monkeypatch.setitem(script["main"].__globals__, "START", tmp_path)
    script["main"]()
    for name in ("flows.csv", "honest.csv", "schemes.csv"):
        assert (tmp_path / name).read_text() == (entry.start / name).read_text()
    now, honest = (list(csv.DictReader((tmp_path / name).open())) for name in ("flows.csv", "honest.csv"))
    lies = {(flow["tenant"], int(flow["bytes"]) // int(flow["rank"])) for flow in now if flow["bytes"] != flow["rank"]}
    assert lies == {("3", 50)}
    lab = entry.load()
    assert isinstance(lab, AnswersLab)
    right = {question.key: question.answer for question in lab.questions}

    def large(flows: list[dict[str, str]], liars: bool) -> float:
        found = [flow for flow in flows if int(flow["bytes"]) >= 100_000 and (flow["tenant"] == "3") is liars]
        return sum(float(flow["slowdown"]) for flow in found) / len(found)

    for key, liars in (("gain", True), ("price", False)):
        assert large(now, liars) / large(honest, liars) == pytest.approx(right[key], rel=0.002)


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
    shown = [workspace.next_hint(workspace.open_workspace(work))[0] for _ in range(8)]
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
    with pytest.raises(UsageError, match="is not a lab"):
        workspace.open_workspace(tmp_path)
    with pytest.raises(UsageError, match="did you mean '04-aifo_admission'"):
        catalogue.find("04-aifo_admision")


def test_a_part_of_a_name_is_enough_if_one_lab_has_it() -> None:
    assert [catalogue.find(part).number for part in ("04-aifo", "RIFO", "fabric")] == ["04", "05", "10"]
    with pytest.raises(UsageError, match=r"which of 04-aifo_admission, 09-aifo_law\?"):
        catalogue.find("aifo")


def test_what_cannot_be_read_or_written_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "start", "01", "/proc/mine"]) == 2
    assert "/proc/mine: cannot be written: " in capsys.readouterr().err
    assert run_command(["lab", "start", "01", str(tmp_path)]) == 0
    (tmp_path / "check" / "report.html").mkdir(parents=True)
    assert run_command(["lab", "check", str(tmp_path), "--no-tcp"]) == 2
    assert "cannot be written: it is a folder" in capsys.readouterr().err


def test_a_reset_keeps_what_is_there_and_makes_no_folder_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["lab", "start", "01", str(tmp_path)]) == 0
    answers = tmp_path / "answers.toml"
    answers.unlink()
    assert run_command(["lab", "reset", str(tmp_path)]) == 0
    assert "there was no file of yours" in capsys.readouterr().out
    assert not (tmp_path / "before-reset-1").exists()
    answers.unlink()
    answers.mkdir()
    assert run_command(["lab", "reset", str(tmp_path)]) == 0
    assert (tmp_path / "before-reset-1" / "answers.toml").is_dir()
    assert answers.is_file()


def test_hints_that_were_shown_are_shown_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["lab", "start", "01", str(tmp_path)])
    for _ in range(2):
        run_command(["lab", "hint", str(tmp_path)])
    capsys.readouterr()
    assert run_command(["lab", "hint", "--all", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "Hint 2" in shown
    assert "Hint 3" not in shown


@pytest.mark.parametrize("sizes", [[], ["abc"], ["4OO"], ["0"]])
def test_invalid_sizes_show_how_to_call_the_script_of_lab_01(sizes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    script = catalogue.find("01").start / "one_queue.py"
    monkeypatch.setattr("sys.argv", [str(script), *sizes])
    with pytest.raises(SystemExit, match="usage: python one_queue"):
        runpy.run_path(str(script), run_name="__main__")


def test_the_reference_of_lab_08_decides_as_fdpas_law() -> None:
    lab = catalogue.find("08").load()
    assert isinstance(lab, FunctionLab)
    for trial in lab.trials:
        controller, state = FdpaController(), fdpa.State()
        for sample in trial:
            first, *further = sample["bands"]
            bands = Bands(first, len(sample["bands"]), further[0] - first if further else 1)
            config = fdpa.Config(sample["capacity_bps"], bands, round(sample["interval_ms"] * 1000), 10_000_000)
            users = {one["user"]: UserCounter(one["bytes"], round(256 / one["weight"])) for one in sample["users"]}
            decision = fdpa.decide(config, state, fdpa.Sample(sample["time_ms"] * 1_000_000, users))
            state = decision.state
            answer = controller.decide(sample)
            assert answer is not None
            assert decision.parameters is not None
            assert list(decision.active) == answer["active"]
            edges = decision.parameters.edges[: len(answer["edges"])]
            assert list(edges) == pytest.approx(answer["edges"], abs=0.5)


def test_the_reference_of_lab_09_decides_as_aifos_law() -> None:
    lab = catalogue.find("09").load()
    assert isinstance(lab, FunctionLab)
    for sample in (trial[0] for trial in lab.trials):
        packet_ns = 1514 * 8e9 / sample["drain_bps"]
        config = (
            aifo.Config(
                rate_bps=round(sample["drain_bps"]),
                delay_ns=round(sample["delay_ms"] * 1e6),
                queue_packets=sample["queue_packets"],
                span_ns=round(sample["span_ms"] * 1e6),
                loss=sample["loss"],
                window_ranks=sample["window"],
            )
            if sample["delay_ms"] * 1e6 > packet_ns and sample["loss"]
            else None
        )
        if config is None:
            continue
        measured = Traffic(
            sample["arrival_pps"], sample["packet_bytes"], sample["drain_bps"], 1.0, sample["dispersion"]
        )
        wanted = config.parameters_for(measured)
        expected = {"C": wanted.target_packets, "K": wanted.headroom_256, "S": wanted.sampling}
        assert AifoLaw().decide(sample) == expected


@BUILT
def test_github_classroom_has_a_test_for_each_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "template"
    command = ["lab", "export", "04", str(folder), "--to", "github-classroom", "--image", "example.org/p4sched"]
    assert run_command(command) == 0
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "classroom.yml").read_text())
    steps = workflow["jobs"]["run-autograding-tests"]["steps"]
    graded = [step for step in steps if step.get("id")]
    assert [step["with"]["max-score"] for step in graded] == [20, 40, 40]
    assert steps[-1]["with"]["runners"] == ",".join(step["id"] for step in graded)
    assert steps[-1]["env"]["TASK-2_RESULTS"] == "${{ steps.task-2.outputs.result }}"
    shutil.copyfile(catalogue.find("04").solution / "aifo_admission.p4", folder / "aifo_admission.p4")
    text = (folder / "aifo_admission.p4").read_text()
    (folder / "aifo_admission.p4").write_text(text.replace("(256 - (bit<64>) headroom)", "256"))
    codes = []
    for step in graded:
        words = step["with"]["command"].split("example.org/p4sched ")[1].replace("/work", str(folder)).split()
        codes.append(run_command(words))
    assert codes == [0, 0, 1]
    assert "does not use the headroom" in capsys.readouterr().out


@BUILT
def test_gradescope_gets_a_score_for_each_task(tmp_path: Path) -> None:
    folder = tmp_path / "autograder"
    command = ["lab", "export", "05", str(folder), "--to", "gradescope", "--image", "example.org/p4sched"]
    assert run_command(command) == 0
    words = re.search(r"bin/p4sched (.*)", (folder / "run_autograder").read_text())
    assert words is not None
    here = (
        words[1].replace("/submission", str(catalogue.find("05").start)).replace("/results.json", f"{tmp_path}/r.json")
    )
    assert run_command(here.split()) == 0
    results = json.loads((tmp_path / "r.json").read_text())
    assert [(test["score"], test["max_score"]) for test in results["tests"]] == [(0, 20), (0, 20), (0, 40), (0, 20)]
    assert "FROM example.org/p4sched" in (folder / "Dockerfile").read_text()


def listed(name: str, kind: str) -> list[Any]:
    """What the labs in P4 list in a file of theirs."""
    found = [(entry, tomllib.loads((entry.folder / name).read_text()).get(kind, [])) for entry in RULES_IN_P4]
    return [pytest.param(entry, every, id=entry.number) for entry, every in found]


def edited(entry: Entry, one: dict[str, Any], work: Path) -> CheckResult:
    """The check of the solution with some edits."""
    (name,) = entry.load().files
    text = (entry.solution / name).read_text()
    for before, after in one["edits"]:
        assert before in text, one["what"]
        text = text.replace(before, after)
    work.mkdir()
    (work / name).write_text(text)
    return check(entry, work)


@BUILT
@pytest.mark.parametrize(("entry", "every"), listed("wrong.toml", "unlisted"))
def test_a_mistake_that_is_not_listed_gets_its_own_name_or_none(
    entry: Entry, every: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert len(every) >= 8
    for number, one in enumerate(every):
        checked = edited(entry, one, tmp_path / str(number))
        assert checked.remark == "", one["what"]
        assert checked.score < 100, one["what"]
        assert named(checked) <= set(one.get("right", [])), one["what"]


@BUILT
@pytest.mark.parametrize(("entry", "every"), listed("right.toml", "right"))
def test_a_right_solution_that_looks_different_keeps_all_marks(
    entry: Entry, every: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert every
    for number, one in enumerate(every):
        checked = edited(entry, one, tmp_path / str(number))
        assert checked.score == 100, f"{one['what']}\n{result_text.text(checked)}"


@BUILT
def test_lab_03_shows_the_bounds_of_the_program_beside_those_of_the_model(tmp_path: Path) -> None:
    one = {"what": "the cost is one too much", "edits": [["cost = bound - rank", "cost = bound - rank + 1"]]}
    checked = edited(catalogue.find("03"), one, tmp_path / "work")
    shown = "\n".join(checked.marks[3].says)
    model = re.search(r"bounds   (b_1 = .*)", shown)
    program = re.search(r"in your program: (b_1 = .*)", shown)
    assert model is not None, shown
    assert program is not None, shown
    differences = [
        int(right.split(" = ")[1]) - int(wrong.split(" = ")[1])
        for right, wrong in zip(model[1].split(", "), program[1].split(", "), strict=True)
    ]
    # each push-down took one too much of the bounds that have not risen since
    assert min(differences) >= 0
    assert max(differences) >= 1


@BUILT
def test_the_answers_of_lab_13_are_those_of_its_table() -> None:
    entry = catalogue.find("13")
    script = runpy.run_path(str(entry.folder / "runs.py"))
    rows = list(csv.DictReader((entry.start / "runs.csv").open()))
    letters = {chr(ord("A") + number): setting for number, setting in enumerate(script["settings"]())}
    assert [row["setting"] for row in rows] == [letter for letter in letters for _ in script["SEEDS"]]
    for letter in "CN":
        told = next(row for row in rows if row["setting"] == letter)
        again = script["row"](letter, letters[letter], int(told["seed"]))
        assert told == {key: f"{value:.5g}" if isinstance(value, float) else str(value) for key, value in again.items()}

    def of(setting: str, key: str) -> list[float]:
        return [float(row[key]) for row in rows if row["setting"] == setting]

    def slowdown(setting: str) -> float:
        return sum(of(setting, "all")) / 4

    lab = entry.load()
    assert isinstance(lab, AnswersLab)
    right = {question.key: question.answer for question in lab.questions}
    fifo = min("BCDEF", key=slowdown)
    headroom, size = letters["O"][1:3]
    assert letters[fifo][3] == right["threshold"]
    assert headroom * size // 256 == right["free_packets"]
    assert 100 * sum(of("K", "refused")) / sum(of("K", "packets")) == pytest.approx(right["refused_percent"], rel=1e-3)
    assert min(map(slowdown, "HIKLNO")) / slowdown(fifo) == pytest.approx(right["both_over_marks"], rel=1e-3)
    assert all(of("N", key) == of("C", key) for key in ("packets", "marked", "refused", "full", "all"))
