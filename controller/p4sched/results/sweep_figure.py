"""The figure of a sweep: completion times against the load or another number, a line for each scheme."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour
from p4sched.results.sweeps import SHOWN, Group, load

MOST_PANELS = 4
TITLES = {
    "small_mean_ms": "Small flows, mean, ms",
    "small_p99_ms": "Small flows, 99th percentile, ms",
    "large_mean_ms": "Large flows, mean, ms",
    "mean_ms": "All flows, mean, ms",
    "p99_ms": "All flows, 99th percentile, ms",
    "completed_share": "Flows that are done at the end",
}


def draw(folder: Path, path: Path) -> bool:
    """Draws the sweep in a folder; returns False if nothing can be drawn.

    The horizontal axis is the load, or the first parameter with several numbers. There is a line for each scheme and
    set of other parameters. Bars go from the lowest to the highest seed.
    """
    meta, _, groups = load(folder)
    across = _axis(groups, ["load", *meta["parameters"]])
    panels = [name for name in SHOWN if any(group[name] for group in groups)][:MOST_PANELS]
    if across is None or not panels:
        return False
    heading = f"{meta['sweep']}: means over {max(group['seeds'] for group in groups)} seeds (bars: lowest and highest)"
    with figures.sheet(path, (3.0 * len(panels), 3.4), heading) as figure:
        drawn = figure.subplots(1, len(panels), sharex=True, squeeze=False)[0]
        for axes, name in zip(drawn, panels, strict=True):
            _panel(axes, groups, across, name)
        handles, labels = drawn[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return True


def _axis(groups: Sequence[Group], names: Sequence[str]) -> str | None:
    for name in names:
        values = {group["where"][name] for group in groups}
        if len(values) > 1 and all(isinstance(value, int | float) for value in values):
            return name
    return None


def _lines(groups: Sequence[Group], across: str) -> Mapping[str, list[Group]]:
    """The groups of each line, by the name of the line. The name leaves out values that all groups share."""
    names = [name for name in groups[0]["where"] if name != across]
    differ = [name for name in names if len({group["where"][name] for group in groups}) > 1]
    found: dict[str, list[Group]] = {}
    for group in groups:
        where = group["where"]
        words = [str(where["scheme"]), *(f"{name} {where[name]}" for name in differ if name != "scheme")]
        found.setdefault(", ".join(words), []).append(group)
    return found


def _panel(axes: Axes, groups: Sequence[Group], across: str, name: str) -> None:
    for number, (label, line) in enumerate(_lines(groups, across).items()):
        points = sorted((group for group in line if group[name]), key=lambda group: float(group["where"][across]))
        axes.errorbar(
            [group["where"][across] for group in points],
            [group[name][0] for group in points],
            yerr=[
                # a rounded mean may lie outside equal values
                [max(group[name][0] - group[name][1], 0) for group in points],
                [max(group[name][2] - group[name][0], 0) for group in points],
            ],
            color=scheme_colour(label, figures.CYCLE[number % len(figures.CYCLE)]),
            marker="o",
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=label,
        )
    axes.set_title(TITLES[name])
    axes.set_xlabel(across)
    if name != "completed_share" and any(group[name] for group in groups):
        figures.logarithmic(axes)
