"""Measured numbers as CSV files: a file for each figure, a row for each simulation.

    DIR/measured/FIGURE.csv

A simulation that several figures share is stored in the file of the first one. Its row has the names of its figure at
that time; `inputs`, a hash of all that decides the numbers, finds it even if a line gets another name. The command of a
row is `p4sched reproduce PAPER FIGURE --seed SEED --seeds 1`. `took_s` is the time that it took, for estimates only.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.reproducing.figure import Figure, Metrics
from p4sched.results.locked_folder import locked_folder
from p4sched.results.whole_file import write_whole

MEASURED = "measured"
FIXED = ("line", "place", "seed", "duration_s", "inputs", "commit", "took_s")
DIGITS = 6
"""Significant digits of a stored number."""


@dataclass(frozen=True)
class Measured:
    """The numbers of one simulation."""

    line: str
    place: str
    seed: int
    duration_s: float
    inputs: str
    commit: str
    """Commit of the code that made the numbers; it ends in +changes if the code had changes."""
    took_s: float
    metrics: Metrics

    def row(self, names: list[str]) -> list[str]:
        """The row of the file."""
        fixed = [self.line, self.place, str(self.seed), f"{self.duration_s:g}", self.inputs, self.commit]
        return [*fixed, f"{self.took_s:.3g}", *(_text(self.metrics.get(name)) for name in names)]

    def differences(self, other: "Measured") -> list[str]:
        """The numbers that both have, and that differ in the digits of the file. An empty cell may also be that of a
        number that was not yet kept."""
        both = ((name, self.metrics[name], other.metrics[name]) for name in self.metrics.keys() & other.metrics.keys())
        return sorted(name for name, old, new in both if None not in (old, new) and _text(old) != _text(new))


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.{DIGITS}g}"


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"'{text}' is not a number of a simulation")
    return value


def _measured(row: Mapping[str, str]) -> Measured:
    metrics = {name: _number(text) if text else None for name, text in row.items() if name not in FIXED}
    fixed = (row["line"], row["place"], int(row["seed"]), _number(row["duration_s"]), row["inputs"], row["commit"])
    return Measured(*fixed, _number(row["took_s"]), metrics)


class Store:
    """The measured numbers of a folder."""

    def __init__(self, folder: Path) -> None:
        """Reads all files. Raises P4schedError, with file and line, for a damaged file."""
        self._folder = folder / MEASURED
        self._files = {path.stem: _read(path) for path in sorted(self._folder.glob("*.csv"))}
        self._by_inputs = {each.inputs: each for each in self}

    def __iter__(self) -> Iterator[Measured]:
        """All simulations."""
        return (each for rows in self._files.values() for each in rows.values())

    @property
    def seeds(self) -> set[int]:
        """The seeds of all simulations."""
        return {each.seed for each in self}

    def of_inputs(self, inputs: str) -> Measured | None:
        """The numbers of the run with this hash of its inputs, from the file of any figure."""
        return self._by_inputs.get(inputs)

    def keep(self, figure: Figure, measured: Measured) -> None:
        """Adds a simulation, or replaces it, in whichever file it is, and writes each file atomically."""
        for name, rows in self._files.items():
            if rows.pop(measured.inputs, None) and name != figure.name:
                self._write(name, list(rows.values()))
        rows = self._files.setdefault(figure.name, {})
        rows[measured.inputs] = self._by_inputs[measured.inputs] = measured
        lines = [line.name for line in figure.lines]

        def order(each: Measured) -> tuple[float, int, str, str, int]:
            place = lines.index(each.line) if each.line in lines else len(lines)
            return each.duration_s, place, each.line, each.place, each.seed

        self._write(figure.name, sorted(rows.values(), key=order))

    def _write(self, name: str, rows: Sequence[Measured]) -> None:
        names = list(dict.fromkeys(name for each in rows for name in each.metrics))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*FIXED, *names])
        writer.writerows(each.row(names) for each in rows)
        write_whole(self._folder / f"{name}.csv", text.getvalue())


def _read(path: Path) -> dict[str, Measured]:
    found = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file, strict=True)
            if tuple(rows.fieldnames or ())[: len(FIXED)] != FIXED:
                raise P4schedError(f"{path}: its first line does not begin with {','.join(FIXED)}: delete the file")
            for row in rows:
                try:
                    if None in row or None in row.values():
                        raise ValueError("too few or too many cells")
                    measured = _measured(row)
                    if measured.inputs in found:
                        raise ValueError("the simulation of another line")
                except ValueError as error:
                    raise P4schedError(f"{path}:{rows.line_num}: {error}: delete this line to run it again") from error
                found[measured.inputs] = measured
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise P4schedError(f"{path}: cannot be read: {error}: delete the file to run its simulations again") from error
    return found


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """The store of a folder, to which no other process writes."""
    with locked_folder(folder, folder / MEASURED, folder / MEASURED, "'p4sched reproduce'"):
        yield Store(folder)
