"""Labs 01, 10, 12 and 13: which numbers and words are right, and which mistakes are named."""

import json
import tomllib
from itertools import combinations, product
from pathlib import Path

import pytest

from p4sched.labs import catalogue
from p4sched.labs.answers import FILE, Answer, AnswersLab
from p4sched.labs.catalogue import Entry
from p4sched.labs.lab import Marks
from p4sched.labs.sandbox import Sandbox

LABS = {number: catalogue.find(number) for number in ("01", "10", "12", "13")}
FACTORS = (0, 0.001, 0.1, 0.125, 0.5, 0.9, 1.1, 1.25, 2, 8, 10, 1000, -1)


def solution(entry: Entry) -> dict[str, Answer]:
    return tomllib.loads((entry.solution / FILE).read_text())


def marks_of(number: str, key: str, answer: Answer, folder: Path) -> Marks:
    """Of the question with this key, if all others are answered as in the solution."""
    lab = LABS[number].load()
    assert isinstance(lab, AnswersLab)
    answers = {**solution(LABS[number]), key: answer}
    (folder / FILE).write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in answers.items()))
    found = lab.check(folder, folder, Sandbox())
    others = [marks for question, marks in zip(lab.questions, found, strict=True) if question.key != key]
    assert all(marks.full for marks in others)
    return next(marks for question, marks in zip(lab.questions, found, strict=True) if question.key == key)


WORDS = {("10", "link"), ("12", "scheduler"), ("13", "setting")}
"""Places of answers that are words."""
RIGHT = {
    ("01", "bdp_packets"): (66, 66.7, 66.667, 67),
    ("01", "full_queue_ms"): (242, 242.2, 242.24, 243, 241.6),
    ("01", "smallest_size"): (20, 20.0),
    ("01", "times_longer"): (3.2, 3.28, 3.3),
    ("10", "link"): ("leaf3-spine1", "Leaf3 - Spine1", "leaf3 spine1", "LEAF3->SPINE1"),
    ("10", "rate_mbit"): (87.8, 88, 90, 95, 100),
    ("10", "lost_in_fabric"): (184,),
    ("10", "slowest_flow"): (7,),
    ("12", "liar"): (3,),
    ("12", "factor"): (50, 50.0, 49.9, 50.6),
    ("12", "gain"): (0.445, 0.44, 0.4451, 0.45),
    ("12", "price"): (3.03, 3.0, 3.0303),
    ("12", "scheduler"): ("tree", "Tree", "TREE"),
    ("13", "threshold"): (5,),
    ("13", "free_packets"): (40,),
    ("13", "refused_percent"): (0.363, 0.3632, 0.36),
    ("13", "both_over_marks"): (0.824, 0.8235, 0.82),
    ("13", "setting"): ("N", "n"),
}


@pytest.mark.parametrize(("number", "key"), RIGHT)
def test_right_answers_have_all_marks_however_they_are_rounded(number: str, key: str, tmp_path: Path) -> None:
    for answer in RIGHT[number, key]:
        assert marks_of(number, key, answer, tmp_path).full, answer


@pytest.mark.parametrize(("number", "key"), [place for place in RIGHT if place not in WORDS])
def test_a_number_in_quotes_counts_as_the_number_and_one_with_a_unit_does_not(
    number: str, key: str, tmp_path: Path
) -> None:
    for answer in RIGHT[number, key]:
        assert marks_of(number, key, str(answer), tmp_path).full, answer
        marks = marks_of(number, key, f"{answer} ms", tmp_path)
        assert (marks.score, marks.mistake) == (0, None)
        assert "is not a number" in marks.says[0]
    assert not marks_of(number, key, f"{RIGHT[number, key][0]}!", tmp_path).full


UNLISTED = {
    ("01", "bdp_packets"): (133, 65, 68, 8.3, 80, 100),
    ("01", "full_queue_ms"): (262, 200, 245, 238, 484),
    ("01", "smallest_size"): (19, 21, 30, 10, 5),
    ("01", "times_longer"): (3.0, 3.4, 3.6, 2.3),
    ("10", "link"): ("leaf1-spine1", "leaf3-spine2", "leaf3", "leaf31-spine1", "leaf3-h9"),
    ("10", "rate_mbit"): (83.7, 86, 105, 110, 433, 1000),
    ("10", "lost_in_fabric"): (183, 185, 100, 242, 326),
    ("10", "slowest_flow"): (5, 16, 36, 46),
    ("12", "liar"): (2, 5),
    ("12", "factor"): (100, 40, 48, 5),
    ("12", "gain"): (0.5, 0.43, 0.9),
    ("12", "price"): (3.1, 2.9, 2.0, 8.36),
    ("12", "scheduler"): ("packs", "trees", "rifo"),
    ("13", "threshold"): (10, 40, 3),
    ("13", "free_packets"): (41, 60, 8),
    ("13", "refused_percent"): (0.37, 0.4, 3.63),
    ("13", "both_over_marks"): (0.9, 0.79, 1.0),
    ("13", "setting"): ("A", "NO", "H"),
}


@pytest.mark.parametrize(("number", "key"), UNLISTED)
def test_an_answer_that_no_list_has_is_wrong_and_not_explained(number: str, key: str, tmp_path: Path) -> None:
    for answer in UNLISTED[number, key]:
        marks = marks_of(number, key, answer, tmp_path)
        assert (marks.score, marks.mistake) == (0, None), answer


@pytest.mark.parametrize(("number", "key"), [place for place in RIGHT if place not in WORDS])
def test_a_right_number_times_a_factor_is_wrong(number: str, key: str, tmp_path: Path) -> None:
    right = RIGHT[number, key][0]
    assert isinstance(right, int | float)
    factors = [factor for factor in FACTORS if key != "rate_mbit" or factor != 1.1]
    for answer in (
        *(right * factor for factor in factors),
        *((right - 1, right + 1) if len(RIGHT[number, key]) == 1 else ()),
    ):
        assert not marks_of(number, key, answer, tmp_path).full, answer


def test_no_other_link_of_the_fabric_is_right(tmp_path: Path) -> None:
    leaves, spines = [f"leaf{n}" for n in range(1, 5)], ["spine1", "spine2"]
    links = {f"{one}-{other}" for pair in product(leaves, spines) for one, other in (pair, pair[::-1])}
    links |= {f"leaf{(host - 1) // 4 + 1}-h{host}" for host in range(1, 17)}
    assert {link for link in links if marks_of("10", "link", link, tmp_path).full} == {"leaf3-spine1"}


@pytest.mark.parametrize("number", LABS)
def test_no_number_is_two_slips_or_right_and_a_slip(number: str) -> None:
    lab = LABS[number].load()
    assert isinstance(lab, AnswersLab)
    for question in lab.questions:
        tolerance = question.tolerance if question.slip_tolerance is None else question.slip_tolerance
        numbers = [(slip.answer, tolerance) for slip in question.slips] + [(question.answer, question.tolerance)]
        ranges = [(one - share * one, one + share * one) for one, share in numbers if not isinstance(one, str)]
        assert all(low > highest or lowest > high for (low, high), (lowest, highest) in combinations(ranges, 2))
