"""The figures of a sweep: completion times against the load or another number, and their ratios to the first scheme."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour
from p4sched.results.sweeps import ENOUGH_DONE, SHOWN, Estimate, Group, load, ratios

FIGURE, RATIOS = "figure", "ratios"
"""Names of the two figures, without the ending."""
MOST_PANELS = 5
PANEL_INCHES = (3.0, 3.1)
LEAST_PAPER_INCHES = 1.6
"""Least width of a panel in a paper."""
LEGEND_INCHES = 0.45
TITLES = {
    "completed_share": "Flows that ended",
    "small_restricted_mean_ms": "Small flows, mean, ms",
    "small_restricted_p99_ms": "Small flows, 99th percentile, ms",
    "large_restricted_mean_ms": "Large flows, mean, ms",
    "restricted_mean_ms": "All flows, mean, ms",
    "restricted_p99_ms": "All flows, 99th percentile, ms",
}
PAPER_TITLES = {name: title.replace("99th percentile", "99 %") for name, title in TITLES.items()}


@dataclass(frozen=True)
class Paper:
    """The form of a figure in a paper."""

    format: str
    """pdf, svg or pgf."""
    width_in: float
    """Width in inches, such as that of a column."""


@dataclass(frozen=True)
class Dot:
    """A value of a line."""

    across: float
    estimate: Estimate
    enough: bool
    """True if enough flows ended."""


Lines = Mapping[str, Sequence[Dot]]


def draw(folder: Path, paper: Paper | None = None) -> list[Path]:
    """Draws the sweep in a folder, and returns the files: none if there is nothing to draw.

    The horizontal axis is the load, or the first parameter with several numbers. There is a line for each scheme and
    set of other parameters. Bars are intervals of 95 % over the seeds. A point where too few flows ended is open. The
    second figure has the ratios to the first scheme, paired by seed.
    """
    meta, _, groups = load(folder)
    across = _axis(groups, ["load", *meta["parameters"]])
    if across is None:
        return []
    seeds = max(group["seeds"] for group in groups)
    bars = f"{seeds} seeds, bars: intervals of 95 %" if seeds > 1 else "1 seed"
    few = any(not _enough(group) for group in groups)
    note = f"\nopen: fewer than {100 * ENOUGH_DONE:g} % of the flows ended" if few else ""
    values = [(group, group) for group in groups]
    found = [_sheet(folder, FIGURE, paper, f"{meta['sweep']}: {bars}{note}", values, across)]
    relative = ratios(groups)
    if relative:
        heading = f"{meta['sweep']}: ratio to {groups[0]['where']['scheme']}, paired by seed; {bars}{note}"
        found.append(_sheet(folder, RATIOS, paper, heading, relative, across))
    return [path for path in found if path is not None]


def _sheet(
    folder: Path,
    name: str,
    paper: Paper | None,
    heading: str,
    estimates: Sequence[tuple[Group, Mapping[str, Any]]],
    across: str,
) -> Path | None:
    panels = [figure for figure in SHOWN if any(estimate[figure] for _, estimate in estimates)]
    if name == RATIOS:
        panels = [figure for figure in panels if figure != "completed_share"]
    panels = panels[:MOST_PANELS]
    if not panels:
        return None
    if paper is None:
        path, columns = folder / f"{name}.png", len(panels)
        size = (PANEL_INCHES[0] * columns, PANEL_INCHES[1] + LEGEND_INCHES)
        opened: AbstractContextManager[Figure] = figures.sheet(path, size, heading)
    else:
        path = folder / f"{name}.{paper.format}"
        columns = min(max(int(paper.width_in / LEAST_PAPER_INCHES), 1), len(panels))
        rows = ceil(len(panels) / columns)
        opened = figures.paper_sheet(path, (paper.width_in, rows * LEAST_PAPER_INCHES + LEGEND_INCHES))
    with opened as figure:
        drawn = figure.subplots(ceil(len(panels) / columns), columns, squeeze=False).flat
        for which, axes in zip(panels, drawn, strict=False):
            _panel(axes, _lines(estimates, across, which), name == RATIOS)
            axes.set_title((PAPER_TITLES if paper else TITLES)[which])
            axes.set_xlabel(across)
            if which != "completed_share":
                figures.logarithmic(axes)
        for axes in list(drawn):
            axes.set_visible(False)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return path


def _axis(groups: Sequence[Group], names: Sequence[str]) -> str | None:
    for name in names:
        values = {group["where"][name] for group in groups}
        if len(values) > 1 and all(isinstance(value, int | float) for value in values):
            return name
    return None


def _enough(group: Group) -> bool:
    share = group["completed_share"]
    return share is None or share.value >= ENOUGH_DONE


def _lines(estimates: Sequence[tuple[Group, Mapping[str, Any]]], across: str, which: str) -> Lines:
    """The values of each line, by the name of the line. The name leaves out values that all groups share."""
    places = [group["where"] for group, _ in estimates]
    names = [name for name in places[0] if name not in (across, "scheme")]
    differ = [name for name in names if len({where[name] for where in places}) > 1]
    found: dict[str, list[Dot]] = {}
    for group, estimate in estimates:
        where = group["where"]
        line = found.setdefault(", ".join([str(where["scheme"]), *(f"{name} {where[name]}" for name in differ)]), [])
        if estimate[which] is not None:
            line.append(Dot(float(where[across]), estimate[which], _enough(group)))
    return {name: sorted(line, key=lambda dot: dot.across) for name, line in found.items()}


def _panel(axes: Axes, lines: Lines, relative: bool) -> None:
    if relative:
        axes.axhline(1.0, color=figures.GREY, linewidth=0.8)
    for number, (label, line) in enumerate(lines.items()):
        colour = scheme_colour(label, figures.CYCLE[number % len(figures.CYCLE)])
        values = [dot.estimate.value for dot in line]
        intervals = [dot.estimate.interval or (dot.estimate.value, dot.estimate.value) for dot in line]
        axes.errorbar(
            [dot.across for dot in line],
            values,
            # a rounded mean may lie outside equal values
            yerr=[
                [max(value - low, 0) for value, (low, _) in zip(values, intervals, strict=True)],
                [max(high - value, 0) for value, (_, high) in zip(values, intervals, strict=True)],
            ],
            color=colour,
            marker="o",
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=label,
        )
        few = [dot for dot in line if not dot.enough]
        axes.plot(
            [dot.across for dot in few],
            [dot.estimate.value for dot in few],
            linestyle="none",
            marker="o",
            markersize=4,
            markerfacecolor="white",
            markeredgecolor=colour,
            zorder=5,
        )
