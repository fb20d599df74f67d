"""The figure: rates of urgent and other traffic with each scheme, and the spread of the leaves' bytes by ECMP."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from p4sched.results import figures
from p4sched.schemes import title


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws the content of summary.json."""
    with figures.sheet(path, (9.0, 3.4), _heading(summary["configuration"])) as figure:
        throughput, spread = figure.subplots(1, 2)
        _throughput(throughput, summary["schemes"])
        _spread(spread, summary["schemes"])


def _heading(configuration: Mapping[str, Any]) -> str:
    return (
        f"{_network(configuration)},"
        f" all-to-all between racks over {configuration['connections']} TCP"
        f" {configuration['congestion_control'].capitalize()} connections;"
        f" {figures.conditions(configuration, tcp=False)}"
    )


def _network(configuration: Mapping[str, Any]) -> str:
    if "topology" in configuration:
        hosts = sum(configuration["racks"])
        return f"{configuration['topology']}: {configuration['switches']} switches, {hosts} hosts"
    return f"{configuration['leaves']} leaves, {configuration['spines']} spines, {configuration['hosts']} hosts a leaf"


def _throughput(axes: Axes, schemes: Mapping[str, Any]) -> None:
    for place, scheme in enumerate(schemes.values()):
        urgent, total = scheme["urgent_throughput"], scheme["throughput"]
        first = place == 0
        axes.bar(place, urgent, width=0.6, color=figures.BLUE, label="urgent" if first else None)
        axes.bar(place, total - urgent, width=0.6, bottom=urgent, color=figures.SKY, label="other" if first else None)
    figures.name_schemes(axes, schemes, settings=True)
    axes.set_ylim(0, 1.25)
    axes.set_ylabel("throughput / links to all hosts")
    axes.set_title("Urgent and other traffic")
    axes.legend(loc="upper right", ncols=2)


def _spread(axes: Axes, schemes: Mapping[str, Any]) -> None:
    """Draws a bar for each leaf and scheme, divided by spine."""
    place, ticks, names = 0.0, [], []
    for name, scheme in schemes.items():
        for leaf, over in scheme["spread"].items():
            bottom = 0.0
            for number, (spine, share) in enumerate(over.items()):
                colour = figures.CYCLE[number % len(figures.CYCLE)]
                axes.bar(
                    place, share, width=0.8, bottom=bottom, color=colour, label=f"over {spine}" if not place else None
                )
                bottom += share
            ticks.append(place)
            names.append(f"{title(name)} {leaf}")
            place += 1
        if not scheme["fidelity"]["valid"]:
            figures.shade(axes, place - len(scheme["spread"]) - 0.5, place - 0.5)
        place += 0.5
    axes.set_xticks(ticks, names, rotation=45, ha="right")
    axes.set_ylim(0, 1.25)
    axes.set_ylabel("share of the leaf's bytes")
    axes.set_title("ECMP: bytes of each leaf over each spine")
    if ticks:
        axes.legend(loc="upper right", ncols=4)
    else:
        axes.text(0.5, 0.5, "this switch does not count", transform=axes.transAxes, ha="center")
