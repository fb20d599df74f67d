"""Files as somebody else may have left them: other bytes, cut off, or with other values than were written."""

import json
from random import Random
from typing import Any

VALUES = (
    "null",
    "NaN",
    "-Infinity",
    "1e400",
    "-1",
    "0",
    "1",
    "true",
    "0.5",
    "1e300",
    str(2**64),
    "9" * 5000,
    '""',
    '"x"',
    r'"\ud800"',
    r'"\u001b[2J"',
)
NESTED = ("[]", "{}", "[0]", "[null]", '{"k": 0}', "[[], {}]", "[" * 30 + "]" * 30, "[" * 100_000)
_MARK = "the value to be replaced"


def damaged(content: bytes, source: Random) -> bytes:
    """A file with some of its bytes other ones."""
    changed = bytearray(content)
    for _ in range(source.randrange(1, 4)):
        place = source.randrange(len(changed) + 1)
        match source.randrange(4):
            case 0 if place < len(changed):
                changed[place] = source.randrange(256)
            case 1:
                changed[place:place] = source.choice([b"\0", b"\xff", b"\n", b'"', b"[" * 2000, b"9" * 400])
            case 2:
                del changed[place : place + source.randrange(1, 40)]
            case _ if source.random() < 0.2:
                del changed[place:]
    return bytes(changed)


def damaged_json(text: str, source: Random) -> bytes:
    """A JSON text, or lines of them, with a value replaced or left out; or as other bytes."""
    if source.random() < 0.2:
        return damaged(text.encode(), source)
    try:
        json.loads(text)
    except ValueError:
        lines = text.splitlines()
    else:
        lines = [text]
    number = source.randrange(len(lines))
    value = json.loads(lines[number])
    if source.random() < 0.3:
        _leave_out(value, source)
        lines[number] = json.dumps(value)
    else:
        wrong = json.dumps(_replaced(value, source))
        lines[number] = wrong.replace(json.dumps(_MARK), source.choice(source.choice((VALUES, NESTED))))
    return ("\n".join(lines) + "\n").encode()


def _inside(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []


def _leave_out(value: Any, source: Random) -> None:
    while places := _inside(value):
        place = source.choice(places)
        if not _inside(value[place]) or source.random() < 0.3:
            del value[place]
            return
        value = value[place]


def _replaced(value: Any, source: Random) -> Any:
    places = _inside(value)
    if not places or source.random() < 0.15:
        return _MARK
    place = source.choice(places)
    copy = value.copy()
    copy[place] = _replaced(value[place], source)
    return copy
