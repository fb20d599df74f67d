"""The figure: slowdown of each scheme, for each rank of data that is sent again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.row_figure import Mark, draw_marks, name_rows

SHOWN = {
    "own": Mark("rank of the data", figures.BLACK, "o"),
    "least": Mark("least rank of the flow", figures.BLUE, "s"),
    "urgent": Mark("most urgent", figures.ORANGE, "^"),
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
            for place, (again, mark) in enumerate(SHOWN.items()):
                rows = {
                    row: each
                    for row, scheme in enumerate(schemes.values())
                    for each in scheme["best"]
                    if (each["traffic"], each["again"]) == (traffic, again)
                }
                draw_marks(axes, rows, "slowdown", mark, 0.2 * (place - 1))
            axes.set_title(traffic)
            axes.set_xlabel("mean slowdown")
        name_rows(figure, panels, schemes, columns=3)
