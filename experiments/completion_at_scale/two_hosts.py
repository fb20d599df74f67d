"""TCP between two hosts, with a rank drawn for each packet: SP-PIFO Fig. 5, 6 and 14, and PACKS Fig. 11 and 15.

The setting of SP-PIFO's run files: flows of 1 MB start in both directions as a Poisson process, over a link of
10 Gbit/s. Senders are NewReno as in Netbench. The rank of each packet is drawn anew, also that of acknowledgements.
The authors' hosts are switches themselves; here each host has a switch in front of it, with links of 1 Tbit/s.

The simulations of PACKS are not public. With flows in one direction, so that the port has no acknowledgements, the
numbers of its text appear; with flows in both directions they do not.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import exp, lgamma, log
from pathlib import Path
from typing import Any

import numpy as np

from experiments.completion_at_scale.ports import FRAME_BYTES, OVERHEAD_BYTES, TCP
from p4sched import simulate
from p4sched.reproducing.figure import Metrics
from p4sched.reproducing.simulation import SOURCES as CRATES
from p4sched.reproducing.simulation import Simulation

RATE_BPS, DELAY_NS, HOST_BPS = 10**10, 20, 10**12
FLOW_BYTES = 1_000_000
STARTS_PER_S = 1500
STARTS_BY_LOAD = {"20": 450, "40": 880, "60": 1250, "80": 1690, "90": 1900}
"""Flow starts in a second, by the utilization in percent that the paper names."""
ONE_WAY_STARTS_PER_S = round(0.8 * RATE_BPS / 8 / FLOW_BYTES)
"""Flow starts in a second, at 80 % of the link's rate."""
SAMPLE_NS = FRAME_BYTES * 8 * 10**9 // RATE_BPS
"""Time of a full frame on the link."""
BOUNDS_NS = 50_000_000
"""Time in which bounds are sampled."""
RANKS = 100
QUEUE_SIZE = 10
BOUNDS = Path(__file__).parent / "bounds"
SOURCES = ("experiments/completion_at_scale/two_hosts.py", "experiments/completion_at_scale/bounds", *CRATES)
DECADES = [f"{first}-{first + 9}" for first in range(0, RANKS, 10)]
Port = Mapping[str, Any]


def _poisson(mean: float, count: int) -> list[float]:
    return [exp(rank * log(mean) - mean - lgamma(rank + 1)) for rank in range(count)]


def _exponential() -> list[float]:
    return [exp(-rank / 25) for rank in range(RANKS)]


def weights(ranks: str) -> list[float]:
    """Probability of each rank, up to a factor, as the authors draw it (LstfTcpSocket.java)."""
    match ranks:
        case "exponential":
            return _exponential()
        case "inverse-exponential":
            return [0.0, *reversed(_exponential())]
        case "poisson":
            return _poisson(50, RANKS)
        case "convex":
            # a draw of mean 100, modulo 100
            drawn = _poisson(100, 2 * RANKS)
            return [drawn[rank] + drawn[rank + RANKS] for rank in range(RANKS)]
        case "minmax":
            # a draw of mean 50, less 10, modulo 50 with the sign of Java, without the sign
            found = [0.0] * RANKS
            for number, share in enumerate(_poisson(50, 2 * RANKS)):
                found[abs(number - 10) % 50] += share
            return found
        case _:
            return [1.0] * RANKS


