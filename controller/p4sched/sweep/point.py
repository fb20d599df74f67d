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
from p4sched.simulate import Array, Result

Figure = int | float | None
Outcome = Mapping[str, Any]
"""`{"figures": {...}}`, or `{"error": "reason"}`. If flows are kept, `flows` is a Parquet file of them."""
ATTEMPTS = 3
"""Attempts for a point if a signal ends the simulator, for example because another process took the memory."""


Sizes = tuple[float, float]
"""Bounds of the sizes of flows in bytes: at least, and below."""
ALL, SMALL, LARGE = (0.0, float("inf")), (0.0, SMALL_BYTES), (LARGE_BYTES, float("inf"))


def _flows(result: Result, sizes: Sizes) -> Array:
    least, below = sizes
    found: Array = result.flows[(result.flows["bytes"] >= least) & (result.flows["bytes"] < below)]
    return found


def _times_ms(result: Result, sizes: Sizes = ALL, field: str = "completion_s") -> list[float]:
    times = 1e3 * _flows(result, sizes)[field]
    return [float(time) for time in times[~np.isnan(times)]]


def _restricted_ms(result: Result, sizes: Sizes = ALL) -> list[float]:
    return _times_ms(result, sizes, "restricted_s")


def _share(result: Result, sizes: Sizes = ALL) -> float | None:
    times = _flows(result, sizes)["completion_s"]
    return float((~np.isnan(times)).mean()) if len(times) else None


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
    "completed_share": (float, "the same as a share", _share),
    "mean_ms": (float, "completion time of the completed flows: mean", lambda r: _mean(_times_ms(r))),
    "median_ms": (float, "their median", lambda r: percentile(_times_ms(r), 0.5)),
    "p99_ms": (float, "their 99th percentile", lambda r: percentile(_times_ms(r), 0.99)),
    "small_flows": (int, "completed flows below 100 kB", lambda r: len(_times_ms(r, SMALL))),
    "small_mean_ms": (float, "their mean completion time", lambda r: _mean(_times_ms(r, SMALL))),
    "small_p99_ms": (float, "their 99th percentile", lambda r: percentile(_times_ms(r, SMALL), 0.99)),
    "large_flows": (int, "completed flows of 1 MB and more", lambda r: len(_times_ms(r, LARGE))),
    "large_mean_ms": (float, "their mean completion time", lambda r: _mean(_times_ms(r, LARGE))),
    "large_p99_ms": (float, "their 99th percentile", lambda r: percentile(_times_ms(r, LARGE), 0.99)),
    "restricted_mean_ms": (
        float,
        "mean over all flows that started; one that did not end counts with the time until the end of the run",
        lambda r: _mean(_restricted_ms(r)),
    ),
    "restricted_p99_ms": (float, "their 99th percentile", lambda r: percentile(_restricted_ms(r), 0.99)),
    "small_completed_share": (float, "completed share of the flows below 100 kB", lambda r: _share(r, SMALL)),
    "small_restricted_mean_ms": (
        float,
        "as restricted_mean_ms, over the flows below 100 kB",
        lambda r: _mean(_restricted_ms(r, SMALL)),
    ),
    "small_restricted_p99_ms": (
        float,
        "their 99th percentile",
        lambda r: percentile(_restricted_ms(r, SMALL), 0.99),
    ),
    "large_completed_share": (float, "completed share of the flows of 1 MB and more", lambda r: _share(r, LARGE)),
    "large_restricted_mean_ms": (
        float,
        "as restricted_mean_ms, over the flows of 1 MB and more",
        lambda r: _mean(_restricted_ms(r, LARGE)),
    ),
    "large_restricted_p99_ms": (
        float,
        "their 99th percentile",
        lambda r: percentile(_restricted_ms(r, LARGE), 0.99),
    ),
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


def _outcome(result: Result, keep_flows: bool) -> Outcome:
    found: dict[str, Any] = {"figures": figures(result)}
    return found | {"flows": _parquet(result.flows)} if keep_flows else found


def _parquet(rows: Array) -> bytes:
    """A structured array as a Parquet file."""
    import pyarrow as pa  # noqa: PLC0415 - takes a quarter of a second
    from pyarrow import parquet  # noqa: PLC0415

    assert rows.dtype.names is not None
    buffer = pa.BufferOutputStream()
    # NaN becomes null
    table = pa.table({name: pa.array(rows[name], from_pandas=True) for name in rows.dtype.names})
    parquet.write_table(table, buffer)
    content: bytes = buffer.getvalue().to_pybytes()
    return content


async def outcome(
    scenario: Mapping[str, Any], programs: bool, check: bool, folder: Path, keep_flows: bool = False
) -> Outcome:
    """Runs a point in this folder. An error of the simulator is also an outcome. Raises OSError if the disk is full."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _outcome(await simulate.run_async(scenario, folder, programs=programs, check=check), keep_flows)
        except simulate.EndedError as error:
            if attempt == ATTEMPTS:
                return {"error": f"{error}, {ATTEMPTS} times"}
        except P4schedError as error:
            if os.strerror(errno.ENOSPC) in str(error):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from error
            return {"error": str(error)}
    raise AssertionError("the last attempt has an outcome")


def outcome_here(scenario: Mapping[str, Any], programs: bool, check: bool, keep_flows: bool = False) -> Outcome:
    """The same in a worker of Dask. Raises EndedError, because Dask itself repeats interrupted work."""
    try:
        return _outcome(simulate.run(scenario, programs=programs, check=check), keep_flows)
    except simulate.EndedError:
        raise
    except P4schedError as error:
        return {"error": str(error)}
