"""The lab for real: namespaces, a switch, traffic, and a clean machine however it ends.

Needs root and the lab's programs; runs on the embedded switch where it is built, and on BMv2 where it is installed.
"""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import finsy as fy
import pytest
from lab import BMV2, EMBEDDED, P4SCHED, PATIENCE_S, in_plain_mininet, living, on_embedded

from p4sched.control.bands import Bands
from p4sched.lab import run, schemes
from p4sched.lab.depth import Depth, Worker, with_depth
from p4sched.lab.emulated.iperf3 import Iperf3Traffic
from p4sched.lab.emulated.network import Dumbbell, dumbbell, operational_state
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import FOLDER, STATE_FILE, Ledger, interface_index
from p4sched.lab.measurement import departures_of
from p4sched.lab.observation import Observer
from p4sched.lab.programming import program_network
from p4sched.lab.ranked_schemes import ranked_testbed
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import Transfer, transfers
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import PortSettings
from p4sched.schemes import find_scheme

LINK = Link(20_000_000, 10_000_000)
SWITCH_WORD = "1@s1-eth1"
"""Part of the command line of every switch of the dumbbell."""


def pings(network: Dumbbell, source: str, address: str) -> bool:
    """Whether the server answers a ping of this user address."""
    host = network.host(source)
    words = ["ping", "-c", "1", "-W", "2", "-I", address, network.server_address]
    return subprocess.run(host.command(*words), capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("switch", [EMBEDDED, BMV2])
@pytest.mark.parametrize("name", ["fifo", "fdpa"])
@pytest.mark.parametrize("target", [Target.V1MODEL, Target.TNA])
def test_every_user_reaches_the_server_and_is_counted(switch: str, name: str, target: Target, tmp_path: Path) -> None:
    if switch == "bmv2" and target is not Target.V1MODEL:
        pytest.skip(f"BMv2 runs no programs for {target}")

    async def count(network: Dumbbell) -> dict[int, int]:
        scheme = schemes.scheme(name, LINK, Bands.parse("1+4*0.5")).on(target)
        weights = {seat.user: 1.0 for seat in network.seats}
        async with program_network(network, scheme, LINK, weights) as testbed:
            answered = [pings(network, seat.host, seat.address) for seat in network.seats]
            assert all(answered)
            return dict(await departures_of(testbed.session, [seat.user for seat in network.seats])())

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 9, switch, tmp_path) as network:
        delivered = asyncio.run(count(network))
    # One echo request: 14 bytes of Ethernet, 20 of IPv4, 8 of ICMP, 56 of payload.
    assert delivered == dict.fromkeys(range(1, 10), 98)


@on_embedded
def test_no_segment_of_a_flow_overtakes_another(tmp_path: Path) -> None:
    link = Link(40_000_000_000, 1_000_000)

    async def reorderings(network: Dumbbell) -> tuple[int, int]:
        scheme = replace(schemes.scheme("fifo", link, Bands.parse("1+4*0.5")), room=10_000)
        async with (
            program_network(network, scheme, link, {seat.user: 1.0 for seat in network.seats}),
            Iperf3Traffic(network, ledger, tmp_path / "iperf3") as traffic,
        ):
            planned = transfers(network.seats, [1])
            await traffic.serve(planned)
            await traffic.send(planned, 2)
            await traffic.finish()
            seen = await network.tcp(["u1"])
        return seen.segments_sent, seen.reorderings

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 1, "embedded", tmp_path, hosts=1) as network:
        sent, reordered = asyncio.run(reorderings(network))
    # as fast as the switch forwards: tens of thousands a second on an idle machine
    assert (sent > 2000, reordered) == (True, 0)


@on_embedded
def test_what_the_program_drops_ahead_of_a_full_queue_is_told_from_what_the_queue_drops(tmp_path: Path) -> None:
    async def counted(network: Dumbbell) -> dict[str, Any]:
        scheme = schemes.scheme("fifo", LINK, Bands.parse("1+4*0.5"))
        weights = {seat.user: 1.0 for seat in network.seats}
        port = network.bottleneck_port
        async with program_network(network, scheme, LINK, weights) as testbed:
            await testbed.session.set_default_action("fifo_params", "set_depth", {"depth": 3})
            # 11 s for every frame: no room comes free while the 20 come
            await testbed.traffic_manager.set_ports([PortSettings(port, rate_bps=1000)])
            observer = await Observer.start(network, testbed.traffic_manager, LINK, testbed.session)
            words = ["ping", "-s", "1400", "-c", "20", "-i", "0.01", "-W", "1", "-I", network.seats[0].address]
            subprocess.run(network.host("u1").command(*words, network.server_address), capture_output=True, check=False)
            return (await observer.finish()).bottleneck

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 1, "embedded", tmp_path, hosts=1) as network:
        found = asyncio.run(counted(network))
    (queue,) = found["queues"].values()
    assert queue["dropped"] == 0
    assert found["dropped_by_program"] >= 14
    assert queue["enqueued"] + found["dropped_by_program"] == 20


@on_embedded
@pytest.mark.parametrize("target", [Target.V1MODEL, Target.TNA])
def test_a_worker_brings_what_egress_knows_to_ingress(target: Target, tmp_path: Path) -> None:
    async def brought(network: Dumbbell) -> int:
        aifo = find_scheme("aifo").default_setup().on(target)
        worked = with_depth(aifo, Depth.WORKER, target)
        async with ranked_testbed(network, worked, LINK, RankSource.HEADER, [1]) as testbed:
            await Worker(PROGRAMS[target].recirculation_port, 1_000_000).start(network, testbed)
            port = network.bottleneck_port
            await testbed.session.finsy.modify([fy.P4RegisterEntry("queue_length_egress", index=port, data=7)])
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                (found,) = await testbed.session.read([fy.P4RegisterEntry("queue_length_ingress", index=port)])
                assert isinstance(found, fy.P4RegisterEntry)
                if found.data:
                    return int(found.data)
            return 0

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 1, "embedded", tmp_path, hosts=1) as network:
        assert asyncio.run(brought(network)) == 7


@pytest.mark.parametrize("switch", [BMV2])
def test_frames_that_bmv2_does_not_see_are_told_from_those_that_it_counts(switch: str, tmp_path: Path) -> None:
    async def lost(network: Dumbbell) -> list[tuple[int, int]]:
        scheme = schemes.scheme("fifo", LINK, Bands.parse("1+4*0.5"))
        weights = {seat.user: 1.0 for seat in network.seats}
        async with program_network(network, scheme, LINK, weights) as testbed:
            found = []
            for destination in (network.server_address, "10.77.0.1"):
                await testbed.traffic_manager.fidelity(reset=True)
                words = ["ping", "-c", "3", "-i", "0.2", "-W", "1", "-I", network.seats[0].address, destination]
                subprocess.run(network.host("u1").command(*words), capture_output=True, check=False)
                observed = await testbed.traffic_manager.fidelity()
                assert observed is not None
                found.append((observed.departures, observed.rx_lost))
            return found

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 1, switch, tmp_path, hosts=1) as network:
        # Three requests and their answers; then requests that have no route, which no port counts.
        assert asyncio.run(lost(network)) == [(6, 0), (0, 3)]


@on_embedded
def test_shortest_timeout_and_initial_window_become_properties_of_every_hosts_route(tmp_path: Path) -> None:
    async def set_both(network: Dumbbell) -> None:
        # 3.2 ms: in whole milliseconds, rounded up
        await network.set_shortest_timeout(3_200_000)
        await network.set_initial_window(30)
        await network.set_initial_window(33)

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 4, "embedded", tmp_path) as network:
        asyncio.run(set_both(network))
        for station in network.stations():
            route = network.host(station.name).run("ip", "-4", "route", "show", "default")
            assert f"via {station.gateway} " in route
            assert "rto_min lock 4ms" in route
            assert "initcwnd 33" in route
            assert "initcwnd 30" not in route


def until(met: Callable[[], bool]) -> None:
    """Waits until this is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def client_of(transfer: Transfer) -> set[int]:
    """Process of the transfer's iperf3 client."""
    return set(living("--client")) & set(living(f"--port\0{transfer.tcp_port}"))


@on_embedded
def test_a_flow_that_is_killed_fails_the_run_and_one_that_is_stopped_does_not(tmp_path: Path) -> None:
    async def traffic(network: Dumbbell, ledger: Ledger) -> None:
        scheme = schemes.scheme("fifo", LINK, Bands.parse("1+4*0.5"))
        planned = transfers(network.seats, [1, 1, 1])
        async with (
            program_network(network, scheme, LINK, {seat.user: 1.0 for seat in network.seats}),
            Iperf3Traffic(network, ledger, tmp_path / "iperf3") as flows,
        ):
            await flows.serve(planned)
            await flows.send(planned, 60)
            until(lambda: all(len(client_of(transfer)) == 1 for transfer in planned))
            await flows.stop_user(1)
            until(lambda: not client_of(planned[0]))
            flows.check()
            (client,) = client_of(planned[2])
            os.kill(client, signal.SIGKILL)
            # Its command line is gone a moment before its status can be read.
            until(lambda: flows.ended_users() == [3])
            flows.check()

    with (
        run.clean_run("a test of the lab") as ledger,
        dumbbell(ledger, 3, "embedded", tmp_path) as network,
        pytest.raises(LabError, match="1 of 3 users failed, user 3's: ended with status -9 and no report"),
    ):
        asyncio.run(traffic(network, ledger))


@on_embedded
def test_nothing_is_left_after_a_network(tmp_path: Path) -> None:
    with run.clean_run("a test of the lab") as ledger:
        with dumbbell(ledger, 4, "embedded", tmp_path) as network:
            assert network.switch.process is not None
            pid = network.switch.process.pid
            assert interface_index("s1-eth1") is not None
            assert json.loads((FOLDER / STATE_FILE).read_text())["switches"]["s1"]["address"] == network.address
        assert interface_index("s1-eth1") is None
        assert not Path(f"/proc/{pid}").exists()
    assert not (FOLDER / STATE_FILE).exists()


def test_an_interface_that_goes_while_it_is_looked_at_is_there_or_not() -> None:
    name = f"race{os.getpid()}"[:15]
    make = f"ip link add {name} type veth peer name {name[:14]}p; ip link delete {name}"
    makers = subprocess.Popen(["sh", "-c", f"for i in $(seq 40); do {make}; done"])
    seen: set[bool] = set()
    while makers.poll() is None:
        seen.add(interface_index(name) is not None)
        assert operational_state(name) in ("gone", "down", "lowerlayerdown")
    assert makers.returncode == 0
    assert seen == {False, True}


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of the fairness experiment whose traffic flows."""
    words = ["run", "fdpa_fairness", "--users", "4", "--schemes", "fifo", "--rate", "20mbit", "--out", str(tmp_path)]
    process = subprocess.Popen([P4SCHED, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    reports = tmp_path / "fifo" / "iperf3"
    deadline = time.monotonic() + PATIENCE_S
    while not (reports.exists() and len(list(reports.iterdir())) == 4):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()
    run.clean()


def leftovers() -> list[str]:
    """What a run would leave behind: links, hosts, switches, traffic."""
    links = [path.name for path in Path("/sys/class/net").glob("s1-eth*")]
    words = ("mininet:u1", "mininet:server", SWITCH_WORD, "10.2.0.1")
    return links + [word for word in words if living(word)]


def wait_until_clean() -> list[str]:
    """The leftovers once there are none, or those that stay."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := leftovers()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


@on_embedded
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_the_machine_clean(experiment: subprocess.Popen[str], number: signal.Signals) -> None:
    experiment.send_signal(number)
    output, _ = experiment.communicate(timeout=PATIENCE_S)
    assert experiment.returncode == 130
    assert "Traceback" not in output
    assert leftovers() == []


@on_embedded
def test_a_second_run_is_refused_and_a_killed_one_leaves_nothing_that_clean_does_not_remove(
    experiment: subprocess.Popen[str],
) -> None:
    second = subprocess.run([P4SCHED, "run", "fdpa_join_leave"], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert second.stderr.count("\n") == 1
    assert "p4sched run fdpa_fairness is running" in second.stderr
    assert experiment.poll() is None
    experiment.kill()
    experiment.wait()
    subprocess.run([P4SCHED, "clean"], check=True, capture_output=True)
    assert wait_until_clean() == []
    assert not (FOLDER / STATE_FILE).exists()


@on_embedded
def test_a_switch_that_dies_ends_the_run_with_one_message(experiment: subprocess.Popen[str]) -> None:
    (switch,) = living(SWITCH_WORD)
    os.kill(switch, signal.SIGKILL)
    output, _ = experiment.communicate(timeout=PATIENCE_S)
    assert experiment.returncode == 1
    assert "switch s1 (p4sched-switch) was killed by SIGKILL during the run" in output
    assert "Traceback" not in output
    assert leftovers() == []


@on_embedded
def test_an_interface_that_disappears_ends_the_run_with_one_message(experiment: subprocess.Popen[str]) -> None:
    subprocess.run(["ip", "link", "delete", "s1-eth5"], check=True)
    output, _ = experiment.communicate(timeout=PATIENCE_S)
    assert experiment.returncode == 1
    assert "port 5 of the switch lost its link" in output
    assert "Traceback" not in output
    assert leftovers() == []


@pytest.mark.parametrize("switch", [EMBEDDED, BMV2])
def test_the_topology_works_with_plain_mininet(switch: str) -> None:
    assert "0% dropped (6/6 received)" in in_plain_mininet(f"dumbbell,2,4,{switch}")
