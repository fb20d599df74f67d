"""The fairness experiment's numbers, table and figure from samples that are known."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments.fdpa_fairness import experiment, figure, summary
from experiments.fdpa_fairness.measure import Setting
from experiments.fdpa_fairness.summary import Measurement
from p4sched.control.bands import Bands
from p4sched.errors import UsageError
from p4sched.lab import schemes
from p4sched.lab.endpoints import UserSeat
from p4sched.lab.experiment import Results, SchemeOutcome
from p4sched.lab.fidelity import Fidelity
from p4sched.lab.frame import scheme_summary, write_csv
from p4sched.lab.measurement import Sample
from p4sched.lab.observation import Observation
from p4sched.lab.schemes import Link
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.lab.traffic import TransferReport, transfers
from p4sched.units import Duration, Rate

RATE = 100_000_000
LINK = Link(RATE, 10_000_000)
SEATS = [UserSeat(user, "u1", f"10.1.1.{user}") for user in range(1, 5)]
BELIEVABLE = Fidelity(rtt_ns=LINK.rtt_ns, cpu_idle_share=0.4, backlog_dropped=0, frames=100_000, lateness_p99_ns=1000)


def result() -> Measurement:
    # 70 % of the link to one user of four, and all of it: Jain's index (0.7 + 3 * 0.1)^2 / (4 * (0.49 + 0.03)) = 0.481
    rates = (70e6, 10e6, 10e6, 10e6)
    return Measurement(
        transfers=transfers(SEATS, [10, 1, 1, 1]),
        weights=[1.0] * 4,
        samples=[Sample(float(second), second + 1.0, rates) for second in range(5)],
        reports={1: TransferReport(68e6, 12)},
    )


def summarised(**fidelities: Fidelity) -> dict[str, Any]:
    tcp = TcpCounters(segments_sent=1000, segments_retransmitted=20, reorderings_sack=3)
    found = summary.scheme_summary(result(), RATE)
    return {
        "configuration": {
            "users": 4,
            "scenario": "quarter",
            "rate_bps": RATE,
            "rtt_ms": 10.0,
            "congestion_control": "cubic",
            "switch": "embedded",
        },
        "schemes": {
            name: scheme_summary(SchemeOutcome(found, Observation(fidelity, tcp, {}), "83 packets"))
            for name, fidelity in fidelities.items()
        },
    }


def results_of(found: dict[str, Any]) -> Results[Any, Measurement]:
    return Results(found, None, {"fifo": result()}, Path())


def text_of(renderable: object) -> str:
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(renderable)
    return console.export_text()


def test_a_mean_rate_is_the_same_number_with_every_python() -> None:
    """`sum` of ten times 0.1 is 1.0 since Python 3.12, and a little less before."""
    steps = replace(result(), samples=[Sample(float(second), second + 1.0, (0.1,) * 4) for second in range(10)])
    assert steps.mean_rate(0) * 10 == 1.0


def test_jain_index_and_throughput_are_those_of_the_samples() -> None:
    found = summary.scheme_summary(result(), RATE)
    assert found["jain_index"] == pytest.approx(1 / (4 * 0.52))
    assert found["throughput"] == pytest.approx(1.0)
    assert found["jain_index_interval_80"] == pytest.approx([1 / (4 * 0.52)] * 2)
    assert [user["rate_bps"] for user in found["users"]] == pytest.approx([70e6, 10e6, 10e6, 10e6])


def test_a_user_whose_client_did_not_report_has_no_goodput() -> None:
    users = summary.scheme_summary(result(), RATE)["users"]
    assert users[0]["goodput_iperf3_bps"] == 68e6
    assert users[1]["goodput_iperf3_bps"] is None


def test_the_summary_is_json() -> None:
    assert json.loads(json.dumps(summarised(fifo=BELIEVABLE)))["schemes"]["fifo"]["tcp"]["reorderings"] == 3


def test_a_run_that_cannot_be_believed_is_marked_with_the_reason() -> None:
    starved = Fidelity(rtt_ns=LINK.rtt_ns, cpu_idle_share=0.01, backlog_dropped=0)
    found = summarised(fifo=BELIEVABLE, fdpa=starved)
    assert "INVALID" in text_of(*summary.table(results_of(found)))
    assert found["schemes"]["fifo"]["fidelity"]["valid"]
    assert not found["schemes"]["fdpa"]["fidelity"]["valid"]


def test_samples_become_one_row_for_each_user_and_second(tmp_path: Path) -> None:
    write_csv(tmp_path / "samples.csv", summary.sample_rows(results_of({})))
    with (tmp_path / "samples.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * 4
    assert rows[0] == {
        "scheme": "fifo",
        "second": "1.00",
        "user": "1",
        "connections": "10",
        "rate_bps": "70000000",
        "jain_index": "0.4808",
    }


@pytest.mark.parametrize("throughput_over_one", [False, True])
def test_the_figure_is_drawn(tmp_path: Path, throughput_over_one: bool) -> None:
    found = summarised(fifo=BELIEVABLE, fdpa=BELIEVABLE, drr=BELIEVABLE)
    if throughput_over_one:
        found["schemes"]["fdpa"] |= {"throughput": 1.9, "throughput_interval_80": [1.8, 2.0]}
    figure.draw(found, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_queues_are_sized_as_in_the_paper() -> None:
    # 10 Gbit/s and 5 ms: L = 4166 for FIFO, and 4166, 1041, 154, 20, 20 for five bands (section IV-C).
    link = Link(10_000_000_000, 5_000_000)
    bands = Bands.parse("1+4*0.5")
    assert schemes.scheme("fifo", link, bands).queue_sizes == (4166,)
    assert schemes.scheme("fdpa", link, bands).queue_sizes == (4166, 1041, 154, 20, 20)


def test_a_link_without_room_for_packets_is_refused() -> None:
    with pytest.raises(UsageError, match="hold 0 packets: it takes 2 at least; raise the rate"):
        Link(1_000_000, 1_000_000)


def test_weights_are_repeated_over_the_users() -> None:
    assert experiment.repeat_weights("1,2", 5) == (1.0, 2.0, 1.0, 2.0, 1.0)


@pytest.mark.parametrize("weights", ["", "1,x", "0", "-1", "300", "nan"])
def test_weights_that_make_no_sense_are_refused(weights: str) -> None:
    with pytest.raises(UsageError, match="weight"):
        experiment.repeat_weights(weights, 2)


def test_the_configuration_says_what_was_asked_for() -> None:
    setting = Setting(
        link=Link(Rate.parse("100mbit"), Duration.parse("10ms")),
        scenario="quarter",
        connections=(10, 1),
        weights=(1.0, 2.0),
        bands=Bands.parse("1+4*0.5"),
        interval_us=60_000,
        token_bucket=True,
        flowlet_gap_us=5000,
        warm_up_s=1,
        duration_s=2,
        congestion_control="cubic",
    )
    found = experiment.configuration(setting)
    assert found["estimator"] == "token-bucket"
    assert found["bands"] == "1+4*0.5"
    assert (found["interval_ms"], found["flowlet_gap_ms"], found["bdp_packets"]) == (60.0, 5.0, 83)
