"""Priority queues compete where a port has a link: one of its own, or one that `tc` limits."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from lab import P4SCHED, PATIENCE_S, on_embedded
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Switch
from switches import RunningSwitch

from mininet_topos.nodes import free_port
from p4sched.paths import BMV2_NAMES_DIR, rust_binary
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.proto.traffic_manager_pb2_grpc import TrafficManagerStub

PROGRAM = Path(__file__).with_name("priority_port.p4")
RECEIVER = 3
"""Number of the host that receives, and of the port behind which it is."""
SERVERS = {1: 5001, 2: 5002}
"""By sender."""
MEASURED_BYTES = 1_500_000
LEAST, MOST_URGENT = 0, 7
QUEUES = {1: LEAST, 2: MOST_URGENT}
"""By sender: the queue of its packets."""
TRAFFIC = {"udp": ["-u", "-b", "20M", "-l", "1400"], "tcp": ["-C", "cubic"]}
BACKLOG = {"udp": {LEAST: 32, MOST_URGENT: 32}, "tcp": {LEAST: 1, MOST_URGENT: 16}}
"""Packets in each queue from which on both classes have all that they can send."""
LIMITS: Mapping[str, dict[str, object]] = {
    "htb": {"bw": 5},
    "tbf": {"bw": 5, "use_tbf": True, "latency_ms": 50},
    "none": {},
}
"""By name of the discipline, what Mininet's link to the receiver is given."""


class Bottleneck(Switch):
    """The switch of this test, in Mininet's network."""

    def __init__(self, name: str, **options: object) -> None:
        super().__init__(name, **options)  # type: ignore[no-untyped-call]
        self.folder = Path(str(options["folder"]))
        self.running: RunningSwitch | None = None

    def start(self, _: object) -> None:
        """Starts it, and waits until it answers."""
        grpc_port, thrift_port = free_port(), free_port()
        command = [str(rust_binary("p4sched-switch")), "--thrift-port", str(thrift_port)]
        command += ["--grpc-server-addr", f"127.0.0.1:{grpc_port}"]
        command += [word for port, link in self.intfs.items() if port for word in ("-i", f"{port}@{link.name}")]
        command.append(str(self.folder / "priority_port.json"))
        self.running = RunningSwitch("embedded", command, grpc_port, thrift_port, self.folder / "switch.log")
        self.running.wait_until_it_answers()

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        """Ends the switch and removes its interfaces."""
        if self.running is not None:
            self.running.stop()
        super().stop(deleteIntfs)  # type: ignore[no-untyped-call]


@contextmanager
def network(limit: str, folder: Path) -> Iterator[tuple[list[Any], RunningSwitch]]:
    """Two senders and a receiver behind a link with this limit: the hosts by number less one, and the switch."""
    compiler = str(BMV2_NAMES_DIR / "p4c-bm2-ss")
    subprocess.run([compiler, "-o", str(folder / "priority_port.json"), str(PROGRAM)], check=True)
    net = Mininet(link=TCLink, switch=Bottleneck, controller=None, build=False)
    hosts = [net.addHost(f"p4q{n}", ip=f"10.8.0.{n}/24", mac=f"02:00:00:00:08:0{n}") for n in (1, 2, RECEIVER)]
    switch = net.addSwitch("p4qs", folder=folder)
    for port, host in enumerate(hosts, 1):
        net.addLink(host, switch, port2=port, **(LIMITS[limit] if port == RECEIVER else {}))
    try:
        net.build()
        net.staticArp()
        for host in hosts:
            host.cmd(f"ethtool -K {host.name}-eth0 tso off gso off gro off tx off")
        net.start()
        yield hosts, switch.running
    finally:
        net.stop()


@contextmanager
def sending(hosts: list[Any], switch: RunningSwitch, kind: str) -> Iterator[None]:
    """Both senders send all that they can. The urgent one begins last: behind it the other one could not connect."""
    processes = []
    try:
        for sender, port in SERVERS.items():
            server = hosts[RECEIVER - 1].popen(["iperf3", "-s", "-1", "--forceflush", "-p", str(port)])
            processes.append(server)
            while b"listening" not in server.stdout.readline():
                assert server.poll() is None
            client = ["iperf3", "-c", f"10.8.0.{RECEIVER}", "-p", str(port), "-t", str(int(PATIENCE_S)), *TRAFFIC[kind]]
            processes.append(hosts[sender - 1].popen(client, stdout=subprocess.DEVNULL))
            queue = QUEUES[sender]
            await_lengths(switch, {queue: BACKLOG[kind][queue]})
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def snapshots(channel: grpc.Channel) -> Iterator[Any]:
    """The port's queues, every 20 ms."""
    request = pb.WatchRequest(interval_ns=20_000_000, ports=[RECEIVER])
    return iter(TrafficManagerStub(channel).Watch(request, timeout=PATIENCE_S))


