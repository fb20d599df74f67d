"""Workloads of the servers: sizes, starts and pairs of flows, as in RIFO's run files."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.completion_at_scale import netbench_flows
from experiments.completion_at_scale.topologies import Network

GBIT = 1_000_000_000
LEAVES, SERVERS = 9, 16
"""Leaf switches, and servers of each leaf."""
LEAF_SPINE = Network(LEAVES, SERVERS)
TOR_LEAF_SPINE = Network(LEAVES * SERVERS, 5, LEAVES)
"""720 servers below 144 switches, 16 of them below each leaf: the network of RIFO's run files for Fig. 14. They take
the topology of 144 servers and put five servers behind each of its servers, which becomes a switch."""
WEB_SEARCH_BYTES = {
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
"""Sizes in bytes with their shares: web search of pFabric, the lower bound of each step."""
DATA_MINING_BYTES = {
    1: 0.1,
    180: 0.1,
    216: 0.1,
    560: 0.1,
    900: 0.1,
    1100: 0.1,
    1870: 0.1,
    3160: 0.1,
    10_000: 0.1,
    400_000: 0.05,
    3_160_000: 0.03,
    100_000_000: 0.02,
}
"""Data mining of pFabric, the lower bound of each step."""
DATA_MINING_UPPER_BYTES = {
    180: 0.1,
    216: 0.1,
    560: 0.1,
    900: 0.1,
    1100: 0.1,
    1870: 0.1,
    3160: 0.1,
    10_000: 0.1,
    400_000: 0.1,
    3_160_000: 0.05,
    100_000_000: 0.03,
    1_000_000_000: 0.02,
}
"""The upper bound of each step, as in RIFO's run files for Fig. 8."""
PARETO_SHAPE, PARETO_MEAN_BYTES, PARETO_LARGEST_BYTES = 1.05, 100_000, 1 << 30
PAIRS_SHAPE = 1.0
"""Shape of the Pareto distribution of the traffic of a rack's servers."""
WEB_SEARCH_STARTS = {0.2: 3600, 0.3: 5200, 0.4: 7000, 0.5: 8900, 0.6: 11_100, 0.7: 14_150, 0.8: 19_000}
DATA_MINING_STARTS = {0.2: 4000, 0.3: 6000, 0.4: 10_000, 0.5: 15_000, 0.6: 22_500, 0.7: 37_000, 0.8: 60_000}
"""Starts of flows per second in the whole network of 1 and 4 Gbit/s, by the load's name in RIFO's run files."""
LOADS = tuple(WEB_SEARCH_STARTS)

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Workload:
    """Sizes of flows, and the rates of their starts."""

    name: str
    starts: Mapping[float, int]
    """Starts per second at 1 and 4 Gbit/s, by load."""
    shares: Mapping[int, float] | None
    """Shares of the flows, by bytes; None: Pareto sizes, and unequal pairs of racks."""
    network: Network = LEAF_SPINE
    run_file_seed: int | None = None
    """Seed of the run file whose flows seed 1 has. Seed 2 has the flows of the next number, and so on; the racks'
    shares of the traffic stay those of the run file. None: flows of our own."""
    all_gaps: bool = False
    """True: the flows of a run file have the intervals of SP-PIFO's Netbench (`netbench_flows.flows`)."""

    def starts_per_s(self, load: float, access_bps: int) -> int:
        """Flows that start in a second, in the whole network."""
        return self.starts[load] * access_bps // GBIT

    def flows(self, load: float, access_bps: int, seed: int, end_ns: int) -> list[tuple[int, int, int, int]]:
        """Start in ns, source, destination and bytes of each flow: Poisson arrivals, the same for every scheme."""
        starts_per_s = self.starts_per_s(load, access_bps)
        if self.run_file_seed is not None:
            pairs, sizes = self._of_run_file(self.run_file_seed)
            number = self.run_file_seed + seed - 1
            return list(netbench_flows.flows(number, pairs, starts_per_s, end_ns, sizes, self.all_gaps))
        random = np.random.default_rng([seed, starts_per_s])
        count = int(random.poisson(starts_per_s * end_ns / 1e9))
        starts = np.sort(random.integers(0, end_ns, count))
        if self.shares is None:
            # the racks' shares of the traffic are the same at all loads
            masses = 1 + np.random.default_rng(seed).pareto(PAIRS_SHAPE, self.network.racks)
            sources, destinations = _skewed_pairs(random, count, masses, self.network.servers)
            drawn = _pareto_sizes(random, count)
        else:
            servers = self.network.all_servers
            sources = random.integers(0, servers, count)
            destinations = (sources + random.integers(1, servers, count)) % servers
            drawn = random.choice(list(self.shares), count, p=list(self.shares.values()))
        return list(zip(starts.tolist(), sources.tolist(), destinations.tolist(), drawn.tolist(), strict=True))

    def _of_run_file(self, seed: int) -> tuple[netbench_flows.Pairs, netbench_flows.Sizes]:
        if self.shares is not None:
            return netbench_flows.all_to_all(self.network.all_servers), netbench_flows.StepSizes(self.shares)
        racks = netbench_flows.rack_shares(seed, self.network.racks)
        sizes = netbench_flows.ParetoSizes(PARETO_SHAPE, PARETO_MEAN_BYTES, PARETO_LARGEST_BYTES)
        return netbench_flows.between_racks(racks, self.network.servers), sizes


def _pareto_sizes(random: np.random.Generator, count: int) -> Whole:
    least = PARETO_MEAN_BYTES * (PARETO_SHAPE - 1) / PARETO_SHAPE
    drawn = least * (1 + random.pareto(PARETO_SHAPE, count))
    return np.minimum(drawn, PARETO_LARGEST_BYTES).astype(np.int64)


def _skewed_pairs(
    random: np.random.Generator, count: int, shares: NDArray[np.float64], servers: int
) -> tuple[Whole, Whole]:
    """Servers of two different racks. The probability of a pair of racks is the product of their shares."""
    likely = np.outer(shares, shares)
    np.fill_diagonal(likely, 0)
    pairs = random.choice(likely.size, count, p=(likely / likely.sum()).ravel())
    racks = np.divmod(pairs, len(shares))
    sources, destinations = (rack * servers + random.integers(0, servers, count) for rack in racks)
    return sources, destinations


WEB_SEARCH = Workload("web search", WEB_SEARCH_STARTS, WEB_SEARCH_BYTES)
FAIR_WEB_SEARCH = Workload("web search, more flows", DATA_MINING_STARTS, WEB_SEARCH_BYTES)
"""Workload that gives the published numbers of the fair-queueing figures."""
DATA_MINING = Workload("data mining", DATA_MINING_STARTS, DATA_MINING_BYTES)
DATA_MINING_UPPER = Workload("data mining, upper bounds", DATA_MINING_STARTS, DATA_MINING_UPPER_BYTES)
PARETO = Workload("Pareto", WEB_SEARCH_STARTS, None, TOR_LEAF_SPINE)
PARETO_OF_RUN_FILES = Workload("Pareto, flows of the run files", WEB_SEARCH_STARTS, None, TOR_LEAF_SPINE, 83_599)
"""The flows of the published runs: one of the racks has 35 % of the traffic, the next one 13 %."""
