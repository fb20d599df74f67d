"""`p4sched replay`: every law's decisions again, from the log alone."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from decision_logs import CONFIGS, FOUND, damaged, write_fdpa, write_ranked, write_short
from ranked_port import MS

from p4sched.cli.main import run_command
from p4sched.control.laws import fdpa, ranked


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
    write_fdpa(path, fdpa.State())
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
        ('{"kind":"decision","time_ns":0}', "a decision before any start line"),
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


STARTS: dict[str, dict[str, object]] = {
    "aifo": {"rate_bps": 10**8, "delay_ns": 5 * MS, "queue_packets": 512},
    "fdpa": {"capacity_bps": 10**8, "bands": "1+4*0.5", "interval_us": 60_000, "rtt_ns": 10 * MS},
}


@pytest.mark.parametrize(
    ("law", "config", "message"),
    [
        ("aifo", {"fixed": None}, "config.fixed is null, not an object"),
        ("aifo", {"fixed": {"k": math.nan}}, "config.fixed.k is NaN, not a finite number"),
        ("aifo", {"rate_bps": math.inf}, "config.rate_bps is Infinity, not a whole number from 0 to 2^64 - 1"),
        ("aifo", {"delay_ns": "5"}, 'config.delay_ns is "5", not a whole number from 0 to 2^64 - 1'),
        ("aifo", {"loss": {}}, "config.loss is {}, not a finite number"),
        ("aifo", {"window_ranks": 33}, "window |W| = 33 is out of range: 1 to 32 ranks"),
        ("aifo", {"queues": 8}, "config.queues is not known; use one of: rate_bps, delay_ns, queue_packets"),
        ("fdpa", {"token_bucket": math.inf}, "config.token_bucket is Infinity, not true or false"),
        ("fdpa", {"bands": []}, "config.bands is [], not a text"),
        ("fdpa", {"bands": "1+9*0.5"}, "bands '1+9*0.5': 9 further bands, but a port has 8 queues: 1 to 7 fit"),
    ],
)
def test_a_wrong_value_of_a_configuration_is_reported_with_its_place(
    law: str, config: dict[str, object], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text(json.dumps({"kind": "start", "law": law, "config": STARTS[law] | config, "found": None}) + "\n")
    assert run_command(["replay", str(path)]) == 1
    error = capsys.readouterr().err
    assert f"decisions.jsonl:1: not a line of a decision log: {message}" in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("users", "message"),
    [
        (None, "users is null, not an object"),
        ({"1": [5, 0]}, "a user's scale 0 is not in (0, 2^16)"),
        ({"1": [5]}, "users.1 is [5], not a list of 2"),
        ({"1": [-5, 256]}, "users.1[0] is -5, not a whole number from 0 to 2^64 - 1"),
        ({"one": [5, 256]}, 'users has the key "one", not a number'),
    ],
)
def test_a_wrong_counter_is_reported_with_its_place(
    users: object, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions.jsonl"
    start = {"kind": "start", "law": "fdpa", "config": STARTS["fdpa"], "found": None}
    path.write_text(f"{json.dumps(start)}\n{json.dumps({'kind': 'decision', 'time_ns': 0, 'users': users})}\n")
    assert run_command(["replay", str(path)]) == 1
    assert capsys.readouterr().err == f"p4sched: {path}:2: not a line of a decision log: {message}\n"


@pytest.mark.parametrize("name", [*CONFIGS, "fdpa"])
def test_a_damaged_log_is_one_line_and_never_a_traceback(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions.jsonl"
    write_short(path, name)
    codes = set()
    for where, text in damaged(path.read_text()):
        path.write_text(text)
        code = run_command(["replay", str(path)])
        said = capsys.readouterr()
        assert code in (0, 1), where
        assert len((said.out + said.err).splitlines()) == 1, where
        assert code == 0 or f"{path}:" in said.err, where
        assert len(said.err) < 500 + len(str(path)), where
        codes.add(code)
    # what only says when a line was written may be anything
    assert codes == {0, 1}


def test_a_log_that_does_not_exist_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["replay", str(tmp_path / "none.jsonl")]) == 2
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
