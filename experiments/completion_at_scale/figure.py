"""The figure: completion times against load, a line for each scheme, from the lowest to the highest seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.results import figures
from p4sched.results.ranked_figures import SCHEME_COLOURS
from p4sched.schemes import title

PANELS = (
    ("small_mean_ms", "Small flows, mean"),
    ("small_p99_ms", "Small flows, 99th percentile"),
    ("large_mean_ms", "Large flows, mean"),
    ("completed_share", "Flows that are done at the end"),
)


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Draws `found` (the content of summary.json) into `path`."""
    configuration = found["configuration"]
    rate = configuration["access_bps"] / 1e9
    heading = (
        f"144 servers, {rate:g} and {4 * rate:g} Gbit/s, web search, {configuration['duration_s']:g} s in virtual time,"
        f" {len(configuration['seeds'])} seeds (bars: lowest and highest)"
    )
    with figures.sheet(path, (12.0, 3.4), heading) as figure:
        panels = figure.subplots(1, len(PANELS), sharex=True)
        for axes, (key, above) in zip(panels, PANELS, strict=True):
            for name, scheme in found["schemes"].items():
                points = [load for load in scheme["loads"] if load[key] is not None]
                values = [load[key] for load in points]
                below = [load[key] - load[f"{key}_low"] for load in points]
                beyond = [load[f"{key}_high"] - load[key] for load in points]
                axes.errorbar(
                    [load["load"] for load in points],
                    values,
                    yerr=[below, beyond],
                    color=SCHEME_COLOURS[name],
                    marker="o",
                    markersize=4,
                    linewidth=1.2,
                    capsize=2,
                    label=title(name),
                )
            axes.set_title(above)
            axes.set_xlabel("load")
            axes.set_xticks(configuration["loads"])
            if key != "completed_share":
                figures.logarithmic(axes)
        panels[0].set_ylabel("flow completion time, ms")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6)
