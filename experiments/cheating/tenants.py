"""Tenants who send web-search flows with their sizes as ranks, and one tenant who cheats."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p4sched import simulate
from p4sched.sweep import leaf_spine
from p4sched.sweep.tuned import Figures, binary_hash

TENANTS = leaf_spine.HOSTS
"""A tenant has one host of each leaf."""
CHEATER = 0
HONEST, URGENT, SCALED, SPLIT = "honest", "urgent", "scaled", "split"
BEHAVIOURS = (HONEST, URGENT, SCALED, SPLIT)
"""What the cheater does: nothing; rank 0 for all its flows; a hundredth of their sizes as ranks, which keeps their
order; `PARTS` flows for each flow above `SPLIT_BYTES`, with their own sizes as ranks."""
SCALE, PARTS, SPLIT_BYTES = 100, 4, 10_000
TRANSPORT = {"control": "new_reno"}
FIRST_LEAF = 2
"""Number of the first tenant's leaf in the tree; the root is 0, and 1 has the acknowledgements."""
FIGURES = ("cheater", "others", "cheater_large", "others_large", "slowdown")
"""Mean slowdown of the flows of the cheating tenant, of the other tenants' flows, of the large ones among each, and of
all."""
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Traffic:
    """Flows of a run, and the flow that each was before it was split."""

    flows: Sequence[simulate.Flow]
    origin: Whole
    before: simulate.Array
    """The flows before any was split."""


def traffic(flows: simulate.Array, behaviour: str) -> Traffic:
    """The flows as the tenants send them."""
    sent, origin = [], []
    for number, flow in enumerate(flows):
        tenant = int(leaf_spine.host_numbers(flow["source"])) % TENANTS
        cheats = tenant == CHEATER
        size = int(flow["bytes"])
        parts = PARTS if cheats and behaviour == SPLIT and size > SPLIT_BYTES else 1
        for part in (size * (place + 1) // parts - size * place // parts for place in range(parts)):
            sent.append(
                simulate.Flow(
                    str(flow["source"]),
                    str(flow["destination"]),
                    part,
                    int(flow["start_ns"]),
                    rank=rank(part, behaviour if cheats else HONEST),
                    user=FIRST_LEAF + tenant,
                )
            )
            origin.append(number)
    return Traffic(sent, np.array(origin, np.int64), flows)


def rank(size: int, behaviour: str) -> int:
    """Rank of a flow of a tenant that behaves so."""
    return {URGENT: 0, SCALED: size // SCALE}.get(behaviour, size)


def measure(sent: Traffic, result: simulate.Result) -> dict[str, float]:
    """`FIGURES` of a run. A flow is complete when its last part is."""
    before = sent.before
    took = np.zeros(len(before))
    np.maximum.at(took, sent.origin, result.flows["restricted_s"])
    source, destination = (leaf_spine.host_numbers(before[end]) for end in ("source", "destination"))
    hosts = leaf_spine.HOSTS
    size = before["bytes"].astype(np.int64)
    slowdown = took / leaf_spine.alone_s(size, source // hosts == destination // hosts)
    cheats, large = source % TENANTS == CHEATER, size >= leaf_spine.LARGE_BYTES
    return {
        "cheater": leaf_spine.mean(slowdown[cheats]),
        "others": leaf_spine.mean(slowdown[~cheats]),
        "cheater_large": leaf_spine.mean(slowdown[cheats & large]),
        "others_large": leaf_spine.mean(slowdown[~cheats & large]),
        "slowdown": leaf_spine.mean(slowdown),
    }


@dataclass(frozen=True)
class TenantRun:
    """A run of the tenants."""

    ports: simulate.Ports
    load: float
    behaviour: str
    duration_ns: int
    seed: int

    def inputs(self) -> Any:
        """The settings, and the simulator."""
        ports = {name: value for name, value in vars(self.ports).items() if value is not None}
        settings = [self.load, self.behaviour, self.duration_ns, self.seed, TENANTS, SCALE, PARTS, SPLIT_BYTES]
        return ["tenants", binary_hash(simulate.BINARY), ports, settings]

    async def figures(self, folder: Path) -> Figures:
        """Runs the simulator."""
        sent = traffic(leaf_spine.listed(self.load, self.duration_ns, self.seed), self.behaviour)
        scenario = leaf_spine.scenario(
            self.ports, TRANSPORT, self.load, self.duration_ns, self.seed, ranks="flow"
        ).with_(flows=sent.flows)
        return measure(sent, await simulate.run_async(scenario, folder))
