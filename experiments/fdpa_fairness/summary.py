"""summary.json, samples.csv and the table: the paper's two metrics and what lies behind them."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from p4sched.lab.fidelity import Fidelity
from p4sched.lab.measurement import Sample
from p4sched.lab.tcp import TcpCounters
from p4sched.lab.traffic import Transfer, TransferReport
from p4sched.results.metrics import Interval, jain_index, median_interval, normalised_throughput


@dataclass(frozen=True)
class SchemeResult:
    """What was measured of one scheme."""

    name: str
    label: str
    transfers: Sequence[Transfer]
    weights: Sequence[float]
    samples: Sequence[Sample]
    reports: Mapping[int, TransferReport]
    """iperf3's own view, of the users whose client ended in time."""
    tcp: TcpCounters
    """Over the time of the samples."""
    fidelity: Fidelity
    bottleneck: Mapping[str, Any]
    """Packets that the bottleneck's queues took and dropped over the time of the samples."""
    notes: Sequence[str] = field(default=())
    """What this switch cannot show of the scheme."""

    def jain(self) -> Interval:
        """Jain's index of the samples."""
        return median_interval([jain_index(sample.rates, self.weights) for sample in self.samples])

    def throughput(self, rate_bps: int) -> Interval:
        """Throughput of the samples over the link's capacity."""
        return median_interval([normalised_throughput(sample.rates, rate_bps) for sample in self.samples])

    def mean_rate(self, place: int) -> float:
        """Mean rate of a user over all samples, bit/s."""
        seconds = self.samples[-1].end - self.samples[0].start
        return sum(s.rates[place] * (s.end - s.start) for s in self.samples) / seconds


def scheme_summary(result: SchemeResult, rate_bps: int) -> dict[str, Any]:
    """The part of summary.json for one scheme."""
    jain, throughput = result.jain(), result.throughput(rate_bps)
    return {
        "label": result.label,
        "jain_index": jain.median,
        "jain_index_interval_80": [jain.low, jain.high],
        "throughput": throughput.median,
        "throughput_interval_80": [throughput.low, throughput.high],
        "users": [_user(result, place) for place in range(len(result.transfers))],
        "goodput_iperf3": _goodput(result, rate_bps),
        "tcp": asdict(result.tcp) | {"reorderings": result.tcp.reorderings},
        "bottleneck": dict(result.bottleneck),
        "fidelity": result.fidelity.summary(),
        "notes": list(result.notes),
    }


def _user(result: SchemeResult, place: int) -> dict[str, Any]:
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


def _goodput(result: SchemeResult, rate_bps: int) -> dict[str, Any]:
    """iperf3's view as a cross-check: TCP payload, so a little less than the rates on the link."""
    rates = [report.goodput_bps for report in result.reports.values()]
    return {
        "clients_reporting": len(rates),
        "throughput": sum(rates) / rate_bps if rates else None,
        "jain_index": jain_index(rates) if rates and set(result.weights) == {1.0} else None,
    }


def write_samples(results: Sequence[SchemeResult], path: Path) -> None:
    """One row a scheme, sample and user, with Jain's index of the sample."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["scheme", "second", "user", "connections", "rate_bps", "jain_index"])
        for result in results:
            for sample in result.samples:
                jain = jain_index(sample.rates, result.weights)
                second = sample.end - result.samples[0].start
                for transfer, rate in zip(result.transfers, sample.rates, strict=True):
                    user = transfer.seat.user
                    rows.writerow(
                        [result.name, f"{second:.2f}", user, transfer.connections, round(rate), f"{jain:.4f}"]
                    )


def table(summary: Mapping[str, Any]) -> Table:
    """The table at the end of a run."""
    found = Table(title="Median of the samples, and the interval that holds 80 % of them", title_justify="left")
    found.add_column("scheme")
    for column in ("Jain's index", "throughput", "resent", "reordered"):
        found.add_column(column, justify="right")
    found.add_column("run")
    for name, scheme in summary["schemes"].items():
        fidelity = scheme["fidelity"]
        sent = max(scheme["tcp"]["segments_sent"], 1)
        found.add_row(
            f"[bold]{name.upper()}[/]\n{scheme['label']}",
            _interval(scheme, "jain_index"),
            _interval(scheme, "throughput"),
            f"{scheme['tcp']['segments_retransmitted'] / sent:.2%}",
            str(scheme["tcp"]["reorderings"]),
            "valid" if fidelity["valid"] else "[bold red]INVALID[/]",
        )
    return found


def doubts(summary: Mapping[str, Any]) -> list[str]:
    """Why a scheme's run is not to be believed, one line each."""
    return [
        f"{name.upper()} is INVALID: {doubt}"
        for name, scheme in summary["schemes"].items()
        for doubt in scheme["fidelity"]["doubts"]
    ]


def _interval(scheme: Mapping[str, Any], key: str) -> str:
    low, high = scheme[f"{key}_interval_80"]
    return f"[bold]{scheme[key]:.3f}[/]\n{low:.3f} - {high:.3f}"
