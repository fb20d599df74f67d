"""Consecutive phases of traffic with different rates, frame sizes, burstiness and distributions of ranks."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from p4sched.constants import RANK_PORT
from p4sched.errors import P4schedError
from p4sched.lab.ranked_traffic import FRAME_BYTES
from p4sched.paths import rust_binary

SMALL_FRAME_BYTES = 66


@dataclass(frozen=True)
class Phase:
    """Traffic of one kind."""

    name: str
    load: float
    """Arrivals in shares of the link."""
    frame_bytes: int
    burst: int
    """Packets of a burst, which have one rank and come at random times; 1: single packets at random times; 0: a
    constant bit rate."""
    ranks: str
    below: int
    """Upper limit of the ranks; all ranks are below it."""


PHASES = (
    Phase("classes", 1.3, FRAME_BYTES, 1, "uniform", 2),
    Phase("messages", 1.5, SMALL_FRAME_BYTES, 100, "exponential", 10_000),
    Phase("bursts", 1.0, FRAME_BYTES, 6, "uniform", 1000),
    Phase("flood", 4.0, FRAME_BYTES, 1, "inverse-exponential", 100),
)


@dataclass(frozen=True)
class Arrival:
    """One packet of the schedule."""

    at_ns: int
    flow: int
    sequence: int
    rank: int


def flows(rate_bps: int, phase_s: float, source: str, destination: str, lead_s: float = 0.0) -> list[dict[str, Any]]:
    """One flow of the traffic generator for each phase, numbered from 1; the first starts after `lead_s`."""
    return [
        {
            "flow": number,
            "src": source,
            "dst": destination,
            "port": RANK_PORT,
            "rate_bps": round(phase.load * rate_bps),
            "frame_bytes": phase.frame_bytes,
            "ranks": {"drawn": {"distribution": phase.ranks, "below": phase.below}},
            "arrivals": "constant" if phase.burst == 0 else {"bursts": phase.burst},
            "start_s": lead_s + (number - 1) * phase_s,
            "stop_s": lead_s + number * phase_s,
        }
        for number, phase in enumerate(PHASES, 1)
    ]


def write_schedule(flows: Sequence[dict[str, Any]], seed: int, path: Path) -> None:
    """Writes the packets that the generator will send: `at_ns,flow,sequence,rank,frame_bytes`."""
    request = path.with_suffix(".json")
    request.write_text(json.dumps(flows))
    words = [
        str(rust_binary("p4sched-traffic")),
        "udp-schedule",
        str(request),
        "--seed",
        str(seed),
        "--output",
        str(path),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise P4schedError(f"no schedule of the packets: {done.stderr.strip()}")


def read_schedule(path: Path) -> list[Arrival]:
    """The packets of a schedule, in order of time."""
    with path.open() as file:
        next(file)
        return [Arrival(*map(int, line.split(",")[:4])) for line in file]


def descriptions() -> list[dict[str, Any]]:
    """Part of summary.json."""
    return [asdict(phase) for phase in PHASES]