@dataclass(frozen=True)
class Run:
    """One simulation."""

    port: Port
    """The scheduler; `rule` stands for the folder of queues behind bounds."""
    ranks: str
    starts_per_s: int
    seed: int
    end_ns: int
    counted: str = "inversions"
    both: bool = False
    """True: both directions count, as in SP-PIFO Fig. 5d."""
    one_way: bool = False
    """True: all flows go the way that counts."""

    @property
    def inputs(self) -> str:
        """Hash of all inputs."""
        record = [self.port, self.ranks, self.starts_per_s, self.seed, self.end_ns, self.counted, self.both]
        record += ["one way"] * self.one_way
        return sha256(json.dumps(["two hosts", *record], sort_keys=True).encode()).hexdigest()[:16]

    @property
    def work(self) -> float:
        """Gigabytes of the flows; a model in Python takes three times as long."""
        return self.starts_per_s * FLOW_BYTES * self.end_ns / 1e18 * (3 if "rule" in self.port else 1)

    async def make(self, folder: Path) -> Metrics:
        """Inversions and drops of the port."""
        result = await simulate.run_async(self.scenario(), folder)
        ports = [
            port["by_rank"] for port in result.summary["ports"] if (port["node"], port["to"]) in self.counted_ports()
        ]
        return measure(ports, self.counted)

    def counted_ports(self) -> Sequence[tuple[str, str]]:
        """The ports that count."""
        return [("s1", "s2"), ("s2", "s1")] if self.both else [("s2", "s1")]

    def scenario(self) -> Mapping[str, Any]:
        """The scenario of p4sched-simulate."""
        port = dict(self.port)
        if "rule" in port:
            port = {"scheme": ":".join([str(BOUNDS), *(f"{name}={value}" for name, value in port.items())])}
        link = {"rate_bps": RATE_BPS, "delay_ns": DELAY_NS}
        access = {"rate_bps": HOST_BPS, "delay_ns": 0}
        links = [
            {"between": ["h1", "s1"], **access},
            {"between": ["s1", "s2"], **link},
            {"between": ["h2", "s2"], **access},
        ]
        return {
            "seed": self.seed,
            "end_ns": self.end_ns,
            "topology": {"described": {"hosts": ["h1", "h2"], "switches": ["s1", "s2"], "links": links}},
            "ports": port,
            "ranks": {"drawn": weights(self.ranks)},
            "overhead_bytes": OVERHEAD_BYTES,
            "transports": {"tcp": TCP},
            "flows": {"list": self.flows()},
        }

    def of_bounds(self) -> Simulation:
        """The first part of this run, in which ports are sampled once in the time of a packet."""
        first = replace(self, end_ns=min(self.end_ns, BOUNDS_NS))
        scenario = {**first.scenario(), "sample_ns": SAMPLE_NS, "sample_ports": True}
        return Simulation(scenario, measure_bounds, first.seed, first.work)

    def flows(self) -> list[Mapping[str, int]]:
        """Poisson starts, each from one of the hosts, or all from the second one; the same for every scheme."""
        random = np.random.default_rng([self.seed, self.starts_per_s])
        count = int(random.poisson(self.starts_per_s * self.end_ns / 1e9))
        starts = np.sort(random.integers(0, self.end_ns, count)).tolist()
        sources = [1] * count if self.one_way else random.integers(0, 2, count).tolist()
        return [
            {"start_ns": start, "source": source, "destination": 1 - source, "bytes": FLOW_BYTES}
            for start, source in zip(starts, sources, strict=True)
        ]


def measure_bounds(result: simulate.Result) -> Metrics:
    """Mean distance in ranks that the bound of each queue moves from one packet to the next."""
    port = next(port for port in result.summary["ports"] if (port["node"], port["to"]) == ("s2", "s1"))
    return moves(port["samples"]["bounds"])


def moves(bounds: Sequence[Sequence[int]]) -> Metrics:
    """The mean distance from each sample to the next, for each queue; a bound above all ranks counts as the highest."""
    means = np.abs(np.diff(np.minimum(np.array(bounds), RANKS - 1), axis=0)).mean(axis=0)
    return {f"bound_{number}_moves": float(mean) for number, mean in enumerate(means, 1)}


def measure(ports: Sequence[Mapping[str, Any]], counted: str) -> Metrics:
    """Numbers of the ports together."""
    inversions, drops, departures = (
        np.sum([port[name] for port in ports], axis=0) for name in (counted, "drops", "departures")
    )
    dropped = np.flatnonzero(drops)
    by_decade = {
        f"inversions_{name}": float(inversions[at * 10 : at * 10 + 10].sum()) for at, name in enumerate(DECADES)
    }
    return by_decade | {
        "inversions": float(inversions.sum()),
        "inversions_share": float(inversions.sum() / max(departures.sum(), 1)),
        "lowest_rank_dropped": float(dropped[0]) if len(dropped) else None,
        "dropped_share": float(drops.sum() / max(drops.sum() + departures.sum(), 1)),
        "drops_below_58": float(drops[:58].sum()),
        **_mapping(ports[0]["queued"]),
    }


def _mapping(queued: Sequence[Sequence[int]]) -> Metrics:
    """Mean and standard deviation of the ranks in each queue; queue 1 is the most urgent."""
    found: dict[str, float | None] = {}
    for number, counts in enumerate(queued, 1):
        ranks = np.arange(len(counts))
        if sum(counts) and len(queued) > 1:
            mean = float(np.average(ranks, weights=counts))
            found[f"queue_{number}_mean"] = mean
            found[f"queue_{number}_deviation"] = float(np.average((ranks - mean) ** 2, weights=counts) ** 0.5)
    return found
