"""The published numbers: docs/reproduction/published/*.csv.

PAPER.csv     figure, quantity, line, place, value
ranges.csv    figure, quantity, line, base, place, low, high: the range of the ratio of `line` to `base`, at a place or
              over all places; a base `LINE@PLACE` is the other line at another place; without a base, it is the range
              of the line itself
orders.csv    figure, quantity, line, base: at each place, `line` is below `base`; the paper has no number of it
slips.csv     figure, quantity, line, place, why: a published value or range that cannot be right, and is not compared
sources.csv   figure, quantity, from, source; `from` is `data` (the authors' data files), `text` (printed in the
              paper), `plot` (read off a plot) or `readings` (printed in the paper, and compared with lines that are
              readings of its text; such verdicts do not count)
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.paths import REPRODUCTION_DIR

FOLDER = REPRODUCTION_DIR / "published"
Place = tuple[str, str]
"""A line and a place."""


@dataclass(frozen=True)
class Range:
    """The published range of a ratio."""

    line: str
    base: str
    """The other line; empty: the range is that of `line` itself."""
    place: str
    """The place; empty: the range is over all places."""
    low: float
    high: float
    base_place: str = ""
    """The place of the other line; empty: the same."""


@dataclass(frozen=True)
class Order:
    """A published order without a number: at each place, `line` is below `base`."""

    line: str
    base: str


@dataclass
class Numbers:
    """The published numbers of one quantity of a figure."""

    values: dict[Place, float] = field(default_factory=dict)
    ranges: list[Range] = field(default_factory=list)
    origin: str = ""
    """`data`, `text`, `plot` or `readings`."""
    source: str = ""
    orders: list[Order] = field(default_factory=list)
    slips: dict[Place, str] = field(default_factory=dict)
    """Published values that cannot be right, and why."""

    def renamed(self, names: Mapping[str, str]) -> "Numbers":
        """The same numbers with other names of lines."""
        values = {(names.get(line, line), place): value for (line, place), value in self.values.items()}
        ranges = [
            replace(each, line=names.get(each.line, each.line), base=names.get(each.base, each.base))
            for each in self.ranges
        ]
        orders = [Order(names.get(each.line, each.line), names.get(each.base, each.base)) for each in self.orders]
        slips = {(names.get(line, line), place): why for (line, place), why in self.slips.items()}
        return Numbers(values, ranges, self.origin, self.source, orders, slips)


Published = Mapping[tuple[str, str], Numbers]
"""Indexed by figure and quantity."""


def read(folder: Path = FOLDER) -> Published:
    """Reads all files. Raises P4schedError, with file and line, for a damaged file."""
    found: dict[tuple[str, str], Numbers] = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file, strict=True)
            for row in rows:
                try:
                    _add(found.setdefault((row["figure"], row["quantity"]), Numbers()), path.stem, row)
                except (ValueError, TypeError, KeyError) as error:
                    raise P4schedError(f"{path}:{rows.line_num}: {error}") from error
    return found


def _add(numbers: Numbers, file: str, row: Mapping[str, str]) -> None:
    match file:
        case "ranges":
            base, _, at = row["base"].partition("@")
            numbers.ranges.append(Range(row["line"], base, row["place"], float(row["low"]), float(row["high"]), at))
        case "orders":
            numbers.orders.append(Order(row["line"], row["base"]))
        case "slips":
            numbers.slips[row["line"], row["place"]] = row["why"]
        case "sources":
            numbers.origin, numbers.source = row["from"], row["source"]
        case _:
            numbers.values[row["line"], row["place"]] = float(row["value"])
