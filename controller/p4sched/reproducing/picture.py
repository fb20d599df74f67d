"""The picture of a figure: measured lines with intervals of 95 %, and published values as crosses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes

from p4sched.reproducing.figure import MOST_PLACES, Line
from p4sched.reproducing.results import Judged, Row
from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour

Style = str | tuple[int, tuple[int, ...]]
"""A style of Matplotlib's lines."""


class Look(NamedTuple):
    """How a line is drawn."""

    colour: str
    style: Style
    marker: str


COLOURS = {"tcp": figures.GREY, "dctcp": figures.YELLOW, "afq": figures.SKY}
"""Colours of hosts and ideals that have none of their own in the figures of the papers."""
PANEL_INCHES, HEIGHT_INCHES, LEAST_INCHES = 3.4, 2.8, 7.5
WIDE_INCHES = 10.0
"""Width of panels with many places, which stand below each other."""
LETTERS_PER_INCH = 17
"""Letters of the legend in an inch."""
LEGEND_INCHES = 0.2
"""Height of a row of the legend."""
SYMBOL_LETTERS = 6
"""Letters as wide as the symbol before a label."""
DASHES: Sequence[Style] = ("--", ":", "-.", (0, (8, 2)), (0, (5, 1, 1, 1, 1, 1)))
"""Styles of the lines of one colour that are not published."""
MARKERS = "os^D"
"""Markers of the lines of one colour that are published."""
HIGH = 0.8
"""Smallest value over largest value from which on a linear axis does not begin at 0."""
MOST_LETTERS = 60
"""Letters of all places that fit side by side."""


def draw(judged: Judged, path: Path) -> None:
    """Draws one panel for each quantity that is shown."""
    rows = judged.shown
    many = len(judged.figure.places) > MOST_PLACES
    labels = _measured(judged)
    width = WIDE_INCHES if many else max(PANEL_INCHES * len(rows), LEAST_INCHES)
    column = (max(map(len, labels), default=0) + SYMBOL_LETTERS) / LETTERS_PER_INCH
    columns = max(1, min(len(labels), int(width / column)))
    legend = LEGEND_INCHES * ceil(len(labels) / columns)
    size = width, HEIGHT_INCHES * (len(rows) if many else 1) + legend
    heading = f"{judged.figure.name}: {judged.figure.title}. Lines: measured{_means(rows)}"
    heading += "; crosses: published" * any(row.published.values for row in rows)
    heading += "; dashed: other settings, rules" * any(not line.published for line in judged.figure.lines)
    looks = _looks(judged.figure.lines)
    with figures.sheet(path, size, heading) as sheet:
        panels = sheet.subplots(*((len(rows), 1) if many else (1, len(rows))), squeeze=False).ravel()
        for axes, row in zip(panels, rows, strict=True):
            _panel(axes, row, looks)
        entries = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
        names = [name for name in entries if name in labels]
        handles = [entries[name] for name in names]
        sheet.legend(handles, names, loc="outside lower center", ncols=columns)


def _means(rows: Sequence[Row]) -> str:
    """How many seeds the points are means of, in words; empty if all have one."""
    counts = {found.seeds for row in rows for place in row.measured if (found := row.estimate(*place))}
    if not counts or max(counts) == 1:
        return ""
    low, high = min(counts), max(counts)
    return f", mean of {low if low == high else f'{low} to {high}'} seeds with 95 % intervals"


def _measured(judged: Judged) -> set[str]:
    """Labels of the lines that have a point."""
    found = {line for row in judged.shown for line, _ in row.measured}
    return {line.label for line in judged.figure.lines if line.name in found}


def _looks(lines: Sequence[Line]) -> dict[str, Look]:
    """How each line is drawn. Its colour is that of its scheme, or if lines share a scheme, the next of the cycle; a
    line that varies another one has the colour of that one. Lines of one colour differ in their dashes or markers."""
    schemes = [line.scheme for line in lines if line.published]
    shared = len(set(schemes)) < len(schemes)
    of_line: dict[str, str] = {}
    known: Counter[tuple[str, bool]] = Counter()
    found: dict[str, Look] = {}
    published = 0
    for line in lines:
        next_one = figures.CYCLE[published % len(figures.CYCLE)]
        published += line.published
        colour = next_one if shared else COLOURS.get(line.scheme) or scheme_colour(line.scheme, next_one)
        if not line.published:
            colour = of_line.get(line.of, colour)
        elif line.of:
            of_line[line.of] = colour
        number = known[colour, line.published]
        known[colour, line.published] += 1
        found[line.name] = (
            Look(colour, "-", MARKERS[number % len(MARKERS)])
            if line.published
            else Look(colour, DASHES[number % len(DASHES)], "o")
        )
    return found


def _panel(axes: Axes, row: Row, looks: Mapping[str, Look]) -> None:
    places = {place: number for number, place in enumerate(row.figure.places)}
    names = any(" " in place for place in places)  # points that nothing is between
    for line in row.figure.lines:
        look = looks[line.name]
        known = [(number, row.estimate(line.name, place)) for place, number in places.items()]
        shown = [(number, each.mean, each.half_width or 0.0) for number, each in known if each]
        axes.errorbar(
            [number for number, _, _ in shown],
            [mean for _, mean, _ in shown],
            yerr=[width for _, _, width in shown],
            color=look.colour,
            linestyle="none" if names else look.style,
            linewidth=1.2,
            marker=look.marker,
            markersize=3,
            capsize=2,
            label=line.label,
        )
        values = row.published.values
        marks = [(number, values[line.name, place]) for place, number in places.items() if (line.name, place) in values]
        axes.plot(*zip(*marks, strict=True), "x", color=look.colour, markersize=6) if marks else None
    axes.set_title(row.quantity.title)
    crowded = sum(map(len, places)) > MOST_LETTERS
    axes.set_xticks(list(places.values()), list(places), rotation=90 if crowded else 0)
    axes.set_xlabel(row.figure.axis)
    if row.quantity.linear:
        if axes.get_ylim()[0] < HIGH * axes.get_ylim()[1]:
            axes.set_ylim(bottom=0)
    else:
        figures.logarithmic(axes)
