"""The command line as a person meets it: in a process of its own, from any folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from p4sched import experiment
from p4sched.control import switch_address
from p4sched.errors import P4schedError

P4SCHED = Path(sys.prefix) / "bin" / "p4sched"


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/nonexistent", "COLUMNS": "120", **environment}
    return subprocess.run([P4SCHED, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnu", "fdpa_fairness"), "no command 'rnu'; did you mean 'run'?"),
        (("run", "fdpa_fairnes"), "no experiment 'fdpa_fairnes'; did you mean 'fdpa_fairness'?"),
        (("compile", "fdap.p4", "-o", "out"), "no P4 program 'fdap.p4'; did you mean"),
        (("compile", "fdpa.p4"), "Missing option '-o'"),
        (("control", "127.0.0.1:9", "--rate", "0mbit", "--program", "."), "rate '0mbit' is zero"),
        (("control", "127.0.0.1:9", "--rate", "1mbit", "--program", ".", "--bands", "1+0*0"), "0 further bands"),
        (("control", "127.0.0.1:9", "--rate", "1mbit", "--program", ".", "--rtt", "-1ms"), "'-1ms' is no time"),
        (("list", "--al"), "--al"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("control", "s1", "--rate", "1mbit", "--program", "."), "there is no switch 's1'"),
        (("control", "127.0.0.1:99999", "--rate", "1mbit", "--program", "."), "is not HOST:PORT"),
        (("control", "127.0.0.1:9", "--rate", "1mbit", "--program", "."), "fdpa.json is missing"),
        (("compile", "broken.p4", "-o", "out", "--compiler", "p4c"), "'p4c-bm2-ss' is not on the PATH"),
        (("switch",), "which is no file"),
    ],
)
def test_what_is_missing_is_one_line_and_exit_code_1(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "broken.p4").write_text("")
    result = run(*arguments, cwd=tmp_path, P4SCHED_SWITCH=str(tmp_path / "no-switch"))
    assert result.returncode == 1
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["run", "list", "compile", "switch", "shell", "clean", "control"])
def test_help_names_every_command(tmp_path: Path, command: str) -> None:
    result = run("--help", cwd=tmp_path)
    assert result.returncode == 0
    assert f" {command} " in result.stdout


def test_every_experiment_is_listed_and_shows_its_options(tmp_path: Path) -> None:
    listed = run("list", cwd=tmp_path)
    assert listed.returncode == 0
    for name in experiment.names():
        assert name in listed.stdout
        help_text = run("run", name, "--help", cwd=tmp_path)
        assert help_text.returncode == 0
        assert "--out" in help_text.stdout


def write_experiment(folder: Path, name: str, code: str) -> Path:
    path = folder / name / "experiment.py"
    path.parent.mkdir(parents=True)
    path.write_text(code)
    return folder


def test_an_experiment_imports_the_files_beside_it(tmp_path: Path) -> None:
    code = (
        "from labs_a.one.words import SUMMARY\n"
        "from p4sched.experiment import Experiment\n"
        "EXPERIMENT = Experiment('one', SUMMARY, lambda: None)\n"
    )
    folder = write_experiment(tmp_path / "labs_a", "one", code)
    (folder / "one" / "words.py").write_text("SUMMARY = 'shows one thing'\n")
    assert experiment.names(folder) == ["one"]
    assert experiment.load("one", folder).summary == "shows one thing"


@pytest.mark.parametrize(
    ("name", "code", "wrong"),
    [
        ("two", "EXPERIMENT = 3\n", "no EXPERIMENT of type"),
        ("three", "x = 1\n", "no EXPERIMENT of type"),
        (
            "four",
            "from p4sched.experiment import Experiment\nEXPERIMENT = Experiment('five', 's', print)\n",
            "is named 'five', its folder 'four'",
        ),
    ],
)
def test_a_folder_without_a_proper_experiment_says_what_is_wrong(
    tmp_path: Path, name: str, code: str, wrong: str
) -> None:
    folder = write_experiment(tmp_path / f"labs_{name}", name, code)
    with pytest.raises(P4schedError, match=wrong):
        experiment.load(name, folder)


def test_names_are_chosen_in_the_order_given_and_once() -> None:
    assert experiment.choose("scheme", "fdpa, fifo,fdpa", ["fifo", "fdpa", "drr"]) == ["fdpa", "fifo"]


@pytest.mark.parametrize(("text", "wrong"), [("fdpq", "did you mean 'fdpa'"), (",", "no scheme given"), ("", "fifo, ")])
def test_a_name_that_does_not_exist_suggests_the_right_one(text: str, wrong: str) -> None:
    with pytest.raises(P4schedError, match=wrong):
        experiment.choose("scheme", text, ["fifo", "fdpa", "drr"])


def test_a_switch_of_the_running_lab_is_found_by_name(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"switches": {"s1": {"address": "127.0.0.1:9559"}}}))
    assert switch_address("s1", state) == "127.0.0.1:9559"
    assert switch_address("localhost:9000", tmp_path / "none") == "localhost:9000"
    with pytest.raises(P4schedError, match="did you mean 's1'"):
        switch_address("s2", state)
    state.write_text("{")
    with pytest.raises(P4schedError, match="not the state of a lab"):
        switch_address("s1", state)
