"""Incast, leaves and spines for real: everybody answers, flows keep their path, one controller tunes every switch."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from lab import BMV2, EMBEDDED, P4SCHED, PATIENCE_S, in_plain_mininet, living, on_embedded

from mininet_topos.leaf_spine import Shape
from mininet_topos.nodes import Bmv2Switch, EmbeddedSwitch, NodeError, P4Switch
from p4sched.control.parameters import equal_buffers
from p4sched.control.replay import replay
from p4sched.lab import run
from p4sched.lab.controllers import Laws
from p4sched.lab.emulated.network import Fabric, fabric, incast
from p4sched.lab.errors import LabError
from p4sched.lab.fabric import fabric_ports, host_ports, program_fabric
from p4sched.lab.law_configs import decision_summary, law_config
from p4sched.lab.ledger import FOLDER, STATE_FILE, Ledger, interface_index
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import LAWS, find_scheme

LINK = Link(20_000_000, 10_000_000)
SHAPE = Shape(leaves=2, spines=2, hosts=2)
DATAGRAMS = 256


def pings(network: Fabric, source: str, address: str) -> bool:
    """Whether the host at this address answers a ping."""
    words = ["ping", "-c", "1", "-W", "2", address]
    return subprocess.run(network.host(source).command(*words), capture_output=True, check=False).returncode == 0


SEND = """
import socket, sys
for port in range(20000, 20000 + int(sys.argv[2])):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind(("", port))
        for _ in range(3):
            sender.sendto(b"x", (sys.argv[1], 9))
"""


@pytest.mark.parametrize("switch", [EMBEDDED, BMV2])
def test_every_host_reaches_every_other_over_leaves_and_spines(switch: str, tmp_path: Path) -> None:
    async def check(network: Fabric) -> None:
        ranked = find_scheme("fifo").for_comparison(equal_buffers(64, 16))
        async with program_fabric(network, ranked, LINK, LINK.rate_bps, RankSource.TOS):
            for source in network.stations():
                for to in network.stations():
                    assert pings(network, source.name, to.address), f"{source.name} to {to.name}"

    with run.clean_run("a test of the lab") as ledger, fabric(ledger, SHAPE, switch, tmp_path) as network:
        asyncio.run(check(network))


@on_embedded
def test_flows_spread_over_the_spines_and_keep_their_path(tmp_path: Path) -> None:
    async def uplinks(network: Fabric) -> list[int]:
        ranked = find_scheme("fifo").for_comparison(equal_buffers(64, 16))
        async with program_fabric(network, ranked, Link(10**9, 10_000_000), 10**9, RankSource.TOS) as testbed:
            seat = testbed.switches["s1"]
            words = ["python3", "-c", SEND, network.racks["s2"][0].address, str(DATAGRAMS)]
            subprocess.run(network.host("h1").command(*words), check=True)
            ports = list(network.shape.structure.neighbours("s1").values())
            while True:
                admitted = await seat.reader.counts("port_admitted", ports)
                counts = [admitted[port].packets for port in ports]
                if sum(counts) == 3 * DATAGRAMS:
                    return counts

    with run.clean_run("a test of the lab") as ledger, fabric(ledger, SHAPE, "embedded", tmp_path) as network:
        counts = asyncio.run(asyncio.wait_for(uplinks(network), PATIENCE_S))
    # each flow is three datagrams that stay together
    assert [count % 3 for count in counts] == [0, 0]
    # 128 of 256 flows, with a binomial standard deviation of 8; five of these to either side
    assert all(88 <= count // 3 <= 168 for count in counts)


def laws_of(network: Fabric, switch: str, folder: Path) -> Laws:
    """A law for each port of a switch; links between switches are twice as fast as those to hosts."""
    rates = dict.fromkeys(host_ports(network, switch), LINK.rate_bps)
    rates |= dict.fromkeys(fabric_ports(network, switch), 2 * LINK.rate_bps)
    configs = {port: law_config("aifo", rate, 10_000_000, 64) for port, rate in rates.items()}
    return Laws(configs, folder / switch, per_port=True)


@on_embedded
def test_one_controller_tunes_every_port_of_every_switch(tmp_path: Path) -> None:
    async def tune(network: Fabric) -> None:
        ranked = find_scheme("aifo").for_comparison(equal_buffers(64, 16))
        laws = {name: laws_of(network, name, tmp_path) for name in network.switches}
        programming = program_fabric(network, ranked, LINK, 2 * LINK.rate_bps, RankSource.TOS, laws=laws)
        async with asyncio.timeout(PATIENCE_S), programming as testbed:
            logs = [log for seat in testbed.switches.values() for log in seat.controller.logs.values()]
            while not all(log.exists() and decision_summary(log)["rounds"] >= 3 for log in logs):
                await asyncio.sleep(0.05)
            for name, seat in testbed.switches.items():
                entries = await seat.reader.port_actions("aifo_params")
                assert set(entries) == set(seat.ports)
                for port in seat.ports:
                    # C = rate * 10 ms in packets of 1514 bytes
                    expected = 17 if port in seat.host_ports else 33
                    assert entries[port]["target_packets"] == expected
                    assert all(entry.agrees for entry in replay(tmp_path / name / f"port-{port}.jsonl", LAWS))

    with run.clean_run("a test of the lab") as ledger, fabric(ledger, SHAPE, "embedded", tmp_path) as network:
        known = json.loads((FOLDER / STATE_FILE).read_text())["switches"]
        assert known == {
            name: {"address": network.switches[name].address, "device_id": number}
            for number, name in enumerate(["s1", "s2", "s3", "s4"], start=1)
        }
        asyncio.run(tune(network))
    assert not any(interface_index(name) for name in SHAPE.structure.interfaces())


def test_no_interface_name_is_longer_than_the_kernel_takes() -> None:
    largest = Shape(leaves=32, spines=32, hosts=64)
    assert max(map(len, largest.structure.interfaces())) <= 15


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((0, 2, 2), "0 leaves: must be 1 to 32"),
        ((2, 33, 2), "33 spines: must be 1 to 32"),
        ((2, 2, 0), "0 hosts a leaf: must be 1 to 64"),
    ],
)
def test_leaves_and_spines_that_cannot_be_are_refused(shape: tuple[int, int, int], message: str) -> None:
    with pytest.raises(NodeError, match=message):
        Shape(*shape)


@pytest.mark.parametrize("senders", [0, 201])
def test_an_incast_of_nobody_or_too_many_is_refused(senders: int, tmp_path: Path) -> None:
    with (
        pytest.raises(LabError, match=f"{senders} senders: must be 1 to 200"),
        incast(Ledger(tmp_path / "state.json"), senders, "embedded", tmp_path),
    ):
        pass


@on_embedded
def test_a_killed_run_on_many_switches_leaves_nothing_that_clean_does_not_remove(tmp_path: Path) -> None:
    words = ["run", "leaf_spine", "--schemes", "aifo", "--rate", "20mbit", "--out", str(tmp_path)]
    process = subprocess.Popen([P4SCHED, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE_S
    while not (tmp_path / "aifo" / "s4" / "port-2.jsonl").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len(living("--grpc-server-addr")) >= 4
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    subprocess.run([P4SCHED, "clean"], check=True, capture_output=True)
    while left := [name for name in SHAPE.structure.interfaces() if interface_index(name)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert not living("1@s4-eth1")


@pytest.mark.skipif(shutil.which("mnexec") is None, reason="needs mnexec")
@pytest.mark.parametrize(
    ("node", "message"),
    [(Bmv2Switch, "found no simple_switch_grpc on the PATH"), (EmbeddedSwitch, "s1 ended with status 1 at start")],
)
def test_a_switch_that_cannot_start_leaves_no_folder(
    node: type[P4Switch], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, temporary = tmp_path / "bin", tmp_path / "tmp"
    for folder in (programs, temporary):
        folder.mkdir()
    for name in ("bash", "env", "mnexec", "setpriv"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("P4SCHED_SWITCH", "/bin/false")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    switch = node("s1", dpid="1", inNamespace=False)
    try:
        with pytest.raises(NodeError, match=message):
            switch.start([])
    finally:
        switch.terminate()  # type: ignore[no-untyped-call]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("switch", [EMBEDDED, BMV2])
@pytest.mark.parametrize(
    ("topology", "answers"),
    [
        ("incast,3,{}", "0% dropped (12/12 received)"),
        ("leaf_spine,2,2,1,{}", "0% dropped (2/2 received)"),
        ("fat_tree,2,{}", "0% dropped (2/2 received)"),
        ("dumbbell,2,0,{},program=aifo", "0% dropped (6/6 received)"),
    ],
)
def test_the_topologies_work_with_plain_mininet(topology: str, answers: str, switch: str) -> None:
    assert answers in in_plain_mininet(topology.format(switch))


@on_embedded
@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ("incast,0", "0 senders: must be 1 to 200"),
        ("fat_tree,5", "5 ports a switch: half of them go down, so their number must be even"),
        ("fat_tree,18", "18 ports a switch: must be 2 to 16"),
        ("leaf_spine,2,2,65", "65 hosts a leaf: must be 1 to 64"),
        ("dumbbell,2,program=fofi", "no program 'fofi': use one of aifo, fdpa, fifo, packs, rifo, sp_pifo"),
        ("leaf_spine,2,2,2,ovs", "no switch 'ovs': use embedded or bmv2"),
    ],
)
def test_plain_mininet_says_what_cannot_be(topology: str, message: str) -> None:
    said = in_plain_mininet(topology)
    assert f"mn: {message}" in said
    assert "Cleanup" not in said
    assert "Traceback" not in said


@on_embedded
def test_plain_mininet_leaves_a_network_alone_that_runs_already() -> None:
    subprocess.run(["ip", "link", "add", "s1-eth1", "type", "veth", "peer", "name", "other-eth1"], check=True)
    try:
        said = in_plain_mininet("dumbbell,2")
        assert "mn: interface s1-eth1 already exists" in said
        assert interface_index("s1-eth1") is not None
    finally:
        subprocess.run(["ip", "link", "delete", "s1-eth1"], check=False)
