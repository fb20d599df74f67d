"""`p4sched attack`: the trace it finds shows what it says, and a search repeats itself."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from p4sched.cli.main import run_command
from p4sched.paths import ROOT, rust_binary

SIZES = ("--queues", "3", "--queue-size", "4", "--window", "8")
COST = {"inversions": "inversions", "drops": "weighted_drops", "delay": "lowest_rank_delay_ns"}


def attack(out: Path, *words: str) -> dict[str, Any]:
    """The summary of an attack."""
    assert run_command(["attack", *words, *SIZES, "--packets", "40", "--ranks", "12", "--out", str(out)]) == 0
    found: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return found


def replayed(trace: Path, *words: str) -> dict[str, Any]:
    """What p4sched-stepped makes of a trace, by scheme."""
    command = [str(rust_binary("p4sched-stepped")), "--arrivals", str(trace), *SIZES, *words]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    schemes: dict[str, Any] = found["schemes"]
    return schemes


@pytest.mark.parametrize("objective", COST)
def test_the_trace_shows_the_figures_that_are_told_on_models_and_programs(objective: str, tmp_path: Path) -> None:
    told = attack(tmp_path, "sp_pifo", "--against", "packs", "--objective", objective, "--steps", "3000")
    ours, other = (told["schemes"][name][COST[objective]] for name in ("sp_pifo", "packs"))
    assert told["gap"] == ours - other > 0
    for decides in ("model", "p4"):
        again = replayed(tmp_path / "trace.csv", "--schemes", "sp_pifo,packs", "--with", decides)
        for name, scheme in again.items():
            assert scheme.items() <= told["schemes"][name].items()


def test_a_search_repeats_itself_and_writes_a_figure(tmp_path: Path) -> None:
    words = ("aifo", "--against", "packs", "--steps", "1000", "--seed", "5")
    assert attack(tmp_path / "1", *words)["gap"] == attack(tmp_path / "2", *words)["gap"] > 0
    for name in ("summary.json", "trace.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert (tmp_path / "1" / "figure.png").is_file()
    assert run_command(["report", str(tmp_path / "1")]) == 0


def test_a_search_asks_the_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = attack(tmp_path, "rifo", "--against", "aifo", "--objective", "drops", "--with", "p4", "--steps", "20")
    assert told["configuration"]["with"] == "p4"
    assert told["configuration"]["steps"] == 20
    assert "RIFO" in capsys.readouterr().out


def test_a_search_ends_in_time(tmp_path: Path) -> None:
    told = attack(tmp_path, "fifo", "--against", "pifo", "--time", "50ms")
    again = attack(tmp_path / "again", "fifo", "--against", "pifo", "--steps", str(told["configuration"]["steps"]))
    assert again["gap"] == told["gap"]


def test_nothing_worse_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack(tmp_path, "pifo", "--against", "fifo", "--steps", "50")
    assert "found no trace on which PIFO does worse" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("aifoo", "--against", "packs"), 2, "no scheme 'aifoo'; did you mean 'aifo'?"),
        (("aifo", "--against", "aifo"), 1, "aifo against itself: the two are always equal"),
        (("drr", "--against", "aifo"), 1, "invalid value 'drr'"),
        (("packs", "--against", "aifo", "--with", "p4", "--window", "40"), 1, "a window of 40 ranks does not fit"),
        (("packs", "--against", "aifo", "--target", "tna"), 1, "packs has no program for tna"),
    ],
)
def test_impossible_options_are_reported(
    words: tuple[str, ...], code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["attack", *words, "--out", str(tmp_path / "out")]) == code
    error = capsys.readouterr().err
    assert says in error
    assert len(error.strip().splitlines()) == 1
