"""The figure: slowdown of each rule, for each kind of senders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.row_figure import Mark, draw_marks, name_rows

SHOWN = {
    "rack": Mark("RACK", figures.BLACK, "o"),
    "sack": Mark("three later segments", figures.BLUE, "s"),
    "new_reno": Mark("three duplicates, no SACK", figures.ORANGE, "^"),
    "quic": Mark("QUIC", figures.GREEN, "D"),
    "go_back_n": Mark("go-back-N", figures.PINK, "v"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    loads = configuration["loads"]
    heading = (
        f"16 hosts, web search, {configuration['duration_s']:g} s in virtual time; best k, buffer and gap,"
        f" {len(configuration['seeds'])} other seeds, bars: 95 %"
    )
    with figures.sheet(path, (3.6 * len(loads) + 3.0, 4.6), heading) as figure:
        panels = figure.subplots(1, len(loads), squeeze=False, sharey=True)[0]
        for load, axes in zip(loads, panels, strict=True):
            for place, recovery in enumerate(configuration["recoveries"]):
                rows = {
                    row: next(each for each in scheme["best"] if (each["recovery"], each["load"]) == (recovery, load))
                    for row, scheme in enumerate(schemes.values())
                }
                draw_marks(axes, rows, "slowdown", SHOWN[recovery], 0.15 * (place - 2))
            axes.set_title(f"load {load:g}")
            axes.set_xlabel("mean slowdown of all flows")
        name_rows(figure, panels, schemes, columns=3)
