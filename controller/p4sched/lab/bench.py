"""A network with one scheme on it, observed: what the measurements of most experiments have in common."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from p4sched.control.loop import Loop, controlled
from p4sched.lab.experiment import KeptT, SchemeOutcome, Stage
from p4sched.lab.measurement import ReadBytes, departures_of
from p4sched.lab.network import Dumbbell
from p4sched.lab.observation import Observation, Observer
from p4sched.lab.programming import Testbed, programmed
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import Iperf3Traffic
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.session import Session
from p4sched.schemes import Setup


@dataclass
class Bench:
    """A running scheme. The traffic and the control loops that start on it also end with it."""

    stage: Stage
    network: Dumbbell
    link: Link
    testbed: Testbed
    label: str
    _ends: AsyncExitStack
    decisions: Mapping[str, int] = field(default_factory=dict)
    """What the program admitted and dropped."""
    _observer: Observer | None = None
    _observation: Observation | None = None

    @property
    def users(self) -> list[int]:
        """Ids of the users, in the order of the network's seats."""
        return [seat.user for seat in self.network.seats]

    @property
    def session(self) -> Session:
        """With the switch."""
        return self.testbed.session

    def generated_traffic(self, part: str = "traffic") -> GeneratedTraffic:
        """Traffic of p4sched-traffic, whose records lie in a part of the scheme's folder."""
        return self._ends.enter_context(GeneratedTraffic(self.network, self.stage.lab, self.stage.folder / part))

    def iperf3(self, congestion_control: str) -> Iperf3Traffic:
        """Traffic of iperf3."""
        folder = self.stage.folder / "iperf3"
        return self._ends.enter_context(Iperf3Traffic(self.network, self.stage.lab, folder, congestion_control))

    async def control(self, loop: Loop) -> None:
        """Runs a control loop from now on."""
        await self._ends.enter_async_context(controlled(loop))

    def delivered(self) -> ReadBytes:
        """Reads what was delivered for each user."""
        return departures_of(self.session, self.users)

    async def observe(self, tail_drop: bool = False) -> None:
        """Begins to measure. `tail_drop`: also counts what the program of FIFO or FDPA drops itself."""
        reader = self.session if tail_drop else None
        self._observer = await Observer.start(self.network, self.testbed.traffic_manager, self.link, reader)

    async def observed(self) -> None:
        """Ends the measuring."""
        assert self._observer is not None, "observe() comes first"
        self._observation = await self._observer.finish()

    def outcome(
        self, found: Mapping[str, Any], unmeasured: Sequence[str] = (), kept: KeptT | None = None
    ) -> SchemeOutcome[KeptT]:
        """What was measured. `unmeasured` says what is missing, in a sentence each."""
        assert self._observation is not None, "observed() comes first"
        seen = self._observation.but(unmeasured)
        return SchemeOutcome(found, seen, self.label, self.decisions, self.testbed.notes, kept)  # type: ignore[arg-type]


@asynccontextmanager
async def bench(
    stage: Stage,
    network: AbstractContextManager[Dumbbell],
    scheme: Setup,
    link: Link,
    source: RankSource | None = None,
    weights: Sequence[float] = (),
) -> AsyncIterator[Bench]:
    """Brings up the network with a scheme on it.

    Packets get ranks from `source`, if there is one. `weights` are those of the users; without them each has 1.
    """
    scheme = scheme.on(stage.target)
    with network as up:
        users = [seat.user for seat in up.seats]
        if source is None:
            running = programmed(up, scheme, link, dict(zip(users, weights or [1.0] * len(users), strict=True)))
        else:
            running = ranked_testbed(up, scheme, link, source, users)
        async with running as testbed, AsyncExitStack() as ends:
            found = Bench(stage, up, link, testbed, scheme.label, ends)
            yield found
            found.decisions = await decisions(testbed.session, up.bottleneck_port)
