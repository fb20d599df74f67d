"""One point of a sweep: its run, and its figures."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.errors import P4schedError
from p4sched.results.completion import LARGE_BYTES, SMALL_BYTES, percentile
from p4sched.simulate import Result

Figure = int | float | None
Outcome = Mapping[str, Any]
"""`{"figures": {...}}`, or `{"error": "reason"}`."""
ATTEMPTS = 3
"""Attempts for a point if a signal ends the simulator, for example because another process took the memory."""


def _times_ms(result: Result, least: int = 0, below: float = float("inf")) -> list[float]:
    done = result.completed()
    chosen = done[(done["bytes"] >= least) & (done["bytes"] < below)]
    return [float(time) for time in 1e3 * chosen["completion_s"]]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _queue(result: Result, field: str, over: Callable[[Any], Any]) -> float | None:
    lengths = result.ports[field]
    measured = lengths[~np.isnan(lengths)]
    return float(over(measured)) if len(measured) else None


def _total(result: Result, field: str) -> int:
    return int(result.ports[field].sum())


FIGURES: Mapping[str, tuple[type, str, Callable[[Result], Figure]]] = {
    "flows": (int, "flows of the scenario", lambda r: len(r.flows)),
    "completed": (int, "of them, those that were received before the end", lambda r: len(r.completed())),
    "completed_share": (
        float,
        "the same as a share",
        lambda r: len(r.completed()) / len(r.flows) if len(r.flows) else None,
    ),
    "mean_ms": (float, "completion time of the completed flows: mean", lambda r: _mean(_times_ms(r))),
    "median_ms": (float, "their median", lambda r: percentile(_times_ms(r), 0.5)),
    "p99_ms": (float, "their 99th percentile", lambda r: percentile(_times_ms(r), 0.99)),
    "small_flows": (int, "completed flows below 100 kB", lambda r: len(_times_ms(r, 0, SMALL_BYTES))),
    "small_mean_ms": (float, "their mean completion time", lambda r: _mean(_times_ms(r, 0, SMALL_BYTES))),
    "small_p99_ms": (float, "their 99th percentile", lambda r: percentile(_times_ms(r, 0, SMALL_BYTES), 0.99)),
    "large_flows": (int, "completed flows of 1 MB and more", lambda r: len(_times_ms(r, LARGE_BYTES))),
    "large_mean_ms": (float, "their mean completion time", lambda r: _mean(_times_ms(r, LARGE_BYTES))),
    "large_p99_ms": (float, "their 99th percentile", lambda r: percentile(_times_ms(r, LARGE_BYTES), 0.99)),
    "received_bytes": (int, "payload that receivers have", lambda r: int(r.flows["received_bytes"].sum())),
    "sent_segments": (int, "segments that senders sent", lambda r: int(r.flows["sent_segments"].sum())),
    "retransmitted": (int, "of them, those that were sent again", lambda r: int(r.flows["retransmitted"].sum())),
    "timeouts": (int, "retransmission timers that ran out", lambda r: int(r.flows["timeouts"].sum())),
    "dropped_full": (int, "packets that found a queue full, at all ports", lambda r: _total(r, "dropped_full")),
    "dropped_refused": (int, "packets that an admission rule refused", lambda r: _total(r, "dropped_refused")),
    "pushed_out": (int, "packets that were pushed out of a sorted queue", lambda r: _total(r, "pushed_out")),
    "marked": (int, "packets that got a congestion mark", lambda r: _total(r, "marked")),
    "queue_mean_packets": (
        float,
        "mean length of a queue over time, mean over the switches' ports",
        lambda r: _queue(r, "queue_mean", np.mean),
    ),
    "queue_longest_packets": (
        float,
        "longest length of any queue of a switch",
        lambda r: _queue(r, "queue_longest", np.max),
    ),
    "events": (int, "events of the simulator", lambda r: int(r.summary["events"])),
}
"""Type, meaning and source of each stored figure of a point."""


def figures(result: Result) -> dict[str, Figure]:
    """Figures of a run."""
    return {name: of(result) for name, (_, _, of) in FIGURES.items()}


async def outcome(scenario: Mapping[str, Any], programs: bool, check: bool, folder: Path) -> Outcome:
    """Runs a point in this folder. An error of the simulator is also an outcome. Raises OSError if the disk is full."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return {"figures": figures(await simulate.run_async(scenario, folder, programs=programs, check=check))}
        except simulate.EndedError as error:
            if attempt == ATTEMPTS:
                return {"error": f"{error}, {ATTEMPTS} times"}
        except P4schedError as error:
            if os.strerror(errno.ENOSPC) in str(error):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from error
            return {"error": str(error)}
    raise AssertionError("the last attempt has an outcome")


def outcome_here(scenario: Mapping[str, Any], programs: bool, check: bool) -> Outcome:
    """The same in a worker of Dask. Raises EndedError, because Dask itself repeats interrupted work."""
    try:
        return {"figures": figures(simulate.run(scenario, programs=programs, check=check))}
    except simulate.EndedError:
        raise
    except P4schedError as error:
        return {"error": str(error)}
