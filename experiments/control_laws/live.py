"""The same packets through the lab: the P4Runtime controller in the loop, and a few static settings."""

import asyncio
import csv
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.control_laws.comparison import deadlines
from experiments.control_laws.phases import PHASES, flows
from experiments.control_laws.score import Ideal
from experiments.control_laws.settings import QUEUE_PACKETS, Setting, config
from p4sched.control.loop import controlled
from p4sched.control.ranked_loop import RankedLoop
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observation, Observer
from p4sched.lab.ranked_run import SchemeOutcome, Tell
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.ranked_traffic import RANK_PORT, GeneratedTraffic
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import Setup, named

LEAD_S = 0.5
DRAIN_S = 1.5


@dataclass(frozen=True)
class Plan:
    """What every live run has in common."""

    link: Link
    phase_s: float
    seed: int
    deadline_ns: int
    ideal: Ideal


async def measure(
    plan: Plan, name: str, settings: Sequence[Setting], switch: str, ledger: Ledger, folder: Path, tell: Tell
) -> SchemeOutcome:
    """The tuned scheme, then each setting, each on a fresh network."""
    found: dict[str, Any] = {}
    observations: list[Observation] = []
    counted: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    runs: list[Setting | None] = [None, *settings]
    for number, setting in enumerate(runs):
        label = "tuned" if setting is None else setting.label
        place = folder / ("tuned" if setting is None else f"static_{number}")

        def tell_of(text: str, label: str = label) -> None:
            tell(f"{label}: {text}")

        with dumbbell(ledger, 1, switch, place, hosts=1) as network:
            outcome = await _run(plan, name, setting, network, ledger, place, tell_of)
        found[label] = {**outcome.found, "fidelity": outcome.observation.fidelity.summary()}
        observations.append(outcome.observation)
        if setting is None:
            counted, notes = dict(outcome.decisions), tuple(outcome.notes)
    # one run that cannot be believed makes the comparison one that cannot
    worst = max(observations, key=lambda observation: len(observation.fidelity.doubts()))
    return SchemeOutcome({"live": found}, worst, "tuned and static", counted, notes)


async def _run(
    plan: Plan, name: str, setting: Setting | None, network: Dumbbell, ledger: Ledger, folder: Path, tell: Tell
) -> SchemeOutcome:
    ranked = _scheme(name, setting)
    seat = network.seats[0]
    planned = flows(plan.link.rate_bps, plan.phase_s, seat.address, network.server_address, LEAD_S)
    seconds = LEAD_S + plan.phase_s * len(PHASES)
    received = folder / "received.csv"
    async with AsyncExitStack() as stack:
        testbed = await stack.enter_async_context(
            ranked_testbed(network, ranked, plan.link, RankSource.HEADER, [seat.user])
        )
        traffic = stack.enter_context(GeneratedTraffic(network, ledger, folder / "traffic"))
        await traffic.receive_udp([RANK_PORT], seconds + DRAIN_S, received)
        if setting is None:
            law_config = config(name, plan.link.rate_bps, plan.deadline_ns)
            log = folder / "decisions.jsonl"
            loop = RankedLoop(testbed.session, law_config, network.bottleneck_port, log=log)
            await stack.enter_async_context(controlled(loop))
        observer = await Observer.start(network, testbed.traffic_manager, plan.link)
        sending = traffic.send_udp(seat.host, planned, plan.seed)
        tell(f"sending for {seconds:g} s")
        sent = await traffic.report(sending, seconds + 10)
        network.check_alive()
        await asyncio.sleep(DRAIN_S / 3)
        observation = await observer.finish()
        await traffic.report("receive", DRAIN_S + 10)
        counted = await decisions(testbed.session, network.bottleneck_port)
    propagation_ns = plan.link.rtt_ns - plan.link.rtt_ns // 2
    scores = plan.ideal.scores_of_received(read_delays(received, propagation_ns), deadlines(name, plan.deadline_ns))
    found = {
        "phases": [asdict(score) for score in scores],
        "refused_by_sender": sum(report["refused"] for report in sent),
    }
    received.unlink()
    silent = [phase.name for phase, score in zip(PHASES, scores, strict=True) if not score.throughput]
    seen = observation.but([f"no packet of phase '{name}' was received" for name in silent])
    return SchemeOutcome(found, seen, "", counted, testbed.notes)


def read_delays(path: Path, propagation_ns: int) -> dict[tuple[int, int], int]:
    """Delay in ns of each packet in a receiver's log, without the propagation delay, by (flow, sequence)."""
    with path.open(newline="") as file:
        return {
            (int(row["flow"]), int(row["sequence"])): int(row["received_ns"]) - int(row["sent_ns"]) - propagation_ns
            for row in csv.DictReader(file)
        }


def _scheme(name: str, setting: Setting | None) -> Setup:
    """Queues with room for every setting. The tuned scheme starts from the program's own parameters."""
    scheme = named(name)
    return Setup(scheme, scheme.layout() if setting is None else setting.parameters, room=QUEUE_PACKETS)
