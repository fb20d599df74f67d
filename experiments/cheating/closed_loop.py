"""A tenant who tries lies, sees its own rate, and keeps the lie that pays best."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cheating import tenants
from experiments.cheating.tenants import HONEST, LIES, TENANTS
from p4sched import simulate
from p4sched.sweep import leaf_spine
from p4sched.sweep.tuned import Figures, binary_hash

ROUNDS, KEPT = 2, 10
"""Epochs in which the tenant tries each lie, and epochs after that, in which it keeps the best one so far."""
EPOCH_NS = 20_000_000
"""Time in which flows of an epoch start."""
RATES = ("own_rate", "others_rate", "others_slowdown")
"""Bytes over the sum of the completion times, of the adaptive tenant and of the others, and the others' mean slowdown,
in the epochs after the trials. `honest_` and the name: of the same flows with an honest tenant."""
FIGURES = (*RATES, *(f"honest_{name}" for name in RATES), *(f"kept_{lie}" for lie in LIES))
"""`kept_` and a lie: share of the epochs in which the tenant kept it."""


@dataclass(frozen=True)
class ClosedLoopRun:
    """The epochs of an adaptive tenant, each with other flows."""

    ports: simulate.Ports
    load: float
    equal: Fraction | None
    seed: int

    def inputs(self) -> Any:
        """The settings, and the simulator."""
        ports = {name: value for name, value in vars(self.ports).items() if value is not None}
        lies = {name: [lie.divisor, lie.parts] for name, lie in LIES.items()}
        settings = [self.load, str(self.equal), self.seed, ROUNDS, KEPT, EPOCH_NS, TENANTS, tenants.SPLIT_BYTES]
        return ["closed loop", binary_hash(simulate.BINARY), ports, lies, settings]

    async def figures(self, folder: Path) -> Figures:
        """Runs the simulator for each epoch."""
        seen: dict[str, list[float]] = {lie: [] for lie in LIES}
        epoch = 0
        for _ in range(ROUNDS):
            for lie in LIES:
                seen[lie].append((await self._epoch(lie, epoch, folder))["own_rate"])
                epoch += 1
        found: dict[str, list[float]] = {name: [] for name in FIGURES}
        for _ in range(KEPT):
            kept = best(seen)
            now = await self._epoch(kept, epoch, folder)
            honest = now if kept == HONEST else await self._epoch(HONEST, epoch, folder)
            seen[kept].append(now["own_rate"])
            for name in RATES:
                found[name].append(now[name])
                found[f"honest_{name}"].append(honest[name])
            for lie in LIES:
                found[f"kept_{lie}"].append(float(lie == kept))
            epoch += 1
        return {name: float(np.mean(values)) for name, values in found.items()}

    async def _epoch(self, lie: str, epoch: int, folder: Path) -> Mapping[str, float]:
        seed = 1000 * self.seed + epoch
        flows = leaf_spine.listed(self.load, EPOCH_NS, seed)
        sent = tenants.traffic(flows, lie, EPOCH_NS, self.equal)
        scenario = leaf_spine.scenario(self.ports, tenants.TRANSPORT, self.load, EPOCH_NS, seed, ranks="flow")
        run = folder / f"{epoch}-{lie}"
        run.mkdir()
        charged = tenants.charge_answers(self.ports)
        result = await simulate.run_async(scenario.with_(flows=sent.flows, charge_answers=charged), run)
        took = tenants.completion_s(sent, result)
        own = leaf_spine.host_numbers(flows["source"]) % TENANTS == 0
        size = flows["bytes"].astype(np.int64)
        return {
            "own_rate": float(size[own].sum() / took[own].sum()),
            "others_rate": float(size[~own].sum() / took[~own].sum()),
            "others_slowdown": tenants.measure(sent, result)["others"],
        }


def best(seen: Mapping[str, list[float]]) -> str:
    """The lie with the highest mean rate so far; the first of several."""
    return max(seen, key=lambda lie: float(np.mean(seen[lie])))
