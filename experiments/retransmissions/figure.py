"""The figure: slowdown of each scheme, for each rank of data that is sent again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures

SHOWN = {
    "own": ("rank of the data", figures.BLACK, "o"),
    "least": ("least rank of the flow", figures.BLUE, "s"),
    "urgent": ("most urgent", figures.ORANGE, "^"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    traffics = configuration["traffics"]
    heading = (
        f"Rank of data that is sent again; best k, |W| and C of the grid, {len(configuration['seeds'])} other seeds,"
        " bars: 95 %"
    )
    with figures.sheet(path, (2.8 * len(traffics) + 1.4, 3.4), heading) as figure:
        panels = figure.subplots(1, len(traffics), squeeze=False, sharey=True)[0]
        for traffic, axes in zip(traffics, panels, strict=True):
            for place, (again, (name, colour, marker)) in enumerate(SHOWN.items()):
                rows = [
                    (row, each)
                    for row, scheme in enumerate(schemes.values())
                    for each in scheme["best"]
                    if (each["traffic"], each["again"]) == (traffic, again)
                ]
                ends = [
                    [abs((each[f"slowdown_{end}"] or each["slowdown"]) - each["slowdown"]) for _, each in rows]
                    for end in ("low", "high")
                ]
                axes.errorbar(
                    [each["slowdown"] for _, each in rows],
                    [row + 0.2 * (place - 1) for row, _ in rows],
                    xerr=ends,
                    color=colour,
                    linestyle="",
                    marker=marker,
                    markersize=4,
                    capsize=2,
                    label=name,
                )
            axes.set_yticks(range(len(schemes)), [scheme["label"] for scheme in schemes.values()])
            axes.set_title(traffic)
            axes.set_xlabel("mean slowdown")
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
