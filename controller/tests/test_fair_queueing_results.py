"""What fair_queueing makes of its measurements, and what it refuses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.fair_queueing import experiment, figure, long_flows
from p4sched.control.parameters import equal_buffers
from p4sched.errors import UsageError
from p4sched.lab.measurement import Sample
from p4sched.lab.ranked_schemes import FAIR_IDEALS
from p4sched.results import tables
from p4sched.schemes import find_scheme

RATE = 100_000_000


def flows(*rates: tuple[float, ...]) -> long_flows.LongFlows:
    """Samples of a second each, in Mbit/s, of flows with RTTs of 4 and 32 ms."""
    samples = [Sample(second, second + 1.0, tuple(rate * 1e6 for rate in row)) for second, row in enumerate(rates)]
    return long_flows.LongFlows([4.0, 32.0], samples)


def test_shares_are_in_fair_shares_and_jains_index_is_that_of_the_samples() -> None:
    found = long_flows.summarise(flows((80, 20), (50, 50), (60, 40)), RATE)
    # (80 + 20)^2 / (2 (80^2 + 20^2)) = 0.735, 1, and (60 + 40)^2 / (2 (60^2 + 40^2)) = 0.962
    assert found["jain_index"] == pytest.approx(100**2 / (2 * (60**2 + 40**2)))
    assert found["throughput"] == pytest.approx(1.0)
    # means of 63.3 and 36.7 Mbit/s, of a fair share of 50
    assert [flow["share"] for flow in found["flows"]] == pytest.approx([19 / 15, 11 / 15])
    assert [flow["rtt_ms"] for flow in found["flows"]] == [4.0, 32.0]


def test_the_ideals_of_fairness_know_the_flow_that_the_ranks_are_computed_for() -> None:
    sizes = equal_buffers(160, 10, 0.2)
    stfq, drr, afq = (find_scheme(name).for_comparison(sizes) for name in FAIR_IDEALS)
    assert {scheme.user_field for scheme in (stfq, drr, afq)} == {"meta.flow"}
    assert {scheme.queue_sizes for scheme in (stfq, drr, afq)} == {(160,)}
    assert afq.layout.calendar is not None
    # NSDI 2018: 32 queues; a full frame in each round
    assert (afq.layout.calendar.queues, afq.layout.calendar.bytes_per_round) == (32, 1514)
    assert drr.layout.calendar is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"calendar_queues": 0},
        {"calendar_queues": 4097},
        {"calendar_queues": 7, "calendar_bytes": 200},
        {"calendar_bytes": 2**33},
    ],
)
def test_a_calendar_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="AFQ"):
        replace(equal_buffers(80, 16), **wrong)


def test_a_run_that_could_not_show_every_round_trip_time_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 4"):
        experiment.several(3)


def summary() -> dict[str, Any]:
    load = {"load": 0.7, "flows": 9, "not_completed": 0, "small_mean_ms": 5.0, "small_p99_ms": None}
    scheme = {
        **long_flows.summarise(flows((80, 20), (50, 50)), RATE),
        "loads": [load, load | {"load": 0.4}],
        "fidelity": {"valid": True, "doubts": []},
    }
    configuration = {"long_flows": 8, "sizes": "web-search", "scale": 0.1, "rate_bps": RATE, "rtt_ms": 4.0}
    configuration |= {"buffer_packets": 160, "congestion_control": "cubic", "switch": "embedded"}
    return {"configuration": configuration, "schemes": {"fifo": scheme, "afq": scheme}}


def test_tables_and_figure_hold_every_scheme_and_load(tmp_path: Path) -> None:
    heading, *rows = tables.record_rows(summary()["schemes"], "loads")
    assert heading[:3] == ["scheme", "load", "flows"]
    assert [row[:2] for row in rows] == [["fifo", 0.7], ["fifo", 0.4], ["afq", 0.7], ["afq", 0.4]]
    figure.draw(summary(), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    samples = long_flows.sample_rows("afq", flows((80, 20), (50, 50)))
    assert [row[:3] for row in samples] == [
        ["afq", "1.00", 1],
        ["afq", "1.00", 2],
        ["afq", "2.00", 1],
        ["afq", "2.00", 2],
    ]
