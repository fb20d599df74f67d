"""The frame of the experiments: what it adds to each, and what it takes away of an earlier run."""

import asyncio
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from p4sched.errors import P4schedError, UsageError
from p4sched.lab import experiment, frame, onos
from p4sched.lab.calibrate import Capacity
from p4sched.lab.experiment import (
    Choice,
    ControllerKind,
    Experiment,
    Results,
    RunOptions,
    SchemeOutcome,
    Stage,
    SwitchKind,
)
from p4sched.lab.fidelity import Fidelity
from p4sched.lab.ledger import Ledger
from p4sched.lab.observation import Observation
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.lab.time_scale import Base
from p4sched.p4rt.target import Target
from p4sched.paths import EXPERIMENTS_DIR
from p4sched.results import summaries
from p4sched.results.tables import verdict
from p4sched.units import Duration, Rate


def plain(_scale: float) -> dict[str, Any]:
    """No options of its own."""
    return {}


def setting(run_options: RunOptions) -> None:
    """Says what it would say."""


async def measure(_: None, stage: Stage) -> SchemeOutcome[str]:
    stage.folder.mkdir(exist_ok=True)
    (stage.folder / "log.txt").write_text(stage.name)
    return SchemeOutcome({"packets": 3}, None, records=stage.name)


def draw(results: Results[None, str], path: Path) -> None:
    path.write_text(str(len(results.schemes)))


def stepped(schemes: Choice | None = None, **fields: Any) -> Experiment[None, str]:
    """An experiment in stepped time."""
    return Experiment(
        name="mine",
        summary="",
        setting=setting,
        configuration=lambda _: {"rate_bps": 5},
        measure=measure,
        table=lambda results: [f"measured: {', '.join(results.records)}"],
        figure=draw,
        csv={"names.csv": lambda results: [["scheme"], *([name] for name in results.records)]},
        files=("log.txt",),
        schemes=schemes or Choice(("fifo", "aifo")),
        in_lab=lambda _: False,
        **fields,
    )


def test_every_scheme_is_measured_and_what_the_experiment_declares_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    frame.run(stepped(), RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["aifo", "fifo"]), plain)
    found = summaries.read(tmp_path).content
    assert found["schemes"] == {"aifo": {"packets": 3}, "fifo": {"packets": 3}}
    assert found["configuration"] == {"rate_bps": 5, "switch": "embedded", "target": "v1model"}
    assert (tmp_path / "names.csv").read_text().split() == ["scheme", "aifo", "fifo"]
    assert (tmp_path / "figure.png").read_text() == "2"
    text = capsys.readouterr().out
    assert "measured: aifo, fifo" in text
    assert "all numbers" in text.splitlines()[-1]


def test_a_run_for_another_target_leaves_out_what_has_no_program_and_says_which_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    targets = []

    async def note(_: None, stage: Stage) -> SchemeOutcome[str]:
        targets.append(stage.target)
        return SchemeOutcome({"packets": 3}, None)

    names = ["aifo", "packs", "pifo"]
    mine = Experiment(**{**vars(stepped(Choice(names))), "measure": note})
    frame.run(mine, RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=names, target=Target.TNA), plain)
    found = summaries.read(tmp_path).content
    assert list(found["schemes"]) == ["aifo"]
    assert found["configuration"]["target"] == "tna"
    assert targets == [Target.TNA]
    text = capsys.readouterr().out
    assert "PACKS: left out: there is no packs.p4 for tna" in text
    assert "PIFO: left out: an ideal" in text
    assert "programs for Tofino 1 (TNA), from tofino-port/" in text


def test_each_controller_measures_each_scheme_and_a_lone_onos_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(onos, "require_onos", lambda: None)
    measured_by = []

    async def note(_: None, stage: Stage) -> SchemeOutcome[None]:
        measured_by.append((stage.name, stage.controller.value, stage.folder.name))
        return SchemeOutcome({"packets": 3}, None)

    both = tuple(ControllerKind)
    mine = Experiment(
        **{**vars(stepped()), "measure": note, "controllers": both, "table": lambda results: results.records}
    )
    run_options = RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["aifo", "fifo"], controllers=both)
    frame.run(mine, run_options, plain)
    assert measured_by == [
        ("aifo", "python", "aifo"),
        ("aifo", "onos", "aifo@onos"),
        ("fifo", "python", "fifo"),
        ("fifo", "onos", "fifo@onos"),
    ]
    found = summaries.read(tmp_path).content
    assert list(found["schemes"]) == ["aifo", "aifo@onos", "fifo", "fifo@onos"]
    assert found["configuration"]["controller"] == "python,onos"
    assert "controlled by" not in capsys.readouterr().out
    frame.run(
        mine, RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["aifo"], controllers=[ControllerKind.ONOS]), plain
    )
    assert list(summaries.read(tmp_path).content["schemes"]) == ["aifo"]
    assert "controlled by ONOS" in capsys.readouterr().out


