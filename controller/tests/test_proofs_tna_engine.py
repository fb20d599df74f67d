"""A wrong program for a Tofino: its counterexample runs on the engine, which shows it."""

import json
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.target import Target
from p4sched.proofs.engine import Outcome, difference
from p4sched.proofs.tna_comparison import TnaComparison, comparison


def with_change(folder: Path, scheme: str, name: str, old: str, new: str) -> Program:
    """A program for Tofino 1 with other words in the actions whose names contain one."""
    built = compiled_program(scheme, target=Target.TNA)
    tree = json.loads(built.json.read_text(encoding="utf-8"))
    actions = [json.dumps(one) for one in tree["actions"]]
    wrong = [one.replace(old, new) if name in json.loads(one)["name"] else one for one in actions]
    assert wrong != actions
    tree["actions"] = [json.loads(one) for one in wrong]
    made = Program.in_folder(folder, scheme)
    made.json.write_text(json.dumps(tree), encoding="utf-8")
    made.p4info.write_text(built.p4info.read_text(encoding="utf-8"), encoding="utf-8")
    return made


def shown(of: TnaComparison, kind: str, claim: str) -> str:
    """What the engine does with the counterexample to a claim about one kind of packets."""
    (case,) = (one for one in of.theorem(of.program) if one.name == kind)
    false = next(one for one in case.claims if one.name.endswith(claim))
    answer = (case.plain or case).answer(false.name, 60)
    assert answer.proved is False
    return of.confirmed(of.counterexample(case, false, answer, 60))


def test_a_wrong_program_is_refuted_and_the_engine_confirms_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = with_change(tmp_path, "fifo", "tail_drop", '"op": "!="', '"op": "=="')
    assert run_command(["prove", "fifo", "--on", "tna", "--program", str(wrong.json)]) == 1
    said = capsys.readouterr().out
    assert "✗ verdict: false for this packet and state:" in said
    assert "the engine:  dropped, the rule: port" in said


@pytest.mark.parametrize(
    ("scheme", "change", "kind", "claim", "said"),
    [
        (
            "fifo",
            ("length_report", "0x0fff", "0x0ffe"),
            "a report of a length",
            "queue_depths of the packet",
            ", the rule",
        ),
        # a bound that is equal to the rank takes the packet
        ("sp_pifo", ("queues_4_3.scan", "<=", "<"), "route, first pass", "queue", ", the rule: port"),
        # a bound does not fall below 0, in the second pass of a packet
        (
            "sp_pifo",
            ("queues_8_7.lower", "usat_cast", "two_comp_mod"),
            "route, second pass",
            ".mapping.queues_8_7.bounds of the packet",
            ", the rule: 0",
        ),
        # an interval that began long ago
        (
            "fdpa",
            ("number_interval.every_5", '0005"', '0006"'),
            "route, a user",
            ".bands.average.last_interval of the packet",
            "last_interval[",
        ),
    ],
)
def test_the_engine_shows_the_difference(
    scheme: str, change: tuple[str, str, str], kind: str, claim: str, said: str, tmp_path: Path
) -> None:
    wrong = with_change(tmp_path, scheme, *change)
    engine = shown(comparison(scheme, wrong, Target.TNA), kind, claim)
    assert said in engine
    assert "do not reproduce" not in engine


def test_an_engine_that_decides_as_the_rule_is_one_sentence() -> None:
    same = Outcome((1, 0), {("register", 0): 1})
    assert difference(same, Outcome((1, 0), {}), {"register": {0: 1}}) == (
        "agrees with the rule on queue, registers and counters: packet and state do not reproduce there"
    )


def test_mutants_of_a_program_for_a_tofino(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "fifo", "--on", "tna", "--mutants", "3", "--conditions", "2"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [line.rpartition(":")[0] for line in said] == ["fifo on tna", "fifo on tna, conditions within actions"]
    assert all(line.endswith(" 0 open") for line in said)


def test_a_program_without_limits_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "fifo", "--on", "tna", "--limits"]) == 0
    assert capsys.readouterr().out == "fifo: its parameters have no limits\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["all", "--on", "tna"], "--on takes one scheme"),
        (["laws", "--on", "t2na"], "--on takes one scheme"),
        (["a.json", "b.json", "--on", "tna"], "--on takes one scheme"),
        (["fifo", "--on", "tna", "--stf", "x.stf"], "--stf has packets for v1model"),
        (["fifo", "--on", "tna", "--program", "none.p4"], "no file 'none.p4'"),
        (["laws", "--mutants", "3"], "--program, --limits, --mutants and --conditions take one scheme"),
        (["fifo", "--limits", "--conditions", "3"], "give one of them"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["prove", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_program_for_v1model_is_none_for_a_tofino(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = compiled_program("fifo")
    assert run_command(["prove", "fifo", "--on", "tna", "--program", str(other.json)]) == 2
    assert "is not JSON of a program for Tofino" in capsys.readouterr().err
