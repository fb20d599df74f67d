"""`from p4sched import simulate`: scenarios from Python, and what comes out of them as numpy arrays."""

import doctest
import json
import os
import signal
import stat
from dataclasses import replace
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


def test_ports_count_packets_that_leave_out_of_order() -> None:
    counted = simulate.run(LEAF_SPINE.with_(count_inversions=True))
    assert counted.ports["inversions"].sum() > counted.ports["overtakes"].sum() > 0
    assert counted.port("h1")["overtakes"] == 0, "a FIFO at the hosts"
    plain = simulate.run(LEAF_SPINE)
    assert plain.flows.tobytes() == counted.flows.tobytes()
    assert plain.ports.dtype.names is not None
    assert "inversions" not in plain.ports.dtype.names
    kept = replace(LEAF_SPINE.ports, variants=("flowlet_queue",), flowlets={"gap_ns": 10_000_000, "cells": 4096})
    ordered = simulate.run(LEAF_SPINE.with_(count_inversions=True, ports=kept))
    assert ordered.ports["overtakes"].sum() == 0
    with pytest.raises(P4schedError, match="count_inversions: the models count"):
        simulate.run(PAIR.with_(count_inversions=True), programs=True)


def test_numbers_of_numpy_are_numbers() -> None:
    assert np.array_equal(simulate.run(PAIR.with_(seed=np.int64(3))).flows, simulate.run(PAIR.with_(seed=3)).flows)


def test_a_flow_that_does_not_end_has_no_time() -> None:
    result = simulate.run(PAIR.with_(end_ns=100_000))
    assert list(np.isnan(result.flows["completion_s"])) == [False, True]
    assert len(result.completed()) == 1
    assert result.flows["received_bytes"][1] < 30_000


def test_a_flow_that_does_not_end_counts_with_the_time_until_the_end() -> None:
    result = simulate.run(PAIR.with_(end_ns=100_000))
    # the second flow starts after 1000 ns
    assert result.flows["restricted_s"][1] == pytest.approx(99e-6)
    assert result.flows["restricted_s"][0] == result.flows["completion_s"][0]
    assert result.completed_share() == 0.5
    late = simulate.run(PAIR.with_(flows=[Flow(0, 3, 1), Flow(1, 4, 1, start_ns=200_000)], end_ns=100_000))
    assert np.isnan(late.flows["restricted_s"][1]), "it did not start"


def test_a_link_may_have_no_delay() -> None:
    assert Link.of("1gbit", "0us") == Link(10**9) == Link.of("1gbit")
    with pytest.raises(P4schedError, match="'fast' is not a time"):
        Link.of("1gbit", "fast")


DUMBBELL = Scenario(
    topology=simulate.Dumbbell(hosts=2, access=ACCESS, bottleneck=Link.of("100mbit")),
    ports=Ports("fifo", queues=1, queue_size=20),
    flows=[Flow("u1", "server", 5_000_000), Flow("u2", "server", 5_000_000)],
    transports={"udp": simulate.udp("100mbit", "119us")},
    end_ns=400_000_000,
)


def test_flows_of_datagrams_share_a_link_with_jitter_and_warn_without() -> None:
    received = simulate.run(DUMBBELL).flows["received_bytes"]
    assert received.min() > 0.4 * received.sum()
    with pytest.warns(simulate.SimulationWarning, match="flows 0 and 1 send datagrams at the same rate"):
        locked = simulate.run(DUMBBELL.with_(transports={"udp": simulate.udp("100mbit")}))
    assert locked.flows["received_bytes"].min() < 0.05 * locked.flows["received_bytes"].sum()


def test_nobody_acknowledges_datagrams() -> None:
    result = simulate.run(DUMBBELL.with_(flows=[Flow("u1", "server", 1000)]))
    assert result.completed_share() == 1
    assert np.isnan(result.flows["acknowledged_s"]).all()


def test_hosts_of_a_data_centre_do_not_wait_for_the_timers_of_a_wide_network() -> None:
    burst = DUMBBELL.with_(flows=[Flow(n % 2, "server", 60_000) for n in range(20)], end_ns=3_000_000_000)
    linux = simulate.run(burst.with_(transports=simulate.NEW_RENO)).flows["completion_s"]
    short = simulate.run(burst.with_(transports=simulate.DATA_CENTRE)).flows["completion_s"]
    assert linux.max() > 0.2
    # 1.2 MB at 100 Mbit/s take 0.1 s
    assert short.max() < 0.18


