"""The ranks of data that is sent again, with Linux's TCP and its timers: runs of `incast` in virtual time.

    .venv/bin/python -m experiments.retransmissions.kernels DIR [model|kernel]...

Each scheme has the better of two settings for each rank: seed 1 chooses it, seeds 2 and 3 give the
numbers. Runs are in DIR; an interrupted comparison continues. Writes DIR/kernels.csv, and prints the ratios to the own
rank, paired by round.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from p4sched.paths import ROOT
from p4sched.results.intervals import paired_ratio
from p4sched.sweep.compared import RATIO, add_certain, named

SCHEMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo")
HOSTS = ("model", "kernel")
AGAIN = ("own", "least", "urgent")
SETTINGS = ((64, "5ms"), (256, "20ms"))
"""Packets of all queues, and the delay target of the laws."""
CHOICE, RESULT = (1,), (2, 3)
ROUNDS = "12.5s"
JITTER = "8ms"
"""Time in which the senders of a round start: two ticks of a kernel, which begins to send at a tick."""
ROUND_S = 1.25
"""Time from round to round, which a round that did not end counts with."""
Key = tuple[str, str, str, int, str, int]
"""Hosts, scheme, rank again, packets, delay target, seed."""


def run(folder: Path, hosts: str, again: str, buffer: int, delay: str, seed: int) -> Mapping[str, Any]:
    """The schemes of a run's summary."""
    out = folder / f"{hosts}-{again}-{buffer}-{delay}-{seed}"
    if not (out / "summary.json").exists():
        # FIFO reads no ranks
        schemes = [name for name in SCHEMES if name != "fifo" or again == AGAIN[0]]
        command = [sys.executable, "-m", "p4sched.cli.start", "run", "incast", "--virtual"]
        options = {
            "--hosts": hosts,
            "--resent": again,
            "--buffer": buffer,
            "--delay": delay,
            "--jitter": JITTER,
            "--duration": ROUNDS,
            "--seed": seed,
            "--schemes": ",".join(schemes),
            "--out": out,
        }
        words = [str(word) for option in options.items() for word in option]
        if subprocess.run([*command, *words], check=False, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
            sys.exit(f"this run failed: {' '.join(words)}")
    schemes_of_run: Mapping[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))["schemes"]
    return schemes_of_run


@dataclass(frozen=True)
class Rounds:
    """The rounds of a scheme in a run: the time of the slowest block of each, and the timeouts of a round."""

    slowest_ms: Sequence[float]
    timeouts: float


def rounds(scheme: Mapping[str, Any]) -> Rounds:
    """Those of a scheme in a summary."""
    slowest = [ROUND_S if one["slowest_s"] is None else one["slowest_s"] for one in scheme["rounds"]]
    return Rounds([1e3 * time for time in slowest], scheme["tcp"]["timeouts"] / len(slowest))


def measure(folder: Path, kinds: Sequence[str]) -> dict[Key, Rounds]:
    """All runs."""
    found = {}
    for hosts in kinds:
        for seed in (*CHOICE, *RESULT):
            for again in AGAIN:
                for buffer, delay in SETTINGS:
                    for name, scheme in run(folder, hosts, again, buffer, delay, seed).items():
                        found[hosts, name, again, buffer, delay, seed] = rounds(scheme)
    return found


def best(found: Mapping[Key, Rounds], hosts: str, scheme: str, again: str) -> tuple[int, str]:
    """The setting with the least mean time in the runs of the choice."""
    return min(
        SETTINGS,
        key=lambda setting: fmean(_slowest([found[hosts, scheme, again, *setting, seed] for seed in CHOICE])),
    )


def _slowest(runs: Sequence[Rounds]) -> list[float]:
    return [time for run in runs for time in run.slowest_ms]


def compared(found: Mapping[Key, Rounds], kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A record for each scheme and rank: its setting, its numbers, and the ratio of its time to that with own ranks."""
    for hosts in kinds:
        for scheme in SCHEMES:
            own: list[float] = []
            for again in AGAIN if scheme != "fifo" else AGAIN[:1]:
                setting = best(found, hosts, scheme, again)
                rows = [found[hosts, scheme, again, *setting, seed] for seed in RESULT]
                times = _slowest(rows)
                own = own or times
                ratio, interval = paired_ratio(times, own)
                yield {
                    "hosts": hosts,
                    "scheme": scheme,
                    "again": again,
                    "buffer_packets": setting[0],
                    "delay": setting[1],
                    "slowest_ms": fmean(times),
                    "timeouts": fmean(one.timeouts for one in rows),
                    **named("to_own", dict(zip(RATIO, (ratio, *(interval or (None, None))), strict=True))),
                }


def main() -> None:
    """Measures, writes the table and prints it."""
    parser = argparse.ArgumentParser(description="Ranks of data that is sent again, with Linux's TCP.")
    parser.add_argument("folder", type=lambda word: Path(word).resolve(), help="folder of the runs and of kernels.csv")
    parser.add_argument(
        "hosts", nargs="*", default=[], metavar="KIND", help=f"kinds of hosts: {', '.join(HOSTS)} (default: both)"
    )
    options = parser.parse_args()
    folder, kinds = options.folder, options.hosts or HOSTS
    if unknown := set(kinds) - set(HOSTS):
        parser.error(f"unknown hosts: {', '.join(sorted(unknown))}; there are {', '.join(HOSTS)}")
    found = measure(folder, kinds)
    records = list(compared(found, kinds))
    samples = len(RESULT) * len(next(iter(found.values())).slowest_ms)
    add_certain(records, samples)
    with (folder / "kernels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, records[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    for one in records:
        print(" ".join(f"{value:.3f}" if isinstance(value, float) else str(value) for value in one.values()))


if __name__ == "__main__":
    main()
