"""summary.json, samples.csv and the table: the two metrics of the paper and their data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from rich.table import Table

from p4sched.lab.experiment import Results, Rows
from p4sched.lab.measurement import Sample
from p4sched.lab.traffic import Transfer, TransferReport
from p4sched.results.metrics import Interval, jain_index, median_interval, normalised_throughput
from p4sched.results.tables import resent_share, scheme_table, with_interval


@dataclass(frozen=True)
class Measurement:
    """Rates of the users with one scheme."""

    transfers: Sequence[Transfer]
    weights: Sequence[float]
    samples: Sequence[Sample]
    reports: Mapping[int, TransferReport]
    """Reports of iperf3, for users whose client ended in time."""

    def jain(self) -> Interval:
        """Jain's index of the samples."""
        return median_interval([jain_index(sample.rates, self.weights) for sample in self.samples])

    def throughput(self, rate_bps: int) -> Interval:
        """Throughput of the samples divided by the link's capacity."""
        return median_interval([normalised_throughput(sample.rates, rate_bps) for sample in self.samples])

    def mean_rate(self, place: int) -> float:
        """Mean rate of a user over all samples, bit/s."""
        seconds = self.samples[-1].end - self.samples[0].start
        return fsum(s.rates[place] * (s.end - s.start) for s in self.samples) / seconds


def scheme_summary(result: Measurement, rate_bps: int) -> dict[str, Any]:
    """The part of summary.json for one scheme."""
    jain, throughput = result.jain(), result.throughput(rate_bps)
    return {
        "jain_index": jain.median,
        "jain_index_interval_80": [jain.low, jain.high],
        "throughput": throughput.median,
        "throughput_interval_80": [throughput.low, throughput.high],
        "users": [_user(result, place) for place in range(len(result.transfers))],
        "goodput_iperf3": _goodput(result, rate_bps),
    }


def _user(result: Measurement, place: int) -> dict[str, Any]:
    transfer = result.transfers[place]
    report = result.reports.get(transfer.seat.user)
    return {
        "user": transfer.seat.user,
        "address": transfer.seat.address,
        "connections": transfer.connections,
        "weight": result.weights[place],
        "rate_bps": result.mean_rate(place),
        "goodput_iperf3_bps": None if report is None else report.goodput_bps,
        "retransmits": None if report is None else report.retransmits,
    }


def _goodput(result: Measurement, rate_bps: int) -> dict[str, Any]:
    """iperf3's numbers as a check: TCP payload, so a little less than the rates on the link."""
    rates = [report.goodput_bps for report in result.reports.values()]
    return {
        "clients_reporting": len(rates),
        "throughput": fsum(rates) / rate_bps if rates else None,
        "jain_index": jain_index(rates) if rates and set(result.weights) == {1.0} else None,
    }


def sample_rows(results: Results[Any, Measurement]) -> Rows:
    """One row for each scheme, sample and user, with Jain's index of the sample."""
    yield ["scheme", "second", "user", "connections", "rate_bps", "jain_index"]
    for name, result in results.records.items():
        for sample in result.samples:
            jain = jain_index(sample.rates, result.weights)
            second = sample.end - result.samples[0].start
            for transfer, rate in zip(result.transfers, sample.rates, strict=True):
                yield [name, f"{second:.2f}", transfer.seat.user, transfer.connections, round(rate), f"{jain:.4f}"]


def table(results: Results[Any, Measurement]) -> list[Table]:
    """The table at the end of a run."""
    above = "Median of the samples, and the interval that holds 80 % of them"
    return [scheme_table(above, ["Jain's index", "throughput", "resent", "reordered"], results.schemes, _cells)]


def _cells(scheme: Mapping[str, Any]) -> list[str]:
    medians = [with_interval(scheme, key) for key in ("jain_index", "throughput")]
    return [*medians, resent_share(scheme), str(scheme["tcp"]["reorderings"])]
