"""The figure: slowdown of the cheating tenant and of the others, over that with honest tenants."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.row_figure import Mark, draw_marks, name_rows

SHOWN = {
    "cheater_ratio": Mark("who cheats", figures.ORANGE, "o"),
    "cheater_large_ratio": Mark("their large flows", figures.ORANGE, "s", hollow=True),
    "others_ratio": Mark("the other tenants", figures.BLUE, "o"),
    "others_large_ratio": Mark("large flows of the others", figures.BLUE, "s", hollow=True),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    behaviours = {each["behaviour"]: None for scheme in schemes.values() for each in scheme["tenants"]}
    cheats = [each for each in behaviours if each != "honest"]
    heading = (
        f"{configuration['cheaters']} of {configuration['tenants']} tenants cheat; web search,"
        f" {configuration['duration_s']:g} s in virtual time, {len(configuration['seeds'])} seeds, bars: 95 %"
    )
    loads = configuration["loads"]
    with figures.sheet(path, (2.6 * len(cheats) + 2, 0.38 * len(schemes) * len(loads) + 1.6), heading) as figure:
        panels = figure.subplots(len(loads), len(cheats), squeeze=False, sharey=True)
        for load, row in zip(loads, panels, strict=True):
            for behaviour, axes in zip(cheats, row, strict=True):
                rows = {
                    place: next(
                        each for each in scheme["tenants"] if (each["load"], each["behaviour"]) == (load, behaviour)
                    )
                    for place, scheme in enumerate(schemes.values())
                }
                for place, (key, mark) in enumerate(SHOWN.items()):
                    draw_marks(axes, rows, key, mark, 0.18 * (place - 1.5))
                axes.axvline(1, color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 2)))
                axes.set_xscale("log")
                axes.set_xticks([0.5, 1, 2, 5], ["0.5", "1", "2", "5"])
                axes.set_xticks([], minor=True)
                axes.set_title(f"{behaviour}, load {load:g}")
        for axes in panels[-1]:
            axes.set_xlabel("slowdown over honest")
        name_rows(figure, list(panels.flat), schemes, columns=4)
