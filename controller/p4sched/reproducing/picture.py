"""The picture of a figure: measured lines with intervals of 95 %, and published values as crosses."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from p4sched.reproducing.figure import MOST_PLACES, Line
from p4sched.reproducing.results import Judged, Row
from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour

COLOURS = {"tcp": figures.GREY, "dctcp": figures.YELLOW, "afq": figures.SKY}
"""Colours of hosts and ideals that have none of their own in the figures of the papers."""
PANEL_INCHES, HEIGHT_INCHES, LEAST_INCHES = 3.4, 3.4, 7.0
WIDE_INCHES = 10.0
"""Width of panels with many places, which stand below each other."""
MOST_COLUMNS = 6
MOST_LETTERS = 60
"""Letters of all places that fit side by side."""


def draw(judged: Judged, path: Path) -> None:
    """Draws one panel for each quantity that is shown."""
    rows = judged.shown
    many = len(judged.figure.places) > MOST_PLACES
    size = max(PANEL_INCHES * len(rows), LEAST_INCHES), HEIGHT_INCHES
    if many:
        size = WIDE_INCHES, HEIGHT_INCHES * len(rows)
    heading = f"{judged.figure.name}: {judged.figure.title}. Lines: measured{_means(rows)}"
    heading += "; crosses: published" * any(row.published.values for row in rows)
    heading += "; dashed: other settings, rules" * any(not line.published for line in judged.figure.lines)
    colours = _colours(judged.figure.lines)
    with figures.sheet(path, size, heading) as sheet:
        panels = sheet.subplots(*((len(rows), 1) if many else (1, len(rows))), squeeze=False).ravel()
        for axes, row in zip(panels, rows, strict=True):
            _panel(axes, row, colours)
        entries = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
        names = [name for name in entries if name in _measured(judged)]
        handles = [entries[name] for name in names]
        sheet.legend(handles, names, loc="outside lower center", ncols=min(len(names), MOST_COLUMNS) or 1)


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


def _colours(lines: Sequence[Line]) -> dict[str, str]:
    """A colour for each line: that of its scheme, or if lines share a scheme, the next of the cycle."""
    schemes = [line.scheme for line in lines if line.published]
    shared = len(set(schemes)) < len(schemes)
    found = {}
    for place, line in enumerate(lines):
        next_one = figures.CYCLE[place % len(figures.CYCLE)]
        found[line.name] = next_one if shared else COLOURS.get(line.scheme) or scheme_colour(line.scheme, next_one)
    return found


def _panel(axes: Axes, row: Row, colours: dict[str, str]) -> None:
    places = {place: number for number, place in enumerate(row.figure.places)}
    for line in row.figure.lines:
        known = [(number, row.estimate(line.name, place)) for place, number in places.items()]
        shown = [(number, each.mean, each.half_width or 0.0) for number, each in known if each]
        axes.errorbar(
            [number for number, _, _ in shown],
            [mean for _, mean, _ in shown],
            yerr=[width for _, _, width in shown],
            color=colours[line.name],
            linestyle="-" if line.published else "--",
            linewidth=1.2,
            marker="o",
            markersize=3,
            capsize=2,
            label=line.label,
        )
        values = row.published.values
        marks = [(number, values[line.name, place]) for place, number in places.items() if (line.name, place) in values]
        axes.plot(*zip(*marks, strict=True), "x", color=colours[line.name], markersize=6) if marks else None
    axes.set_title(row.quantity.title)
    crowded = sum(map(len, places)) > MOST_LETTERS
    axes.set_xticks(list(places.values()), list(places), rotation=90 if crowded else 0)
    axes.set_xlabel(row.figure.axis)
    if row.quantity.linear:
        axes.set_ylim(bottom=0)
    else:
        figures.logarithmic(axes)
