"""A data centre in virtual time: network, ports and hosts of the papers' simulations, and the flows that cross it."""

import asyncio
import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from p4sched.errors import P4schedError
from p4sched.paths import rust_binary
from p4sched.results.completion import Flow

LEAVES, SPINES, SERVERS = 9, 4, 16
"""Servers of each leaf."""
GBIT = 1_000_000_000
DELAY_NS = 20
"""Of a link, each way."""
STARTS_PER_S = {0.2: 3600, 0.3: 5200, 0.4: 7000, 0.5: 8900, 0.6: 11_100, 0.7: 14_150, 0.8: 19_000}
"""By what RIFO's run files call the load, for access links of 1 Gbit/s."""
SIZES = {
    1: 0.15,
    10_000: 0.05,
    20_000: 0.1,
    30_000: 0.1,
    50_000: 0.13,
    80_000: 0.07,
    200_000: 0.1,
    1_000_000: 0.1,
    2_000_000: 0.1,
    5_000_000: 0.07,
    10_000_000: 0.03,
}
"""Bytes and their shares: web search as pFabric has it, the lower bound of each step (RIFO's run files)."""
HEADROOM_256 = 26
"""k = 0.1, rounded up."""
OVERHEAD_BYTES = 120
"""IP and TCP with all options, as Netbench has them."""
HOSTS = {
    "control": "netbench",
    "mss": 1380,
    "initial_window": 30,
    "window": 65_535,
    "initial_rto": 96_384,
    "min_rto": 1,
}
"""pFabric's start at 30 segments, and a timeout of 3 RTTs at first: the papers' hosts."""
SCENARIO, FLOWS = "scenario.json", "flows.csv"


class Paper(StrEnum):
    """Whose settings: link rates and ports."""

    PACKS = "packs"
    RIFO = "rifo"

    @property
    def access_bps(self) -> int:
        """Rate of a server's link; the links between leaves and spines have four times as much."""
        return GBIT if self is Paper.PACKS else 10 * GBIT

    def port(self, scheme: str) -> Mapping[str, Any]:
        """The scheduler of every port, also of the servers' own."""
        return (_PACKS if self is Paper.PACKS else _RIFO)[scheme]

    def starts_per_s(self, load: float) -> int:
        """Flows that start in a second, in the whole network."""
        return STARTS_PER_S[load] * self.access_bps // GBIT


def _single(scheme: str, packets: int) -> dict[str, Any]:
    return {"scheme": scheme, "queues": 1, "queue_size": packets}


def _rifo(packets: int) -> dict[str, Any]:
    arguments = {"capacity_packets": packets, "headroom_256": HEADROOM_256, "tracking_packets": 50}
    return {"scheme": "rifo", "parameters": arguments}


def _aifo(packets: int, sampling: int) -> dict[str, Any]:
    sizes = {"target_packets": packets, "capacity_packets": packets}
    arguments = sizes | {"headroom_256": HEADROOM_256, "window_ranks": 20, "sampling": sampling}
    return {"scheme": "aifo", "parameters": arguments}


def _packs(queues: int) -> dict[str, Any]:
    return {"scheme": "packs", "queues": queues, "queue_size": 10, "window": 20, "headroom_256": HEADROOM_256}


_PACKS: Mapping[str, Mapping[str, Any]] = {
    "fifo": _single("fifo", 40),
    "pifo": _single("pifo", 40),
    "sp_pifo": {"scheme": "sp_pifo", "queues": 4, "queue_size": 10},
    "aifo": _aifo(40, 1),
    "rifo": _rifo(40),
    "packs": _packs(4),
}
"""PACKS 6.2; RIFO, which is not in that paper, with its own T."""
_RIFO: Mapping[str, Mapping[str, Any]] = {
    "fifo": _single("fifo", 80),
    "pifo": _single("pifo", 80),
    "sp_pifo": {"scheme": "sp_pifo", "queues": 8, "queue_size": 10},
    "aifo": _aifo(20, 15),
    "rifo": _rifo(20),
    "packs": _packs(8),
}
"""The run files of RIFO's figure 7, and its T = 50; PACKS, which is not in that paper, with SP-PIFO's queues."""


@dataclass(frozen=True)
class Run:
    """One scheme under one load, with the flows of one seed."""

    paper: Paper
    scheme: str
    load: float
    seed: int
    end_ns: int
    """Flows start until then, and what is not done then counts as not done."""

    def scenario(self) -> dict[str, Any]:
        """For p4sched-simulate."""
        port, access_bps = self.paper.port(self.scheme), self.paper.access_bps
        shape = {
            "leaves": LEAVES,
            "spines": SPINES,
            "hosts": SERVERS,
            "access": {"rate_bps": access_bps, "delay_ns": DELAY_NS},
            "fabric": {"rate_bps": 4 * access_bps, "delay_ns": DELAY_NS},
        }
        return {
            "seed": self.seed,
            "end_ns": self.end_ns,
            "topology": {"leaf_spine": shape},
            "ports": port,
            "hosts": port,
            "ranks": "to_end",
            "overhead_bytes": OVERHEAD_BYTES,
            "transports": {"hosts": HOSTS},
            "flows": {"file": FLOWS},
        }

    def flows(self) -> list[tuple[int, int, int, int]]:
        """Start in ns, source, destination and bytes of each flow: Poisson arrivals between any two servers. The same
        for every scheme."""
        starts_per_s = self.paper.starts_per_s(self.load)
        random = np.random.default_rng([self.seed, starts_per_s])
        count = random.poisson(starts_per_s * self.end_ns / 1e9)
        starts = np.sort(random.integers(0, self.end_ns, count))
        servers = LEAVES * SERVERS
        sources = random.integers(0, servers, count)
        destinations = (sources + random.integers(1, servers, count)) % servers
        sizes = random.choice(list(SIZES), count, p=list(SIZES.values()))
        return list(zip(starts.tolist(), sources.tolist(), destinations.tolist(), sizes.tolist(), strict=True))

    async def outcome(self, folder: Path) -> list[Flow]:
        """What became of each flow. The completion time ends when the sender knows that all bytes have arrived."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / FLOWS).open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["start_ns", "source", "destination", "bytes"])
            rows.writerows(self.flows())
        (folder / SCENARIO).write_text(json.dumps(self.scenario(), indent=2) + "\n")
        done = folder / "results"
        words = [str(rust_binary("p4sched-simulate")), str(folder / SCENARIO), "--output", str(done)]
        process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
        try:
            _, told = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode != 0:
            reason = told.decode().strip().splitlines()
            raise P4schedError(reason[-1] if reason else f"p4sched-simulate ended with {process.returncode}")
        return read(done / FLOWS)


def read(path: Path) -> list[Flow]:
    """The flows of a run, as p4sched-simulate writes them."""
    with path.open(newline="") as file:
        return [_flow(row) for row in csv.DictReader(file)]


def _flow(row: Mapping[str, str]) -> Flow:
    start_ns, end_ns = int(row["start_ns"]), row["acknowledged_ns"]
    completion_s = (int(end_ns) - start_ns) / 1e9 if end_ns else None
    return Flow(int(row["bytes"]), completion_s, start_ns / 1e9, int(row["retransmitted"]))
