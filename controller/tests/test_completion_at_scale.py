"""`completion_at_scale`: its flows, what it makes of several seeds, and that the simulator takes its scenarios."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import nan, sqrt
from pathlib import Path

import numpy as np
import pytest

from experiments.completion_at_scale import figure, metrics, netbench_flows, reference
from experiments.completion_at_scale.experiment import (
    Setting,
    configuration,
    listing,
    measure,
    parse_figure,
    parse_loads,
    setting,
    table,
)
from experiments.completion_at_scale.network import Run
from experiments.completion_at_scale.over_seeds import SIZE_CLASSES, of_seed, size_key, summarise
from experiments.completion_at_scale.papers import FIGURES as PAPER_FIGURES
from experiments.completion_at_scale.papers import PaperFigure
from experiments.completion_at_scale.ports import headroom_256
from experiments.completion_at_scale.workloads import (
    DATA_MINING,
    DATA_MINING_UPPER,
    GBIT,
    LOADS,
    PARETO,
    PARETO_OF_RUN_FILES,
    WEB_SEARCH,
    Workload,
)
from p4sched import simulate
from p4sched.cli import main
from p4sched.errors import UsageError
from p4sched.folders.new import new
from p4sched.folders.schemes import forget
from p4sched.lab.experiment import Results, RunOptions, Stage, SwitchKind
from p4sched.results.completion import Flow
from p4sched.units import Duration

SECOND = 1_000_000_000
SHORT = 200_000
"""200 us: enough for the flows of one byte."""


@pytest.mark.parametrize(
    ("workload", "mean", "deviation"),
    # RIFO's run files say 987,600 bytes, Netbench's sources 2,116,598.7 and 23,199,798.6
    [(WEB_SEARCH, 987_600, 2.1e6), (DATA_MINING, 2_116_599, 14.1e6), (DATA_MINING_UPPER, 23_199_799, 141e6)],
)
def test_flows_are_the_load_between_different_servers(workload: Workload, mean: float, deviation: float) -> None:
    flows = workload.flows(0.8, GBIT, 1, SECOND)
    expected = workload.starts_per_s(0.8, GBIT)
    # the standard deviation of a Poisson process is the root of its mean
    assert abs(len(flows) - expected) < 4 * expected**0.5
    assert flows == sorted(flows, key=lambda flow: flow[0])
    assert all(source != destination for _, source, destination, _ in flows)
    assert {server for _, *ends, _ in flows for server in ends} == set(range(144))
    assert sum(size for *_, size in flows) / len(flows) == pytest.approx(mean, abs=4 * deviation / expected**0.5)


def test_pareto_flows_go_between_racks_of_which_some_send_more() -> None:
    flows = PARETO.flows(0.8, 10 * GBIT, 1, SECOND // 10)
    sizes = sorted(size for *_, size in flows)
    assert sizes[0] >= 4761
    # half of the flows are below scale * 2^(1 / shape)
    assert sizes[len(sizes) // 2] == pytest.approx(4761.9 * 2 ** (1 / 1.05), rel=0.05)
    assert sizes[-1] <= 1 << 30
    racks = [(source // 5, destination // 5) for _, source, destination, _ in flows]
    assert all(source != destination for source, destination in racks)
    sent = Counter(source for source, _ in racks)
    assert len(sent) == 144
    assert max(sent.values()) > 3 * min(sent.values())
    # one draw of the racks' shares a seed: the same rack sends most at each load
    lower = PARETO.flows(0.2, 10 * GBIT, 1, SECOND // 10)
    assert Counter(source // 5 for _, source, *_ in lower).most_common(1)[0][0] == sent.most_common(1)[0][0]


def test_racks_have_the_shares_that_netbench_prints_for_the_seed_of_the_run_files() -> None:
    shares = dict(netbench_flows.rack_shares(83_599, 144))
    assert sum(shares.values()) == pytest.approx(1)
    # its output of "Top 20 ToR probabilities"
    printed = {132: 0.35218013326924175, 76: 0.12774991864664467, 22: 0.06680966918834765, 72: 0.05820956075897469}
    assert {rack: shares[rack] for rack in printed} == pytest.approx(printed, rel=1e-12)
    assert list(shares)[:-5:-1] == list(printed)


def test_the_first_seed_has_the_flows_of_the_run_file() -> None:
    # Netbench's plan for 36,000 starts a second, with its numbers of the servers, which begin at 157
    planned = [
        (0, 302, 372, 6698),
        (35_414, 653, 269, 5858),
        (37_166, 821, 191, 6317),
        (39_170, 537, 819, 11_407),
        (68_123, 308, 540, 76_134),
    ]
    flows = PARETO_OF_RUN_FILES.flows(0.2, 10 * GBIT, 1, 70_000)
    assert [(start, source + 157, destination + 157, size) for start, source, destination, size in flows] == planned


def test_the_flows_of_a_run_file_have_the_sizes_and_pairs_of_their_workload() -> None:
    for workload, share in ((WEB_SEARCH, 0.15), (DATA_MINING, 0.1)):
        flows = replace(workload, run_file_seed=83_599).flows(0.8, GBIT, 1, SECOND)
        ones = sum(size == 1 for *_, size in flows)
        deviation = sqrt(share * (1 - share) * len(flows))
        assert abs(ones - share * len(flows)) < 4 * deviation
        assert {source for _, source, *_ in flows} == {destination for _, _, destination, _ in flows} == set(range(144))
        # the generators are those of the seed: all workloads have the same pairs in the same order
        assert [pair[1:3] for pair in flows[:3]] == [(35, 131), (62, 89), (119, 141)]


def test_sp_pifos_netbench_takes_the_first_interval_too() -> None:
    # the first flows of its log for 3600 starts a second
    logged = [(0, 35, 131, 200_000), (166_074, 62, 89, 2_000_000), (520_216, 119, 141, 1_000_000)]
    plain = replace(WEB_SEARCH, run_file_seed=83_599)
    flows = replace(plain, all_gaps=True).flows(0.2, GBIT, 1, 530_000)
    assert flows == logged
    assert [start for start, *_ in plain.flows(0.2, GBIT, 1, 360_000)] == [0, 520_216 - 166_074]


def test_a_size_at_a_bound_is_that_of_the_step_below() -> None:
    sizes = netbench_flows.StepSizes({1: 0.1, 2: 0.2, 3: 0.7})
    assert [sizes.drawn(outcome) for outcome in (0.0, 0.1, 0.3, 0.300_000_1, 0.999)] == [1, 1, 2, 3, 3]


def test_further_seeds_have_other_flows_between_the_same_racks() -> None:
    first, second = (PARETO_OF_RUN_FILES.flows(0.2, 10 * GBIT, seed, SECOND // 10) for seed in (1, 2))
    assert first != second
    for flows in (first, second):
        sent = Counter(source // 5 for _, source, *_ in flows)
        assert [rack for rack, _ in sent.most_common(2)] == [132, 76]


def test_the_network_of_rifo_14_has_servers_at_10_and_all_other_links_at_40() -> None:
    network = PARETO.network.topology(10 * GBIT)["described"]
    assert (len(network["hosts"]), len(network["switches"])) == (720, 144 + 9 + 4)
    rates = Counter(link["rate_bps"] // GBIT for link in network["links"])
    assert rates == {10: 720, 40: 144 + 9 * 4}
    above = Counter(link["between"][1] for link in network["links"])
    assert {above[f"tor{number}"] for number in range(1, 145)} == {5}
    assert {above[f"leaf{number}"] for number in range(1, 10)} == {16}
    assert {above[f"spine{number}"] for number in range(1, 5)} == {9}


@pytest.mark.parametrize("workload", [WEB_SEARCH, DATA_MINING, DATA_MINING_UPPER])
def test_shares_of_the_sizes_are_all_flows(workload: Workload) -> None:
    assert workload.shares is not None
    assert sum(workload.shares.values()) == pytest.approx(1)


def test_seeds_and_loads_have_other_flows() -> None:
    flows = WEB_SEARCH.flows(0.2, GBIT, 1, SECOND)
    assert WEB_SEARCH.flows(0.2, GBIT, 1, SECOND) == flows
    assert WEB_SEARCH.flows(0.2, GBIT, 2, SECOND) != flows
    assert WEB_SEARCH.flows(0.3, GBIT, 1, SECOND) != flows


def test_rates_grow_with_the_load_and_with_the_links() -> None:
    for shown in PAPER_FIGURES.values():
        for workload in shown.workloads:
            assert list(workload.starts) == list(LOADS)
            assert all(low < high for low, high in pairwise(workload.starts.values()))
    assert WEB_SEARCH.starts_per_s(0.2, 10 * GBIT) == 36_000


@pytest.mark.parametrize(
    ("paper", "line"),
    [
        pytest.param(paper, line, id=f"{paper.name} {line.name}")
        for paper in PAPER_FIGURES.values()
        for line in paper.lines
    ],
)
async def test_the_simulator_takes_every_line_of_every_figure(paper: PaperFigure, line: object, tmp_path: Path) -> None:
    place = [each is line for each in paper.lines].index(True)
    run = Run(paper.lines[place], paper.workloads[-1], paper.access_bps, 0.6, seed=3, end_ns=SHORT)
    flows = await run.outcome(tmp_path)
    assert [(round(flow.start_s * 1e9), flow.size_bytes) for flow in flows] == [
        (start, size) for start, _, _, size in run.flows()
    ]
    done = [flow.completion_s for flow in flows if flow.completion_s is not None]
    # a flow of one byte in its rack: handshake, data and acknowledgement, each of 120 bytes over two links
    packet_s = 120 * 8 / paper.access_bps + 20e-9
    assert not done or min(done) >= 8 * packet_s - 1e-9


def test_parameters_are_those_of_the_papers() -> None:
    aifo = {line.name: line.port["parameters"] for line in PAPER_FIGURES["aifo-8"].lines if "parameters" in line.port}
    assert aifo["k=0.1"] == {
        "target_packets": 20,
        "capacity_packets": 20,
        "headroom_256": 26,
        "window_ranks": 20,
        "sampling": 15,
    }
    assert [headroom_256(k) for k in (0.0, 0.1, 0.2, 0.5, 0.9)] == [0, 26, 52, 128, 231]
    ranges = [line.port["parameters"]["tracking_packets"] for line in PAPER_FIGURES["rifo-9"].lines]
    assert ranges == [30, 50, 100, 500, 1000]
    by_name = {line.name: line for line in PAPER_FIGURES["rifo-7"].lines}
    assert by_name["dctcp"].port == {"scheme": "fifo", "queues": 1, "queue_size": 97, "mark_at_packets": 10}
    assert by_name["tcp"].hosts["initial_window"] == 3
    assert not by_name["tcp"].hosts.get("ecn")
    pareto = {line.name: line.port for line in PAPER_FIGURES["rifo-14"].lines}
    assert pareto["rifo"] == {**pareto["rifo-text"], "variants": ["max_alone"]}
    assert pareto["rifo"]["parameters"]["tracking_packets"] == 150
    fair = PAPER_FIGURES["packs-13"]
    assert {line.ranks for line in fair.lines} == {"start_time"}
    # 80 packets of 1500 bytes, to the nearest power of two
    assert next(line.port for line in fair.lines if line.name == "afq")["log_bytes_per_round"] == 17


def test_a_figure_is_the_mean_of_the_seeds_with_the_lowest_and_the_highest() -> None:
    first = [Flow(99_999, 0.001), Flow(99_999, 0.003), Flow(1_000_000, 0.1), Flow(1_000_000, None)]
    second = [Flow(1, 0.004), Flow(100_000, 0.005), Flow(2_000_000, 0.2), Flow(5_000_000, 0.4)]
    found = summarise([of_seed(first), of_seed(second)])
    assert (found["small_mean_ms_low"], found["small_mean_ms"], found["small_mean_ms_high"]) == pytest.approx((2, 3, 4))
    assert (found["small_p99_ms_low"], found["small_p99_ms_high"]) == pytest.approx((3, 4))
    assert found["large_mean_ms"] == pytest.approx((100 + 300) / 2)
    assert found["completed_share"] == pytest.approx((3 / 4 + 1) / 2)
    assert found["flows"] == 8


def test_a_seed_without_such_a_flow_leaves_no_figure() -> None:
    found = summarise([of_seed([Flow(1, 0.001)]), of_seed([Flow(1_000_000, 0.1)])])
    assert found["small_mean_ms"] is None
    assert found["small_mean_ms_low"] is None
    assert found["mean_ms"] == pytest.approx((1 + 100) / 2)


def test_sizes_are_taken_together_as_in_the_papers() -> None:
    flows = [Flow(size, size * 1e-9) for size in WEB_SEARCH.shares or ()]
    found = summarise([of_seed(flows)])
    assert found[size_key("mean_ms", "10K")] == pytest.approx((1 + 10_000) / 2 * 1e-6)
    assert found[size_key("p99_ms", "200K-1M")] == pytest.approx(1.0)
    assert found[size_key("mean_ms", "2M+")] == pytest.approx((2 + 5 + 10) / 3)
    bounds = list(SIZE_CLASSES.values())
    assert all(before[1] + 1 == after[0] for before, after in pairwise(bounds))


def test_throughput_is_all_bytes_over_all_times() -> None:
    flows = [Flow(1_000_000, 0.008), Flow(3_000_000, 0.008), Flow(9_000_000, None), Flow(10, 1.0)]
    found = summarise([of_seed(flows)])
    assert found["large_mbps"] == pytest.approx(8 * 4 / 0.016)
    assert found["large_completed_share"] == pytest.approx(2 / 3)


def test_an_incomplete_flow_counts_with_the_time_that_it_had() -> None:
    flows = [
        Flow(1_000, 0.002, restricted_s=0.002),
        Flow(1_000, None, restricted_s=0.010),
        Flow(2_000_000, None, restricted_s=0.030),
        Flow(2_000_000, 0.008, restricted_s=0.008),
    ]
    found = of_seed(flows)
    assert found["small_mean_ms"] == pytest.approx(2)
    assert found["small_restricted_ms"] == pytest.approx((2 + 10) / 2)
    assert found["large_restricted_ms"] == pytest.approx((30 + 8) / 2)
    assert found["restricted_ms"] == pytest.approx((2 + 10 + 30 + 8) / 4)
    assert found[size_key("completed_share", "10K")] == 0.5
    assert found[size_key("completed_share", "2M+")] == 0.5
    assert found[size_key("completed_share", "80K")] is None
    assert of_seed([Flow(1, None)])["restricted_ms"] is None, "the end is unknown"


async def test_a_run_tells_the_time_of_its_incomplete_flows(tmp_path: Path) -> None:
    paper = PAPER_FIGURES["rifo-7"]
    flows = await Run(paper.lines[0], paper.workloads[0], paper.access_bps, 0.8, seed=1, end_ns=SHORT).outcome(tmp_path)
    incomplete = [flow for flow in flows if flow.completion_s is None]
    assert incomplete
    for flow in incomplete:
        assert flow.restricted_s == pytest.approx(SHORT / 1e9 - flow.start_s, abs=1e-12)
    assert all(flow.restricted_s == flow.completion_s for flow in flows if flow.completion_s is not None)


def test_the_mean_of_the_flows_rates_counts_each_flow_once() -> None:
    found = of_seed([Flow(1_000_000, 0.008), Flow(1_000, 0.001), Flow(5_000, None)])
    assert found["flow_mbps"] == pytest.approx((1000 + 8) / 2)


def test_the_published_numbers_stand_beside_those_of_a_run() -> None:
    published = reference.read()
    assert len(published) == 6 * 3
    assert published["aifo", "large_mean_ms"][0.2] == 4.53351
    loads = [{"load": 0.2, "small_mean_ms": 0.2141, "small_p99_ms": None, "large_mean_ms": 9.06702}]
    compared = reference.compare({"aifo": {"loads": loads}})
    assert [(each["figure"], round(each["ratio"], 3)) for each in compared] == [
        ("small_mean_ms", 2.0),
        ("large_mean_ms", 2.0),
    ]


@pytest.mark.parametrize("name", ["rifo-7", "rifo-11", "packs-13"])
def test_a_figure_has_a_panel_for_each_thing_the_paper_shows(name: str, tmp_path: Path) -> None:
    request = chosen(name, loads="0.2,0.7")
    flows = [Flow(size, (1 + size) * 1e-9) for size in WEB_SEARCH.shares or ()]
    record = summarise([of_seed(flows)] * 2)
    loads = [
        {"workload": workload.name, "load": load} | record
        for workload in request.figure.workloads
        for load in request.loads
    ]
    schemes = {line.name: {"label": line.label, "loads": loads} for line in request.lines}
    figure.draw({"configuration": dict(configuration(request)), "schemes": schemes}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_too_few_completed_flows_give_a_warning(tmp_path: Path) -> None:
    request = chosen("rifo-7", lines="pifo,rifo")
    shares = {"pifo": (985, 1000), "rifo": (995, 1000)}
    schemes = {}
    for line in request.lines:
        done, count = shares[line.name]
        flows = [Flow(1000, 0.001 if number < done else None) for number in range(count)]
        record = {"workload": WEB_SEARCH.name, "load": 0.2} | summarise([of_seed(flows)])
        schemes[line.name] = {"label": line.label, "loads": [record]}
    said = [
        part
        for part in table(Results({"schemes": schemes, "published": []}, request, {}, tmp_path))
        if isinstance(part, str)
    ]
    assert len(said) == 1
    assert "too few flows ended (PIFO at 0.2: 98.5 %)" in said[0]
    assert "restricted_ms in loads.csv" in said[0]


def test_a_figure_without_completed_flows_is_drawn(tmp_path: Path) -> None:
    request = chosen("packs-12", lines="pifo")
    record = {"workload": WEB_SEARCH.name, "load": 0.2} | summarise([of_seed([Flow(1000, None)])])
    schemes = {"pifo": {"label": "PIFO", "loads": [record]}}
    figure.draw({"configuration": dict(configuration(request)), "schemes": schemes}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def chosen(name: str, loads: str = "0.2", lines: str = "", quick: bool = False) -> Setting:
    """The setting for these options."""
    given = dict.fromkeys(("--switch", "--duration"), False)
    request = RunOptions(SwitchKind.EMBEDDED, Path("results"), quick=quick, explicit=given)
    return setting(request, name, lines, loads, 2, Duration.parse("20ms"))


def test_lines_can_be_left_out() -> None:
    assert [line.name for line in chosen("aifo-8", lines="fifo,k=0.1").lines] == ["k=0.1", "fifo"]
    with pytest.raises(UsageError, match="no line of aifo-8 'rifo'"):
        chosen("aifo-8", lines="rifo")


def test_quick_takes_as_many_flows_at_both_rates() -> None:
    slow, fast = chosen("aifo-10", quick=True), chosen("aifo-11", quick=True)
    assert slow.duration == 10 * fast.duration


def test_a_wrong_name_gets_the_list_of_figures() -> None:
    with pytest.raises(UsageError, match="no figure 'aifo-12'; use one of:") as wrong:
        parse_figure("aifo-12")
    lines = str(wrong.value).splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(PAPER_FIGURES)
    assert len(PAPER_FIGURES) == 24


def test_the_list_of_figures_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run_command(["run", "completion_at_scale", "--figure", "list"]) == 0
    assert capsys.readouterr().out == f"{listing()}\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("0.25", "there is no arrival rate for 0.25, only for 0.2, 0.3"),
        ("high", "loads are 0.2, 0.3"),
        ("0.2,0.2", "load 0.2 is in"),
    ],
)
def test_loads_without_an_arrival_rate_are_refused(text: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        parse_loads(text)


async def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = replace(chosen("packs-12", lines="fifo,pifo"), duration=Duration(SHORT))
    stage = Stage("", "none", tmp_path, None, lambda _: None)
    first = await measure(request, stage)
    assert [path.name for path in tmp_path.iterdir()] == ["points"]
    points = sorted((tmp_path / "points").iterdir())
    assert len(points) == 4
    points[0].unlink()
    points[1].write_text('{"flows": 3')
    again: list[int] = []
    outcome = Run.outcome

    async def counted(run: Run, folder: Path) -> list[Flow]:
        again.append(run.seed)
        return await outcome(run, folder)

    monkeypatch.setattr(Run, "outcome", counted)
    assert await measure(request, stage) == first
    assert len(again) == 2
    await measure(replace(request, seeds=range(1, 4)), stage)
    assert again[2:] == [3, 3]
    await measure(replace(request, duration=Duration(2 * SHORT)), stage)
    assert len(again) == 8


def test_a_scheduler_that_fails_leaves_the_other_lines_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "raises", tmp_path / "out"
    new(folder)
    model = folder / "model.py"
    model.write_text(model.read_text().replace("        if len(", "        1 // 0\n        if len("))
    words = ["run", "completion_at_scale", "--lines", "pifo", "--scheme", str(folder), "--loads", "0.2", "--seeds", "2"]
    try:
        assert main.run_command([*words, "--duration", "20ms", "--out", str(out)]) == 1
        said = capsys.readouterr()
        assert "p4sched: raises is left out: " in said.err
        assert "model.py:14: ZeroDivisionError" in said.err
        assert "PIFO" in said.out
        found = json.loads((out / "summary.json").read_text())
        assert list(found["schemes"]) == ["pifo"]
        assert found["partial"]["missing"] == ["raises"]
        assert len((out / "loads.csv").read_text().splitlines()) == 2, "a head and a row"
        assert not list(out.glob("run-*"))
    finally:
        forget(folder)


def test_the_numbers_of_a_block_are_those_of_the_flows_that_start_in_it() -> None:
    kinds = [("start_ns", "i8"), ("bytes", "i8"), ("acknowledged_s", "f8")]
    flows = np.array([(0, 1000, 1e-3), (99, 1000, 3e-3), (100, 1000, 5e-3), (999, 2000, nan)], kinds)
    found = metrics.measure(simulate.Result(flows, flows, {}), 1000, False)
    assert found["small_mean_ms"] == pytest.approx(3.0)
    assert found["done"] == 0.75
    assert [found[f"small_mean_ms@{block}"] for block in range(3)] == [pytest.approx(2.0), pytest.approx(5.0), None]
    assert [found[f"done@{block}"] for block in (0, 1, 2, 9)] == [1.0, 1.0, None, 0.0]
