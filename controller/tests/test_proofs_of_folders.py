"""Proofs of schedulers in folders, and of the limits of parameters."""

import shutil
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import Target
from p4sched.paths import SCHEDULERS_DIR
from p4sched.proofs import theorem as v1model
from p4sched.proofs import tna
from p4sched.proofs.exact import Int
from p4sched.proofs.folder import chip_rule_of, scheme_with_rule
from p4sched.proofs.program import read
from p4sched.proofs.restrictions import beyond, limits
from p4sched.proofs.rules.fdpa import Fdpa
from p4sched.proofs.tna_theorem import theorem

PROOF = 'file = "proof.py"\nclass = "ExpPifo"'


def copied(folder: Path, file: str, before: str, after: str, scheme: str = "scrr") -> Path:
    """A copy of a scheduler under another name, in which one file differs."""
    mine = folder / "mine"
    shutil.copytree(SCHEDULERS_DIR / scheme, mine)
    for name, old, new in (("scheduler.toml", f'name = "{scheme}"', f'name = "{folder.name}"'), (file, before, after)):
        text = (mine / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (mine / name).write_text(text.replace(old, new), encoding="utf-8")
    return mine


def test_a_folder_with_a_rule_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "pifo_tree"]) == 0
    assert "pifo_tree: proved" in capsys.readouterr().out


def test_a_program_that_differs_from_the_rule_of_its_folder_is_refuted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = copied(tmp_path, "proof.py", "packet.flow}", "packet.user}")
    assert run_command(["prove", str(mine), "--packets", "0"]) == 1
    assert "✗ meta.flow for the port: false for this packet and state:" in capsys.readouterr().out


def test_an_error_within_a_rule_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = copied(tmp_path, "proof.py", "packet.flow}", "packet.flow // 0}")
    assert run_command(["prove", str(mine)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{mine}/proof.py:" in line
    assert "Error: " in line


@pytest.mark.parametrize(
    ("file", "before", "after", "code", "said"),
    [
        ("proof.py", "class ExpPifoOnChip(", "class Other(", 1, "there is no class ExpPifoOnChip(OnChip)"),
        ("scheduler.toml", f'{PROOF}\non_chip = "ExpPifoOnChip"', PROOF, 2, "there is no rule of"),
    ],
)
def test_a_fault_of_a_rule_for_a_tofino_is_one_sentence(
    file: str, before: str, after: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = copied(tmp_path, file, before, after, "exp_pifo")
    assert run_command(["prove", str(mine), "--on", "tna"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_rule_of_a_folder_for_a_tofino_is_that_of_its_program() -> None:
    built = compiled_program(SCHEDULERS_DIR / "exp_pifo" / "exp_pifo.tna.p4", target=Target.TNA)
    program = tna.read(built.json)
    rule = chip_rule_of(scheme_with_rule("exp_pifo"), program, Target.TNA)
    (case,) = (one for one in theorem(program, built.p4info.read_text(encoding="utf-8"), rule) if one.name == "route")
    names = [f"ExpPifoIngress.follow_ranks.{cell} of the packet" for cell in ("low", "high", "arrivals")]
    assert [(case.plain or case).answer(name, 60).proved for name in names] == [True, True, True]


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("proof.py", "class Scrr(", "class Other(", "there is no class Scrr(Rule)"),
        ("proof.py", "def decide", "def decides", "Scrr lacks the method decide"),
        ("proof.py", "def decide", "def decide decide", "SyntaxError"),
        ("scheduler.toml", '[proof]\nfile = "proof.py"\nclass = "Scrr"', "", "there is no [proof]"),
        ("scheduler.toml", 'file = "proof.py"', 'file = "none.py"', "none.py"),
    ],
)
def test_a_fault_of_a_folder_is_one_sentence(
    file: str, before: str, after: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["prove", str(copied(tmp_path, file, before, after))]) in {1, 2}
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_restriction_is_taken_apart_into_limits() -> None:
    text = "a != 0; b >= 1 && b <= 32; a == 1 -> b != 0; a != 0 || b != 0"
    assert limits(text) == ["a != 0", "b >= 1", "b <= 32", "a == 1 -> b != 0", "a != 0 || b != 0"]
    assert [beyond("b <= 32", {"b": Int.of(b)}) for b in (32, 33, 34)] == [False, True, False]
    assert [beyond("b >= 1", {"b": Int.of(b)}) for b in (0, 1)] == [True, False]
    assert [beyond("b != 0", {"b": Int.of(b)}) for b in (0, 1)] == [True, False]


def test_a_limit_that_no_claim_needs_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "gearbox", "--limits"]) == 0
    assert capsys.readouterr().out == "weights <= 1: all claims are true without it\n"


def test_a_case_without_a_packet_past_the_limit_is_left_out() -> None:
    built = compiled_program("fdpa")
    limit = "token_bucket == 1 -> burst_bytes != 0"
    cases = v1model.theorem(read(built.json), built.p4info.read_text(), Fdpa(), limit)
    past_it = {case.name: case.has_packets(60) for case in cases if case.name.startswith("route")}
    assert past_it == {"route, user 0": True, "route, average rate": False, "route, token buckets": True}


def test_mutants_of_a_program_are_refuted_or_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "scrr", "--mutants", "4", "--seed", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(" 0 open")


def test_conditions_within_actions_are_changed_apart_from_the_other_mutants(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["prove", "scrr", "--mutants", "1", "--conditions", "3", "--seed", "3"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [line.rpartition(":")[0] for line in said] == ["scrr", "scrr, conditions within actions"]
    assert all(line.endswith(" 0 open") for line in said)
