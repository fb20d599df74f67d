"""Three tenants on the same hosts, each with its own scheduler, and what each has of the network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p4sched import simulate
from p4sched.sweep import leaf_spine
from p4sched.sweep.tuned import Figures, binary_hash

SIZES, DEADLINES, BULK = TENANTS = ("sizes", "deadlines", "bulk")
"""A tenant whose smallest flow is first, one whose earliest deadline is first, and one with large flows in order of
their starts."""
DISCIPLINES = {SIZES: "pifo", DEADLINES: "pifo", BULK: "fifo"}
"""Scheduler of each tenant."""
FLOW_SIZES: Mapping[str, tuple[str | Sequence[tuple[float, float]], float]] = {
    SIZES: ("web_search", 0.1),
    DEADLINES: ("web_search", 0.03),
    BULK: ([(300_000, 1.0)], 1.0),
}
"""Distribution of the sizes of each tenant's flows, and the factor on them."""
CALM, HEAVY, ALONE = TRAFFICS = ("calm", "heavy", "alone")
"""All tenants have the same load; `bulk` has `FACTOR` times that; `bulk` has this alone."""
FACTOR = 4
ALLOWANCE_S, ALLOWANCE_FACTOR = 0.0005, 3.0
"""A flow with a deadline may take its time alone times the second, and the first."""
RANKS = 1024
"""Normalised ranks are below this."""
FIRST_LEAF = 2
"""Number of the first tenant's leaf in a tree; the root is 0, and 1 has the acknowledgements."""
TRANSPORT = {"control": "new_reno"}
Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@dataclass(frozen=True)
class Traffic:
    """Flows of a run in order of their starts, and the tenant, the time alone and the allowance of each."""

    flows: Sequence[simulate.Flow]
    tenant: NDArray[np.str_]
    alone_s: Real
    allowance_s: Real


def loads(load: float, traffic: str) -> dict[str, float]:
    """Load of each tenant, as a share of the hosts' links."""
    factor = 1 if traffic == CALM else FACTOR
    others = 0.0 if traffic == ALONE else load
    return {SIZES: others, DEADLINES: others, BULK: factor * load}


@cache
def _listed(tenant: str, load: float, duration_ns: int, seed: int) -> simulate.Array:
    """Flows of a tenant. A run of 1 ns lists them."""
    sizes, scale = FLOW_SIZES[tenant]
    hosts = leaf_spine.LEAVES * leaf_spine.HOSTS
    poisson = simulate.Poisson(sizes, load, hosts * leaf_spine.ACCESS.rate_bps, duration_ns, scale)
    own_seed = len(TENANTS) * seed + TENANTS.index(tenant)
    scenario = leaf_spine.scenario(simulate.Ports("fifo"), TRANSPORT, load, duration_ns, own_seed)
    return simulate.run(scenario.with_(flows=poisson, end_ns=1)).flows


def traffic(load: float, kind: str, normalised: bool, duration_ns: int, seed: int) -> Traffic:
    """The flows of all tenants, with ranks as each tenant tells them, or normalised."""
    listed = {tenant: _listed(tenant, share, duration_ns, seed) for tenant, share in loads(load, kind).items() if share}
    names = np.concatenate([np.full(len(flows), tenant) for tenant, flows in listed.items()])
    alone = {tenant: _alone_s(flows) for tenant, flows in listed.items()}
    allowance = {tenant: ALLOWANCE_S + ALLOWANCE_FACTOR * times for tenant, times in alone.items()}
    ranks = np.concatenate(
        [
            _normalised(tenant, flows, allowance[tenant]) if normalised else _told(tenant, flows, allowance[tenant])
            for tenant, flows in listed.items()
        ]
    )
    flows = np.concatenate(list(listed.values()))
    order = np.argsort(flows["start_ns"], kind="stable")
    sent = [
        simulate.Flow(
            str(flow["source"]),
            str(flow["destination"]),
            int(flow["bytes"]),
            int(flow["start_ns"]),
            rank=int(rank),
            user=FIRST_LEAF + TENANTS.index(tenant),
        )
        for flow, rank, tenant in zip(flows[order], ranks[order], names[order].tolist(), strict=True)
    ]
    times = [np.concatenate([each[tenant] for tenant in listed])[order] for each in (alone, allowance)]
    return Traffic(sent, names[order], *times)


