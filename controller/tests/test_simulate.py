"""`from p4sched import simulate`: scenarios from Python, and what comes out of them as numpy arrays."""

import doctest
import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from p4sched import simulate
from p4sched.errors import P4schedError
from p4sched.simulate import Flow, Link, Poisson, Ports, Scenario

ACCESS, FABRIC = Link.of("1gbit", "20ns"), Link.of("4gbit", "20ns")
LEAF_SPINE = Scenario(
    topology=simulate.LeafSpine(leaves=2, spines=2, hosts=3, access=ACCESS, fabric=FABRIC),
    ports=Ports("sp_pifo", queues=4, queue_size=10),
    hosts=Ports("fifo", queues=1, queue_size=40),
    flows=Poisson("web_search", load=0.5, link_bps=6_000_000_000, duration_ns=10_000_000, scale=0.01),
    ranks="to_end",
    end_ns=50_000_000,
)
PAIR = LEAF_SPINE.with_(flows=[Flow("h1", "h4", 1), Flow(1, 4, 30_000, start_ns=1000)])


def test_the_example_of_the_module_is_right() -> None:
    assert doctest.testmod(simulate).failed == 0


def test_results_are_arrays_with_a_row_for_each_flow_and_port() -> None:
    result = simulate.run(LEAF_SPINE)
    flows = result.flows
    assert len(flows) == result.summary["flows"]["listed"] > 100
    done = result.completed()
    assert len(done) == result.summary["flows"]["completed"]
    assert done["completion_s"].mean() * 1e9 == pytest.approx(result.summary["flows"]["completion_ns"]["mean"])
    assert (done["acknowledged_s"] >= done["completion_s"]).sum() == (~np.isnan(done["acknowledged_s"])).sum()
    assert set(flows["source"]) <= {f"h{number}" for number in range(1, 7)}
    # 6 hosts with a port each, 2 leaves with 3 + 2, 2 spines with 2
    assert len(result.ports) == 6 + 2 * 5 + 2 * 2
    assert result.port("h1")["to"] != ""
    assert np.isnan(result.port("h1")["queue_mean"])
    assert result.port("s1", 1)["queue_longest"] >= 0
    with pytest.raises(P4schedError, match="no port 9 of s1"):
        result.port("s1", 9)


def test_numbers_of_numpy_are_numbers() -> None:
    assert np.array_equal(simulate.run(PAIR.with_(seed=np.int64(3))).flows, simulate.run(PAIR.with_(seed=3)).flows)


def test_a_flow_that_does_not_end_has_no_time() -> None:
    result = simulate.run(PAIR.with_(end_ns=100_000))
    assert list(np.isnan(result.flows["completion_s"])) == [False, True]
    assert len(result.completed()) == 1
    assert result.flows["received_bytes"][1] < 30_000


def test_a_list_an_array_and_a_file_of_flows_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = simulate.run(PAIR)
    array = simulate.flow_list(np.array([1000, 0]), np.array([1, 0]), np.array([4, 3]), np.array([30_000, 1]))
    assert np.array_equal(simulate.run(PAIR.with_(flows=array)).flows, listed.flows)
    (tmp_path / "flows.csv").write_text("start_ns,source,destination,bytes\n0,0,3,1\n1000,1,4,30000\n")
    monkeypatch.chdir(tmp_path)
    from_file = simulate.run(PAIR.with_(flows=Path("flows.csv")))
    assert np.array_equal(from_file.flows, listed.flows)
    assert from_file.summary == listed.summary


@pytest.mark.parametrize(
    ("source", "size", "says"),
    [
        ([1], [30_000, 1], r"source: its shape is \(1,\), that of start_ns \(2,\)"),
        ([1, 0], [30_000.5, 1], "bytes: it holds float64, not whole numbers"),
    ],
)
def test_an_array_of_flows_has_a_whole_number_for_each(source: list[int], size: list[float], says: str) -> None:
    with pytest.raises(P4schedError, match=says):
        simulate.flow_list(np.array([1000, 0]), np.array(source), np.array([4, 3]), np.array(size))


def test_a_scenario_may_be_a_mapping_or_a_file_and_its_results_may_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(PAIR.to_json()))
    kept = tmp_path / "kept"
    result = simulate.run(path, output=kept)
    assert simulate.run(PAIR.to_json()).summary == result.summary == json.loads((kept / "summary.json").read_text())
    assert np.array_equal(simulate.read(kept).flows, result.flows)


def test_programs_decide_as_the_models_do() -> None:
    scenario = PAIR.with_(multipath="buckets")
    assert np.array_equal(simulate.run(scenario, programs=True, check=True).flows, simulate.run(scenario).flows)


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        (PAIR.with_(end_ns=0), "end_ns = 0"),
        (PAIR.with_(flows=[Flow("h1", "h9", 1)]), "flow 0: there is no host h9"),
        (PAIR.with_(transports={}), "flows need one"),
        (PAIR.with_(topology=simulate.FatTree(3, ACCESS, FABRIC)), "topology: "),
        (PAIR.with_(topology={"ring": {}}), "ring"),
        (PAIR.with_(ports=Ports("aifo", parameters={"size": 3})), "ports: aifo has no parameter size"),
        (PAIR.with_(ports=Ports("packs", queues=10**9)), "1000000000 queues at a port: at most 65536"),
        (PAIR.with_(topology={"ring": {1, 2}}), "the scenario cannot be written: {1, 2}"),
        (None, "a scenario is a Scenario, a mapping or a file, not None"),
    ],
)
def test_what_is_wrong_is_told_in_the_simulators_own_sentence(scenario: Any, says: str) -> None:
    with pytest.raises(P4schedError) as raised:
        simulate.run(scenario)
    message = str(raised.value)
    assert says in message
    assert "\n" not in message
    assert "/tmp" not in message
    assert " at line " not in message


def test_files_that_are_missing_or_no_results_are_told(tmp_path: Path) -> None:
    with pytest.raises(P4schedError, match=r"cannot read .*gone\.json"):
        simulate.run(tmp_path / "gone.json")
    with pytest.raises(P4schedError, match="results cannot be read"):
        simulate.read(tmp_path)
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(P4schedError, match="holds no results"):
        simulate.read(tmp_path)


def test_a_simulator_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "simulate"
    binary.write_text(f"#!/bin/sh\nkill -{int(signal.SIGKILL)} $$\n")
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setitem(os.environ, "P4SCHED_SIMULATE", str(binary))
    with pytest.raises(simulate.EndedError, match="ended by SIGKILL"):
        simulate.run(PAIR)
