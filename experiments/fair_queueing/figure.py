"""The figure: shares of the long flows, and completion times of small flows against load (PACKS Fig. 13)."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from p4sched.results import figures
from p4sched.results.scheme_colours import scheme_colour

RTT_COLOURS = (figures.SKY, figures.BLUE, figures.YELLOW, figures.ORANGE)


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    with figures.sheet(path, (10.0, 6.2), _heading(summary["configuration"])) as figure:
        (jain, shares), (mean, tail) = figure.subplots(2, 2)
        _jain(jain, summary["schemes"])
        _shares(shares, summary)
        _times(mean, summary["schemes"], "small_mean_ms", "Small flows: mean completion time")
        _times(tail, summary["schemes"], "small_p99_ms", "Small flows: 99th percentile")


def _jain(axes: Axes, schemes: Mapping[str, Any]) -> None:
    """Jain's index of each scheme, with the interval that holds 80 % of the samples."""
    for place, (name, scheme) in enumerate(schemes.items()):
        median, (low, high) = scheme["jain_index"], scheme["jain_index_interval_80"]
        axes.errorbar(
            place,
            median,
            yerr=[[max(median - low, 0)], [max(high - median, 0)]],
            fmt="o",
            color=scheme_colour(name),
            capsize=3,
            markersize=5,
        )
        axes.annotate(f"{median:.2f}", (place, low), xytext=(0, -4), textcoords="offset points", ha="center", va="top")
    figures.name_schemes(axes, schemes)
    lowest = min(scheme["jain_index_interval_80"][0] for scheme in schemes.values())
    axes.set_ylim(max(0.0, lowest - 0.15), 1.02)
    axes.set_title("Long flows: Jain's fairness index (median, 80 % interval)")


def _shares(axes: Axes, summary: Mapping[str, Any]) -> None:
    """Mean rate of the flows of each round-trip time, in fair shares."""
    schemes = summary["schemes"]
    rtts = sorted({flow["rtt_ms"] for scheme in schemes.values() for flow in scheme["flows"]})
    width = 0.8 / len(rtts)
    for number, rtt in enumerate(rtts):
        heights = [
            fmean([flow["share"] for flow in scheme["flows"] if flow["rtt_ms"] == rtt]) for scheme in schemes.values()
        ]
        places = [place + (number - (len(rtts) - 1) / 2) * width for place in range(len(schemes))]
        axes.bar(places, heights, width, color=RTT_COLOURS[number], label=f"RTT {rtt:g} ms")
    axes.axhline(1.0, color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 3)))
    figures.name_schemes(axes, schemes)
    axes.set_title("Long flows: mean rate, in fair shares of the link")
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])
    axes.legend(loc="upper right", ncols=4, fontsize=8)


def _times(axes: Axes, schemes: Mapping[str, Any], key: str, heading: str) -> None:
    """Draws a mark for each scheme and load, on a logarithmic axis, because a timeout makes a time much longer."""
    loads = sorted({load["load"] for scheme in schemes.values() for load in scheme["loads"]})
    for number, nominal_load in enumerate(loads):
        points = [
            (place + 0.36 * (number - (len(loads) - 1) / 2), load[key])
            for place, scheme in enumerate(schemes.values())
            for load in scheme["loads"]
            if load["load"] == nominal_load and load[key] is not None
        ]
        colour = figures.CYCLE[number % len(figures.CYCLE)]
        places, times = [place for place, _ in points], [time for _, time in points]
        axes.plot(places, times, "o", color=colour, markersize=5, label=f"load {nominal_load:g}")
        # every second label is below its mark, so that labels do not overlap
        rise, side = (-5, "top") if number % 2 == 0 and len(loads) > 1 else (5, "bottom")
        for point in points:
            axes.annotate(
                f"{point[1]:.3g}",
                point,
                xytext=(0, rise),
                textcoords="offset points",
                ha="center",
                va=side,
                fontsize=7,
                color=colour,
            )
    figures.name_schemes(axes, schemes)
    axes.set_title(heading)
    axes.set_ylabel("ms")
    if shown := [load[key] for scheme in schemes.values() for load in scheme["loads"] if load[key] is not None]:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(0.6 * min(shown), 2.2 * max(shown))
    axes.legend(loc="upper right", ncols=len(loads), fontsize=8)


def _heading(configuration: Mapping[str, Any]) -> str:
    return (
        f"Start-time fair queueing: {configuration['long_flows']} long flows, then {configuration['sizes']} flows"
        f" (sizes times {configuration['scale']:g}, Poisson arrivals); {configuration['rate_bps'] / 1e6:g} Mbit/s, RTT"
        f" {configuration['rtt_ms']:g} ms, {configuration['buffer_packets']} packets,\nTCP"
        f" {configuration['congestion_control'].capitalize()}, {configuration['switch']} switch"
    )
