"""Sends the same packets through the lab, with the P4Runtime controller, and with a few static settings."""

import asyncio
import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.control_laws.comparison import deadlines
from experiments.control_laws.phases import PHASES, flows
from experiments.control_laws.score import Ideal
from experiments.control_laws.settings import QUEUE_PACKETS, Setting, config
from p4sched.constants import RANK_PORT
from p4sched.lab.bench import bench
from p4sched.lab.experiment import SchemeOutcome, Stage
from p4sched.lab.observation import Observation
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.scheme import Setup
from p4sched.schemes import find_scheme

LEAD_S = 0.5
DRAIN_S = 1.5


@dataclass(frozen=True)
class Plan:
    """Common settings of all live runs."""

    link: Link
    phase_s: float
    seed: int
    deadline_ns: int
    ideal: Ideal


async def measure(plan: Plan, settings: Sequence[Setting], stage: Stage) -> SchemeOutcome[None]:
    """Measures the tuned scheme, then each setting, each on a fresh network."""
    found: dict[str, Any] = {}
    outcomes: list[SchemeOutcome[None]] = []
    observations: list[Observation] = []
    runs: list[Setting | None] = [None, *settings]
    for number, setting in enumerate(runs):
        label = "tuned" if setting is None else setting.label

        def tell_of(text: str, label: str = label) -> None:
            stage.tell(f"{label}: {text}")

        place = stage.folder / ("tuned" if setting is None else f"static_{number}")
        outcome = await _run(plan, setting, replace(stage, folder=place, tell=tell_of))
        assert outcome.observation is not None
        found[label] = {**outcome.summary, "fidelity": outcome.observation.fidelity.summary()}
        outcomes.append(outcome)
        observations.append(outcome.observation)
    # one invalid run makes the comparison invalid
    worst = max(observations, key=lambda observation: len(observation.fidelity.doubts()))
    return replace(outcomes[0], summary={"live": found}, observation=worst, label="tuned and static")


async def _run(plan: Plan, setting: Setting | None, stage: Stage) -> SchemeOutcome[None]:
    name = stage.name
    seconds = LEAD_S + plan.phase_s * len(PHASES)
    received = stage.folder / "received.csv"
    network = stage.lab.dumbbell(1, stage.folder, hosts=1)
    law = config(name, plan.link.rate_bps, plan.deadline_ns) if setting is None else None
    async with bench(stage, network, _scheme(name, setting), plan.link, RankSource.HEADER, law=law) as running:
        up, traffic = running.network, await running.generated_traffic()
        seat = up.seats[0]
        planned = flows(plan.link.rate_bps, plan.phase_s, seat.address, up.server_address, LEAD_S)
        await traffic.receive_udp([RANK_PORT], seconds + DRAIN_S, received)
        await running.observe()
        sending = await traffic.send_udp(seat.host, planned, plan.seed)
        stage.tell(f"sending for {seconds:g} s")
        sent = await traffic.report(sending, seconds + 10)
        up.check_alive()
        await asyncio.sleep(DRAIN_S / 3)
        await running.observed()
        await traffic.report("receive", DRAIN_S + 10)
    propagation_ns = plan.link.rtt_ns - plan.link.rtt_ns // 2
    scores = plan.ideal.scores_of_received(read_delays(received, propagation_ns), deadlines(name, plan.deadline_ns))
    received.unlink()
    found = {
        "phases": [asdict(score) for score in scores],
        "refused_by_sender": sum(report["refused"] for report in sent),
    }
    silent = [phase.name for phase, score in zip(PHASES, scores, strict=True) if not score.throughput]
    return running.outcome(found, [f"no packet of phase '{phase}' was received" for phase in silent])


def read_delays(path: Path, propagation_ns: int) -> dict[tuple[int, int], int]:
    """Delay in ns of each packet in a receiver's log, without the propagation delay, by (flow, sequence)."""
    with path.open(newline="") as file:
        return {
            (int(row["flow"]), int(row["sequence"])): int(row["received_ns"]) - int(row["sent_ns"]) - propagation_ns
            for row in csv.DictReader(file)
        }


def _scheme(name: str, setting: Setting | None) -> Setup:
    """A setup with room in the queues for every setting. The tuned scheme starts from the program's own parameters."""
    scheme = find_scheme(name)
    return Setup(scheme, scheme.layout() if setting is None else setting.parameters, room=QUEUE_PACKETS)
