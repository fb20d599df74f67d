"""One HTML page of the results of runs, with figures and tables.

The page needs no other files: figures are data URIs, and there is no script. Links to the results are relative paths,
so the page can be moved together with them.
"""

import base64
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import typer

from p4sched.errors import MissingError, P4schedError
from p4sched.json_records import malformed
from p4sched.printable import printable
from p4sched.results import summaries, sweeps
from p4sched.results.summaries import Summary
from p4sched.schemes import title

PAGE = "report.html"
LINKED = (".csv", ".json", ".jsonl", ".parquet")
APART = frozenset({"experiment", "finished", "configuration", "schemes", "machine", "versions", "partial"})
"""Keys of summary.json that the page shows in their own places."""
ASIDE = frozenset({"fidelity", "tcp", "bottleneck"})
"""Keys of groups that all experiments have and that are no results."""
RESULTS = frozenset({"warnings", "points", "ratios", "failed"})
"""Keys of the records of a sweep, which are the result."""
LONGEST_LIST = 8
"""Longest list of values on the page; longer lists are only in the JSON file."""
UNITS = {"bps": "bit/s", "ns": "ns", "us": "µs", "ms": "ms", "s": "s", "bytes": "bytes", "packets": "packets"}


@dataclass(frozen=True)
class Table:
    """Rows of text below column headings; the first cell of a row is its heading."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def read_runs(folder: Path) -> list[Summary]:
    """The run or sweep in a folder, or those directly below it. Raises P4schedError if there is none."""
    if not folder.is_dir():
        raise MissingError(f"{folder} is not a folder; an experiment makes one: p4sched run EXPERIMENT --out DIR")
    if _is_run(folder):
        return [_read(folder)]
    runs, unread = [], []
    for path in sorted(path for path in folder.glob("*") if _is_run(path)):
        try:
            runs.append(_read(path))
        except P4schedError as error:
            unread.append(error)
    if unread and not runs:
        raise unread[0]
    for reason in unread:
        typer.echo(f"left out: {printable(str(reason))}", err=True)
    if not runs:
        raise MissingError(
            f"no {summaries.FILE} in {folder} or in a folder right below it;"
            " 'p4sched run EXPERIMENT --out DIR' writes one, and 'p4sched sweep' writes a " + sweeps.FILE
        )
    return runs


def _is_run(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (summaries.FILE, sweeps.FILE))


def _read(folder: Path) -> Summary:
    return summaries.read(folder) if (folder / summaries.FILE).is_file() else sweeps.read(folder)


def page(runs: Sequence[Summary], base: Path, shows: Callable[[str], str]) -> str:
    """The page. Links are relative to `base`; `shows` returns the summary of an experiment."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - no other command needs it

    environment = Environment(
        loader=PackageLoader("p4sched.results"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = []
    for place, run in enumerate(runs, start=1):
        with malformed(f"{run.folder}: its results are of another form than a run leaves"):
            sections.append(section(run, place, base, shows(run.experiment)))
    return environment.get_template("report.html.jinja").render(sections=sections)


def section(run: Summary, place: int, base: Path, shows: str) -> dict[str, Any]:
    """Section of the page for one run, for its template."""
    content = run.content
    schemes: Mapping[str, Any] = content.get("schemes", {})
    measured = {key: value for key, value in content.items() if key not in APART}
    main, details = scheme_tables(schemes)
    further_main, further_details = value_tables(measured)
    return {
        "name": run.experiment,
        "anchor": f"run-{place}",
        "shows": shows,
        "ran": ran(content),
        "doubts": summaries.doubts(content),
        "verdict": summaries.verdict(content),
        "figures": [(path.name, data_uri(path)) for path in sorted(run.folder.glob("*.png"))],
        "main": [*main, *further_main, _pairs("Configuration", content.get("configuration", {}))],
        "details": [
            *details,
            *further_details,
            *(_pairs(key.capitalize(), content.get(key, {})) for key in ("machine", "versions")),
        ],
        "links": [_link(path, run.folder, base) for path in files(run.folder)],
    }


def ran(content: Mapping[str, Any]) -> str:
    """Date of a run, or the words for virtual time."""
    if content.get("configuration", {}).get("time") == summaries.VIRTUAL:
        return "In virtual time"
    return f"{'Ended' if 'partial' in content else 'Finished'} {content.get('finished', 'at an unknown time')}"


def data_uri(path: Path) -> str:
    """A PNG file as a data URI."""
    try:
        return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
    except OSError as error:
        raise P4schedError(f"{path}: cannot be read: {error.strerror}") from error


def files(folder: Path) -> list[Path]:
    """Tables and logs of a run, in its folder and in the folders of its schemes."""
    return sorted(
        path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.suffix in LINKED and path.is_file()
    )


def _link(path: Path, folder: Path, base: Path) -> tuple[str, str]:
    relative = os.path.relpath(path, base).replace(os.sep, "/")
    return path.relative_to(folder).as_posix(), quote(relative)


def scheme_tables(schemes: Mapping[str, Mapping[str, Any]]) -> tuple[list[Table], list[Table]]:
    """The table that compares the schemes, and a table for each further group of their values."""
    if not schemes:
        return [], []
    columns = _keys(schemes.values(), is_cell)
    rows = [
        [title(name), summaries.verdict(scheme), *(cell(scheme.get(key)) for key in columns)]
        for name, scheme in schemes.items()
    ]
    compared = Table("Schemes", ["scheme", "run", *map(heading, columns)], rows)
    details = []
    for wanted in (is_group, is_records):
        for key in _keys(schemes.values(), wanted):
            found = [(title(name), scheme.get(key)) for name, scheme in schemes.items()]
            rows_of = [(name, row) for name, value in found if wanted(value) for row in _rows(value)]
            details.append(_grid(key, "scheme", rows_of))
    return [compared], details


def _rows(value: Any) -> Sequence[Mapping[str, Any]]:
    return [value] if is_group(value) else value


def _grid(key: str, first: str, named_groups: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """A row for each group of values."""
    groups = [(name, flat(group)) for name, group in named_groups]
    columns = _keys((group for _, group in groups), is_cell)
    rows = [[name, *(cell(group.get(column)) for column in columns)] for name, group in groups]
    return Table(_caption(key), [first, *map(heading, columns)], rows)


def value_tables(values: Mapping[str, Any]) -> tuple[list[Table], list[Table]]:
    """Measurements outside of the schemes: single values in one table, groups and records in their own."""
    single = {key: value for key, value in values.items() if is_cell(value)}
    main = [_pairs("Measured", single)] if single else []
    details: list[Table] = []
    for key, value in values.items():
        if is_group(value):
            (details if key in ASIDE else main).append(_pairs(_caption(key), value))
        elif is_records(value):
            (main if key in RESULTS else details).append(
                _grid(key, "", [(str(place), row) for place, row in enumerate(value, start=1)])
            )
    return main, details


def _pairs(caption: str, values: Mapping[str, Any]) -> Table:
    flattened = flat(values)
    rows = [[heading(key), cell(value)] for key, value in flattened.items() if is_cell(value)]
    return Table(caption, ["", "value"], rows)


def flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Flattens nested groups to keys such as "outer: inner"."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if is_group(value):
            found |= flat(value, f"{before}{key}: ")
        else:
            found[f"{before}{key}"] = value
    return found


def _keys(groups: Iterable[Mapping[str, Any]], has_kind: Callable[[Any], bool]) -> list[str]:
    """Keys with a wanted value in at least one group, in order of appearance."""
    return list(dict.fromkeys(key for group in groups for key, value in group.items() if has_kind(value)))


def is_cell(value: Any) -> bool:
    """True if a value fits into a cell of a table."""
    if isinstance(value, list):
        return 0 < len(value) <= LONGEST_LIST and not any(isinstance(item, list | Mapping) for item in value)
    return not isinstance(value, Mapping)


def is_group(value: Any) -> bool:
    """True if a value is a group of named values."""
    return isinstance(value, Mapping) and bool(value)


def is_records(value: Any) -> bool:
    """True if a value is a list of groups: rows of their own table."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def cell(value: Any) -> str:
    """Text of a value. Four significant digits are enough for all these measurements."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float() if abs(value) >= 1000:
            return f"{value:.0f}"
        case float():
            return f"{value:.4g}"
        case list():
            return ", ".join(map(cell, value))
        case _:
            return str(value)


def heading(key: str) -> str:
    """A key of summary.json as a column head: "sent_bps" is "sent, bit/s"."""
    words, _, unit = key.rpartition("_")
    named = f"{words}, {UNITS[unit]}" if words and unit in UNITS else key
    return named.replace("_", " ")


def _caption(key: str) -> str:
    words = heading(key)
    return words[:1].upper() + words[1:]
