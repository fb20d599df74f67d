"""One run: 4 users, then 8, then 4 again, with a probe all the while; at the end parameter changes at full speed."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from experiments.fdpa_join_leave.recorded import PROBE_PACKETS_PER_S, STAYING, USERS, Change, Result, Setting
from experiments.fdpa_join_leave.summary import summarise
from p4sched.control.fdpa_loop import FdpaLoop, Update
from p4sched.control.laws import fdpa
from p4sched.control.loop import controlled
from p4sched.lab import schemes
from p4sched.lab.bench import Bench, bench
from p4sched.lab.experiment import SchemeOutcome, Stage
from p4sched.lab.measurement import Sample, sample_rates, unmeasured
from p4sched.lab.network import dumbbell
from p4sched.lab.probe_stream import ProbeStream
from p4sched.lab.traffic import Iperf3Traffic, Transfer, transfers
from p4sched.p4rt.session import Session

SAMPLE_S = 0.1
SETTLE_S = 2
"""Before the first phase: TCP's start is not what is shown."""
STRESS_CHANGES = 200
STRESS_PERIOD_S = 0.01


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[Result]:
    """Brings up the network, runs the three phases, and takes everything down again."""
    scheme = schemes.scheme("fdpa", setting.link, setting.bands)
    network = dumbbell(stage.lab, USERS, stage.switch, stage.folder)
    async with bench(stage, network, scheme, setting.link) as running:
        plan = transfers(running.network.seats, [1] * USERS)
        traffic = running.iperf3(setting.congestion_control)
        await traffic.serve(plan)
        with ProbeStream(running.network, PROBE_PACKETS_PER_S) as probe:
            await probe.start()
            samples, changes, joined_at = await _three_phases(running, setting, traffic, plan)
            stage.tell("changing parameters at full speed")
            stress = await _stress(running.session, setting)
            record = await probe.finish()
    result = Result(samples, changes, joined_at, stress, record)
    outcome = running.outcome(summarise(result), unmeasured(samples, running.users), result)
    return replace(outcome, label=None, decisions=None)


async def _three_phases(
    running: Bench, setting: Setting, traffic: Iperf3Traffic, plan: Sequence[Transfer]
) -> tuple[list[Sample], list[Change], float]:
    """4 users, 8 users, 4 users: samples, changes of the edges, and when the joining clients were started."""
    staying, joining = plan[:STAYING], plan[STAYING:]
    phase = setting.phase_s
    samples: list[Sample] = []
    changes: list[Change] = []

    async def watch(text: str) -> None:
        begun = len(samples)

        def on_sample(sample: Sample) -> None:
            running.network.check_alive()
            # those that join end by themselves
            traffic.check_failures()
            samples.append(sample)
            running.stage.tell(f"{text}  {(len(samples) - begun) * SAMPLE_S:.1f} s")

        await sample_rates(running.delivered(), running.users, round(phase / SAMPLE_S), SAMPLE_S, on_sample)

    log = running.stage.folder / "decisions.jsonl"
    loop = FdpaLoop(running.session, setting.law_config(), log=log, on_update=_recorder(setting, changes))
    async with controlled(loop):
        traffic.send(staying, SETTLE_S + 3 * phase)
        await asyncio.sleep(SETTLE_S)
        await running.observe(tail_drop=True)
        await watch("4 users")
        joined_at = time.monotonic()
        traffic.send(joining, phase)
        await watch("8 users")
        await watch("4 users again")
        await running.observed()
    traffic.stop()
    return samples, changes, joined_at


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
