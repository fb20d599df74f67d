"""One rule for the exit codes of all commands: `p4sched.errors` states it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from p4sched import simulate
from p4sched.cli.main import app, run_command
from p4sched.lab import experiment
from p4sched.labs import grading
from p4sched.paths import P4_DIR

NONE = "no/such/file"
ADDRESS = "127.0.0.1:1"
PROGRAM = str(P4_DIR / "fifo.p4")
CONTROL = ("control", ADDRESS, "--rate", "1mbit", "--program")
TLS = ("cacert", "cert", "private_key")
"""They name both files of a pair, or the first one misses the second."""
PAIR = ("--cert", NONE, "--private-key", NONE)
SWEEP = """
[scenario]
seed = 1
[scenario.topology.dumbbell]
[scenario.ports]
scheme = "fifo"
[scenario.flows.poisson]
load = 0.5
"""
READ: dict[tuple[str, str], Sequence[str]] = {
    ("run leaf_spine", "topology"): ("run", "leaf_spine", "--virtual", "--out", "out", "--topology", NONE),
    ("compile", "program"): ("compile", NONE, "-o", "out"),
    ("stages", "program"): ("stages", NONE),
    ("control", "program"): (*CONTROL, NONE),
    ("replay", "log"): ("replay", NONE),
    ("watch", "replay"): ("watch", "--replay", NONE),
    ("report", "folder"): ("report", NONE),
    ("sweep", "plan"): ("sweep", NONE),
    ("prove", "program"): ("prove", "fifo", "--program", NONE),
    ("stf", "paths"): ("stf", NONE),
    ("stf", "program"): ("stf", PROGRAM, "--program", NONE),
    ("trace", "program"): ("trace", NONE, PROGRAM),
    ("trace", "capture"): ("trace", PROGRAM, NONE),
    ("trace", "entries"): ("trace", PROGRAM, PROGRAM, "--entries", NONE),
    ("lab check", "where"): ("lab", "check", NONE),
    ("lab hint", "where"): ("lab", "hint", NONE),
    ("lab solution", "where"): ("lab", "solution", NONE),
    ("lab reset", "where"): ("lab", "reset", NONE),
    ("lab grade", "where"): ("lab", "grade", "01", NONE),
    **{
        (name, option): (*words, *(("--cacert", NONE) if option == "cacert" else PAIR))
        for name, words in {
            "shell": ("shell", ADDRESS),
            "watch": ("watch", ADDRESS),
            "port-rate": ("port-rate", ADDRESS),
            "control": (*CONTROL, "build"),
        }.items()
        for option in TLS
    },
}
"""Of each command the parameters that name something to be read, and a command line that names something missing."""
BELOW = "file/place"
"""Below a file there is no folder."""
WRITTEN: dict[tuple[str, str], Sequence[str]] = {
    ("run", "out"): ("run", "--all", "--quick", "--virtual", "--out", BELOW),
    **{(f"run {name}", "out"): ("run", name, "--quick", "--virtual", "--out", BELOW) for name in experiment.names()},
    ("compile", "out"): ("compile", PROGRAM, "-o", BELOW),
    ("control", "log"): (*CONTROL, "build", "--log", BELOW),
    ("watch", "export"): ("watch", "--replay", NONE, "--export", BELOW),
    ("report", "out"): ("report", ".", "--out", BELOW),
    ("sweep", "out"): ("sweep", "sweep.toml", "--out", BELOW),
    ("attack", "out"): ("attack", "fifo", "--against", "pifo", "--out", BELOW),
    ("reproduce", "out"): ("reproduce", "packs", "10", "--out", BELOW),
    ("compare", "out"): ("compare", "fifo,pifo", "--out", BELOW),
    ("prove", "stf"): ("prove", "fifo", "--stf", BELOW),
    ("new-scheduler", "folder"): ("new-scheduler", BELOW),
    ("topology", "out"): ("topology", "dumbbell", "--kathara", "--out", BELOW),
    ("certificates", "into"): ("certificates", BELOW),
    ("lab start", "where"): ("lab", "start", "04", BELOW),
    ("lab export", "where"): ("lab", "export", "04", BELOW, "--to", "gradescope", "--image", "x"),
    ("lab grade", "out"): ("lab", "grade", "08", ".", "--out", f"{BELOW}.csv"),
    ("lab grade", "results"): ("lab", "grade", "08", "folder", "--gradescope", BELOW),
}
"""Of each command the parameters that name something to be written, and a command line with a place that cannot be."""
TAKEN: dict[str, Sequence[str]] = {
    "report": ("report", ".", "--out", "folder"),
    "control": (*CONTROL, "build", "--log", "folder"),
    "lab grade --gradescope": ("lab", "grade", "08", "folder", "--gradescope", "folder"),
    "lab grade, table": ("lab", "grade", "08", ".", "--out", "folder.csv"),
    "lab grade, JUnit": ("lab", "grade", "08", ".", "--out", "junit.csv"),
    "lab grade, pages": ("lab", "grade", "08", ".", "--out", "file.csv"),
}
"""Command lines that would write a file where a folder is, or a folder where a file is."""


def paths(command: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The parameters of a command, and of those below it, that name a file or a folder."""
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for each in command.list_commands(context):
            yield from paths(command.get_command(context, each), f"{name} {each}".strip())
    for parameter in command.params:
        annotation = getattr(parameter.type_descriptor, "annotation", None)
        if Path in (annotation, *get_args(annotation)):
            yield name, str(parameter.name)


def test_each_parameter_that_names_a_file_is_known_here() -> None:
    """So that the next test walks over all of them."""
    found = set(paths(typer.main.get_command(app)))
    assert len(found) > 40
    assert found == {*READ, *WRITTEN}
    assert not READ.keys() & WRITTEN.keys()


@pytest.mark.parametrize("words", READ.values(), ids=[" ".join(where) for where in READ])
def test_a_missing_file_is_one_line_and_exit_code_2(
    words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(list(words)) == 2
    error = capsys.readouterr().err
    assert NONE in error
    assert len(error.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [*WRITTEN.values(), *TAKEN.values()], ids=[*(" ".join(where) for where in WRITTEN), *TAKEN]
)
def test_a_place_that_cannot_be_written_to_is_one_line_and_exit_code_2_before_any_work(
    words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("folder", "folder.csv", "junit.xml"):
        (tmp_path / folder).mkdir()
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "summary.json").write_text('{"experiment": "incast"}')
    (tmp_path / "sweep.toml").write_text(SWEEP)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(grading, "grade")
    monkeypatch.delattr(simulate, "run")
    assert run_command(list(words)) == 2
    error = capsys.readouterr().err
    assert "cannot be written: " in error or "cannot write results there: " in error
    assert len(error.strip().splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_without_results_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["report", str(tmp_path)]) == 2
    assert "no summary.json in" in capsys.readouterr().err


def test_the_rule_stands_below_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Exit codes: 0 success" in said
    assert "130 Ctrl-C or SIGTERM" in said
