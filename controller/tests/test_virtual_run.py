"""`p4sched run --virtual`: what it refuses, how a run is marked, and what its networks are made of."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mininet_topos.dumbbell import dumbbell_sides
from mininet_topos.incast import incast_sides
from mininet_topos.leaf_spine import Shape
from p4sched.cli import run
from p4sched.cli.main import run_command
from p4sched.cli.run_all import Invoke, Options
from p4sched.lab import experiment, frame
from p4sched.lab.experiment import Experiment, HostKind, Results, RunOptions, SchemeOutcome, Stage, SwitchKind
from p4sched.lab.fidelity import Exact
from p4sched.lab.observation import Observation
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.lab.virtual.topology import describe
from p4sched.results import summaries
from p4sched.results.tables import verdict


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("inversions", "--virtual", "--switch", "bmv2"), "--virtual: BMv2 runs only by the wall clock"),
        (("priority_udp", "--virtual", "--controller", "onos"), "--virtual: ONOS runs only by the wall clock"),
        (
            ("inversions", "--virtual", "--time-scale", "2"),
            "every run goes at time scale 1 there",
        ),
        (("inversions", "--virtual", "--stepped"), "--virtual cannot be used in stepped time"),
        (("inversions", "--hosts", "kernel"), "--hosts has no effect without --virtual"),
        (("leaf_spine", "--virtual-hosts", "kernel"), "--virtual-hosts has no effect without --virtual"),
        (("incast", "--resent", "own"), "--resent has no effect without --virtual"),
        (("--all", "--hosts", "kernel"), "--hosts has no effect without --virtual"),
        (("--virtual", "inversions"), "--virtual belongs after the experiment's name: run inversions --virtual"),
    ],
)
def test_options_that_contradict_virtual_time_are_refused(
    words: tuple[str, ...], message: str, refused: Callable[[tuple[str, ...]], str]
) -> None:
    assert message in refused(("run", *words))


def test_without_its_program_a_run_says_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("P4SCHED_VIRTUAL", str(tmp_path / "gone"))
    words = ["run", "inversions", "--virtual", "--schemes", "fifo", "--out", str(tmp_path / "results")]
    assert run_command(words) != 0
    assert f"P4SCHED_VIRTUAL names '{tmp_path / 'gone'}', which is not a file" in capsys.readouterr().err


def test_a_program_that_does_not_start_ends_the_run_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "fails"
    program.write_text("#!/bin/sh\necho 'some log' >&2\necho 'no kernel: run `make virtual`' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("P4SCHED_VIRTUAL", str(program))
    monkeypatch.setenv("COLUMNS", "300")
    words = [
        "run",
        "inversions",
        "--virtual",
        "--hosts",
        "kernel",
        "--schemes",
        "fifo",
        "--out",
        str(tmp_path / "results"),
    ]
    assert run_command(words) == 1
    assert capsys.readouterr().err.strip().endswith("p4sched: no kernel: run `make virtual`")
    assert not (tmp_path / "results" / "summary.json").exists()


def measured(frames: int, unmeasured: Sequence[str] = ()) -> Experiment[None, None]:
    """An experiment in which so many frames left the switch."""

    async def measure(_: None, stage: Stage) -> SchemeOutcome[None]:
        stage.folder.mkdir(exist_ok=True)
        return SchemeOutcome(
            {"packets": 3}, Observation(Exact(frames).but(unmeasured), TcpCounters(), {}), "40 packets"
        )

    def draw(_results: Results[None, None], path: Path) -> None:
        path.write_bytes(b"")

    return Experiment(
        name="mine",
        summary="",
        setting=lambda asked: None,
        configuration=lambda _: {"rate_bps": 5},
        measure=measure,
        table=lambda results: [verdict(scheme) for scheme in results.schemes.values()],
        figure=draw,
        schemes=experiment.Choice(("fifo",)),
    )


def run_options(out: Path, hosts: HostKind | None = HostKind.MODEL) -> RunOptions:
    return RunOptions(SwitchKind.EMBEDDED, out, schemes=["fifo"], hosts=hosts)


def test_a_run_in_virtual_time_says_so_and_nothing_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    frame.run(measured(frames=10), run_options(tmp_path), lambda _: {})
    found = summaries.read(tmp_path).content
    assert found["configuration"]["time"] == "virtual"
    assert found["configuration"]["hosts"] == "model"
    assert found["schemes"]["fifo"]["fidelity"] == {
        "time": "virtual",
        "frames": 10,
        "unmeasured": [],
        "valid": True,
        "doubts": [],
    }
    assert set(found) == {"experiment", "configuration", "versions", "schemes"}
    assert set(found["versions"]) == {"p4sched", "commit", "simulation", "compiler"}
    assert summaries.verdict(found) == "exact"
    text = capsys.readouterr().out
    assert "virtual time, model hosts" in text
    assert "\nexact\n" in text


def test_the_number_of_hosts_stays_where_an_experiment_says_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two_hosts = replace(measured(frames=10), configuration=lambda _: {"rate_bps": 5, "hosts": 2})
    frame.run(two_hosts, run_options(tmp_path), lambda _: {})
    configuration = summaries.read(tmp_path).content["configuration"]
    assert (configuration["hosts"], configuration["virtual_hosts"]) == (2, "model")
    assert "virtual time, model hosts" in capsys.readouterr().out


def test_a_run_that_measured_nothing_is_invalid_in_virtual_time_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    frame.run(measured(frames=0, unmeasured=["there is no sample"]), run_options(tmp_path), lambda _: {})
    assert summaries.verdict(summaries.read(tmp_path).content) == "INVALID"
    text = capsys.readouterr().out
    assert "FIFO is INVALID: nothing was measured: there is no sample" in text
    assert "--virtual" not in text


def test_an_emulation_that_is_invalid_says_how_to_run_it_in_virtual_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(frame, "clean_run", lambda *_, **__: nullcontext(None))
    frame.run(measured(frames=0), run_options(tmp_path, hosts=None), lambda _: {})
    assert "p4sched run mine --virtual, with the same options" in capsys.readouterr().out


def test_run_all_passes_virtual_time_on_but_to_what_is_simulated_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: dict[str, Sequence[str]] = {}

    def note(names: Sequence[str], _invoke: Invoke, _out: Path, options: Options, _console: Console) -> int:
        passed.update({name: options(name) for name in names})
        return 0

    monkeypatch.setattr(run, "run_all", note)
    assert run_command(["run", "--all", "--quick", "--virtual", "--hosts", "kernel"]) == 0
    for name in [name for name in passed if experiment.load(name).simulated]:
        assert "--virtual" not in passed.pop(name)
    assert len(passed) == 11
    # its own --hosts says how many there are
    assert list(passed.pop("leaf_spine")[:3]) == ["--virtual", "--virtual-hosts", "kernel"]
    for words in passed.values():
        assert list(words[:3]) == ["--virtual", "--hosts", "kernel"]


def ports(topology: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The ports that hosts and links name."""
    ends = [end for link in topology["links"] for end in link["ends"]]
    return [(end["switch"], end["port"]) for end in [*topology["hosts"], *ends]]


