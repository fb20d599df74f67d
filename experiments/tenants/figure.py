"""The figure: slowdown of each tenant, with calm and with heavy traffic."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures

SHOWN = {
    "calm_sizes": ("smallest first, calm", figures.BLUE, "o"),
    "heavy_sizes": ("smallest first, heavy", figures.BLUE, "s"),
    "calm_deadlines": ("deadlines, calm", figures.GREEN, "o"),
    "heavy_deadlines": ("deadlines, heavy", figures.GREEN, "s"),
    "alone_bulk": ("the heavy tenant alone", figures.ORANGE, "o"),
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
            records = [next(each for each in scheme["tenants"] if each["load"] == load) for scheme in schemes.values()]
            for place, (key, (name, colour, marker)) in enumerate(SHOWN.items()):
                values = [record[key] for record in records]
                ends = [
                    [abs((record[f"{key}_{end}"] or record[key]) - record[key]) for record in records]
                    for end in ("low", "high")
                ]
                axes.errorbar(
                    values,
                    [row + 0.15 * (place - 2) for row in range(len(records))],
                    xerr=ends,
                    color=colour,
                    markerfacecolor="white" if marker == "s" else colour,
                    linestyle="",
                    marker=marker,
                    markersize=4,
                    capsize=2,
                    label=name,
                )
            axes.set_xscale("log")
            axes.set_yticks(range(len(schemes)), [scheme["label"] for scheme in schemes.values()])
            axes.set_title(f"load {load:g} of each tenant")
            axes.set_xlabel("mean slowdown")
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
