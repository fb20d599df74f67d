"""Reads the output of a process that runs a student's Python: one JSON value per line, within limits.

The student's code can write anything there: more lines, numbers too large for a float, deeply nested lists.
"""

import json
from collections.abc import Sequence
from typing import Any

from p4sched.labs.sandbox import SubmissionError

LONGEST_INTEGER = 300
"""Digits of the longest integer. Longer integers become infinite, because a float cannot hold them."""
DEEPEST = 20
"""Largest depth of nested lists and objects. Answers of the labs have depth three."""


def trial_answers(text: str, lengths: Sequence[int], file: str) -> list[list[Any]]:
    """The answers in each trial: at most as many as the trial has samples, each of them any JSON value.

    `lengths`: number of samples of each trial. `file`: the student's file, for messages.

    Raises:
        SubmissionError: there are no answers, or they have another form; with the error of the student's file, if any.
    """
    answers = json_values(text, len(lengths))
    match answers:
        case [{"problem": str(problem)}, *_]:
            raise SubmissionError(problem)
    lists = [answer for answer in answers if isinstance(answer, list)]
    if [len(answer) <= most for answer, most in zip(lists, lengths, strict=False)] != [True] * len(lengths):
        raise SubmissionError(f"{file} ended before it had answered all samples, or wrote something else than answers")
    return lists


def json_values(text: str, most: int) -> list[Any]:
    """A value for each line. Empty if there are more lines than `most`, or if a line is not valid."""
    text = text.removesuffix("\n")
    if text.count("\n") >= most:
        return []
    try:
        found = [json.loads(line, parse_int=_number) for line in text.split("\n")]
    except (ValueError, RecursionError):
        return []
    return found if all(map(_is_shallow, found)) else []


def _number(text: str) -> int | float:
    return int(text) if len(text) < LONGEST_INTEGER else float(text)


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return True
    return False


def _inside(value: object) -> Sequence[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()
