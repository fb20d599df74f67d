"""Mutants of the labs' solutions in P4: a sample of them goes through the trials of the checks.

`python -m p4sched.labs.mutants` takes all of them, and proves that those with full marks are equivalent.
"""

import tomllib
from pathlib import Path

import pytest

from p4sched.labs.mutants.change import mutants, sample
from p4sched.labs.mutants.run import Outcome, outcomes, solution
from p4sched.paths import ROOT

EQUIVALENT = tomllib.loads((Path(__file__).parent / "equivalent_mutants.toml").read_text())
"""Of the sample with seed 1, by lab: those that were proved to be equivalent."""
PROVED, TRIED = 120, 12
"""Mutants of a lab: in that sample, and in this test."""
BUILT = pytest.mark.skipif(
    not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
    reason="p4sched-decisions is not built",
)


@BUILT
@pytest.mark.parametrize("number", list(EQUIVALENT))
def test_a_mutant_gets_full_marks_only_if_it_is_equivalent(number: str) -> None:
    of = solution(number)
    tried = sample(sample(of.mutants(), PROVED, 1), TRIED, 2)
    survived = [mutant.description() for mutant, outcome in outcomes(of, tried) if outcome is Outcome.SURVIVED]
    assert set(survived) <= set(EQUIVALENT[number])


@BUILT
def test_a_mutant_that_is_wrong_is_killed_and_one_that_is_no_program_is_refused() -> None:
    of = solution("04")
    wrong = {
        "<=  ->  <": Outcome.KILLED,
        "verdict = REFUSED;  ->  {}": Outcome.KILLED,
        "smaller  ->  (smaller + 1)": Outcome.KILLED,
    }
    chosen = [mutant for mutant in of.mutants() if mutant.description().split(": ", 1)[1] in wrong]
    assert len(chosen) >= len(wrong)
    assert {outcome for _, outcome in outcomes(of, chosen)} == {Outcome.KILLED}


def test_each_part_of_a_program_has_mutants() -> None:
    text = """
    control Adds(in bit<16> a, in bit<16> b, out bit<16> total) {
        apply {
            total = a + b;
            if (total < a) {
                total = 0xffff;
            }
        }
    }
    """
    made = {mutant.description().split(": ", 1)[1] for mutant in mutants(text)}
    assert made >= {
        "+  ->  -",
        "<  ->  <=",
        "a + b  ->  (b)",
        "a  ->  b",
        "a  ->  (a + 1)",
        "b  ->  ((bit<16>) (bit<8>) (b))",
        "b  ->  ((bit<16>) (bit<15>) (b))",
        "total < a  ->  ((bit<15>) (total) < (bit<15>) (a))",
        "total < a  ->  ((total) + 16w32768 < (a) + 16w32768)",
        "total < a  ->  !(total < a)",
        "total < a  ->  true",
        "0xffff  ->  0",
        "total = a + b;  ->  {}",
    }
