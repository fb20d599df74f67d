"""Tables at the end of a run. Numbers are never cut: the table is wider than the terminal instead."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from p4sched.results import summaries
from p4sched.schemes import title

Scheme = Mapping[str, Any]
"""Part of summary.json for one scheme."""


def scheme_table(
    heading: str, columns: Sequence[str], schemes: Mapping[str, Scheme], cells: Callable[[Scheme], Sequence[str]]
) -> Table:
    """A row for each scheme: its name and settings, `cells` below `columns`, and the verdict.

    Columns are aligned to the right; columns that begin with "<" to the left.
    """
    shown = Table(title=heading, title_justify="left")
    shown.add_column("scheme")
    for column in columns:
        shown.add_column(column.removeprefix("<"), justify="left" if column.startswith("<") else "right")
    shown.add_column("run")
    for name, scheme in schemes.items():
        shown.add_row(f"[bold]{title(name)}[/]\n{scheme['label']}", *cells(scheme), verdict(scheme))
    return shown


def record_rows(schemes: Mapping[str, Scheme], key: str) -> Iterable[Sequence[object]]:
    """Rows of a CSV file, the heading first: the records under `key` of each scheme that has them."""
    records = [(name, record) for name, scheme in schemes.items() for record in scheme.get(key, ())]
    return [["scheme", *records[0][1]], *([name, *record.values()] for name, record in records)] if records else []


def verdict(part: Mapping[str, Any]) -> str:
    """The cell with the verdict on a part of summary.json; in stepped time there is no doubt."""
    if "fidelity" not in part:
        return "exact"
    fidelity = part["fidelity"]
    usual = "exact" if fidelity.get("time") == summaries.VIRTUAL else "valid"
    found = usual if fidelity["valid"] else "[bold red]INVALID[/]"
    attempts = part.get("attempts", 1)
    return found if attempts == 1 else f"{found}\nattempt {attempts}"


def cell(value: float | None, form: str) -> str:
    """The cell for a number in this format."""
    return "-" if value is None else format(value, form)


def resent_share(scheme: Scheme) -> str:
    """The cell for the share of segments that the senders sent again."""
    tcp = scheme["tcp"]
    return f"{tcp['segments_retransmitted'] / max(tcp['segments_sent'], 1):.2%}"


def with_interval(scheme: Scheme, key: str) -> str:
    """The cell for a median, and the interval that holds 80 % of the samples."""
    low, high = scheme[f"{key}_interval_80"]
    return f"[bold]{scheme[key]:.3f}[/]\n{low:.3f} - {high:.3f}"


def print_table(console: Console, table: Table) -> None:
    """Prints the table. If it is too wide, columns shrink, and cells break only between words."""
    texts = [[Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)] for column in table.columns]
    narrowest = [_widest(word for text in cells for word in text.split()) for cells in texts]
    lines = len(table.columns) + 1
    if sum(narrowest) + 2 * len(narrowest) + lines > console.width:
        table.padding = 0
    edges = lines + len(narrowest) * sum(table.padding[1::2])
    widths = [_widest(line for text in cells for line in text.splitlines()) for cells in texts]
    for column, width in zip(table.columns, shrink(widths, narrowest, console.width - edges), strict=True):
        column.width = width
    if sum(narrowest) + edges > console.width:
        table.width = sum(narrowest) + edges
    console.print(table, crop=False)


def shrink(widths: Sequence[int], narrowest: Sequence[int], room: int) -> list[int]:
    """The widths, reduced as far as possible to fit into the room. The widest columns shrink most."""
    found = list(widths)
    while sum(found) > room:
        spare = [width - least for width, least in zip(found, narrowest, strict=True)]
        if max(spare, default=0) <= 0:
            break
        found[spare.index(max(spare))] -= 1
    return found


def _widest(parts: Iterable[str]) -> int:
    return max(map(cell_len, parts), default=0)
