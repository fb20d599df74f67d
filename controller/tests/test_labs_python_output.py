"""What a student's process writes: answers within bounds, or a sentence."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4sched.labs.python_output import DEEPEST, json_values, trial_answers
from p4sched.labs.sandbox import SubmissionError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.lists(JSON, max_size=3), min_size=1, max_size=4))
def test_answers_come_as_they_were_written(answers: list[list[Any]]) -> None:
    text = "".join(f"{json.dumps(answer)}\n" for answer in answers)
    found = trial_answers(text, [3] * len(answers), "controller.py")
    assert json.dumps(found) == json.dumps(answers)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.text() | st.lists(JSON.map(json.dumps)).map("\n".join))
def test_any_other_text_is_a_sentence(text: str) -> None:
    try:
        found = trial_answers(text, [2, 2], "controller.py")
    except SubmissionError:
        return
    assert [len(answers) <= 2 for answers in found] == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "9" * 5000,
        "[]\n" * 20_000_000,
        "[]\r" * 1_000_000,
        "\x00",
        '[[]]\n{"problem": 3}',
        '{"problem": 3}',
        "",
    ],
)
def test_what_is_no_answer_is_reported(text: str) -> None:
    with pytest.raises(SubmissionError, match="before it had answered all samples, or wrote something else"):
        trial_answers(f"{text}\n", [1, 1], "controller.py")


def test_numbers_that_no_float_holds_are_infinite() -> None:
    assert json_values(f"[{10**400}, {-(10**400)}, 1e999, {10**200}]\n", 1) == [
        [math.inf, -math.inf, math.inf, 10**200]
    ]


def test_lists_within_each_other_have_a_bound() -> None:
    assert json_values("[" * DEEPEST + "]" * DEEPEST, 1) != []
    assert json_values("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), 1) == []
