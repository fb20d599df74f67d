"""The ranks of data that is sent again, with Linux's TCP and its timers: runs of `incast` in virtual time.

    .venv/bin/python -m experiments.retransmissions.kernels DIR [model|kernel]...

Each scheme has the better of two settings for each rank: seeds 1 and 2 choose it, seeds 3 to 6 give the numbers. Runs
are in DIR; an interrupted comparison continues. Writes DIR/kernels.csv, and prints the ratios to the own rank.
"""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from p4sched.paths import ROOT
from p4sched.results.intervals import paired_ratio
from p4sched.sweep.compared import RATIO, add_certain, named

SCHEMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo")
AGAIN = ("own", "least", "urgent")
SETTINGS = ((64, "5ms"), (256, "20ms"))
"""Packets of all queues, and the delay target of the laws."""
CHOICE, RESULT = (1, 2), (3, 4, 5, 6)
ROUNDS = "12.5s"
JITTER = "200us"
"""Time in which the senders of a round start: that of 1.6 frames, as in the other runs of this experiment."""
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
        command = [sys.executable, "-c", "from p4sched.cli.main import main; main()", "run", "incast", "--virtual"]
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
        subprocess.run([*command, *words], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    schemes_of_run: Mapping[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))["schemes"]
    return schemes_of_run


def row(scheme: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a scheme: the mean time of the slowest block, and timeouts of a round."""
    slowest = [ROUND_S if one["slowest_s"] is None else one["slowest_s"] for one in scheme["rounds"]]
    return {"slowest_ms": 1e3 * fmean(slowest), "timeouts": scheme["tcp"]["timeouts"] / len(slowest)}


def measure(folder: Path, kinds: Sequence[str]) -> dict[Key, dict[str, float]]:
    """All runs."""
    found = {}
    for hosts in kinds:
        for seed in (*CHOICE, *RESULT):
            for again in AGAIN:
                for buffer, delay in SETTINGS:
                    for name, scheme in run(folder, hosts, again, buffer, delay, seed).items():
                        found[hosts, name, again, buffer, delay, seed] = row(scheme)
    return found


def best(found: Mapping[Key, Mapping[str, float]], hosts: str, scheme: str, again: str) -> tuple[int, str]:
    """The setting with the least mean time in the runs of the choice."""
    return min(
        SETTINGS,
        key=lambda setting: fmean(found[hosts, scheme, again, *setting, seed]["slowest_ms"] for seed in CHOICE),
    )


def compared(found: Mapping[Key, Mapping[str, float]], kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A record for each scheme and rank: its setting, its numbers, and the ratio of its time to that with own ranks."""
    for hosts in kinds:
        for scheme in SCHEMES:
            own: list[float] = []
            for again in AGAIN if scheme != "fifo" else AGAIN[:1]:
                setting = best(found, hosts, scheme, again)
                rows = [found[hosts, scheme, again, *setting, seed] for seed in RESULT]
                times = [one["slowest_ms"] for one in rows]
                own = own or times
                ratio, interval = paired_ratio(times, own)
                yield {
                    "hosts": hosts,
                    "scheme": scheme,
                    "again": again,
                    "buffer_packets": setting[0],
                    "delay": setting[1],
                    "slowest_ms": fmean(times),
                    "timeouts": fmean(one["timeouts"] for one in rows),
                    **named("to_own", dict(zip(RATIO, (ratio, *(interval or (None, None))), strict=True))),
                }


def main(words: Sequence[str]) -> None:
    """Measures, writes the table and prints it."""
    folder, kinds = Path(words[0]), words[1:] or ("model", "kernel")
    records = list(compared(measure(folder, kinds), kinds))
    add_certain(records, len(RESULT))
    with (folder / "kernels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, records[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    for one in records:
        print(" ".join(f"{value:.3f}" if isinstance(value, float) else str(value) for value in one.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