def await_lengths(switch: RunningSwitch, lengths: Mapping[int, int]) -> None:
    """Waits until so many packets at least wait in each of these queues at the same time."""
    with grpc.insecure_channel(switch.address) as channel:
        for snapshot in snapshots(channel):
            if all(snapshot.lengths[queue] >= least for queue, least in lengths.items()):
                return


def share_of_the_most_urgent(switch: RunningSwitch) -> float:
    """Its share of what leaves by the receiver's port while both classes wait there.

    Counts the time between two looks at the port only if the most urgent queue held more packets than left in it: a
    sender that waits for a CPU lets its queue run empty, and then the others may send.
    """

    def queues() -> Mapping[int, pb.QueueStats]:
        (port,) = stub.GetStats(pb.GetStatsRequest(ports=[RECEIVER])).ports
        return {queue.queue: queue for queue in port.queues}

    sent = dict.fromkeys(QUEUES.values(), 0)
    with grpc.insecure_channel(switch.address) as channel:
        stub = TrafficManagerStub(channel)
        before = queues()
        for _ in snapshots(channel):
            after = queues()
            left = sum(after[queue].dequeued_packets - before[queue].dequeued_packets for queue in sent)
            if before[LEAST].depth_packets and before[MOST_URGENT].depth_packets > left:
                for queue in sent:
                    sent[queue] += after[queue].dequeued_bytes - before[queue].dequeued_bytes
            if sum(sent.values()) >= MEASURED_BYTES:
                break
            before = after
    return sent[MOST_URGENT] / sum(sent.values())


@on_embedded
@pytest.mark.parametrize("kind", TRAFFIC)
@pytest.mark.parametrize("discipline", ["htb", "tbf"])
def test_the_most_urgent_class_takes_a_link_that_tc_limits(discipline: str, kind: str, tmp_path: Path) -> None:
    """As on BMv2: packets wait in the queues, and the most urgent one goes when the interface takes a frame."""
    with network(discipline, tmp_path) as (hosts, switch), sending(hosts, switch, kind):
        assert share_of_the_most_urgent(switch) >= 0.95


@on_embedded
def test_a_rate_for_the_port_is_set_shown_and_cleared(tmp_path: Path) -> None:
    """From both command lines, and its queues compete."""

    def port_rate(*words: str) -> str:
        command = [str(P4SCHED), "port-rate", switch.address, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        return done.stdout + done.stderr

    def cli(line: str) -> str:
        command = [str(BMV2_NAMES_DIR / "simple_switch_CLI"), "--thrift-port", str(switch.thrift_port)]
        done = subprocess.run(
            command, input=f"{line}\n", capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        return done.stdout.partition("RuntimeCmd: ")[2].partition("RuntimeCmd: ")[0]

    with network("none", tmp_path) as (hosts, switch):
        assert port_rate("3", "5mbit") == "port 3 (p4qs-eth3): 5mbit\n"
        assert cli("get_port_rate 3") == "5mbit\n"
        with sending(hosts, switch, "udp"):
            assert share_of_the_most_urgent(switch) >= 0.95
        assert cli("set_port_rate none 3") == ""
        assert port_rate("3") == "port 3 (p4qs-eth3): none\n"
        assert cli("set_port_rate 1.5mbit 1") == ""
        lines = ["port 1 (p4qs-eth1): 1500kbit", "port 2 (p4qs-eth2): none", "port 3 (p4qs-eth3): none"]
        assert port_rate().splitlines() == lines
        assert port_rate("4", "5mbit") == "p4sched: no port 4; this switch has 1, 2, 3\n"
        assert "port 3: rate of 10 bit/s is too low; use at least 1000 bit/s" in port_rate("3", "10bit")
        assert cli("set_port_rate 5 3").startswith("Error: rate '5' has no unit")
        assert "Error: set_port_rate: no port 4; this switch has 1, 2, 3" in cli("set_port_rate 5mbit 4")
        assert cli("get_port_rate x") == "Error: Bad format for egress_port, expected integer\n"
