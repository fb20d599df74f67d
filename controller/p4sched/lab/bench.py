"""A network with one scheme on it, and its measurement: the common part of most experiments."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p4sched.lab.controllers import Laws, SwitchController
from p4sched.lab.experiment import RecordsT, SchemeOutcome, Stage
from p4sched.lab.measurement import ReadBytes, departures_of
from p4sched.lab.network import Dumbbell
from p4sched.lab.observation import Observation, Observer
from p4sched.lab.onos import controllers_of
from p4sched.lab.programming import Testbed, program_network
from p4sched.lab.ranked_schemes import decisions
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import LongTraffic
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.reader import Reader
from p4sched.scheme import Setup


@dataclass
class Bench:
    """A running scheme. Traffic that starts on it also ends with it."""

    stage: Stage
    network: Dumbbell
    link: Link
    testbed: Testbed
    label: str
    _ends: AsyncExitStack
    decisions: Mapping[str, int] = field(default_factory=dict)
    """Packets that the program admitted and dropped."""
    _observer: Observer | None = None
    _observation: Observation | None = None

    @property
    def users(self) -> list[int]:
        """Ids of the users, in the order of the network's seats."""
        return [seat.user for seat in self.network.seats]

    @property
    def reader(self) -> Reader:
        """Reads from the switch."""
        return self.testbed.reader

    @property
    def controller(self) -> SwitchController:
        """Controller of the switch."""
        return self.testbed.controller

    @property
    def decision_log(self) -> Path:
        """Decision log of the control law."""
        return self.controller.logs[self.network.bottleneck_port]

    async def generated_traffic(self, part: str = "traffic") -> GeneratedTraffic:
        """Traffic of the generator, with its records in a subfolder of the scheme's folder."""
        return await self._ends.enter_async_context(self.network.generated_traffic(self.stage.folder / part))

    async def long_traffic(self, congestion_control: str) -> LongTraffic:
        """TCP flows that last until they are stopped."""
        traffic = self.network.long_traffic(self.stage.folder / "iperf3", congestion_control)
        return await self._ends.enter_async_context(traffic)

    def delivered(self) -> ReadBytes:
        """Reads what was delivered for each user."""
        return departures_of(self.reader, self.users)

    async def observe(self, tail_drop: bool = False) -> None:
        """Begins to measure. `tail_drop`: also counts packets that the program drops."""
        reader = self.reader if tail_drop else None
        self._observer = await Observer.start(self.network, self.testbed.traffic_manager, self.link, reader)

    async def observed(self) -> None:
        """Ends the measurement."""
        assert self._observer is not None, "observe() comes first"
        self._observation = await self._observer.finish()

    def outcome(
        self, summary: Mapping[str, Any], unmeasured: Sequence[str] = (), records: RecordsT | None = None
    ) -> SchemeOutcome[RecordsT]:
        """Outcome of the measurement. `unmeasured`: a sentence for each missing part."""
        assert self._observation is not None, "observed() comes first"
        observation = self._observation.but(unmeasured)
        return SchemeOutcome(summary, observation, self.label, self.decisions, self.testbed.notes, records)  # type: ignore[arg-type]


@asynccontextmanager
async def bench(
    stage: Stage,
    network: AbstractAsyncContextManager[Dumbbell],
    scheme: Setup,
    link: Link,
    source: RankSource | None = None,
    weights: Sequence[float] = (),
    law: Any = None,
    per_port: bool = False,
) -> AsyncIterator[Bench]:
    """Brings up the network with a scheme on it.

    Packets get ranks from `source`, if there is one. `weights` are the weights of the first users; only these users
    are added. Without weights, all users are added with weight 1. `law` is the configuration of the control law that
    follows the bottleneck; `per_port`: it sets the parameters of this port only.
    """
    scheme = scheme.on(stage.target)
    async with network as up:
        users = [seat.user for seat in up.seats]
        running = program_network(
            up,
            scheme,
            link,
            dict(zip(users, weights or [1.0] * len(users), strict=False)),
            source=source,
            parameters=None if source is None else scheme.parameters,
            laws=None if law is None else Laws({up.bottleneck_port: law}, stage.folder, per_port),
            controllers=controllers_of(stage),
        )
        async with running as testbed, AsyncExitStack() as ends:
            running_bench = Bench(stage, up, link, testbed, scheme.label, ends)
            yield running_bench
            running_bench.decisions = await decisions(testbed.reader, up.bottleneck_port)
