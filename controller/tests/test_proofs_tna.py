"""The proofs about programs for Tofino."""

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import Target
from p4sched.proofs import logarithms, tna
from p4sched.proofs.logarithms import first_bits, is_logarithm
from p4sched.proofs.program import Program
from p4sched.proofs.rules.tna import RULES
from p4sched.proofs.tna_theorem import theorem


def false_claims(program: Program) -> list[str]:
    """The claims about a FIFO that are false."""
    p4info = compiled_program("fifo", target=Target.TNA).p4info.read_text(encoding="utf-8")
    cases = theorem(program, p4info, RULES["fifo"]())
    return [claim.name for case in cases for claim, answer in case.answers(60) if not answer.proved]


def test_fifo_decides_as_the_rule_of_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "fifo", "--on", "tna"]) == 0
    assert "fifo on tna: 55 claims proved" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "false"),
    [
        ("<", "<=", {"queue_depths of the packet"}),
        ("!=", "==", {"verdict", "FifoIngress.admit.port_admitted of the packet"}),
    ],
)
def test_another_comparison_is_refuted(old: str, new: str, false: set[str]) -> None:
    program = tna.read(compiled_program("fifo", target=Target.TNA).json)
    actions: Any = copy.deepcopy(program.actions)
    (body,) = (one["primitives"] for one in actions.values() if one["name"].startswith("tail_drop"))
    changed = json.loads(json.dumps(body).replace(f'"op": "{old}"', f'"op": "{new}"'))
    for action in actions.values():
        if action["name"].startswith("tail_drop"):
            action["primitives"] = changed
    assert changed != body
    assert false & set(false_claims(dataclasses.replace(program, actions=actions)))


@pytest.mark.parametrize("target", [Target.TNA, Target.T2NA])
def test_the_tables_of_aifo_are_logarithms(target: Target) -> None:
    found = list(logarithms.claims(compiled_program("aifo", target=target).json))
    assert len(found) == 10
    assert all(holds for _, holds in found), found


def test_a_wrong_logarithm_is_refuted(tmp_path: Path) -> None:
    text = compiled_program("aifo", target=Target.TNA).json.read_text(encoding="utf-8")
    value = f"0x{103_872:08x}"
    assert text.count(value) > 1
    wrong = tmp_path / "aifo.json"
    wrong.write_text(text.replace(value, f"0x{103_873:08x}"), encoding="utf-8")
    false = [name for name, holds in logarithms.claims(wrong) if not holds]
    assert [name.partition(":")[0] for name in false] == ["log_target.logarithms", "log_free.logarithms", "rest_logs"]


def test_a_logarithm_is_rounded_to_the_nearest_unit() -> None:
    # log2 3 is 1.5849625, or 103,872.1 units
    assert [is_logarithm(value, 3) for value in (103_871, 103_872, 103_873)] == [False, True, False]
    assert [is_logarithm(value, 8) for value in (196_607, 196_608, 196_609)] == [False, True, False]
    assert (first_bits(255), first_bits(257), first_bits(65_535)) == (255, 256, 65_280)


def test_a_scheme_without_a_rule_for_a_tofino_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "packs", "--on", "t2na"]) == 2
    assert "--on t2na: there is no rule of packs for a Tofino; use one of: fifo, " in capsys.readouterr().err
