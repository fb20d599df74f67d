"""The figure: slowdown of web-search flows and of incast rounds, for each way to share the memory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.row_figure import Mark, draw_marks, name_rows

SHOWN = {
    ("own", "fixed"): Mark("a part for each port", figures.BLACK, "o"),
    ("dynamic_thresholds", "fixed"): Mark("dynamic thresholds", figures.BLUE, "s", hollow=True),
    ("dynamic_thresholds", "follows"): Mark("the same, the rule follows", figures.BLUE, "s"),
    ("dynamic_thresholds", "follows_1ms"): Mark("the rule follows each ms", figures.BLUE, "D", hollow=True),
    ("abm", "fixed"): Mark("ABM", figures.ORANGE, "^", hollow=True),
    ("abm", "follows"): Mark("ABM, the rule follows", figures.ORANGE, "^"),
    ("occamy", "fixed"): Mark("Occamy", figures.GREEN, "v", hollow=True),
    ("occamy", "follows"): Mark("Occamy, the rule follows", figures.GREEN, "v"),
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    configuration, schemes = summary["configuration"], summary["schemes"]
    pairs = [(load, memory) for load in configuration["loads"] for memory in configuration["memories"]]
    heading = (
        f"16 hosts, web search beside incast of {configuration['senders']}; best k, alpha and size of the grid,"
        f" {len(configuration['seeds'])} other seeds, bars: 95 %"
    )
    with figures.sheet(path, (8.6, 3.8 * len(pairs) + 0.9), heading) as figure:
        panels = figure.subplots(len(pairs), 2, squeeze=False, sharey=True)
        for (load, memory), row_of_panels in zip(pairs, panels, strict=True):
            for axes, key, what in zip(row_of_panels, ("web", "incast"), ("web search", "incast"), strict=True):
                for place, ((sharing, known), mark) in enumerate(SHOWN.items()):
                    rows = {
                        row: each
                        for row, scheme in enumerate(schemes.values())
                        for each in scheme["best"]
                        if (each["load"], each["memory"], each["sharing"], each["known"])
                        == (load, memory, sharing, known)
                    }
                    draw_marks(axes, rows, key, mark, 0.1 * (place - 3.5))
                axes.set_title(f"{what}, load {load:g}, {memory} packets a switch")
                axes.set_xlabel("mean slowdown")
        name_rows(figure, list(panels.flat), schemes, columns=3)
