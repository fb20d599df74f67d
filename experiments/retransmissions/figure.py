"""The figure: slowdown of each scheme, for each rank of data that is sent again; and the same against k."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.results.row_figure import Mark, bars, draw_marks, name_rows

SHOWN = {
    "own": Mark("rank of the data", figures.BLACK, "o"),
    "least": Mark("least rank of the flow", figures.BLUE, "s"),
    "urgent": Mark("most urgent", figures.ORANGE, "^"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`. The lower rows need more than one k."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    traffics = configuration["traffics"]
    window = sorted(configuration["windows"])[len(configuration["windows"]) // 2]
    mapped = {
        scheme["label"]: [each for each in scheme["map"] if each["window"] == window]
        for scheme in schemes.values()
        if "map" in scheme and len(configuration["headrooms_256"]) > 1
    }
    heading = (
        f"Rank of data that is sent again; best k, |W| and C of the grid, {len(configuration['seeds'])} other seeds,"
        " bars: 95 %"
    )
    if mapped:
        heading += f"\nlower rows: for each k the best C, |W| = {window}"
    rows = 1 + len(mapped)
    with figures.sheet(path, (2.8 * len(traffics) + 1.4, 3.4 + 2.2 * len(mapped)), heading) as figure:
        panels = figure.subplots(
            rows, len(traffics), squeeze=False, sharey="row", height_ratios=[3] + [2] * len(mapped)
        )
        for traffic, axes in zip(traffics, panels[0], strict=True):
            for place, (again, mark) in enumerate(SHOWN.items()):
                found = {
                    row: each
                    for row, scheme in enumerate(schemes.values())
                    for each in scheme["best"]
                    if (each["traffic"], each["again"]) == (traffic, again)
                }
                draw_marks(axes, found, "slowdown", mark, 0.2 * (place - 1))
            axes.set_title(traffic)
            axes.set_xlabel("mean slowdown")
        for (label, records), row in zip(mapped.items(), panels[1:], strict=True):
            for traffic, axes in zip(traffics, row, strict=True):
                _against_headroom(axes, [each for each in records if each["traffic"] == traffic])
            row[0].set_ylabel(f"{label}\nmean slowdown")
        for axes in panels[-1] if mapped else ():
            axes.set_xlabel("k")
        name_rows(figure, panels[0], schemes, columns=3)


def _against_headroom(axes: Axes, records: Sequence[Mapping[str, Any]]) -> None:
    for again, mark in SHOWN.items():
        found = sorted((each for each in records if each["again"] == again), key=lambda each: each["headroom_256"])
        axes.errorbar(
            [each["headroom_256"] / 256 for each in found],
            [each["slowdown"] for each in found],
            yerr=bars(found, "slowdown"),
            color=mark.colour,
            marker=mark.marker,
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )
