"""One scheme, from an empty machine to its result."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from experiments.fdpa_fairness.summary import SchemeResult
from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.control.loop import FdpaLoop, controlled
from p4sched.lab import schemes
from p4sched.lab.ledger import Ledger
from p4sched.lab.measurement import Sample, departures_of, sample_rates, unmeasured
from p4sched.lab.network import Dumbbell, dumbbell
from p4sched.lab.observation import Observer
from p4sched.lab.programming import programmed
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import FINISH_SECONDS, Iperf3Traffic, spare_seconds, transfers
from p4sched.schemes import Setup


@dataclass(frozen=True)
class Setting:
    """What all schemes of a run have in common."""

    link: Link
    connections: tuple[int, ...]
    """Of user 1, 2, ..."""
    weights: tuple[float, ...]
    bands: Bands
    interval_us: int
    token_bucket: bool
    flowlet_gap_us: int
    warm_up_s: int
    duration_s: int
    switch: str
    congestion_control: str


@dataclass(frozen=True)
class Progress:
    """Where a measurement is."""

    scheme: str
    phase: str
    second: float
    of: float
    sample: Sample | None = None


async def measure(
    name: str, setting: Setting, ledger: Ledger, folder: Path, tell: Callable[[Progress], None]
) -> SchemeResult:
    """Brings up a fresh network and switch, runs the traffic through the scheme, and takes everything down again."""
    scheme = schemes.scheme(name, setting.link, setting.bands)
    tell(Progress(name, "starting", 0, 1))
    with dumbbell(ledger, len(setting.connections), setting.switch, folder) as network:
        return await _measure_on(network, scheme, setting, ledger, folder, tell)


async def _measure_on(
    network: Dumbbell,
    scheme: Setup,
    setting: Setting,
    ledger: Ledger,
    folder: Path,
    tell: Callable[[Progress], None],
) -> SchemeResult:
    users = [seat.user for seat in network.seats]
    weights = dict(zip(users, setting.weights, strict=True))
    planned = transfers(network.seats, setting.connections)
    async with AsyncExitStack() as stack:
        testbed = await stack.enter_async_context(programmed(network, scheme, setting.link, weights))
        traffic = stack.enter_context(Iperf3Traffic(network, ledger, folder / "iperf3", setting.congestion_control))
        await traffic.serve(planned)
        if scheme.scheme.law is not None:
            loop = FdpaLoop(testbed.session, law_config(setting), log=folder / "decisions.jsonl")
            await stack.enter_async_context(controlled(loop))
        spare = spare_seconds(len(planned))
        traffic.send(planned, setting.duration_s + spare, setting.warm_up_s)

        read = departures_of(testbed.session, users)
        await sample_rates(
            read, users, setting.warm_up_s, on_sample=_progress(tell, network, scheme, "warm-up", setting.warm_up_s)
        )
        traffic.check()
        observer = await Observer.start(network, testbed.traffic_manager, setting.link, testbed.session)
        samples = await sample_rates(
            read, users, setting.duration_s, on_sample=_progress(tell, network, scheme, "measuring", setting.duration_s)
        )
        observed = await observer.finish()
        traffic.check()
        tell(Progress(scheme.name, "collecting", 1, 1))
        reports = await traffic.finish(spare + FINISH_SECONDS)
    return SchemeResult(
        name=scheme.name,
        label=scheme.label,
        transfers=planned,
        weights=setting.weights,
        samples=samples,
        reports=reports,
        tcp=observed.tcp,
        fidelity=observed.fidelity.but(unmeasured(samples, users)),
        bottleneck=observed.bottleneck,
        notes=testbed.notes,
    )


def law_config(setting: Setting) -> fdpa.Config:
    """The control law's view of the setting."""
    return fdpa.Config(
        capacity_bps=setting.link.rate_bps,
        bands=setting.bands,
        interval_us=setting.interval_us,
        rtt_ns=setting.link.rtt_ns,
        token_bucket=setting.token_bucket,
        flowlet_gap_us=setting.flowlet_gap_us,
    )


def _progress(
    tell: Callable[[Progress], None], network: Dumbbell, scheme: Setup, phase: str, seconds: int
) -> Callable[[Sample], None]:
    done = 0

    def on_sample(sample: Sample) -> None:
        nonlocal done
        network.check_alive()
        done += 1
        tell(Progress(scheme.name, phase, done, seconds, sample))

    return on_sample
