"""Fairness of long TCP flows with different round-trip times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from p4sched.lab.bench import Bench
from p4sched.lab.measurement import Sample, sample_rates
from p4sched.lab.network import Dumbbell
from p4sched.lab.programming import Testbed
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import spare_seconds, transfers
from p4sched.p4rt.traffic_manager import PortSettings
from p4sched.results.metrics import jain_index, median_interval, normalised_throughput

RTT_FACTORS = (1, 2, 4, 8)
"""Round-trip times of the hosts, in multiples of the link's. The flows are assigned to the hosts in turn."""
HOSTS = len(RTT_FACTORS)


@dataclass(frozen=True)
class LongFlows:
    """Rates of the flows."""

    rtts_ms: Sequence[float]
    """Round-trip times with empty queues."""
    samples: Sequence[Sample]

    def mean_rates(self) -> list[float]:
        """Mean rate of each flow over all samples, in bit/s."""
        return [fmean(sample.rates[place] for sample in self.samples) for place in range(len(self.rtts_ms))]


async def measure(running: Bench, congestion_control: str, warm_up_s: int, seconds: int) -> LongFlows:
    """Runs a flow for each user of the network, and takes samples of one second after the warm-up."""
    network, link, users = running.network, running.link, running.users
    factors = await _spread(network, running.testbed, link)
    planned = transfers(network.seats, [1] * len(users))

    def on_sample(sample: Sample) -> None:
        network.check_alive()
        running.stage.tell(f"{len(users)} long flows: Jain's index {jain_index(sample.rates):.3f}")

    async with network.long_traffic(running.stage.folder / "iperf3", congestion_control) as traffic:
        await traffic.serve(planned)
        await traffic.send(planned, seconds + spare_seconds(len(planned)), warm_up_s)
        await sample_rates(running.delivered(), users, warm_up_s, on_sample=on_sample)
        traffic.check()
        samples = await sample_rates(running.delivered(), users, seconds, on_sample=on_sample)
        traffic.check()
    await _delay(network, running.testbed, link, dict.fromkeys(factors, 1))
    return LongFlows([factors[seat.host] * link.rtt_ns / 1e6 for seat in network.seats], samples)


async def _spread(network: Dumbbell, testbed: Testbed, link: Link) -> dict[str, int]:
    """Sets the round-trip time of each host; returns the factors. On BMv2, which has no delay, all factors are 1."""
    hosts = list(dict.fromkeys(seat.host for seat in network.seats))
    if network.thrift_port(network.switch.name) is not None:
        return dict.fromkeys(hosts, 1)
    factors = dict(zip(hosts, RTT_FACTORS, strict=False))
    await _delay(network, testbed, link, factors)
    return factors


async def _delay(network: Dumbbell, testbed: Testbed, link: Link, factors: Mapping[str, int]) -> None:
    """Sets delays on the links to the hosts, in addition to that of the bottleneck."""
    if network.thrift_port(network.switch.name) is not None:
        return
    ahead = link.rtt_ns - link.rtt_ns // 2
    ports = {station.name: station.port for station in network.stations()}
    await testbed.traffic_manager.set_ports(
        [PortSettings(ports[host], delay_ns=factor * link.rtt_ns - ahead) for host, factor in factors.items()]
    )


def summarise(flows: LongFlows, rate_bps: int) -> dict[str, Any]:
    """The part of summary.json about long flows. `share`: share of the link, in fair shares."""
    jain = median_interval([jain_index(sample.rates) for sample in flows.samples])
    throughput = median_interval([normalised_throughput(sample.rates, rate_bps) for sample in flows.samples])
    rates = flows.mean_rates()
    return {
        "jain_index": jain.median,
        "jain_index_interval_80": [jain.low, jain.high],
        "jain_index_of_means": jain_index(rates),
        "throughput": throughput.median,
        "throughput_interval_80": [throughput.low, throughput.high],
        "flows": [
            {"flow": number, "rtt_ms": rtt, "rate_bps": rate, "share": rate * len(rates) / rate_bps}
            for number, (rtt, rate) in enumerate(zip(flows.rtts_ms, rates, strict=True), start=1)
        ],
    }


def sample_rows(name: str, flows: LongFlows) -> list[list[object]]:
    """Rows of samples.csv: scheme, second, flow, RTT, rate, Jain's index of the sample."""
    begun = flows.samples[0].start
    return [
        [name, f"{sample.end - begun:.2f}", number, f"{rtt:g}", round(rate), f"{jain_index(sample.rates):.4f}"]
        for sample in flows.samples
        for number, (rtt, rate) in enumerate(zip(flows.rtts_ms, sample.rates, strict=True), start=1)
    ]
