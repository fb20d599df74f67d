"""One run: 4 users, then 8, then 4 again, with a probe all the while; at the end parameter changes at full speed."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from p4sched.control.bands import Bands
from p4sched.control.fdpa_loop import FdpaLoop, Update
from p4sched.control.laws import fdpa
from p4sched.control.loop import controlled
from p4sched.lab import schemes
from p4sched.lab.ledger import Ledger
from p4sched.lab.measurement import Sample, departures_of, sample_rates, unmeasured
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observation, Observer
from p4sched.lab.probe import ProbeRecord
from p4sched.lab.probe_stream import ProbeStream
from p4sched.lab.programming import programmed
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import Iperf3Traffic, transfers
from p4sched.p4rt.session import Session

STAYING = 4
JOINING = 4
USERS = STAYING + JOINING
SAMPLE_S = 0.1
SETTLE_S = 2
"""Before the first phase: TCP's start is not what is shown."""
PROBE_PACKETS_PER_S = 500
STRESS_CHANGES = 200
STRESS_PERIOD_S = 0.01


@dataclass(frozen=True)
class Change:
    """The edges that came into force, and when the switch had confirmed them."""

    at: float
    """Seconds, monotonic."""
    active: int
    """Users that the controller counted."""
    edges_bps: tuple[float, ...]
    """Upper edge of each band but the open one, as a rate."""


@dataclass(frozen=True)
class Result:
    """What was measured. All times are seconds of CLOCK_MONOTONIC."""

    samples: Sequence[Sample]
    changes: Sequence[Change]
    joined_at: float
    """When the clients of the joining users were started."""
    stress: tuple[float, float, int]
    """Start, end and number of the parameter changes at full speed, without other traffic."""
    probe: ProbeRecord
    observation: Observation
    notes: tuple[str, ...] = ()
    """What of the link was not emulated."""


@dataclass(frozen=True)
class Setting:
    """What was asked for."""

    link: Link
    bands: Bands
    interval_us: int
    phase_s: int
    switch: str
    congestion_control: str

    def law_config(self) -> fdpa.Config:
        """The control law's view."""
        return fdpa.Config(
            capacity_bps=self.link.rate_bps,
            bands=self.bands,
            interval_us=self.interval_us,
            rtt_ns=self.link.rtt_ns,
        )


async def measure(setting: Setting, ledger: Ledger, folder: Path, tell: Callable[[str, float], None]) -> Result:
    """Brings up the network, runs the three phases, and takes everything down again."""
    tell("starting", 0)
    with dumbbell(ledger, USERS, setting.switch, folder) as network:
        return await _measure_on(network, setting, ledger, folder, tell)


async def _measure_on(
    network: Dumbbell, setting: Setting, ledger: Ledger, folder: Path, tell: Callable[[str, float], None]
) -> Result:
    changes: list[Change] = []
    plan = transfers(network.seats, [1] * USERS)
    staying, joining = plan[:STAYING], plan[STAYING:]
    users = [seat.user for seat in network.seats]
    weights = dict.fromkeys(users, 1.0)
    phase = setting.phase_s
    async with AsyncExitStack() as stack:
        scheme = schemes.scheme("fdpa", setting.link, setting.bands)
        testbed = await stack.enter_async_context(programmed(network, scheme, setting.link, weights))
        traffic = stack.enter_context(Iperf3Traffic(network, ledger, folder / "iperf3", setting.congestion_control))
        await traffic.serve(plan)
        probe = stack.enter_context(ProbeStream(network, PROBE_PACKETS_PER_S))
        await probe.start()

        loop = FdpaLoop(
            testbed.session, setting.law_config(), log=folder / "decisions.jsonl", on_update=_recorder(setting, changes)
        )
        read = departures_of(testbed.session, users)
        samples: list[Sample] = []

        async def watch(text: str, seconds: int) -> None:
            begun = len(samples)

            def on_sample(sample: Sample) -> None:
                network.check_alive()
                # those that join end by themselves
                traffic.check_failures()
                samples.append(sample)
                tell(text, (len(samples) - begun) * SAMPLE_S)

            await sample_rates(read, users, round(seconds / SAMPLE_S), SAMPLE_S, on_sample)

        async with controlled(loop):
            traffic.send(staying, SETTLE_S + 3 * phase)
            await asyncio.sleep(SETTLE_S)
            observer = await Observer.start(network, testbed.traffic_manager, setting.link, testbed.session)
            await watch("4 users", phase)
            joined_at = time.monotonic()
            traffic.send(joining, phase)
            await watch("8 users", phase)
            await watch("4 users again", phase)
            observation = await observer.finish()
        traffic.stop()
        tell("changing parameters at full speed", 0)
        stress = await _stress(testbed.session, setting)
        record = await probe.finish()
    seen = observation.but(unmeasured(samples, users))
    return Result(samples, changes, joined_at, stress, record, seen, testbed.notes)


def _recorder(setting: Setting, changes: list[Change]) -> Callable[[Update], None]:
    def on_update(update: Update) -> None:
        parameters = update.decision.parameters
        if update.written and parameters is not None:
            edges = parameters.edges[: setting.bands.further]
            rates = tuple(edge * 8e6 / parameters.interval_us for edge in edges)
            changes.append(Change(time.monotonic(), len(update.decision.active), rates))

    return on_update


async def _stress(session: Session, setting: Setting) -> tuple[float, float, int]:
    """Parameter changes in quick succession while only the probe flows: whatever it loses, the changes lost."""
    config = setting.law_config()
    data = [fdpa.parameters_for(config, float(weight)).action_data() for weight in (STAYING, USERS)]
    start = time.monotonic()
    for number in range(STRESS_CHANGES):
        await session.set_default_action(fdpa.Parameters.table, fdpa.Parameters.action, data[number % 2])
        await asyncio.sleep(STRESS_PERIOD_S)
    return start, time.monotonic(), STRESS_CHANGES
