"""The command line as a person meets it."""

import importlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

from mininet_topos.nodes import free_port
from p4sched.cli import start
from p4sched.cli.main import run_command
from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError
from p4sched.lab import experiment
from p4sched.lab.experiment import RunOptions, SchemeOutcome, Stage
from p4sched.lab.ledger import Ledger
from p4sched.lab.processes import identify
from p4sched.lab.switch_lookup import find_switch

P4SCHED = Path(sys.prefix) / "bin" / "p4sched"


class Interrupting(MetaPathFinder):
    """Ctrl-C, just when a module is to be imported."""

    def __init__(self, module: str) -> None:
        self.module = module

    def find_spec(self, fullname: str, *_: object) -> None:
        """Called for each import."""
        if fullname == self.module:
            raise KeyboardInterrupt


@dataclass(frozen=True)
class Result:
    """What a command did."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in an empty folder, with nothing on the PATH and no switch built."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("P4SCHED_SWITCH", str(tmp_path / "no-switch"))

    def run_(*arguments: str) -> Result:
        returncode = run_command(list(arguments))
        captured = capsys.readouterr()
        return Result(returncode, captured.out, captured.err)

    return run_


def test_the_installed_command_works_from_any_folder(tmp_path: Path) -> None:
    wrong = subprocess.run([P4SCHED, "rnu"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr == "p4sched: no command 'rnu'; did you mean 'run'?\n"


def test_a_disk_that_fills_during_a_run_is_reported_with_the_folder_of_the_results(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def setting(run_options: RunOptions) -> None: ...

    async def fill(_: None, stage: Stage) -> SchemeOutcome[None]:
        with Path("/dev/full").open("w") as file:
            file.write(f"results of {stage.folder}")
        raise AssertionError

    full: experiment.Experiment[None, None] = experiment.Experiment(
        name="incast",
        summary="one that fills the disk",
        setting=setting,
        configuration=lambda _: {},
        measure=fill,
        table=lambda _: [],
        figure=lambda _, path: path.touch(),
        in_lab=lambda _: False,
    )
    monkeypatch.setattr(experiment, "load", lambda _: full)
    monkeypatch.chdir(tmp_path)
    for words, folder in (([], "results/incast"), (["--out", str(tmp_path / "mine")], str(tmp_path / "mine"))):
        result = run("run", "incast", *words)
        assert result.returncode == 1
        assert result.stderr == f"p4sched: {folder}: cannot write: No space left on device\n"


def test_a_command_loads_what_it_needs_and_not_the_lab() -> None:
    run_it = "from p4sched.cli.main import run_command; run_command(['compile', '--help'])"
    program = f"import sys; {run_it}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "p4sched.cli.compile" in loaded
    assert not {"mininet", "numpy", "p4sched.lab", "p4sched.cli.run"} & set(loaded)


@pytest.mark.parametrize("module", ["p4sched.cli.main", "p4sched.p4rt.compile"])
def test_an_interrupt_while_the_command_is_loaded_ends_it_without_a_traceback(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in {"p4sched.cli.main", "p4sched.cli.compile", module}:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "argv", ["p4sched", "compile", "--help"])
    monkeypatch.setattr(sys, "meta_path", [Interrupting(module), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "p4sched: interrupted\n"


def test_an_interrupt_while_a_class_is_made_is_one_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(importlib.import_module("p4sched.cli.main"), "main", interrupted)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "p4sched: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnu", "fdpa_fairness"), "no command 'rnu'; did you mean 'run'?"),
        (("run", "fdpa_fairnes"), "no experiment 'fdpa_fairnes'; did you mean 'fdpa_fairness'?"),
        (("compile", "fdap.p4", "-o", "out"), "no P4 program 'fdap.p4'; did you mean"),
        (("compile", "/", "-o", "out"), "'/' is a folder, not a P4 program"),
        (("compile", "fdpa.p4"), "Missing option '-o'"),
        (("compile", "", "-o", "out"), "'.' is a folder, not a P4 program"),
        (("run", "fdpa_fairness", "--users", "99999999999999999999"), "must be 1 to 960"),
        (("run", "flow_completion", "--scale", "-1"), "greater than or equal to 0.001"),
        (("run", "inversions", "--stepped", "--queue", "0"), "greater than or equal to 1"),
        (("run", "fdpa_fairness", "--rtt", "10min"), "an RTT of 600 s is above 10 s"),
        (("run", "fdpa_fairness", "--flowlet-gap", "1ns"), "--flowlet-gap 1ns is below 1us"),
        (("control", "127.0.0.1:9", "--rate", "0mbit", "--program", "."), "rate '0mbit' is zero"),
        (("control", "127.0.0.1:9", "--rate", "1mbit", "--program", ".", "--bands", "1+0*0"), "0 further bands"),
        (("control", "127.0.0.1:9", "--rate", "1mbit", "--program", ".", "--rtt", "-1ms"), "'-1ms' is not a time"),
        (("control", "127.0.0.1:9", "--rate", "1gbit", "--program", ".", "--scheme", "aifu"), "did you mean 'aifo'?"),
        (("control", "127.0.0.1:9", "--rate", "1gbit", "--program", ".", "--scheme", "aifo"), "needs --port"),
        (
            ("control", "127.0.0.1:9", "--rate", "1gbit", "--program", ".", "--port", "1"),
            "--port has no effect for fdpa",
        ),
        (
            ("control", "127.0.0.1:9", "--rate", "1gbit", "--program", ".", "--scheme", "rifo", "--window", "5"),
            "--window has no effect for rifo; it is for aifo, packs",
        ),
        (
            ("control", "127.0.0.1:9", "--rate", "1gbit", "--program", ".", "--scheme", "packs", "--queues", "9"),
            "number of queues n = 9 is out of range: 1 to 8",
        ),
        (
            ("control", "127.0.0.1:9", "--rate", "1gbit", "--program", ".", "--scheme", "aifo", "--fix", "k"),
            "--fix 'k' is not NAME=VALUE",
        ),
        (("list", "--al"), "--al"),
        (("run", "--quick"), "no experiment: give --all, or one of: "),
        (("run", "--all", "inversions"), "leave out 'inversions' or --all"),
        (("run", "--target", "tna", "inversions"), "--target belongs after the experiment's name"),
        (("run", "inversions", "--target", "tofino"), "'tofino' is not one of 'v1model', 'tna', 't2na'"),
        (("run", "control_laws", "--target", "tna"), "No such option"),
        (("compile", "p4/fifo.p4", "--arch", "psa", "-o", "out"), "'psa' is not one of 'v1model', 'tna', 't2na'"),
        (("run", "--quick", "inversions"), "--quick belongs after the experiment's name"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_and_exit_code_2(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("control", "127.0.0.1:99999", "--rate", "1mbit", "--program", "."), "is not HOST:PORT", 2),
        (("control", "127.0.0.1:9", "--rate", "1mbit", "--program", "."), "fdpa.json is missing", 2),
        (("compile", "broken.p4", "-o", "out", "--compiler", "p4c"), "'p4c-bm2-ss' is not on the PATH", 1),
        (("switch",), "which is not a file", 1),
        (("shell", f"127.0.0.1:{free_port()}"), "does not answer", 1),
    ],
)
def test_what_is_missing_is_one_line(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str, code: int
) -> None:
    (tmp_path / "broken.p4").write_text("")
    result = run(*arguments)
    assert result.returncode == code
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [("control", "s99", "--rate", "1mbit", "--program", "."), ("shell", "s99")])
def test_a_switch_that_no_lab_has_is_one_line(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words)
    # 1 without a lab, 2 for a wrong name while one happens to run on this machine
    assert result.returncode in (1, 2)
    assert "no switch 's99'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command", ["run", "list", "compile", "switch", "shell", "clean", "control", "replay", "report", "stages", "stf"]
)
def test_help_names_every_command(run: Run, command: str) -> None:
    result = run("--help")
    assert result.returncode == 0
    assert f" {command} " in result.stdout


def test_every_experiment_is_listed_and_shows_its_options(run: Run) -> None:
    listed = run("list")
    assert listed.returncode == 0
    for name in experiment.names():
        assert name in listed.stdout
        help_text = run("run", name, "--help")
        assert help_text.returncode == 0
        assert "--out" in help_text.stdout


def write_experiment(folder: Path, name: str, code: str) -> Path:
    path = folder / name / "experiment.py"
    path.parent.mkdir(parents=True)
    path.write_text(code)
    return folder


def test_an_experiment_imports_the_files_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = (
        "from labs_a.one.words import SUMMARY\n"
        "from p4sched.lab.experiment import Experiment\n"
        f"EXPERIMENT = Experiment('one', SUMMARY, {', '.join(['print'] * 5)})\n"
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
            "from p4sched.lab.experiment import Experiment\n"
            f"EXPERIMENT = Experiment('five', 's', {', '.join(['print'] * 5)})\n",
            "is named 'five', its folder 'four'",
        ),
    ],
)
def test_a_folder_without_a_proper_experiment_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, wrong: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    folder = write_experiment(tmp_path / f"labs_{name}", name, code)
    with pytest.raises(P4schedError, match=wrong):
        experiment.load(name, folder)


def test_names_are_chosen_in_the_order_given() -> None:
    assert experiment.choose("scheme", "fdpa, fifo", ["fifo", "fdpa", "drr"]) == ["fdpa", "fifo"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("fdpq", "did you mean 'fdpa'"),
        (",", "no scheme given"),
        ("", "fifo, "),
        ("fdpa,,drr", "'fdpa,,drr' has a comma without a scheme"),
        ("fdpa,", "'fdpa,' has a comma without a scheme"),
        ("fdpa, drr,fdpa", "scheme fdpa is in 'fdpa, drr,fdpa' twice"),
    ],
)
def test_a_name_that_does_not_exist_suggests_the_right_one(text: str, wrong: str) -> None:
    with pytest.raises(P4schedError, match=wrong):
        experiment.choose("scheme", text, ["fifo", "fdpa", "drr"])


def test_a_switch_of_the_running_lab_is_found_by_name(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    Ledger(state).add_switch("s1", "127.0.0.1:9559", 2)
    assert find_switch("s1", state) == SwitchAddress("127.0.0.1:9559", 2)
    assert find_switch("localhost:9000", tmp_path / "none") == SwitchAddress("localhost:9000", 1)
    with pytest.raises(P4schedError, match="did you mean 's1'"):
        find_switch("s2", state)
    for damaged in ("{", "[]", "{}", "1", '{"run": null, "switches": {}}', '{"run": {"pid": 1}, "switches": {}}'):
        state.write_text(damaged)
        with pytest.raises(P4schedError, match="not the state of a lab"):
            find_switch("s1", state)


def test_the_switches_of_a_killed_lab_are_not_found(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with subprocess.Popen(["sleep", "600"]) as lab:
        Ledger(state, run=identify(lab.pid)).add_switch("s1", "127.0.0.1:9559", 1)
        assert find_switch("s1", state) == SwitchAddress("127.0.0.1:9559", 1)
        lab.kill()
    nobody = "no lab is running, so there is no switch 's1'"
    with pytest.raises(P4schedError, match=nobody):
        find_switch("s1", state)
    # as before ledgers named their run
    state.write_text('{"switches": {"s1": {"address": "127.0.0.1:9559", "device_id": 1}}}')
    with pytest.raises(P4schedError, match=nobody):
        find_switch("s1", state)
