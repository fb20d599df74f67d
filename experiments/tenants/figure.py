"""The figure: slowdown of each tenant, with calm and with heavy traffic."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.row_figure import Mark, draw_marks, name_rows

SHOWN = {
    "calm_sizes": Mark("smallest first, calm", figures.BLUE, "o"),
    "heavy_sizes": Mark("smallest first, heavy", figures.BLUE, "s", hollow=True),
    "calm_deadlines": Mark("deadlines, calm", figures.GREEN, "o"),
    "heavy_deadlines": Mark("deadlines, heavy", figures.GREEN, "s", hollow=True),
    "alone_bulk": Mark("the heavy tenant alone", figures.ORANGE, "o"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    heading = (
        f"Three tenants on the same links; heavy: one of them sends {configuration['factor']} times its load;"
        f" {configuration['duration_s']:g} s in virtual time, {len(configuration['seeds'])} seeds, bars: 95 %"
    )
    loads = configuration["loads"]
    with figures.sheet(path, (3.4 * len(loads) + 2.6, 4.2), heading) as figure:
        panels = figure.subplots(1, len(loads), squeeze=False, sharey=True)[0]
        for load, axes in zip(loads, panels, strict=True):
            rows = {
                row: next(each for each in scheme["tenants"] if each["load"] == load)
                for row, scheme in enumerate(schemes.values())
            }
            for place, (key, mark) in enumerate(SHOWN.items()):
                draw_marks(axes, rows, key, mark, 0.15 * (place - 2))
            axes.set_xscale("log")
            axes.set_title(f"load {load:g} of each tenant")
            axes.set_xlabel("mean slowdown")
        name_rows(figure, panels, schemes, columns=3)
