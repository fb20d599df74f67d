"""The figure: the rate of the cheating user and of the others, for each scheme and behaviour."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.row_figure import Mark, draw_marks, name_rows

SHOWN = {
    "cheater": Mark("who cheats", figures.ORANGE, "o"),
    "others": Mark("the others, mean", figures.BLUE, "o"),
    "worst": Mark("the slowest of the others", figures.BLUE, "s", hollow=True),
}
COLUMNS = 4


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    behaviours = list(dict.fromkeys(each["behaviour"] for scheme in schemes.values() for each in scheme["users"]))
    heading = (
        f"{configuration['cheaters']} of {configuration['users']} users cheat;"
        f" {configuration['duration_s']:g} s in virtual time, {len(configuration['seeds'])} seeds, bars: 95 %"
    )
    lines = -(-len(behaviours) // COLUMNS)
    with figures.sheet(path, (3.0 * COLUMNS + 2, 0.28 * len(schemes) * lines + 1.0 * lines + 1), heading) as figure:
        panels = figure.subplots(lines, COLUMNS, squeeze=False, sharey=True, sharex=True)
        for behaviour, axes in zip(behaviours, panels.flat, strict=False):
            rows = {
                place: next(each for each in scheme["users"] if each["behaviour"] == behaviour)
                for place, scheme in enumerate(schemes.values())
            }
            for place, (key, mark) in enumerate(SHOWN.items()):
                draw_marks(axes, rows, key, mark, 0.2 * (place - 1))
            axes.axvline(1, color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 2)))
            axes.set_xscale("symlog", linthresh=2)
            axes.set_xticks([0, 1, 2, 5, 10], ["0", "1", "2", "5", "10"])
            axes.set_title(behaviour)
        for axes in list(panels.flat)[len(behaviours) :]:
            axes.set_visible(False)
        for axes in panels[-1]:
            axes.set_xlabel("payload in fair shares")
        name_rows(figure, list(panels.flat)[: len(behaviours)], schemes, columns=3)
