"""The end of a check of a rule in P4: the solver knows packets that no trial has."""

import random
import time
import tomllib
from pathlib import Path

import pytest

from p4sched.labs import catalogue, checking, proof, result_text
from p4sched.labs.catalogue import Entry
from p4sched.labs.decisions import Trial, program_decisions
from p4sched.labs.lab import CheckResult
from p4sched.labs.mistakes import apply_edits, mistakes
from p4sched.labs.mutants.run import Equivalence, solution
from p4sched.labs.proof_process import shortest_trace
from p4sched.labs.sandbox import ClosedSandbox, Sandbox, has_bubblewrap
from p4sched.labs.trace import Packet
from p4sched.paths import P4_DIR

P4 = [entry for entry in catalogue.labs() if entry.number in proof.LABS]
PATIENCE_S = 120
HEADROOM = "(256 - (bit<64>) headroom)"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time enough on a busy machine."""
    monkeypatch.setattr(proof, "BUSY", 100)


def checked(number: str, folder: Path, *edits: tuple[str, str], closed: bool = False) -> CheckResult:
    """The check of the solution with some edits."""
    entry = catalogue.find(number)
    (name,) = entry.load().files
    text = (entry.solution / name).read_text(encoding="utf-8")
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    (folder / name).write_text(text, encoding="utf-8")
    return checking.check(entry, folder, ClosedSandbox() if closed else Sandbox())[0]


def test_an_equivalent_program_is_proved_and_says_so(tmp_path: Path) -> None:
    result = checked("05", tmp_path, ("bit<64>", "bit<48>"))
    assert result.score == 100
    assert proof.PROVED in result_text.text(result)


@pytest.mark.skipif(not has_bubblewrap(), reason="bubblewrap is not installed")
def test_a_mistake_that_no_trial_finds_loses_marks_and_the_student_sees_the_shortest_trace(tmp_path: Path) -> None:
    result = checked("04", tmp_path, (HEADROOM, f"(headroom == 9 ? 64w512 : {HEADROOM})"), closed=True)
    said = result_text.text(result)
    assert [marks.score for marks in result.marks] == [20, 40, 0], said
    assert "is the first one that" in said


def test_a_solver_that_gives_up_leaves_the_marks_of_the_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "SECONDS", 1)
    edit = "(bit<64>) window_size *", "(window_size == 9 ? 64w8 : (bit<64>) window_size) *"
    result = checked("04", tmp_path, edit)
    assert (result.score, result.marks[-1].says) == (100, (proof.GAVE_UP,))


def test_values_that_no_short_trace_has_lose_marks_where_the_part_keeps_no_state(tmp_path: Path) -> None:
    far = "target == 40001 && length == 39001 && smaller == 13 && headroom == 77"
    result = checked("04", tmp_path, ("if (needed <= offered)", f"if (needed <= offered || ({far}))"))
    assert [marks.score for marks in result.marks] == [20, 40, 0]
    heading, values = result.marks[-1].says
    assert heading == proof.STATE
    found = dict(part.split(" = ") for part in values.split(", "))
    wanted = {"target_packets": "40001", "length": "39001", "smaller": "13", "headroom_256": "77"}
    assert found.items() >= wanted.items()


def test_a_register_of_the_students_own_costs_no_marks(tmp_path: Path) -> None:
    """It never holds a 7, so no packets show it."""
    edits = (
        ("control AifoAdmission(", "register<bit<32>>(1) own;\ncontrol AifoAdmission("),
        ("if (needed <= offered)", "bit<32> kept;\n own.read(kept, 0);\n if (needed <= offered || kept == 7)"),
    )
    result = checked("04", tmp_path, *edits)
    assert (result.score, result.marks[-1].says) == (100, (proof.NO_PACKETS,))


def test_a_state_that_no_packets_reach_is_told(tmp_path: Path) -> None:
    # some 50 packets lead there
    edit = "if (rate <= edges.edge_1)", "if (rate <= edges.edge_1 || rate == 123456789)"
    result = checked("07", tmp_path, edit)
    assert (result.score, result.marks[-1].says) == (100, (proof.NO_PACKETS,))


def test_a_missing_solver_leaves_the_marks_of_the_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    result = checked("04", tmp_path)
    assert (result.score, result.marks[-1].says) == (100, (proof.NOT_INSTALLED,))


@pytest.mark.parametrize("entry", P4, ids=lambda entry: entry.folder.name)
def test_each_right_program_that_a_lab_lists_is_proved(entry: Entry, tmp_path: Path) -> None:
    of = solution(entry.number)
    equivalence = Equivalence(of, tmp_path)
    listed = tomllib.loads((entry.folder / "right.toml").read_text())["right"]
    for one in listed:
        assert equivalence.is_equivalent(apply_edits(of.text, one["edits"]), PATIENCE_S), one["what"]


def wrong(number: str, name: str, folder: Path) -> Path:
    """A wrong program that a lab lists, compiled."""
    of = solution(number)
    text = next(one.text for one in mistakes(of.entry.folder, of.file) if one.name == name)
    return Equivalence(of, folder).compiled("wrong", text)


@pytest.mark.parametrize(
    ("number", "name"), [("03", "one port for all"), ("05", "overflow of 40 bits"), ("06", "room in 16 bits")]
)
def test_a_trace_for_two_ports_or_with_large_numbers_is_found_and_confirmed(
    number: str, name: str, tmp_path: Path
) -> None:
    found = shortest_trace(number, wrong(number, name, tmp_path), time.process_time() + PATIENCE_S)
    assert found is not None
    assert found["confirmed"]


def test_a_trace_with_a_pause_of_half_an_hour_is_a_trial_of_the_lab(tmp_path: Path) -> None:
    program = wrong("07", "interval shifted", tmp_path)
    found = shortest_trace("07", program, time.process_time() + PATIENCE_S)
    assert found is not None
    packets = [Packet(*numbers) for numbers in found["packets"]]
    assert packets[-1].at_ns > 1800 * 10**9
    source = tmp_path / "wrong" / "scratch" / P4_DIR.name / "fdpa.p4"
    trial = Trial(tuple(found["parameters"]), packets, tuple(found["scales"]))
    (run,) = program_decisions(source, "fdpa", [trial], Sandbox())
    assert run.model is not None
    assert run.program[:-1] == run.model[:-1]
    assert run.program[-1] != run.model[-1]


@pytest.mark.parametrize("entry", P4, ids=lambda entry: entry.folder.name)
def test_no_wrong_program_is_proved(entry: Entry, tmp_path: Path) -> None:
    of = solution(entry.number)
    equivalence = Equivalence(of, tmp_path)
    for one in random.Random(29).sample(mistakes(entry.folder, of.file), 3):
        assert equivalence.is_equivalent(one.text, 20) is not True, one.name
