"""`p4sched run --all`: every experiment in turn, whatever becomes of one of them."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from p4sched.cli import experiments, main, run
from p4sched.cli.run_all import Invoke, Options, run_all
from p4sched.errors import P4schedError
from p4sched.lab import experiment, frame
from p4sched.results import summaries

VALID: dict[str, Any] = {"experiment": "x", "schemes": {"fifo": {"fidelity": {"doubts": []}}}}
INVALID: dict[str, Any] = {
    "experiment": "x",
    "schemes": {"fifo": {"fidelity": {"doubts": []}}, "aifo": {"fidelity": {"doubts": ["1.0% of the CPU was idle"]}}},
}


class Runs:
    """Experiments that write as requested, or fail."""

    def __init__(self, results: dict[str, object]) -> None:
        self.results = results
        self.asked: list[list[str]] = []

    def __call__(self, arguments: Sequence[str]) -> tuple[int, str]:
        self.asked.append(list(arguments))
        result = self.results[arguments[1]]
        if isinstance(result, BaseException):
            raise result
        if isinstance(result, tuple):
            code, message = result
            return code, message
        folder = Path(arguments[arguments.index("--out") + 1])
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps(result))
        return 0, ""


def shown(runs: Runs, out: Path) -> tuple[int, str]:
    console = Console(width=200, record=True, file=(out / "console").open("w"))
    code = run_all(list(runs.results), runs, out, lambda name: ["--seed", str(len(name))], console)
    return code, console.export_text()


def test_every_experiment_runs_into_its_own_folder(tmp_path: Path) -> None:
    runs = Runs({"one": VALID, "two": VALID})
    code, text = shown(runs, tmp_path)
    assert code == 0
    assert runs.asked == [["run", name, "--out", str(tmp_path / name), "--seed", "3"] for name in ("one", "two")]
    assert "1/2  one" in text
    assert "2/2  two" in text


@pytest.mark.parametrize(
    ("failure", "message"),
    [((2, "needs root"), "needs root"), (KeyError("aifo"), "KeyError: 'aifo'"), ((3, ""), "exit code 3")],
)
def test_a_failure_does_not_stop_the_others_and_sets_the_exit_code(
    tmp_path: Path, failure: object, message: str
) -> None:
    code, text = shown(Runs({"one": failure, "two": VALID}), tmp_path)
    assert code == 1
    assert f"one failed: {message}" in text
    assert "failed: one" in text
    assert (tmp_path / "two" / "summary.json").exists()


def test_an_invalid_run_is_named_with_the_reason_and_is_no_failure(tmp_path: Path) -> None:
    code, text = shown(Runs({"one": INVALID, "two": VALID}), tmp_path)
    assert code == 0
    assert "INVALID, do not use: one\n" in text
    assert "aifo: 1.0% of the CPU was idle" in text


def test_a_run_without_a_summary_has_failed(tmp_path: Path) -> None:
    code, text = shown(Runs({"one": {"schemes": {}}}), tmp_path)
    assert code == 1
    assert "names no experiment" in text


def test_an_interrupt_stops_all_and_still_says_what_was_done(tmp_path: Path) -> None:
    runs = Runs({"one": VALID, "two": (130, "interrupted"), "three": VALID})
    code, text = shown(runs, tmp_path)
    assert code == 130
    assert [arguments[1] for arguments in runs.asked] == ["one", "two"]
    table = text.split("All experiments")[1]
    assert "one" in table
    assert re.search(r"two .* failed .* interrupted", table)


def test_an_interrupt_before_anything_has_ended_points_to_no_results(tmp_path: Path) -> None:
    code, text = shown(Runs({"one": (130, "interrupted")}), tmp_path)
    assert code == 130
    assert "All experiments" not in text
    assert "p4sched report" not in text


@pytest.mark.parametrize("name", experiment.names())
def test_every_experiment_has_the_options_that_run_all_passes_on(name: str) -> None:
    app = typer.Typer()
    app.command()(experiments.command(experiment.load(name)))
    options = {text for parameter in typer.main.get_command(app).params for text in parameter.opts}
    assert {"--quick", "--out", "--switch"} <= options


def test_doubts_are_found_wherever_a_summary_has_them(tmp_path: Path) -> None:
    content = {
        "experiment": "x",
        "fidelity": {"doubts": ["late"]},
        "schemes": {"aifo": {"phases": {"loud": {"fidelity": {"doubts": ["lost"]}}}}},
    }
    (tmp_path / "summary.json").write_text(json.dumps(content))
    assert [str(doubt) for doubt in summaries.doubts(summaries.read(tmp_path).content)] == [
        "late",
        "aifo phases loud: lost",
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "is not JSON"),
        ("[]", "names no experiment"),
        ('{"experiment": "x", "schemes": {"fifo": 1}}', "does not map"),
        ('{"experiment": "x", "schemes": [1]}', "'schemes' is not a JSON object"),
        ('{"experiment": "x", "configuration": 5}', "'configuration' is not a JSON object"),
        ("\x00", "is not JSON"),
    ],
)
def test_what_is_no_summary_is_refused_by_its_path(tmp_path: Path, text: str, wrong: str) -> None:
    (tmp_path / "summary.json").write_text(text)
    with pytest.raises(P4schedError, match=wrong) as refused:
        summaries.read(tmp_path)
    assert str(tmp_path / "summary.json") in str(refused.value)


def test_for_a_tofino_the_experiments_run_that_can_show_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Sequence[str]] = {}

    def note(names: Sequence[str], _invoke: Invoke, _out: Path, options: Options, _console: Console) -> int:
        asked.update({name: options(name) for name in names})
        return 0

    monkeypatch.setattr(run, "run_all", note)
    assert main.run_command(["run", "--all", "--target", "t2na"]) == 0
    simulated = {name for name in experiment.names() if experiment.load(name).simulated}
    in_software = {*simulated, "control_laws", "fair_queueing", "fdpa_join_leave"}
    assert set(experiment.names()) - set(asked) == in_software
    for words in asked.values():
        assert list(words[2:4]) == ["--target", "t2na"]


@pytest.mark.parametrize("name", experiment.names())
def test_no_experiment_refuses_the_options_that_run_all_passes_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(
        frame, "run", lambda found, asked, options, **_: begun.append(found.setting(asked, **options(1.0)))
    )

    def only(_names: Sequence[str], invoke: Invoke, _out: Path, options: Options, _console: Console) -> int:
        return invoke(["run", name, *options(name)])[0]

    monkeypatch.setattr(run, "run_all", only)
    for further in ([], ["--virtual"]):
        assert main.run_command(["run", "--all", "--quick", *further]) == 0
    assert len(begun) == 2