def test_a_target_that_can_show_nothing_is_one_line(tmp_path: Path) -> None:
    run_options = RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["fifo"], target=Target.T2NA)
    with pytest.raises(UsageError, match="nothing to measure: t2na has a program for none of these schemes"):
        frame.run(stepped(), run_options, plain)
    with pytest.raises(UsageError, match="--target tna: BMv2 runs only v1model programs"):
        frame.run(stepped(), RunOptions(SwitchKind.BMV2, tmp_path, schemes=["fifo"], target=Target.TNA), plain)


def test_what_compares_the_schemes_is_part_of_the_summary(tmp_path: Path) -> None:
    mine = stepped(comparison=lambda results: {"schemes_measured": len(results.records)})
    frame.run(mine, RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["aifo"]), plain)
    assert summaries.read(tmp_path).content["schemes_measured"] == 1


def test_a_run_that_fails_leaves_no_results_of_the_one_before(tmp_path: Path) -> None:
    run_options = RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["fifo", "aifo"])
    frame.run(stepped(), run_options, plain)
    (tmp_path / "aifo" / "notes.csv").write_text("not of a run")

    async def fail(_: None, stage: Stage) -> SchemeOutcome[str]:
        raise ValueError("the run fails")

    with pytest.raises(ValueError, match="the run fails"):
        frame.run(Experiment(**{**vars(stepped()), "measure": fail}), run_options, plain)
    assert left_in(tmp_path) == {"aifo", "aifo/notes.csv"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (P4schedError("switch s1: does not answer"), "switch s1: does not answer"),
        (KeyboardInterrupt(), "it was interrupted"),
        (ZeroDivisionError(), "ZeroDivisionError"),
    ],
)
def test_a_run_that_ends_early_keeps_what_is_done_and_marks_it(
    error: BaseException, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def second_fails(_: None, stage: Stage) -> SchemeOutcome[str]:
        if stage.name == "aifo":
            raise error
        return SchemeOutcome({"packets": 3}, None, records=stage.name)

    mine = Experiment(**{**vars(stepped(Choice(("fifo", "aifo", "rifo")))), "measure": second_fails})
    run_options = RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["fifo", "aifo", "rifo"])
    with pytest.raises(type(error)):
        frame.run(mine, run_options, plain)
    found = summaries.read(tmp_path).content
    assert found["schemes"] == {"fifo": {"packets": 3}}
    assert found["configuration"]["rate_bps"] == 5
    assert found["partial"] == {"reason": reason, "missing": ["aifo", "rifo"]}
    assert summaries.verdict(found) == "PARTIAL"
    (doubt,) = summaries.doubts(found)
    assert str(doubt) == f"the run ended before its end: {reason}; not measured: aifo, rifo"
    assert "kept, and marked as partial: fifo in" in " ".join(capsys.readouterr().out.split())
    frame.run(stepped(), run_options, plain)
    assert "partial" not in summaries.read(tmp_path).content


BASE = Base(Rate.parse("100mbit"), Duration.parse("10ms"))
BUSY = Capacity(2, 1e5, 1e9, 10_000, 5_000, 0.0, 0.0, 1, 1, 2_250_000, lateness_p999_ns=13_500_000)
"""13.5 ms are less than three tenths of an RTT at time scale 5."""


@pytest.mark.parametrize(
    ("asked_scale", "shortest_s", "scale"), [(None, 0.0, 5.0), (2.0, 0.0, 2.0), (None, 0.02, 4.0), (None, 0.08, 1.0)]
)
def test_a_run_in_the_lab_goes_at_the_scale_that_the_machine_and_its_options_allow(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    asked_scale: float | None,
    shortest_s: float,
    scale: float,
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(frame, "capacity", lambda: BUSY)
    monkeypatch.setattr(frame, "clean_run", lambda *_, **__: nullcontext(Ledger(tmp_path / "ledger.json")))
    settings: list[float] = []

    def setting(run_options: RunOptions, rate: Rate) -> None:
        settings.append(run_options.scale)
        if shortest_s * run_options.scale > 0.08:
            raise UsageError("too short")

    mine = Experiment(**{**vars(stepped(base=BASE)), "setting": setting, "in_lab": lambda _: True})
    run_options = RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["fifo"], time_scale=asked_scale)
    frame.run(mine, run_options, lambda scale: {"rate": Rate(round(BASE.rate / scale))})
    found = summaries.read(tmp_path).content["time_scale"]
    assert (settings[-1], found["factor"], found["goes"]) == (scale, scale, str(BASE.at(scale)))
    text = capsys.readouterr().out
    assert f"time scale {scale:g}" in text
    assert ("more than this machine carries" in text) == (scale != 5.0)


