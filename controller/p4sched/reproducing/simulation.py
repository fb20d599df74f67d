"""A run of p4sched-simulate for a published figure."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from p4sched import simulate
from p4sched.reproducing.figure import Metrics

SOURCES = tuple(f"switch/{crate}/src" for crate in ("simulator", "schedulers", "traffic-manager", "transport", "world"))
"""What decides the results of the simulator."""


@dataclass(frozen=True)
class Simulation:
    """A scenario, and the function that makes the numbers from its result: one with a name in a module, or a partial of
    one, so that a worker of Dask can call it."""

    scenario: Mapping[str, Any]
    measure: Callable[[simulate.Result], Metrics]
    seed: int
    work: float
    """Gigabytes that the network carries at most."""

    @property
    def inputs(self) -> str:
        """Hash of scenario and function."""
        called = self.measure if isinstance(self.measure, partial) else partial(self.measure)
        record = json.dumps([self.scenario, called.func.__qualname__, called.args], sort_keys=True)
        return sha256(record.encode()).hexdigest()[:16]

    async def make(self, folder: Path) -> Metrics:
        """The numbers of the run."""
        result = await simulate.run_async(self.scenario, folder)
        return await asyncio.to_thread(self.measure, result)
