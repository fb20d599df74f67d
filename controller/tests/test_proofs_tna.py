"""The proofs about programs for Tofino."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import Target
from p4sched.proofs import logarithms, tna
from p4sched.proofs.engine import Example
from p4sched.proofs.logarithms import first_bits, is_logarithm
from p4sched.proofs.program import Program
from p4sched.proofs.rules.tna import RULES
from p4sched.proofs.theorem import Case
from p4sched.proofs.tna_engine import by_step, counterexample
from p4sched.proofs.tna_theorem import theorem


def cases(program: Program, target: Target = Target.TNA) -> Iterator[Case]:
    """The theorem about a program for a Tofino."""
    p4info = compiled_program(program.name, target=target).p4info.read_text(encoding="utf-8")
    return theorem(program, p4info, RULES[program.name](target))


def refuted(program: Program) -> dict[str, Example]:
    """The claims that are false, with a packet and a state for each."""
    return {
        claim.name: counterexample((plain := case.plain or case).step, answer.model, plain.packet)
        for case in cases(program)
        for claim, answer in case.answers(60)
        if answer.proved is False
    }


def with_change(program: Program, name: str, old: str, new: str) -> Program:
    """A program with other words in the actions and tables whose names end so."""

    def changed(one: Any) -> Any:
        return json.loads(json.dumps(one).replace(old, new)) if one["name"].endswith(name) else one

    actions = {number: changed(one) for number, one in program.actions.items()}
    tables = {number: changed(one) for number, one in program.tables.items()}
    assert (actions, tables) != (program.actions, program.tables)
    return dataclasses.replace(program, actions=actions, tables=tables)


def test_fifo_decides_as_the_rule_of_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", "fifo", "--on", "tna"]) == 0
    assert "fifo on tna: proved, 43 claims" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "false"),
    [
        ("<", "<=", {"queue_depths of the packet"}),
        ("!=", "==", {"verdict", "FifoIngress.admit.port_admitted of the packet"}),
    ],
)
def test_another_comparison_is_refuted(old: str, new: str, false: set[str]) -> None:
    program = tna.read(compiled_program("fifo", target=Target.TNA).json)
    (name,) = (one["name"] for one in program.actions.values() if one["name"].startswith("tail_drop"))
    wrong = with_change(program, name, f'"op": "{old}"', f'"op": "{new}"')
    found = refuted(wrong)
    assert false & found.keys()
    for example in found.values():
        fresh = [Example(packet=example.packet, calls=example.calls, cells=example.cells) for _ in range(2)]
        assert by_step(wrong, fresh[0]) != by_step(program, fresh[1])


@pytest.mark.parametrize(
    ("scheme", "name", "change", "case", "claim"),
    [
        # a bound that is equal to the rank takes the packet
        ("sp_pifo", "queues_4_3.scan", ("<=", "<"), "route, first pass", "queue"),
        # queue 2 has a bound of its own
        (
            "sp_pifo",
            "",
            ("mapping.queue_2.bound_2", "mapping.queue_1.bound_1"),
            "route, first pass",
            ".mapping.queue_2.bound_2 of the packet",
        ),
        # a bound does not fall below 0
        (
            "sp_pifo",
            "queues_8_7.lower",
            ("usat_cast", "two_comp_mod"),
            "route, second pass",
            ".mapping.queues_8_7.bounds of the packet",
        ),
        # the charges of the last interval are the rate
        (
            "fdpa",
            "",
            ("go_on.cell.last_rate", "go_on.cell.interval_bytes"),
            "route, a user",
            ".bands.average.charges of the packet",
        ),
        ("fdpa", "charging.more_3", ('0003"', '0004"'), "route, a user", ".bands.average.charges of the packet"),
        (
            "fdpa",
            "number_interval.every_5",
            ('0005"', '0006"'),
            "route, a user",
            ".bands.average.last_interval of the packet",
        ),
        # q counts ranks that are smaller, not larger ones
        ("aifo", "", ('"op": ">"', '"op": "<"'), "route", "key of AifoIngress.admission.quantile_logs"),
        # the last place of queue 2 is log 2
        ("packs", ".queues", ('"0x010000"', '"0x010001"'), "route", "queue"),
    ],
)
def test_another_step_is_refuted(scheme: str, name: str, change: tuple[str, str], case: str, claim: str) -> None:
    target = Target.T2NA if scheme == "packs" else Target.TNA
    program = tna.read(compiled_program(scheme, target=target).json)

    def answer(of: Program) -> bool | None:
        (found,) = (one for one in cases(of, target) if one.name == case)
        (full,) = {one.name for one in found.claims if one.name.endswith(claim)}
        return (found.plain or found).answer(full, 60).proved

    assert answer(with_change(program, name, *change)) is False
    if scheme in {"sp_pifo", "fdpa"}:
        # sums over a window take too long for a test
        assert answer(program) is True


@pytest.mark.parametrize(("scheme", "target"), [("aifo", Target.TNA), ("aifo", Target.T2NA), ("packs", Target.T2NA)])
def test_the_tables_are_logarithms(scheme: str, target: Target) -> None:
    found = list(logarithms.claims(compiled_program(scheme, target=target).json))
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("packs", "tna"), "--on tna: there is no program of packs for it; use --on t2na"),
        (("exp_pifo", "t2na"), "--on t2na: there is no program of exp_pifo for it; use --on tna"),
        (("gearbox", "tna"), "--on tna: there is no program of gearbox for it"),
    ],
)
def test_a_scheme_without_a_program_for_the_chip_is_one_sentence(
    words: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["prove", words[0], "--on", words[1]]) == 2
    assert capsys.readouterr().err.strip() == f"p4sched: {said}"
