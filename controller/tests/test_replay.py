"""`p4sched replay`: every law's decisions again, from the log alone."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from ranked_port import MS, Port

from p4sched.bands import Bands
from p4sched.cli import run_command
from p4sched.decision_log import DecisionLog
from p4sched.laws import aifo, fdpa, packs, ranked, rifo

CONFIGS: dict[str, ranked.Config] = {
    "aifo": aifo.Config(100_000_000, 5 * MS, 512, span_ns=50 * MS, window_ranks=32),
    "rifo": rifo.Config(100_000_000, 5 * MS, 512, loss=0.02),
    "packs": packs.Config(100_000_000, 5 * MS, 64, queues=5, fixed={"k": 0.2}),
}
FOUND: dict[str, ranked.Parameters] = {
    "aifo": aifo.Parameters(33, 512, 40, 32, 100),
    "rifo": rifo.Parameters(33, 40, 99),
    "packs": packs.Parameters((8, 8, 8, 8, 8), 40, 16, 7),
}


def write_ranked(path: Path, config: ranked.Config, state: ranked.State) -> Port:
    """A controller's run of five seconds with changing traffic."""
    source = random.Random(9)
    port = Port(config, state)
    for step in range(50):
        arrived = source.randrange(900, 1500) * (1 if step < 25 else 3)
        admitted = min(arrived, 826)
        ranks = {3: arrived // 3, 7: arrived - arrived // 3}
        port.poll(admitted, arrived - admitted, ranks=ranks, read_ns=source.randrange(5 * MS))
    log = DecisionLog(path)
    log.start(config, state)
    for sample, decision in zip(port.samples, port.decisions, strict=True):
        log.decision(sample, decision)
    log.close()
    return port


def write_fdpa(path: Path) -> None:
    """A controller's run of three rounds."""
    config, state = fdpa.Config(500_000_000, Bands(1, 4, 0.5), 60_000, 10 * MS), fdpa.State()
    log = DecisionLog(path)
    log.start(config, state)
    for step in range(3):
        sample = fdpa.Sample(100 * step * MS, {1: fdpa.UserCounter(50_000 * step)})
        decision = fdpa.decide(config, state, sample)
        log.decision(sample, decision)
        state = decision.state
    log.close()


@pytest.mark.parametrize("name", CONFIGS)
def test_every_law_decides_again_as_it_did(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "decisions.jsonl"
    first = write_ranked(path, CONFIGS[name], ranked.State())
    second = write_ranked(path, CONFIGS[name], ranked.State.take_over(FOUND[name]))
    assert first.writes > 1
    assert second.writes > 0
    assert run_command(["replay", str(path)]) == 0
    assert capsys.readouterr().out == "102 decisions, all as logged\n"


def test_logs_of_several_laws_may_follow_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "decisions.jsonl"
    write_fdpa(path)
    write_ranked(path, CONFIGS["rifo"], ranked.State())
    assert run_command(["replay", str(path)]) == 0
    assert capsys.readouterr().out == "54 decisions, all as logged\n"


def test_the_first_difference_is_shown_with_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    port = write_ranked(path, CONFIGS["aifo"], ranked.State())
    lines = path.read_text().splitlines()
    target = port.decisions[19].parameters.action_data()["target_packets"]
    for number in (20, 30):
        changed = json.loads(lines[number])
        changed["parameters"]["target_packets"] += 1
        lines[number] = json.dumps(changed)
    path.write_text("\n".join(lines) + "\n")
    result = subprocess.run(
        [Path(sys.prefix) / "bin" / "p4sched", "replay", path], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert f"decisions.jsonl:21: parameters.target_packets was {target + 1}, now {target}" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_counters_that_were_changed_afterwards_do_not_explain_the_decisions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions.jsonl"
    write_ranked(path, CONFIGS["packs"], ranked.State())
    lines = path.read_text().splitlines()
    changed = json.loads(lines[15])
    changed["refused"][0] += 300
    lines[15] = json.dumps(changed)
    path.write_text("\n".join(lines) + "\n")
    assert run_command(["replay", str(path)]) == 1
    assert "decisions.jsonl:16: traffic.arrival_pps was" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind":"start","law":"wfq","wall":"","config":{},"found":null}', "no control law 'wfq'"),
        (
            '{"kind":"start","law":"aifo","wall":"","config":{"rate":1},"found":null}',
            ":1: not a line of a decision log",
        ),
        ('{"kind":"decision","time_ns":0}', ":1: a decision before any start line"),
        ("[]", ":1: not a line of a decision log"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text(text + "\n")
    assert run_command(["replay", str(path)]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_log_that_does_not_exist_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["replay", str(tmp_path / "none.jsonl")]) == 1
    assert "cannot read the decision log" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "holds no decision"), (b"\x89PNG\r\n\x1a\n", ":1: not a line of a decision log")]
)
def test_files_of_another_kind_are_refused(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(content)
    assert run_command(["replay", str(path)]) == 1
    assert message in capsys.readouterr().err
