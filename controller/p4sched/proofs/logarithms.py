"""The tables of logarithms of the programs for Tofino, entry by entry in whole numbers.

The rules of AIFO and PACKS on a chip compare sums of logarithms. `claims` proves for each program what
its tables give, and from this how far the sums may be from the exact ones. So the rules of `rules.tna_quantile`
are the papers', but for sums that are equal within 7 or 8 in 100,000, and for the bits of a number behind the first 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.proofs import tna
from p4sched.proofs.exact import Int, Truth, implies
from p4sched.proofs.program import Json
from p4sched.proofs.tna import signed

UNIT = 16
"""Bits of fraction."""
FIRST_BITS = 8
WORD_BITS = 16
OF_0 = -0x400000
SLACK = 4
"""Units that make up for rounding."""
PRECISION = 256
"""Bits of a power; it is rounded down, and its error is below 1 in 2^200."""
LARGEST_WINDOW = 16
HUNDRED_THOUSAND = 100_000
"""Unit of the difference below which sums count as equal."""


@dataclass(frozen=True)
class Sum:
    """The logarithms of a program."""

    numbers: tuple[str, str]
    """Tables for C and C - c, or for B and B - b."""
    sign: int
    """Of log q in its table."""
    rounded: int
    """Logarithms that are rounded."""
    tolerance: int
    """Difference of sums that count as equal, in 100,000ths."""
    largest: int
    """Number of the largest sum that admits."""


SUMS = {
    "aifo": Sum(("log_target.logarithms", "log_free.logarithms"), -1, 5, 7, 1),
    "packs": Sum(("log_total.logarithms", "log_free.logarithms"), 1, 7, 8, 8),
}
"""By the name of the scheme. PACKS' sum has log n besides, and is compared with log i."""


def entries(path: Path, table: str) -> tuple[Mapping[int, int], int]:
    """The values of a table by key, of 16 bits at most; and the value of all other keys.

    Keys are exact, or ternary with a mask of leading ones. The first entry counts.
    """
    program = tna.read(path)
    (found,) = (one for name, one in program.tables.items() if name.endswith(f".{table}"))
    values: dict[int, int] = {}
    for entry in found["entries"]:
        (match,) = entry["match_key"]
        first, mask = int(match["key"], 16), int(match.get("mask", "0xffff"), 16)
        for key in range(first & mask, (first & mask) + (mask ^ (1 << WORD_BITS) - 1) + 1):
            values.setdefault(key, _data(entry["action_entry"]))
    return values, _data(found["default_entry"])


def value_of(table: Json, key: int) -> int:
    """The value that a table gives for a key."""
    found = _entry(table, key)
    return _data(found["action_entry"] if found is not None else table["default_entry"])


def fact(table: Json, key: Int, value: Int, seen: int) -> Truth:
    """What a table says of a key that was seen, and of those with the same entry."""
    found = _entry(table, seen)
    if found is None:
        return implies(key.equals(seen), value.equals(_data(table["default_entry"])))
    (match,) = found["match_key"]
    first = int(match["key"], 16)
    mask = int(match["mask"], 16) if "mask" in match else None
    fits = key.equals(first) if mask is None else (key & Int.of(mask)).equals(first & mask)
    return implies(fits, value.equals(_data(found["action_entry"])))


def _entry(table: Json, key: int) -> Json | None:
    """The first entry that fits a key."""
    for entry in table["entries"]:
        (match,) = entry["match_key"]
        if (key ^ int(match["key"], 16)) & int(match.get("mask", "-1"), 16) == 0:
            found: Json = entry
            return found
    return None


def _data(call: Mapping[str, Any]) -> int:
    return signed(int(call["action_data"][0], 16)) if call["action_data"] else 0


def is_logarithm(value: int, number: int) -> bool:
    """True if value is the logarithm of a number in 2^-16, to the nearest unit: 2^(2 value - 1) < number^(2^17) <
    2^(2 value + 1), or the number is a power of two and the value its logarithm."""
    if number & (number - 1) == 0:
        return value == number.bit_length() - 1 << UNIT
    mantissa, exponent = number, 0
    for _ in range(UNIT + 1):
        mantissa, exponent = mantissa * mantissa, 2 * exponent
        more = max(0, mantissa.bit_length() - PRECISION)
        mantissa, exponent = mantissa >> more, exponent + more
    # log2 of the power, rounded down; the true one is not above the next mantissa
    low, high = (exponent + one.bit_length() - 1 for one in (mantissa, mantissa + (1 << PRECISION // 4)))
    return low == high and 2 * value - 1 <= low < 2 * value + 1


def first_bits(number: int) -> int:
    """A number with its first 8 bits only."""
    behind = max(0, number.bit_length() - FIRST_BITS)
    return number >> behind << behind


def claims(path: Path, scheme: str = "") -> Iterator[tuple[str, bool]]:
    """What the tables of a program give, and what follows for the sum. `scheme`: its rule; empty: its name."""
    exact, of = logarithms(), SUMS[scheme or path.stem]
    for table in of.numbers:
        values, default = entries(path, table)
        right = all(values[number] == exact[first_bits(number)] for number in range(1, 1 << WORD_BITS))
        yield f"{table}: the logarithm of the first 8 bits, for 1 to 65535", right
        yield f"{table}: that of 0 is {OF_0}", values.get(0, default) == OF_0
    values, default = entries(path, "rest_logs")
    right = all(values.get(number, default) == exact[number] for number in range(1, 257))
    yield "rest_logs: the logarithm, for 1 to 256", right
    values, _ = entries(path, "window_logs")
    wanted = {size: -exact[size] - (8 << UNIT) - SLACK for size in range(1, LARGEST_WINDOW + 1)}
    yield "window_logs: - log |W| - log 256, less 4 units", values == wanted
    values, _ = entries(path, "quantile_logs")
    of_smaller = {size: of.sign * exact[size] for size in range(1, LARGEST_WINDOW + 1)}
    yield f"quantile_logs: {'- ' if of.sign < 0 else ''}log q", values == of_smaller
    # each value is right within half a unit
    not_refused = f"equal sums are not refused: {of.rounded} errors of half a unit are at most {SLACK} units"
    yield not_refused, of.rounded <= 2 * SLACK
    half_units = 2 * SLACK + of.rounded
    too_large = f"an admitted sum is at most {of.tolerance} in 100,000 too large: less than {half_units / 2} units"
    yield too_large, within_tolerance(half_units, of.tolerance)
    # the other side without free room is the smallest one if all other numbers are 1
    yield "without free room only q = 0 is admitted", OF_0 + exact[of.largest] < min(wanted.values())


def within_tolerance(half_units: int, tolerance: int) -> bool:
    """True if 2^(half units / 2^17) is below 1 + tolerance / 100,000."""
    above, below = (one ** (1 << UNIT + 1) for one in (HUNDRED_THOUSAND + tolerance, HUNDRED_THOUSAND))
    return bool(above > below << half_units)


def logarithms() -> Mapping[int, int]:
    """The logarithm of each number that has 8 bits at most, or zeros behind them."""
    of = {number: _nearest(number) for number in range(1, 1 << FIRST_BITS)}
    return {
        number << behind: value + (behind << UNIT) for number, value in of.items() for behind in range(WORD_BITS + 1)
    }


def _nearest(number: int) -> int:
    guess = round(math.log2(number) * (1 << UNIT))
    return next(value for value in (guess, guess - 1, guess + 1) if is_logarithm(value, number))
