"""The figure: slowdown of each rule, for each kind of senders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures

SHOWN = {
    "rack": ("RACK", figures.BLACK, "o"),
    "sack": ("three later segments", figures.BLUE, "s"),
    "new_reno": ("three duplicates, no SACK", figures.ORANGE, "^"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    loads = configuration["loads"]
    heading = (
        f"16 hosts, web search, {configuration['duration_s']:g} s in virtual time; best k and buffer of the grid,"
        f" {len(configuration['seeds'])} other seeds, bars: 95 %"
    )
    with figures.sheet(path, (3.6 * len(loads) + 3.0, 3.8), heading) as figure:
        panels = figure.subplots(1, len(loads), squeeze=False, sharey=True)[0]
        for load, axes in zip(loads, panels, strict=True):
            for place, recovery in enumerate(configuration["recoveries"]):
                name, colour, marker = SHOWN[recovery]
                records = [
                    next(each for each in scheme["best"] if (each["recovery"], each["load"]) == (recovery, load))
                    for scheme in schemes.values()
                ]
                ends = [
                    [abs((each[f"slowdown_{end}"] or each["slowdown"]) - each["slowdown"]) for each in records]
                    for end in ("low", "high")
                ]
                axes.errorbar(
                    [each["slowdown"] for each in records],
                    [row + 0.2 * (place - 1) for row in range(len(records))],
                    xerr=ends,
                    color=colour,
                    linestyle="",
                    marker=marker,
                    markersize=4,
                    capsize=2,
                    label=name,
                )
            axes.set_yticks(range(len(schemes)), [scheme["label"] for scheme in schemes.values()])
            axes.set_title(f"load {load:g}")
            axes.set_xlabel("mean slowdown of all flows")
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
