"""The figure: rates of all users and band edges over time, the controller's count of users, and the probe."""

from collections.abc import Sequence
from math import fsum
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from experiments.fdpa_join_leave.result import STAYING, USERS, Result, Setting
from experiments.fdpa_join_leave.summary import following, left_at
from p4sched.results import figures

SMOOTHED_OVER = 5
"""Number of samples of 0.1 s in a mean, so that rates are means over half a second."""


def draw(result: Result, setting: Setting, doubts: Sequence[str], path: Path) -> None:
    """Draws a run into `path`."""
    zero = result.samples[0].start
    heading = (
        f"4 users, then 8, then 4: {setting.link.rate_bps / 1e6:g} Mbit/s, RTT {setting.link.rtt_ns / 1e6:g} ms,"
        f" F({setting.bands}), TCP {setting.congestion_control.capitalize()}, {setting.switch} switch"
    )
    with figures.sheet(path, (9.0, 6.2), heading) as figure:
        rates, counted, probe = figure.subplots(3, 1, sharex=True, height_ratios=[3.2, 1, 1])
        _rates(rates, result, setting, zero)
        _active_users(counted, result, zero)
        _probe(probe, result, zero)
        probe.set_xlabel("seconds")
        probe.set_xlim(0, result.samples[-1].end - zero)
        figures.mark_invalid(rates, doubts)


def _rates(axes: Axes, result: Result, setting: Setting, zero: float) -> None:
    end = result.samples[-1].end
    times = [change.at for change in result.changes] + [end]
    for band in range(setting.bands.further if result.changes else 0):
        levels = [change.edges_bps[band] / 1e6 for change in result.changes]
        axes.step(
            [time - zero for time in times],
            [*levels, levels[-1]],
            where="post",
            color=figures.BLACK if band == 0 else figures.GREY,
            linewidth=1.2 if band == 0 else 0.8,
            linestyle="-" if band == 0 else (0, (4, 2)),
        )
    for user in range(USERS):
        colour = figures.BLUE if user < STAYING else figures.ORANGE
        at, rate = _smoothed(result, user)
        axes.plot([time - zero for time in at], rate, color=colour, linewidth=0.9, alpha=0.75)
    if result.changes:
        axes.set_ylim(0, 1.4 * max(max(c.edges_bps) for c in result.changes[-3:]) / 1e6)
    axes.set_ylabel("Mbit/s")
    axes.set_title("Rate of each user and band edges")
    axes.legend(
        handles=[
            Line2D([], [], color=figures.BLUE, label="users who stay"),
            Line2D([], [], color=figures.ORANGE, label="users who join and leave"),
            Line2D([], [], color=figures.BLACK, label="edge of band 1: the fair share"),
            Line2D([], [], color=figures.GREY, linestyle=(0, (4, 2)), label="further edges"),
        ],
        loc="upper center",
        ncols=2,
    )


def _smoothed(result: Result, user: int) -> tuple[list[float], list[float]]:
    """Means over SMOOTHED_OVER samples, in Mbit/s, at the middle of each."""
    at, rates = [], []
    for last in range(SMOOTHED_OVER, len(result.samples) + 1):
        window = result.samples[last - SMOOTHED_OVER : last]
        at.append((window[0].start + window[-1].end) / 2)
        rates.append(fsum(sample.rates[user] for sample in window) / SMOOTHED_OVER / 1e6)
    return at, rates


def _active_users(axes: Axes, result: Result, zero: float) -> None:
    end = result.samples[-1].end
    times = [change.at - zero for change in result.changes] + [end - zero]
    counts = [change.active for change in result.changes]
    axes.step(times, [*counts, counts[-1] if counts else 0], where="post", color=figures.BLACK, linewidth=1.2)
    left = left_at(result.samples)
    follow = following(result)
    for when, seconds, word in ((result.joined_at, follow.join, "join"), (left, follow.leave, "leave")):
        if when is None or seconds is None:
            continue
        axes.axvline(when - zero, color=figures.ORANGE, linewidth=0.8)
        axes.annotate(
            f"4 {word}; edges follow in {seconds:.2f} s",
            (when - zero, 1.0),
            xytext=(5, 0),
            textcoords="offset points",
            va="bottom",
            fontsize=8,
            color=figures.ORANGE,
        )
    axes.set_ylim(0, USERS + 1)
    axes.set_yticks([0, STAYING, USERS])
    axes.set_ylabel("users")
    axes.set_title("Active users, as the controller counts them")


def _probe(axes: Axes, result: Result, zero: float) -> None:
    end = result.samples[-1].end
    arrivals = [(sent, arrived) for _, sent, arrived in result.probe.arrivals if zero <= sent <= end]
    axes.plot(
        [sent - zero for sent, _ in arrivals],
        [1e3 * (arrived - sent) for sent, arrived in arrivals],
        color=figures.GREEN,
        linestyle="none",
        marker=".",
        markersize=1.2,
    )
    for change in result.changes:
        axes.axvline(change.at - zero, color=figures.GREY, linewidth=0.6, linestyle=":")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("ms")
    axes.set_title(f"One-way delay of a probe in band 1; {len(result.probe.lost())} of {result.probe.sent} lost")
