"""The figure: time of each round until its slowest block was complete, and goodput with timeouts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from p4sched.results import figures


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws the content of summary.json."""
    schemes, configuration = summary["schemes"], summary["configuration"]
    with figures.sheet(path, (9.0, 3.4), _heading(configuration)) as figure:
        times, goodput = figure.subplots(1, 2, width_ratios=[1.4, 1])
        _times(times, schemes, configuration)
        _goodput(goodput, schemes)


def _heading(configuration: Mapping[str, Any]) -> str:
    return (
        f"{configuration['senders']} senders, a block of {configuration['block_bytes'] / 1000:g} kB each, at the same"
        f" instant; {figures.conditions(configuration)}"
    )


def _times(axes: Axes, schemes: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    for place, scheme in enumerate(schemes.values()):
        done = [round_["slowest_s"] * 1e3 for round_ in scheme["rounds"] if round_["slowest_s"] is not None]
        middle = [round_["median_s"] * 1e3 for round_ in scheme["rounds"] if round_["median_s"] is not None]
        for offset, values, colour, label in (
            (-0.12, middle, figures.SKY, "median block"),
            (0.12, done, figures.ORANGE, "slowest block"),
        ):
            axes.plot(
                [place + offset] * len(values),
                values,
                color=colour,
                marker="o",
                markersize=4,
                alpha=0.6,
                linestyle="none",
                label=label if place == 0 else None,
            )
    axes.axhline(configuration["ideal_ms"], color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(ScalarFormatter())
    axes.set_ylabel("ms from the start of the round")
    axes.set_title("Completion of each round (dashed: the link's own time)")
    figures.name_schemes(axes, schemes)
    axes.legend(loc="best")


def _goodput(axes: Axes, schemes: Mapping[str, Any]) -> None:
    for place, scheme in enumerate(schemes.values()):
        low, high = scheme["goodput_interval_80"]
        middle = scheme["goodput"]
        axes.bar(place, middle, width=0.6, color=figures.BLUE)
        axes.errorbar(
            place, middle, yerr=[[middle - low], [high - middle]], color=figures.BLACK, capsize=3, linewidth=1
        )
        axes.annotate(
            f"{scheme['tcp']['timeouts']}",
            (place, high),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axes.set_ylim(0, 1.15)
    axes.set_ylabel("goodput / link")
    axes.set_title("Goodput of a round (median, 80 %), above: timeouts")
    figures.name_schemes(axes, schemes)
    axes.tick_params(axis="x", labelsize=7)
