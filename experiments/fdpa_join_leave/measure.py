"""Measurement of one run: 4 users, then 8, then 4 again, with a probe all the time; at the end, parameter changes at
full speed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from experiments.fdpa_join_leave.result import PROBE_PACKETS_PER_S, STAYING, USERS, Change, Result, Setting
from experiments.fdpa_join_leave.summary import summarise
from p4sched.clock import now_ns, time_of_day
from p4sched.control.bands import Bands
from p4sched.control.decision_log import logged_decisions
from p4sched.control.laws import fdpa
from p4sched.lab import schemes
from p4sched.lab.bench import Bench, bench
from p4sched.lab.controllers import SwitchController
from p4sched.lab.experiment import SchemeOutcome, Stage
from p4sched.lab.measurement import Sample, sample_rates, unmeasured
from p4sched.lab.programming import user_of
from p4sched.lab.traffic import LongTraffic, Transfer, transfers

SAMPLE_S = 0.1
SETTLE_S = 2
"""Time before the first phase, so that it does not contain the start of TCP."""
JOINING_S = 30
"""Limit of the time to add the joining users to the switch on a busy machine. The other users send meanwhile."""
STRESS_CHANGES = 200
STRESS_PERIOD_S = 0.01


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[Result]:
    """Runs the three phases on a fresh network."""
    scheme = schemes.scheme("fdpa", setting.link, setting.bands)
    network = stage.lab.dumbbell(USERS, stage.folder)
    law, staying = setting.law_config(), [1.0] * STAYING
    async with bench(stage, network, scheme, setting.link, weights=staying, law=law) as running:
        plan = transfers(running.network.seats, [1] * USERS)
        traffic = await running.long_traffic(setting.congestion_control)
        await traffic.serve(plan)
        async with running.network.probe(PROBE_PACKETS_PER_S) as probe:
            await probe.start()
            samples, joined_at = await _three_phases(running, setting, traffic, plan)
            stage.tell("changing parameters at full speed")
            stress = await _stress(running.controller, setting)
            record = await probe.finish()
    sampled_until = samples[-1].end
    changes = [change for change in changes_in(running.decision_log, setting.bands) if change.at <= sampled_until]
    result = Result(samples, changes, joined_at, stress, record)
    outcome = running.outcome(summarise(result), unmeasured(samples, running.users), result)
    return replace(outcome, label=None, decisions=None)


async def _three_phases(
    running: Bench, setting: Setting, traffic: LongTraffic, plan: Sequence[Transfer]
) -> tuple[list[Sample], float]:
    """Runs 4, 8 and 4 users; returns the samples, and the start of the joining clients."""
    staying, joining = plan[:STAYING], plan[STAYING:]
    joining_users = [user_of(transfer.seat) for transfer in joining]
    phase = setting.phase_s
    samples: list[Sample] = []

    async def watch(text: str) -> None:
        begun = len(samples)

        def on_sample(sample: Sample) -> None:
            running.network.check_alive()
            # the joining clients end by themselves
            traffic.check_failures()
            samples.append(sample)
            running.stage.tell(f"{text}  {(len(samples) - begun) * SAMPLE_S:.1f} s")

        await sample_rates(running.delivered(), running.users, round(phase / SAMPLE_S), SAMPLE_S, on_sample)

    await traffic.send(staying, SETTLE_S + 3 * phase + JOINING_S)
    await asyncio.sleep(SETTLE_S)
    await running.observe(tail_drop=True)
    await watch("4 users")
    await running.controller.add(joining_users)
    joined_at = asyncio.get_running_loop().time()
    await traffic.send(joining, phase)
    await watch("8 users")
    await watch("4 users again")
    await running.observed()
    await traffic.stop()
    await running.controller.remove(joining_users)
    return samples, joined_at


def changes_in(log: Path, bands: Bands) -> list[Change]:
    """The changes of the edges in the decision log."""
    since_boot = now_ns() / 1e9 - time_of_day().timestamp()
    changes = []
    for decision in logged_decisions(log):
        parameters = decision["parameters"]
        if decision["changed"]:
            rates = [parameters[f"edge_{q}"] * 8e6 / parameters["interval_us"] for q in range(1, bands.further + 1)]
            confirmed = datetime.fromisoformat(decision["wall"]).timestamp() + since_boot
            changes.append(Change(confirmed, len(decision["active"]), tuple(rates)))
    return changes


async def _stress(controller: SwitchController, setting: Setting) -> tuple[float, float, int]:
    """Changes parameters at full speed while only the probe sends, so that all its losses come from the changes."""
    config = setting.law_config()
    parameters = [fdpa.parameters_for(config, float(weight)) for weight in (STAYING, USERS)]
    await controller.set_parameters(parameters[1])
    start = asyncio.get_running_loop().time()
    for number in range(STRESS_CHANGES):
        await controller.set_parameters(parameters[number % 2])
        await asyncio.sleep(STRESS_PERIOD_S)
    return start, asyncio.get_running_loop().time(), STRESS_CHANGES
