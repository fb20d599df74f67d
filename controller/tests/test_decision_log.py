"""The decision log: every decision can be made again from it."""

import json
from pathlib import Path

import pytest

from p4sched.control.bands import Bands
from p4sched.control.decision_log import DecisionLog, DecisionLogError, refuse_other_file
from p4sched.control.laws import fdpa
from p4sched.control.replay import replay
from p4sched.p4rt.users import UserCounter
from p4sched.schemes import LAWS

MS = 1_000_000
CONFIG = fdpa.Config(500_000_000, Bands(1, 4, 0.5), 60_000, 10 * MS, token_bucket=True, flowlet_gap_us=5000)


def write_run(path: Path, state: fdpa.State, users: int, start_ms: int) -> None:
    """A controller's run of ten rounds in which one user after the other starts to send."""
    log = DecisionLog(path)
    log.start(CONFIG, state)
    sent = dict.fromkeys(range(1, users + 1), 0)
    for step in range(10):
        for user in range(1, min(step, users) + 1):
            sent[user] += 50_000
        counters = {user: UserCounter(count, 128 if user == 1 else 256) for user, count in sent.items()}
        sample = fdpa.Sample((start_ms + 100 * step) * MS, counters)
        decision = fdpa.decide(CONFIG, state, sample)
        log.decision(sample, decision)
        state = decision.state
    log.close()


def test_a_replay_makes_the_same_decisions(tmp_path: Path) -> None:
    path = tmp_path / "new" / "decisions.jsonl"
    write_run(path, fdpa.State(), users=4, start_ms=0)
    again = list(replay(path, LAWS))
    assert len(again) == 10
    assert all(entry.agrees for entry in again)
    last = again[-1].decision
    assert isinstance(last, fdpa.Decision)
    assert last.active == (1, 2, 3, 4)
    # one of four weighs two
    assert last.fair_share_bps == 100_000_000


def test_a_restarted_controller_appends_and_its_takeover_replays_too(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_run(path, fdpa.State(), users=4, start_ms=0)
    write_run(path, fdpa.State.take_over(fdpa.parameters_for(CONFIG, 5)), users=4, start_ms=60_000)
    again = list(replay(path, LAWS))
    assert len(again) == 20
    assert all(entry.agrees for entry in again)


def test_a_line_that_a_killed_controller_left_half_is_cut_off_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_run(path, fdpa.State(), users=4, start_ms=0)
    torn = path.read_text()[:-40]
    path.write_text(torn)
    write_run(path, fdpa.State.take_over(fdpa.parameters_for(CONFIG, 5)), users=4, start_ms=60_000)
    assert len(list(replay(path, LAWS))) == 19


def test_a_changed_decision_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_run(path, fdpa.State(), users=4, start_ms=0)
    lines = path.read_text().splitlines()
    changed = json.loads(lines[-1])
    changed["parameters"]["edge_1"] += 1
    path.write_text("\n".join([*lines[:-1], json.dumps(changed)]) + "\n")
    assert [entry.agrees for entry in replay(path, LAWS)] == [True] * 9 + [False]


def test_counters_inputs_and_outputs_are_in_every_line(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    write_run(path, fdpa.State(), users=2, start_ms=0)
    start, *decisions = [json.loads(line) for line in path.read_text().splitlines()]
    assert start["config"]["bands"] == "1+4*0.5"
    assert start["config"]["capacity_bps"] == 500_000_000
    last = decisions[-1]
    assert last["time_ns"] == 900 * MS
    assert last["users"] == {"1": [450_000, 128], "2": [400_000, 256]}
    assert last["active"] == [1, 2]
    assert last["parameters"]["interval_us"] == 60_000
    assert len(last["parameters"]) == 26


@pytest.mark.parametrize("line", ["no json", "{}", '{"kind":"decision","time_ns":0,"users":{}}', "[]"])
def test_a_file_that_is_no_log_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DecisionLogError, match=r"decisions\.jsonl:1: "):
        list(replay(path, LAWS))


def test_a_folder_or_a_full_disk_is_no_place_for_a_log(tmp_path: Path) -> None:
    with pytest.raises(DecisionLogError, match="is a folder"):
        refuse_other_file(tmp_path)
    with pytest.raises(DecisionLogError, match="No space left"):
        write_run(Path("/dev/full"), fdpa.State(), users=1, start_ms=0)


def test_a_log_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DecisionLogError, match="cannot write"):
        DecisionLog(tmp_path / "file" / "log.jsonl")
