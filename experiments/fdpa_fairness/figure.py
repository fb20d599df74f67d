"""The figure: Jain's index and throughput with 80 % intervals (FDPA paper, Fig. 5), and the share of each user."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from p4sched.results import figures

SCENARIO_TEXT = {
    "equal": "1 TCP connection each",
    "quarter": "25 % of them with 10 TCP connections, the others 1",
    "half": "50 % of them with 10 TCP connections, the others 1",
    "uniform": "1 to 10 TCP connections each",
}


def draw(summary: Mapping[str, Any], path: Path) -> None:
    """Draws `summary` (the content of summary.json) into `path`."""
    schemes: Mapping[str, Any] = summary["schemes"]
    with figures.sheet(path, (9.0, 1.2 + 1.3 * max(len(schemes), 2)), _title(summary)) as figure:
        grid = figure.add_gridspec(len(schemes), 2, width_ratios=[1, 1.6])
        _indices(figure.add_subplot(grid[:, 0]), schemes)
        shares: Axes | None = None
        top = max(_share(user, scheme, summary) for scheme in schemes.values() for user in scheme["users"])
        for row, (name, scheme) in enumerate(schemes.items()):
            shares = figure.add_subplot(grid[row, 1], sharex=shares)
            _user_shares(shares, name, scheme, summary, max(1.5, top * 1.1))
            shares.tick_params(labelbottom=row == len(schemes) - 1)
        assert shares is not None
        users = summary["configuration"]["users"]
        shares.set_xticks(_numbers(users))
        shares.set_xlim(0.4, users + 0.6)
        shares.set_xlabel("user, sorted by connections and rate")


def _numbers(users: int) -> list[int]:
    """Users with a number on the axis: the first, and at most five more at equal distances."""
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if users <= 5 * step)
    return sorted({1, *range(every, users + 1, every)})


def _title(summary: Mapping[str, Any]) -> str:
    configuration = summary["configuration"]
    emulated = not any("RTT" in note for scheme in summary["schemes"].values() for note in scheme["notes"])
    bmv2 = configuration["switch"] == "bmv2"
    rtt = f"RTT {configuration['rtt_ms']:g} ms" if emulated else "RTT not emulated"
    return (
        f"{configuration['users']} users, {SCENARIO_TEXT[configuration['scenario']]};"
        f" {configuration['rate_bps'] / 1e6:g} Mbit/s, {rtt},"
        f" TCP {configuration['congestion_control'].capitalize()}, {configuration['switch']} switch"
        + ("\nStock BMv2: set_queue_rate gives each queue the whole rate of the link" if bmv2 else "")
    )


def _indices(axes: Axes, schemes: Mapping[str, Any]) -> None:
    """Median and 80 % interval of Jain's index and of normalised throughput, a pair for each scheme."""
    for offset, key, colour, marker in (
        (-0.18, "jain_index", figures.BLUE, "o"),
        (0.18, "throughput", figures.ORANGE, "s"),
    ):
        for place, scheme in enumerate(schemes.values()):
            median = scheme[key]
            low, high = scheme[f"{key}_interval_80"]
            axes.errorbar(
                place + offset,
                median,
                yerr=[[max(median - low, 0)], [max(high - median, 0)]],
                fmt=marker,
                color=colour,
                capsize=3,
                markersize=5,
                linewidth=1.2,
            )
            # Below the interval when there is no room above it.
            above = high < 0.93 or high > 1.05
            axes.annotate(
                f"{median:.2f}",
                (place + offset, high if above else low),
                xytext=(0, 4 if above else -4),
                textcoords="offset points",
                ha="center",
                va="bottom" if above else "top",
                color=colour,
                fontsize=8,
            )
    figures.name_schemes(axes, schemes, settings=True)
    highest = max(
        scheme[f"{key}_interval_80"][1] for scheme in schemes.values() for key in ("jain_index", "throughput")
    )
    axes.set_ylim(0, max(1.03, 1.08 * highest))
    axes.set_title("Fairness and throughput (median, 80 % interval)")
    handles = [
        Line2D([], [], color=figures.BLUE, marker="o", linestyle="none", label="Jain's fairness index"),
        Line2D([], [], color=figures.ORANGE, marker="s", linestyle="none", label="throughput / link capacity"),
    ]
    axes.legend(handles=handles, loc="lower right")


def _share(user: Mapping[str, Any], scheme: Mapping[str, Any], summary: Mapping[str, Any]) -> float:
    """Rate of a user divided by its fair share, which follows from its weight."""
    weights = sum(other["weight"] for other in scheme["users"])
    return float(user["rate_bps"] / (summary["configuration"]["rate_bps"] * user["weight"] / weights))


def _user_shares(axes: Axes, name: str, scheme: Mapping[str, Any], summary: Mapping[str, Any], top: float) -> None:
    """Draws the mean rate of every user, in fair shares, with a colour for its number of connections."""
    users = sorted(scheme["users"], key=lambda user: (-user["connections"], -user["rate_bps"]))
    most = max(user["connections"] for user in users)
    colours = [_colour(user["connections"], most) for user in users]
    heights = [_share(user, scheme, summary) for user in users]
    axes.bar(range(1, len(users) + 1), heights, color=colours, width=0.85)
    axes.axhline(1.0, color=figures.BLACK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_ylim(0, top)
    axes.set_ylabel("fair shares")
    axes.set_title(f"{name.upper()}: rate of each user")
    counts = sorted({user["connections"] for user in users}, reverse=True)
    if name == next(iter(summary["schemes"])):
        shown = counts if len(counts) <= 2 else [counts[0], counts[-1]]
        axes.legend(
            handles=[
                Patch(color=_colour(count, most), label=f"{count} connection{'s' if count > 1 else ''}")
                for count in shown
            ],
            loc="upper right",
            ncols=2,
        )
    figures.mark_invalid(axes, scheme["fidelity"]["doubts"])


def _colour(connections: int, most: int) -> Any:
    """Colour from sky blue (one connection) to orange (the most)."""
    if most == 1:
        return figures.SKY
    share = (connections - 1) / (most - 1)
    low, high = (0.337, 0.706, 0.914), (0.835, 0.369, 0.0)
    return tuple(a + share * (b - a) for a, b in zip(low, high, strict=True))