def _alone_s(flows: simulate.Array) -> Real:
    leaf = [(np.char.lstrip(flows[end], "h").astype(np.int64) - 1) // leaf_spine.HOSTS for end in _ENDS]
    return leaf_spine.alone_s(flows["bytes"].astype(np.int64), leaf[0] == leaf[1])


_ENDS = ("source", "destination")


def _told(tenant: str, flows: simulate.Array, allowance_s: Real) -> Whole:
    """Ranks as the tenant's own scheduler needs them: bytes, or times in us."""
    start_us = flows["start_ns"] // 1000
    ranks = {SIZES: flows["bytes"], DEADLINES: start_us + 1e6 * allowance_s, BULK: start_us}
    return np.asarray(ranks[tenant]).astype(np.int64)


def _normalised(tenant: str, flows: simulate.Array, allowance_s: Real) -> Whole:
    """Ranks of 0 to `RANKS` - 1: the share of the tenant's flows that are more urgent. A deadline counts from the start
    of its flow. A tenant without ranks of its own is in the middle."""
    if tenant == BULK:
        return np.full(len(flows), RANKS // 2, np.int64)
    urgency = flows["bytes"] if tenant == SIZES else allowance_s
    return np.searchsorted(np.sort(urgency), urgency) * RANKS // max(len(flows), 1)


def measure(sent: Traffic, result: simulate.Result) -> dict[str, float]:
    """Mean slowdown of each tenant's flows, and the share of the deadlines that were missed."""
    took: Real = result.flows["restricted_s"]
    found = {}
    for tenant in TENANTS:
        own = sent.tenant == tenant
        if own.any():
            found[tenant] = leaf_spine.mean(took[own] / sent.alone_s[own])
    due = sent.tenant == DEADLINES
    if due.any():
        found["late"] = float((took[due] > sent.allowance_s[due]).mean())
    return found


def figures(found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The figures of a setting, from those of each traffic.

    `cost` is the geometric mean of what matters in each traffic: the mean slowdown of all three tenants if all keep to
    their share, that of the two others if `bulk` does not, and that of `bulk` alone.
    """
    others = {kind: (found[kind][SIZES] + found[kind][DEADLINES]) / 2 for kind in (CALM, HEAVY)}
    calm = (2 * others[CALM] + found[CALM][BULK]) / 3
    return {
        "cost": geometric_mean([calm, others[HEAVY], found[ALONE][BULK]]),
        "calm": calm,
        **{f"{kind}_others": value for kind, value in others.items()},
        **{f"{kind}_{name}": value for kind in TRAFFICS for name, value in found[kind].items()},
    }


FIGURES = (
    "cost",
    "calm",
    "calm_others",
    "heavy_others",
    *(f"{kind}_{name}" for kind in (CALM, HEAVY) for name in (*TENANTS, "late")),
    "alone_bulk",
)


@dataclass(frozen=True)
class TenantsRun:
    """The three traffics with the same ports."""

    ports: simulate.Ports
    normalised: bool
    load: float
    duration_ns: int
    seed: int

    def inputs(self) -> Any:
        """The settings, and the simulator."""
        ports = {name: value for name, value in vars(self.ports).items() if value is not None}
        kinds = [FLOW_SIZES, FACTOR, ALLOWANCE_S, ALLOWANCE_FACTOR, RANKS]
        settings = [self.normalised, self.load, self.duration_ns, self.seed]
        return ["three tenants", binary_hash(simulate.BINARY), ports, settings, kinds]

    async def figures(self, folder: Path) -> Figures:
        """Runs the simulator once for each traffic."""
        found = {}
        for kind in TRAFFICS:
            sent = traffic(self.load, kind, self.normalised, self.duration_ns, self.seed)
            scenario = leaf_spine.scenario(
                self.ports, TRANSPORT, self.load, self.duration_ns, self.seed, ranks="flow"
            ).with_(flows=sent.flows)
            found[kind] = measure(sent, await simulate.run_async(scenario, folder / kind))
        return figures(found)
