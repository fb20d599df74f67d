"""The figure: slowdown of the cheating tenant and of the others, over that with honest tenants."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures

SHOWN = {
    "cheater": ("the cheating tenant", figures.ORANGE, "o"),
    "cheater_large": ("its large flows", figures.ORANGE, "s"),
    "others": ("the other tenants", figures.BLUE, "o"),
    "others_large": ("their large flows", figures.BLUE, "s"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    behaviours = {each["behaviour"]: None for scheme in schemes.values() for each in scheme["tenants"]}
    cheats = [each for each in behaviours if each != "honest"]
    heading = (
        f"One of {configuration['tenants']} tenants cheats; web search, {configuration['duration_s']:g} s in virtual"
        f" time, {len(configuration['seeds'])} seeds, bars: 95 %"
    )
    loads = configuration["loads"]
    with figures.sheet(path, (3.2 * len(cheats) + 1.5, 2.9 * len(loads) + 1.2), heading) as figure:
        panels = figure.subplots(len(loads), len(cheats), squeeze=False, sharey=True)
        for load, row in zip(loads, panels, strict=True):
            for behaviour, axes in zip(cheats, row, strict=True):
                records = [
                    next(each for each in scheme["tenants"] if (each["load"], each["behaviour"]) == (load, behaviour))
                    for scheme in schemes.values()
                ]
                for place, who in enumerate(SHOWN):
                    _points(axes, records, who, 0.18 * (place - 1.5))
                axes.axvline(1, color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 2)))
                axes.set_xscale("log")
                axes.set_xticks([0.5, 1, 2], ["0.5", "1", "2"])
                axes.set_xticks([], minor=True)
                axes.set_yticks(range(len(schemes)), [scheme["label"] for scheme in schemes.values()])
                axes.set_title(f"{behaviour}, load {load:g}")
        for axes in panels[-1]:
            axes.set_xlabel("slowdown over honest")
        panels[0][0].invert_yaxis()
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _points(axes: Axes, records: Sequence[Mapping[str, Any]], who: str, offset: float) -> None:
    name, colour, marker = SHOWN[who]
    ratios = [record[f"{who}_ratio"] for record in records]
    ends = [
        [abs((record[f"{who}_ratio_{end}"] or ratio) - ratio) for record, ratio in zip(records, ratios, strict=True)]
        for end in ("low", "high")
    ]
    axes.errorbar(
        ratios,
        [place + offset for place in range(len(records))],
        xerr=ends,
        color=colour,
        markerfacecolor="white" if marker == "s" else colour,
        linestyle="",
        marker=marker,
        markersize=4,
        capsize=2,
        label=name,
    )
