"""Calls a student's function `decide(memory, sample)`. This program runs in a Python without p4sched.

Each line of the input is a trial: a list of samples. The program answers each trial twice, each time with a new memory:

- alone: the student's file is read again for each trial;
- in turn: one function answers the first sample of every trial, then the second sample of every trial, and so on.
  Each sample comes with a copy of the memory. Each call of a clock returns a time one hour later.

A function that depends only on its memory and its sample gives the same answers both times.
"""

import datetime
import json
import numbers
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from itertools import count
from types import CodeType, ModuleType
from typing import Any

Decide = Callable[[dict[str, Any], Any], Any]
HOUR_S = 3600
LONGEST_PROBLEM = 300
"""Characters of the longest message. Each sample may have its own."""
CLOCKS = {
    "time": 1,
    "monotonic": 1,
    "perf_counter": 1,
    "time_ns": 10**9,
    "monotonic_ns": 10**9,
    "perf_counter_ns": 10**9,
}
"""Clock functions, with the number of ticks in a second."""


class NoFunctionError(Exception):
    """An error if the student's file defines no function `decide`."""


def main(file: str) -> None:
    """Prints a line of answers for each trial alone, then for each trial in turn; or only {"problem": WHY}."""
    output, sys.stdout = sys.stdout, sys.stderr
    lines = [line for line in sys.stdin if line.strip()]
    try:
        # Compiles bytes, because Python then ignores a byte order mark from editors on Windows.
        with open(file, "rb") as opened:
            code = compile(opened.read(), file, "exec")
        answers = alone(code, lines)
        run_ahead()
        answers += in_turn(code, lines)
    except (MemoryError, BlockingIOError):
        raise
    except Exception as error:
        answers = [json.dumps({"problem": problem(error, file)})]
    print("\n".join(answers), file=output)


def alone(code: CodeType, lines: Sequence[str]) -> list[str]:
    """The answers in each trial, with a new function for each trial."""
    found = []
    for line in lines:
        decide = function(code)
        memory: dict[str, Any] = {}
        found.append(json_list([answer(decide, memory, sample, code.co_filename) for sample in json.loads(line)]))
    return found


def in_turn(code: CodeType, lines: Sequence[str]) -> list[str]:
    """The answers in each trial, with one function for all trials, sample by sample in turn."""
    decide = function(code)
    trials = [json.loads(line) for line in lines]
    # All copies are kept, so no two have the same id.
    memories: list[list[dict[str, Any]]] = [[{}] for _ in trials]
    found: list[list[str]] = [[] for _ in trials]
    for number in range(max(map(len, trials), default=0)):
        for trial, copies, answers in zip(trials, memories, found, strict=True):
            if number < len(trial):
                copies.append(dict(copies[-1]))
                answers.append(answer(decide, copies[-1], trial[number], code.co_filename))
    return [json_list(answers) for answers in found]


def function(code: CodeType) -> Decide:
    """The student's function, in a registered module, because dataclasses look up their module by name."""
    module = ModuleType("lab")
    module.__file__ = code.co_filename
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    decide = getattr(module, "decide", None)
    if not callable(decide):
        raise NoFunctionError("there is no function decide")
    return decide  # type: ignore[no-any-return]


def answer(decide: Decide, memory: dict[str, Any], sample: object, file: str) -> str:
    """JSON of the answer to one sample, made at once because the function could change the answer later. An exception
    does not affect other samples."""
    try:
        return json.dumps(decide(memory, sample), default=plain)
    except (MemoryError, BlockingIOError):
        raise
    except Exception as error:
        return json.dumps({"problem": problem(error, file)})


def plain(value: object) -> object:
    """Replaces values without a JSON form: sets, fractions, decimals."""
    if isinstance(value, set | frozenset):
        return list(value)
    if isinstance(value, numbers.Number):
        return float(value)  # type: ignore[arg-type]
    raise TypeError(f"{type(value).__name__} is neither a number nor a list")


def problem(error: Exception, file: str) -> str:
    """Place and reason of an error."""
    if isinstance(error, NoFunctionError):
        return f"{file}: {error}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else lines[-1] if lines else None
    message: object = error.msg if isinstance(error, SyntaxError) else error
    if isinstance(error, ZeroDivisionError):
        # Python 3.14 has other words than those before
        message = "division by zero"
    # an error in the encoding of a file has line 0
    place = f"{file}, line {line}" if line else file
    return f"{place}: {type(error).__name__}: {message}"[:LONGEST_PROBLEM]


def json_list(answers: Sequence[str]) -> str:
    """JSON of a list."""
    return f"[{', '.join(answers)}]"


def run_ahead() -> None:
    """Makes each call of a clock return a time one hour later."""
    looks = count(1)

    def ahead(clock: Callable[[], float], second: int) -> Callable[[], float]:
        return lambda: clock() + next(looks) * HOUR_S * second

    for name, second in CLOCKS.items():
        setattr(time, name, ahead(getattr(time, name), second))

    class Ahead(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Ahead":
            return super().now(tz) + datetime.timedelta(seconds=next(looks) * HOUR_S)

        @classmethod
        def utcnow(cls) -> "Ahead":
            return cls.now(datetime.UTC).replace(tzinfo=None)

        today = now

    datetime.datetime = Ahead  # type: ignore[misc]


if __name__ == "__main__":
    main(sys.argv[1])
