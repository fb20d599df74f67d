"""Tables at the end of a run. None of their numbers is ever cut: rather is the table wider than the terminal."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_table(console: Console, table: Table) -> None:
    """Prints the table. Where it is too wide, columns move together, and cells break between words only."""
    texts = [[Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)] for column in table.columns]
    narrowest = [_widest(word for text in cells for word in text.split()) for cells in texts]
    lines = len(table.columns) + 1
    if sum(narrowest) + 2 * len(narrowest) + lines > console.width:
        table.padding = 0
    edges = lines + len(narrowest) * sum(table.padding[1::2])
    widths = [_widest(line for text in cells for line in text.splitlines()) for cells in texts]
    for column, width in zip(table.columns, shrunk(widths, narrowest, console.width - edges), strict=True):
        column.width = width
    if sum(narrowest) + edges > console.width:
        table.width = sum(narrowest) + edges
    console.print(table, crop=False)


def shrunk(widths: Sequence[int], narrowest: Sequence[int], room: int) -> list[int]:
    """The widths, reduced to fit into the room as far as they can be, most where there is most to spare."""
    found = list(widths)
    while sum(found) > room:
        spare = [width - least for width, least in zip(found, narrowest, strict=True)]
        if max(spare, default=0) <= 0:
            break
        found[spare.index(max(spare))] -= 1
    return found


def _widest(parts: Iterable[str]) -> int:
    return max(map(cell_len, parts), default=0)
