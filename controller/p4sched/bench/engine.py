"""Packets a second through the engine alone, on one core, compiled and interpreted; load times of programs."""

from typing import Any

from rich.table import Table

from p4sched.bench.part import Outcome, Target, rust_bench

WANTED_MPPS = {"fifo": 3.0, "fdpa": 1.5, "aifo": 1.0, "packs": 1.0}
WANTED_LOAD_MS = 50.0


def measure() -> Outcome:
    """Takes the median of nine rounds; all programs take turns in a round."""
    found: dict[str, Any] = rust_bench("packets")
    mpps = {(row["program"], row["way"]): row["mpps_median"] for row in found["packets"]}
    loads = {row["program"]: row["load_ms_median"] for row in found["loads"]}
    table = Table(title="Engine alone, one core", title_justify="left")
    table.add_column("program")
    for column in ("million packets/s", "interpreted", "with the log of packets", "loads in, ms"):
        table.add_column(column, justify="right")
    for program, load in loads.items():
        rates = (f"{mpps[program, way]:.2f}" for way in ("compiled", "interpreted"))
        logged = f"{mpps[program, 'logged']:.3f}"
        table.add_row(f"{program}.p4", *rates, logged, f"{load:.1f}")
    targets = [
        Target(f"{program}.p4, million packets/s", mpps[program, "compiled"], wanted)
        for program, wanted in WANTED_MPPS.items()
    ]
    slowest = Target("the slowest program loads in, ms", max(loads.values()), WANTED_LOAD_MS, at_most=True)
    return Outcome(table, found, [*targets, slowest])
