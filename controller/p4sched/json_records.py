"""Type checks for JSON that the laboratory wrote and reads again.

A log or a summary may be damaged, cut off or edited. An error names the wrong value.
"""

import dataclasses
import functools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from p4sched.errors import P4schedError

if sys.version_info < (3, 11):  # noqa: UP036 - there, those of `typing` do not know keys that may be missing
    from typing_extensions import get_type_hints, is_typeddict
else:
    from typing import get_type_hints, is_typeddict

DEEPEST = 50
"""Largest number of levels of lists and objects; files of the laboratory have fewer than ten."""
BELOW = 2**64
"""Limit of counters and times, which are 64 bits wide."""
_SHOWN = 60
_LONGEST_REASON = 300
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Errors of code that meets a value of an unexpected form."""


class RecordError(ValueError):
    """A value of the wrong form; the message names it and the expected form."""


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises RecordError for any other text."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(f"not JSON: {error}") from error
    except ValueError as error:
        raise RecordError("not JSON that can be read: a number has thousands of digits") from error
    except RecursionError as error:
        raise RecordError(f"nested deeper than {DEEPEST} levels") from error
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise RecordError(f"nested deeper than {DEEPEST} levels")
    if "\\ud" in text.lower():
        # JSON can hold half a character as an escape; a file or a page cannot
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise RecordError("not JSON: a text has half a character (a surrogate without the other one)") from error
    return value


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def parse_json_lines(text: str) -> list[dict[str, Any]]:
    """The objects of JSON lines. Raises RecordError, with the number of the line, for any other text."""
    found = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            value = parse_json(line)
        except RecordError as error:
            raise RecordError(f"line {number}: {error}") from error
        if not isinstance(value, dict):
            raise RecordError(f"line {number} is {excerpt(value)}, not an object")
        found.append(value)
    return found


@contextmanager
def malformed(what: str, kind: Callable[[str], Exception] = P4schedError) -> Iterator[None]:
    """Turns an error that a malformed value causes in the block into an error of this kind, with one sentence."""
    try:
        yield
    except MALFORMED as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        reason = f"{reason} is missing" if isinstance(error, KeyError) else reason
        raise kind(f"{what}: {reason[:_LONGEST_REASON]}") from error


def excerpt(value: Any) -> str:
    """A value from JSON for a message, shortened."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def check_fields(kind: type, record: Mapping[str, Any], before: str = "", *, others: bool) -> None:
    """Raises RecordError unless `record` holds the fields of the dataclass `kind`, each with a value of its type.

    `before` precedes the names in messages; `others` allows other keys.
    """
    hints = _hints(kind)
    fields = dataclasses.fields(kind)
    for field in fields:
        if field.name in record:
            check(f"{before}{field.name}", record[field.name], hints[field.name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise RecordError(f"{before}{field.name} is missing")
    unknown = sorted(record.keys() - {field.name for field in fields})
    if unknown and not others:
        raise RecordError(f"{before}{unknown[0]} is not known; use one of: {', '.join(field.name for field in fields)}")


def check(name: str, value: Any, kind: Any) -> None:
    """Raises RecordError unless `value` is the JSON form of a value of type `kind`.

    A mapping is an object, a tuple a list, and a dataclass inside these the list of its fields. A typed dictionary is
    an object with at least its fields. Whole numbers are counters, sizes or times, so none is negative.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin is UnionType:
        if value is not None:
            (other,) = (each for each in inner if each is not NoneType)
            check(name, value, other)
    elif origin in (tuple, list):
        for place, item in enumerate(_require(name, value, isinstance(value, list), "a list")):
            check(f"{name}[{place}]", item, inner[0])
    elif origin is not None:
        for key, item in _require(name, value, isinstance(value, dict), "an object").items():
            # in a value that was not read from JSON, a key may be a number
            digits = str(key)
            if inner[0] is int and not (digits.isascii() and digits.isdecimal() and int(digits) < BELOW):
                raise RecordError(f"{name} has the key {excerpt(key)}, not a number")
            check(f"{name}.{key}", item, inner[1])
    elif is_typeddict(kind):
        _check_object(name, value, kind)
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind) and not hasattr(kind, "parse"):
        hints = list(_hints(kind).values())
        whole = isinstance(value, list) and len(value) == len(hints)
        for place, item in enumerate(_require(name, value, whole, f"a list of {len(hints)}")):
            check(f"{name}[{place}]", item, hints[place])
    else:
        _check_single(name, value, kind)


def _check_object(name: str, value: Any, kind: Any) -> None:
    """Checks the fields of a typed dictionary."""
    found = _require(name, value, isinstance(value, dict), "an object")
    for key, hint in _hints_of_dictionary(kind).items():
        if key in found:
            check(f"{name}.{key}", found[key], hint)
        elif key in kind.__required_keys__:
            raise RecordError(f"{name}.{key} is missing")


def _check_single(name: str, value: Any, kind: Any) -> None:
    if hasattr(kind, "parse") or kind is str:
        _require(name, value, isinstance(value, str), "a text")
    elif kind is bool:
        _require(name, value, isinstance(value, bool), "true or false")
    elif kind is float:
        _require(name, value, type(value) in (int, float) and math.isfinite(value), "a finite number")
    else:
        _require(name, value, type(value) is int and 0 <= value < BELOW, "a whole number from 0 to 2^64 - 1")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@functools.cache
def _hints_of_dictionary(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _require(name: str, value: Any, condition: bool, what: str) -> Any:
    if not condition:
        raise RecordError(f"{name} is {excerpt(value)}, not {what}")
    return value
