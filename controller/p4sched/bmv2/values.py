"""Converts values, keys and parameters between words and bytes."""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any

from p4sched.bmv2.connection import INTERFACE
from p4sched.bmv2.program import Action, InputError, KeyField

KINDS = ("exact", "lpm", "ternary", "valid", "range")
"""Match kinds; the index is the number in the Thrift interface."""


class MatchKeyError(InputError):
    """An error in a field of a key."""


class ParameterError(InputError):
    """An error in a parameter of an action."""


def integer(word: str, what: str) -> int:
    """Parses a decimal number."""
    try:
        return int(word)
    except ValueError:
        raise InputError(f"Bad format for {what}, expected integer") from None


def value_bytes(word: str, width: int) -> bytes:
    """Parses a value of `width` bits: a decimal or 0x number, or an address if an address has this width."""
    if width == 32 and "." in word:
        return _ipv4(word)
    if width == 48 and ":" in word:
        return _mac(word)
    if width == 128 and ":" in word:
        return _ipv6(word)
    try:
        number = int(word, 0)
    except ValueError:
        raise InputError("Invalid input, could not cast to integer, try in hex with 0x prefix") from None
    try:
        return number.to_bytes((width + 7) // 8, "big")
    except OverflowError:
        raise InputError("Parameter is too large") from None


def _ipv4(word: str) -> bytes:
    try:
        return ipaddress.IPv4Address(word).packed
    except ValueError:
        raise InputError("Invalid IPv4 address") from None


def _mac(word: str) -> bytes:
    try:
        octets = bytes(int(octet, 16) for octet in word.split(":"))
    except ValueError:
        octets = b""
    if len(octets) != 6:
        raise InputError("Invalid MAC address")
    return octets


def _ipv6(word: str) -> bytes:
    try:
        return ipaddress.IPv6Address(word).packed
    except ValueError:
        raise InputError("Invalid IPv6 address") from None


def action_data(action: Action, words: Sequence[str]) -> list[bytes]:
    """Parses the parameters of an action."""
    if len(words) != len(action.params):
        raise InputError(f"Action {action.name} needs {len(action.params)} parameters")
    data = []
    for word, (_, width) in zip(words, action.params, strict=True):
        try:
            data.append(value_bytes(word, width))
        except InputError as error:
            raise ParameterError(f"Error while parsing {word} - {error}") from None
    return data


def match_key(fields: Sequence[KeyField], words: Sequence[str]) -> list[Any]:
    """Parses a key: one word for each field, `10.0.0.0/8`, `0x1&&&0xff` or `1->5`."""
    return [_match_param(field, word) for field, word in zip(fields, words, strict=True)]


def _match_param(field: KeyField, word: str) -> Any:
    def value(word_of_value: str) -> bytes:
        try:
            return value_bytes(word_of_value, field.width)
        except InputError as error:
            raise MatchKeyError(f"Error while parsing {word_of_value} - {error}") from None

    def parts(separator: str, form: str, names: str) -> tuple[str, str]:
        first, found, second = word.partition(separator)
        if not found or separator in second:
            raise MatchKeyError(f"Invalid {form} value {word}, use '{separator}' to separate {names}")
        return first, second

    param = INTERFACE.MatchParam(type=KINDS.index(field.kind))
    match field.kind:
        case "exact":
            param.exact = INTERFACE.Exact(value(word))
        case "lpm":
            prefix, length = parts("/", "LPM", "prefix and length")
            param.lpm = INTERFACE.Lpm(value(prefix), integer(length, "prefix length"))
        case "ternary":
            key, mask = parts("&&&", "ternary", "key and mask")
            param.ternary = INTERFACE.Ternary(value(key), value(mask))
        case "valid":
            param.valid = INTERFACE.Valid(bool(integer(word, "valid")))
        case _:
            start, end = (value(end) for end in parts("->", "range", "range start and range end"))
            if start > end:
                raise MatchKeyError(f"start is less than end in expression {word}")
            param.range = INTERFACE.Range(start, end)
    return param


def colon_hex(data: bytes) -> str:
    """Hexadecimal bytes with colons between them."""
    return data.hex(":")


def param_text(param: Any, *, colons: bool) -> str:
    """A field of a key in the form that commands print. `table_add` prints colons between bytes, a dump does not."""
    text = colon_hex if colons else bytes.hex
    match KINDS[param.type]:
        case "exact":
            return text(param.exact.key)
        case "lpm":
            return f"{text(param.lpm.key)}/{param.lpm.prefix_length}"
        case "ternary":
            return f"{text(param.ternary.key)} &&& {text(param.ternary.mask)}"
        case "valid":
            return "" if colons else ("01" if param.valid.key else "00")
        case _:
            return f"{text(param.range.start)} -> {text(param.range.end_)}"


def tab_text(data: Iterable[bytes]) -> str:
    """Parameters in the form that commands print."""
    return "\t".join(colon_hex(value) for value in data)
