"""JSON that was written once and is read again: are the values still of the types that they had?

A log or a summary may have been damaged, cut off or edited since. What reads it relies on types, so they are checked
here, and a wrong value is told by its name.
"""

import dataclasses
import functools
import json
import math
from collections.abc import Mapping
from typing import Any, get_args, get_origin, get_type_hints

DEEPEST = 50
"""Levels of lists and objects; what the laboratory writes has less than ten."""
BELOW = 2**64
"""Counters and times are 64 bits wide."""
_SHOWN = 60


class RecordError(ValueError):
    """Not what was written; the message names the value and says what it should be."""


def parsed(text: str) -> Any:
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
    return value


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def shown(value: Any) -> str:
    """A value from JSON, for a message; a long one is cut off."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def check_fields(kind: type, record: Mapping[str, Any], before: str = "", *, others: bool) -> None:
    """Fails unless `record` holds the fields of the dataclass `kind`, each with a value of its type.

    `before` precedes their names in messages; `others` allows for further keys.
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
        raise RecordError(f"{before}{unknown[0]} is not known; there is: {', '.join(field.name for field in fields)}")


def check(name: str, value: Any, kind: Any) -> None:
    """Fails unless `value` is what a value of type `kind` becomes in JSON: a mapping an object, a tuple a list, and
    within these a dataclass the list of its fields. All whole numbers are counters, sizes or times: none is negative.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin is tuple:
        for place, item in enumerate(_require(name, value, isinstance(value, list), "a list")):
            check(f"{name}[{place}]", item, inner[0])
    elif origin is not None:
        for key, item in _require(name, value, isinstance(value, dict), "an object").items():
            if inner[0] is int and not (key.isascii() and key.isdecimal() and int(key) < BELOW):
                raise RecordError(f"{name} has the key {shown(key)}, not a number")
            check(f"{name}.{key}", item, inner[1])
    elif hasattr(kind, "parse") or kind is str:
        _require(name, value, isinstance(value, str), "a text")
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = list(_hints(kind).values())
        whole = isinstance(value, list) and len(value) == len(hints)
        for place, item in enumerate(_require(name, value, whole, f"a list of {len(hints)}")):
            check(f"{name}[{place}]", item, hints[place])
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


def _require(name: str, value: Any, condition: bool, what: str) -> Any:
    if not condition:
        raise RecordError(f"{name} is {shown(value)}, not {what}")
    return value
