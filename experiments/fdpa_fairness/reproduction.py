"""FDPA Fig. 5 for `p4sched reproduce`, in the simulator of networks, at the rate and the round-trip time of the paper.

The paper takes 50 samples of a second after 30 s. Here there is one of each seed, after 2 s, which is 400 round-trip
times; `--duration` does not change it. The paper prints no numbers of its panels, only what they have in common.

The edges of the bands are those of the known number of users. Hosts are models of Linux with TCP Cubic. DRR is missing:
the simulator's DRR is fair to flows, not to users.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.control.bands import Bands
from p4sched.lab.scenario import SCENARIOS, connections
from p4sched.reproducing.figure import Figure, Line, Metrics, Quantity
from p4sched.reproducing.simulation import SOURCES as CRATES
from p4sched.results.metrics import jain_index

RATE_BPS, ACCESS_BPS, ONE_WAY_NS, BDP_PACKETS = 10**10, 10**11, 2_500_000, 4166
INTERVAL_US = 30_000
END_S = 3
FRAME_SHARE = 1514 / 1448
"""Bytes of a frame over those of its payload."""
LEAST_PACKETS = 20
"""Smallest size of a queue of FDPA."""
FLOW_BYTES = 10**12
"""More than a flow can send."""
USERS = (50, 100, 200)
BANDS = {"narrow": "1+4*0.25", "middle": "1+4*0.5", "wide": "1.25+4*0.75"}
FIRST, COUNT, SIZE = ("0.75", "0.85", "1", "1.15", "1.25"), ("3", "4"), ("0.25", "0.33", "0.5", "0.67", "0.75")
"""The first band, the number of further ones and their size, in the paper's settings."""
ALL_BANDS = [f"{first}+{count}*{size}" for first, count, size in product(FIRST, COUNT, SIZE)]
SOURCES = ("experiments/fdpa_fairness/reproduction.py", "controller/p4sched/control/bands.py", *CRATES)
QUANTITIES = (
    Quantity("jain_index", "Jain's index", linear=True),
    Quantity("throughput", "throughput over the link's rate", linear=True),
)


@dataclass(frozen=True)
class Panel:
    """The users of a panel."""

    users: int
    scenario: str

    def port(self, line: str) -> Mapping[str, Any]:
        """The scheduler of a line."""
        if line == "fifo":
            return {"scheme": "fifo", "queues": 1, "queue_size": BDP_PACKETS}
        return {"scheme": "fdpa", "parameters": self.fdpa(Bands.parse(BANDS.get(line, line)))}

    def fdpa(self, bands: Bands) -> Mapping[str, int]:
        """Edges in bytes of an interval, and L_q = max(20, BDP / q^q)."""
        share = RATE_BPS // self.users * INTERVAL_US // 8_000_000
        edges = {f"edge_{at}": round(edge * share) for at, edge in enumerate(bands.edges, 1)}
        depths = {f"depth_{q}": max(LEAST_PACKETS, BDP_PACKETS // q**q) for q in range(1, len(edges) + 2)}
        return {"interval_us": INTERVAL_US, **edges, **depths}

    def scenario_of(self, line: str, counts: Sequence[int], seed: int, end_s: int) -> Mapping[str, Any]:
        """The scenario of a line; `counts` are the connections of the users."""
        flows = [
            {"source": user, "destination": self.users, "bytes": FLOW_BYTES, "user": user + 1}
            for user, count in enumerate(counts)
            for _ in range(count)
        ]
        access, link = {"rate_bps": ACCESS_BPS, "delay_ns": 0}, {"rate_bps": RATE_BPS, "delay_ns": ONE_WAY_NS}
        return {
            "seed": seed,
            "end_ns": end_s * 10**9,
            "topology": {"dumbbell": {"hosts": self.users, "access": access, "bottleneck": link}},
            "ports": self.port(line),
            "transports": {"tcp": {"control": "cubic"}},
            "flows": {"list": flows},
        }


@dataclass(frozen=True)
class Run:
    """Two simulations of a line, which end one second apart. Until the first end they are the same, so the difference
    of their received bytes is the sample."""

    panel: Panel
    line: str
    seed: int

    @property
    def counts(self) -> Sequence[int]:
        """Connections of the users."""
        return connections(self.panel.scenario, self.panel.users, self.seed)

    @property
    def inputs(self) -> str:
        """Hash of the longer scenario."""
        scenario = self.panel.scenario_of(self.line, self.counts, self.seed, END_S)
        return sha256(json.dumps(["sample", scenario], sort_keys=True).encode()).hexdigest()[:16]

    @property
    def work(self) -> float:
        """Gigabytes that the link carries; more users take longer."""
        return RATE_BPS * (2 * END_S - 1) / 8e9 * (1 + self.panel.users / 100)

    async def make(self, folder: Path) -> Metrics:
        """Jain's index of the users, and the throughput over the link's rate, both over the last second."""
        received = [
            (await simulate.run_async(self.scenario(end_s), folder / str(end_s))).flows["received_bytes"]
            for end_s in (END_S - 1, END_S)
        ]
        of_user = np.repeat(np.arange(self.panel.users), self.counts)
        rates = np.bincount(of_user, weights=received[1] - received[0]) * 8
        return {"jain_index": jain_index(rates.tolist()), "throughput": float(rates.sum()) * FRAME_SHARE / RATE_BPS}

    def scenario(self, end_s: int) -> Mapping[str, Any]:
        """The scenario that ends then."""
        return self.panel.scenario_of(self.line, self.counts, self.seed, end_s)


def _run(line: str, place: str, seed: int, _duration_ns: int) -> Run:
    users, scenario = place.split()
    return Run(Panel(int(users), scenario), line, seed)


def _run_bands(line: str, place: str, seed: int, _duration_ns: int) -> Run:
    return Run(Panel(USERS[0], line), place, seed)


FIGURES = (
    Figure(
        "fdpa-5",
        "fairness and throughput of TCP users",
        [
            Line("fifo", "FIFO", "fifo"),
            *(Line(name, f"FDPA, F({bands})", "fdpa") for name, bands in BANDS.items()),
        ],
        [f"{users} {scenario}" for users in USERS for scenario in SCENARIOS],
        "users and scenario",
        QUANTITIES,
        _run,
        SOURCES,
    ),
    Figure(
        "fdpa-5-bands",
        f"the paper's 50 settings of the bands, {USERS[0]} users",
        [Line(scenario, f"connections: {scenario}", "fdpa") for scenario in SCENARIOS],
        ALL_BANDS,
        "bands F",
        QUANTITIES,
        _run_bands,
        SOURCES,
    ),
)