def test_a_dumbbell_is_one_switch_with_its_hosts_and_a_cpu_port() -> None:
    topology = describe(dumbbell_sides(2, 3).structure(), cpu_port=True)
    assert topology["switches"] == [{"name": "s1", "device_id": 1, "cpu_port": 509}]
    assert topology["hosts"][0] == {
        "name": "u1",
        "mac": "02:00:00:00:01:01",
        "address": "10.1.1.250",
        "users": ["10.1.1.1", "10.1.1.2"],
        "gateway": "10.1.1.254",
        "gateway_mac": "02:00:00:00:00:fe",
        "switch": "s1",
        "port": 1,
    }
    assert [host["name"] for host in topology["hosts"]] == ["u1", "u2", "server"]
    assert ports(topology) == [("s1", 1), ("s1", 2), ("s1", 3)]


def test_an_incast_has_no_cpu_port() -> None:
    topology = describe(incast_sides(4).structure())
    assert topology["switches"] == [{"name": "s1", "device_id": 1}]
    assert len(topology["hosts"]) == 5


def test_leaves_and_spines_have_the_ports_and_device_ids_of_the_emulation() -> None:
    shape = Shape(leaves=3, spines=2, hosts=2)
    topology = describe(shape.structure)
    expected = [(name, port) for name in shape.switch_names() for port in shape.structure.ports(name)]
    assert sorted(ports(topology)) == sorted(expected)
    assert [switch["device_id"] for switch in topology["switches"]] == [1, 2, 3, 4, 5]
    # port l of a spine goes to leaf l, on the port of that spine
    assert {"ends": [{"switch": "s2", "port": 4}, {"switch": "s5", "port": 2}]} in topology["links"]
    json.dumps(topology)


def test_what_is_simulated_anyway_takes_the_option_with_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_for: list[RunOptions] = []
    monkeypatch.setattr(frame, "run", lambda _experiment, asked, _options, **_: asked_for.append(asked))
    assert run_command(["run", "completion_at_scale", "--virtual"]) == 0
    assert "completion_at_scale always runs in virtual time, with models" in " ".join(capsys.readouterr().out.split())
    assert asked_for[0].hosts is None