def test_sizes_of_flows_may_be_points_of_a_distribution() -> None:
    own = Poisson([(1000, 0.5), (2000, 1.0)], load=1.5, link_bps=10**9, duration_ns=10_000_000)
    sizes = simulate.run(LEAF_SPINE.with_(flows=own, end_ns=1)).flows["bytes"]
    assert (sizes == 1000).mean() == pytest.approx(0.5, abs=0.01)
    assert sizes.max() <= 2000


def test_the_sizes_of_a_comparison_are_ignored_where_they_have_no_meaning() -> None:
    ports = Ports("packs", queues=4, queue_size=10, window=20)
    for scheme in ("fifo", "pifo", "sp_pifo", "aifo", "rifo", "packs", "afq", "drr", "stfq"):
        assert len(simulate.run(PAIR.with_(ports=replace(ports, scheme=scheme))).completed()) == 2, scheme
    afq = simulate.run(PAIR.with_(ports=Ports("afq", queues=4, queue_size=10, log_bytes_per_round=12)))
    assert len(afq.completed()) == 2


def test_lengths_of_queues_are_those_of_the_models_with_programs_alone() -> None:
    burst = DUMBBELL.with_(flows=[Flow(n % 2, "server", 60_000) for n in range(4)], transports=simulate.DATA_CENTRE)
    by_program, by_model = simulate.run(burst, programs=True), simulate.run(burst)
    assert by_model.port("s1", 3)["queue_longest"] > 5
    assert by_program.summary["ports"] == by_model.summary["ports"]


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
        (PAIR.with_(transports={"udp": {"control": "udp"}}), "udp has a rate in bit/s of frames"),
        (PAIR.with_(flows=[Flow(0, 3, 2**63)]), "flow 0: bytes and start_ns are at most 2^62"),
        (PAIR.with_(flows=[Flow(0, 3, 2**64)]), "flows.list[0].bytes: 1.8446744073709552e+19 is above 2**64 - 1"),
        (PAIR.with_(flows=Poisson([(9, 0.5)], 0.5, 10**9, 10**6)), "the last probability is 0.5, not 1"),
        (PAIR.with_(topology=simulate.FatTree(3, ACCESS, FABRIC)), "topology: "),
        (PAIR.with_(topology={"ring": {}}), "ring"),
        (PAIR.with_(ports=Ports("aifo", parameters={"size": 3})), "ports: aifo has no parameter size"),
        (PAIR.with_(ports=Ports("packs", queues=10**9)), "1000000000 queues at a port: at most 65536"),
        (PAIR.with_(topology={"ring": {1, 2}}), "the scenario cannot be written: {1, 2}"),
        (None, "a scenario is a Scenario, a mapping or a file, not None"),
    ],
)
def test_what_is_wrong_is_reported_in_the_simulators_own_sentence(scenario: Any, says: str) -> None:
    with pytest.raises(P4schedError) as raised:
        simulate.run(scenario)
    message = str(raised.value)
    assert says in message
    assert "\n" not in message
    assert "/tmp" not in message
    assert " at line " not in message


def test_messages_have_the_names_of_this_module() -> None:
    with pytest.raises(P4schedError, match=r"compare with the models \(check=True\)$"):
        simulate.run(PAIR.with_(ports=Ports("pifo")), programs=True)
    with pytest.raises(P4schedError, match=r"^check=True compares .*: use it with programs=True$"):
        simulate.run(PAIR, check=True)


def test_a_random_process_without_a_flow_gives_a_warning() -> None:
    none = PAIR.with_(flows=Poisson("web_search", 0.5, 10**6, 10**6))
    with pytest.warns(simulate.SimulationWarning, match=r"flows.poisson: no flow starts; a longer duration_ns"):
        assert len(simulate.run(none).flows) == 0


def test_files_that_are_missing_or_no_results_are_reported(tmp_path: Path) -> None:
    with pytest.raises(P4schedError, match=r"cannot read .*gone\.json"):
        simulate.run(tmp_path / "gone.json")
    with pytest.raises(P4schedError, match="results cannot be read"):
        simulate.read(tmp_path)
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(P4schedError, match="holds no results"):
        simulate.read(tmp_path)


def test_a_simulator_that_is_killed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "simulate"
    binary.write_text(f"#!/bin/sh\nkill -{int(signal.SIGKILL)} $$\n")
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setitem(os.environ, "P4SCHED_SIMULATE", str(binary))
    with pytest.raises(simulate.EndedError, match="ended by SIGKILL"):
        simulate.run(PAIR)
