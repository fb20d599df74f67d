"""Measurement of one scheme."""

from collections.abc import Callable
from dataclasses import dataclass

from experiments.fdpa_fairness.summary import Measurement, scheme_summary
from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.lab import schemes
from p4sched.lab.bench import Bench, bench
from p4sched.lab.experiment import SchemeOutcome, Stage
from p4sched.lab.measurement import Sample, sample_rates, unmeasured
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import FINISH_SECONDS, spare_seconds, transfers
from p4sched.results.metrics import jain_index
from p4sched.scheme import Scheme


@dataclass(frozen=True)
class Setting:
    """Setting that all schemes of a run share."""

    link: Link
    scenario: str
    connections: tuple[int, ...]
    """Connections of user 1, 2, ..."""
    weights: tuple[float, ...]
    bands: Bands
    interval_us: int
    token_bucket: bool
    flowlet_gap_us: int
    warm_up_s: int
    duration_s: int
    congestion_control: str

    def law_config(self, scheme: Scheme) -> fdpa.Config | None:
        """The configuration of a scheme's control law; None: FDPA's law does not set its parameters."""
        kind = None if scheme.law is None else scheme.law.config
        if kind is None or not issubclass(kind, fdpa.Config):
            return None
        return kind(
            capacity_bps=self.link.rate_bps,
            bands=self.bands,
            interval_us=self.interval_us,
            rtt_ns=self.link.rtt_ns,
            token_bucket=self.token_bucket,
            flowlet_gap_us=self.flowlet_gap_us,
        )


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[Measurement]:
    """Runs the traffic through the scheme on a fresh network."""
    scheme = schemes.scheme(stage.name, setting.link, setting.bands)
    network = stage.lab.dumbbell(len(setting.connections), stage.folder)
    law = setting.law_config(scheme.scheme)
    async with bench(stage, network, scheme, setting.link, weights=setting.weights, law=law) as running:
        planned = transfers(running.network.seats, setting.connections)
        traffic = await running.long_traffic(setting.congestion_control)
        await traffic.serve(planned)
        spare = spare_seconds(len(planned))
        await traffic.send(planned, setting.duration_s + spare, setting.warm_up_s)
        await _samples(running, setting, "warm-up", setting.warm_up_s)
        traffic.check()
        await running.observe(tail_drop=True)
        samples = await _samples(running, setting, "measuring", setting.duration_s)
        await running.observed()
        traffic.check()
        stage.tell("collecting")
        reports = await traffic.finish(spare + FINISH_SECONDS)
    measured = Measurement(planned, setting.weights, samples, reports)
    found = scheme_summary(measured, setting.link.rate_bps)
    return running.outcome(found, unmeasured(samples, running.users), measured)


async def _samples(bench: Bench, setting: Setting, phase: str, seconds: int) -> list[Sample]:
    """Takes a sample each second."""
    on_sample = _progress(bench, setting, f"{phase}, {{}} of {seconds} s")
    return await sample_rates(bench.delivered(), bench.users, seconds, on_sample=on_sample)


def _progress(bench: Bench, setting: Setting, text: str) -> Callable[[Sample], None]:
    """Makes a function that shows a sample as progress."""
    done = 0

    def on_sample(sample: Sample) -> None:
        nonlocal done
        bench.network.check_alive()
        done += 1
        jain = jain_index(sample.rates, setting.weights)
        throughput = sum(sample.rates) / setting.link.rate_bps
        bench.stage.tell(f"{text.format(done)}   Jain's index {jain:.3f}  throughput {throughput:.3f}")

    return on_sample
