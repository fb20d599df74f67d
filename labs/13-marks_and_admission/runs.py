"""The runs of lab 13: marks, admission, and both. Writes the table that students get:
`python labs/13-marks_and_admission/runs.py`."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from p4sched import simulate
from p4sched.sweep import leaf_spine

LOAD, DURATION_NS, SEEDS = 0.8, 50_000_000, range(11, 15)
TRANSPORT = {"control": "dctcp"}
THRESHOLDS = (None, 2, 5, 10, 20, 40)
FIFO_BUFFER = 80
AIFO = ((0, 20), (26, 40), (128, 80))
"""k in 1/256, and C."""
AIFO_THRESHOLDS = (None, 5, 20)
START = Path(__file__).parent / "start"


def settings() -> Iterator[tuple[str, int, int, int | None]]:
    """Scheme, k in 1/256, C, and the threshold of the marks."""
    for threshold in THRESHOLDS:
        yield "fifo", 0, FIFO_BUFFER, threshold
    for (headroom, buffer), threshold in ((each, at) for each in AIFO for at in AIFO_THRESHOLDS):
        yield "aifo", headroom, buffer, threshold


def run(scheme: str, headroom: int, buffer: int, threshold: int | None, seed: int) -> simulate.Result:
    """Web-search flows among 16 hosts with DCTCP."""
    ports = simulate.Ports(
        scheme, queues=4, queue_size=buffer // 4, window=20, headroom_256=headroom, mark_at_packets=threshold
    )
    return simulate.run(leaf_spine.scenario(ports, TRANSPORT, LOAD, DURATION_NS, seed))


def row(name: str, setting: tuple[str, int, int, int | None], seed: int) -> dict[str, Any]:
    """A row of the table."""
    scheme, headroom, buffer, threshold = setting
    result = run(*setting, seed)
    ports, slowdown = result.ports, leaf_spine.slowdowns(result)
    size = result.flows["bytes"]
    lost = {key: int(ports[f"dropped_{key}"].sum()) for key in ("refused", "full")}
    return {
        "setting": name,
        "scheme": scheme,
        "k": f"{headroom / 256:.1f}",
        "C": buffer,
        "threshold": "none" if threshold is None else threshold,
        "seed": seed,
        "packets": int(ports["sent_packets"].sum()) + sum(lost.values()),
        "marked": int(ports["marked"].sum()),
        **lost,
        "small": float(slowdown[size < leaf_spine.SMALL_BYTES].mean()),
        "large": float(slowdown[size >= leaf_spine.LARGE_BYTES].mean()),
        "all": float(slowdown.mean()),
    }


def main() -> None:
    rows = [row(chr(ord("A") + number), setting, seed) for number, setting in enumerate(settings()) for seed in SEEDS]
    with (START / "runs.csv").open("w", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow(rows[0])
        for each in rows:
            table.writerow([f"{value:.5g}" if isinstance(value, float) else value for value in each.values()])


if __name__ == "__main__":
    main()