def observed(idle_share: float, unmeasured: tuple[str, ...] = ()) -> Observation:
    health = Fidelity(10_000_000, idle_share, 0, frames=1000, lateness_p99_ns=1000, unmeasured=unmeasured)
    return Observation(health, TcpCounters(), {})


@pytest.mark.parametrize(
    ("observations", "attempts"),
    [
        ([observed(0.5)], 1),
        ([observed(0.0), observed(0.5)], 2),
        ([observed(0.0), observed(0.0), observed(0.0)], 3),
        # what came out is no reason to try again
        ([observed(0.5, ("nothing was delivered",))], 1),
    ],
)
def test_a_scheme_is_measured_again_while_the_emulator_was_the_bottleneck(
    tmp_path: Path, observations: list[Observation], attempts: int
) -> None:
    left = iter(observations)

    async def measure(_: None, stage: Stage) -> SchemeOutcome[str]:
        assert not (stage.folder / "log.txt").exists()
        stage.folder.mkdir(exist_ok=True)
        (stage.folder / "log.txt").write_text("of this attempt")
        return SchemeOutcome({}, next(left), "")

    mine = Experiment(**{**vars(stepped()), "measure": measure})
    stage = Stage("fifo", "embedded", tmp_path / "fifo", None, lambda _: None)
    _, summary = asyncio.run(frame.measure_scheme(mine, None, stage))
    assert summary["attempts"] == attempts
    fidelity = observations[-1].fidelity
    assert isinstance(fidelity, Fidelity)
    assert summary["fidelity"]["cpu_idle_share"] == fidelity.cpu_idle_share
    assert list(left) == []
    assert ("attempt" in verdict(summary)) == (attempts > 1)


def test_the_results_of_another_experiment_in_the_folder_go_too(tmp_path: Path) -> None:
    write(tmp_path, "rounds.csv", "fdpa/decisions.jsonl", "notes.csv", "samples.csv")
    summaries.write(tmp_path, {"experiment": "incast"})
    frame.run(stepped(), RunOptions(SwitchKind.EMBEDDED, tmp_path, schemes=["fifo"]), plain)
    assert left_in(tmp_path) - {"notes.csv", "samples.csv"} == {
        "summary.json",
        "figure.png",
        "names.csv",
        "fifo",
        "fifo/log.txt",
    }


def write(folder: Path, *names: str) -> None:
    """Files that hold something."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("something")


def left_in(folder: Path) -> set[str]:
    """Files and folders."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize("name", experiment.names())
def test_every_file_that_an_experiment_tells_of_goes_when_a_new_run_begins(name: str, tmp_path: Path) -> None:
    mine = experiment.load(name)
    told = (mine.setting.__doc__ or "") + (EXPERIMENTS_DIR / name / "README.md").read_text()
    written = set(re.findall(r"DIR/([\w/-]+\.(?:jsonl?|csv|png))", told))
    assert {"summary.json", "figure.png"} <= written
    scheme = mine.schemes.names[0] if mine.schemes is not None else "."
    stands_for = {"SCHEME": scheme, "NAME": scheme, "SWITCH": "s2", "PORT": "17"}
    for word, example in stands_for.items():
        written = {path.replace(word, example) for path in written}
    write(tmp_path, *written)
    frame.discard_results(mine, tmp_path)
    assert left_in(tmp_path) == set()


def test_what_no_run_wrote_into_the_folder_stays_when_a_new_run_begins(tmp_path: Path) -> None:
    own = ("notes.csv", "fdpa/notes.jsonl", "fdpa/iperf3/figure.svg", "thesis/decisions.jsonl", "thesis/summary.json")
    of_another_run = ("incast/summary.json", "incast/fdpa/decisions.jsonl", "fifo/fifo/port-17.jsonl")
    kept = own + of_another_run
    write(tmp_path, *kept, "summary.json", "fdpa/decisions.jsonl", "fdpa/iperf3/iperf3-user-1.json", "drr/s1.log")
    frame.discard_results(experiment.load("fdpa_fairness"), tmp_path)
    assert {path for path in left_in(tmp_path) if (tmp_path / path).is_file()} == set(kept)
    assert not (tmp_path / "drr").exists()


def test_no_experiment_imports_another_one() -> None:
    for path in EXPERIMENTS_DIR.glob("*/*.py"):
        imported = set(re.findall(r"^\s*(?:from|import) experiments\.(\w+)", path.read_text(), re.MULTILINE))
        assert imported <= {path.parent.name}, f"{path}: what experiments share belongs into p4sched.lab"
