"""What was written for BMv2 and p4c runs as it is: `p4sched as-bmv2`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab import P4SCHED, on_embedded
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Switch
from switches import free_port

TESTS = Path(__file__).parent
NAMES = ("simple_switch", "simple_switch_grpc", "p4c", "p4c-bm2-ss")

RECEIVE = """
import socket
inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inlet.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
inlet.bind(("10.7.0.2", 5000))
inlet.settimeout(20)
print("ready", flush=True)
for _ in range(40):
    _, [(_, _, tos)], _, _ = inlet.recvmsg(2000, 100)
    print(tos[0], flush=True)
"""

SEND = """
import socket
outlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
outlet.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
for _ in range(40):
    outlet.sendto(bytes(958), ("10.7.0.2", 5000))
"""


def as_bmv2(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with BMv2's names on its PATH."""
    return subprocess.run([str(P4SCHED), "as-bmv2", *command], capture_output=True, text=True, check=False, timeout=60)


@on_embedded
def test_the_names_of_bmv2_and_p4c_come_first_on_the_path() -> None:
    """Whatever else is installed."""
    found = as_bmv2("sh", "-c", f"for name in {' '.join(NAMES)}; do command -v $name; $name --version; done")
    lines = found.stdout.splitlines()
    assert found.returncode == 0
    assert [Path(line).name for line in lines[::2]] == list(NAMES)
    assert {Path(line).parent for line in lines[::2]} == {TESTS.parents[1] / "switch" / "bmv2"}
    assert [line.split()[0] for line in lines[1::2]] == ["p4sched-switch"] * 2 + ["p4sched-p4c"] * 2


@on_embedded
def test_the_command_has_its_own_options_and_its_own_end() -> None:
    """Nothing of the command line is p4sched's."""
    ended = as_bmv2("sh", "-c", "echo $1; exit 7", "--", "--help")
    assert (ended.returncode, ended.stdout) == (7, "--help\n")


@on_embedded
def test_a_command_that_is_not_there_is_told() -> None:
    """In one line."""
    ended = as_bmv2("no-such-program")
    assert ended.returncode == 1
    assert ended.stderr == "p4sched: no command 'no-such-program' on the PATH\n"
    assert "Usage: p4sched as-bmv2" in as_bmv2("--help").stdout


class TutorialSwitch(Switch):
    """Starts a switch with the line that the exercises of p4lang/tutorials write."""

    def __init__(self, name: str, **options: object) -> None:
        super().__init__(name, **options)  # type: ignore[no-untyped-call]
        self.folder = Path(str(options["folder"]))
        self.process = 0

    def start(self, _: object) -> None:
        """As utils/p4runtime_switch.py does: a line for a shell, in the background."""
        ports = " ".join(f"-i {port}@{link.name}" for port, link in self.intfs.items() if port)
        line = (
            f"{P4SCHED} as-bmv2 simple_switch_grpc {ports} --pcap {self.folder} --nanolog ipc:///tmp/bm-0-log.ipc "
            f"--device-id 0 {self.folder}/ecn_wire.json --log-console --thrift-port {free_port()} "
            f"-- --grpc-server-addr 127.0.0.1:{free_port()}"
        )
        log = self.folder / f"{self.name}.log"
        said = self.cmd(f"{line} > {log} 2>&1 & echo $!")  # type: ignore[no-untyped-call]
        self.process = int(said.split()[-1])
        ends = time.monotonic() + 30
        while "gRPC on" not in (log.read_text() if log.exists() else ""):
            assert time.monotonic() < ends, log.read_text()

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        """Ends the switch and removes its interfaces."""
        os.kill(self.process, signal.SIGTERM)
        super().stop(deleteIntfs)  # type: ignore[no-untyped-call]


@on_embedded
def test_a_tc_link_fills_the_queue_that_programs_see(tmp_path: Path) -> None:
    """As in the exercises ecn and mri: Mininet's link has 0.5 Mbit/s, and the switch before it marks packets."""
    output = str(tmp_path / "ecn_wire.json")
    compiled = as_bmv2("p4c-bm2-ss", "--p4v", "16", "-o", output, str(TESTS / "ecn_wire.p4"))
    assert compiled.returncode == 0, compiled.stderr
    net = Mininet(link=TCLink, switch=TutorialSwitch, controller=None, build=False)
    hosts = [net.addHost(f"h{n}", ip=f"10.7.0.{n}/24", mac=f"02:00:00:00:07:0{n}") for n in (1, 2)]
    switches = [net.addSwitch(f"ecn{n}", folder=tmp_path) for n in (1, 2)]
    for host, switch in zip(hosts, switches, strict=True):
        net.addLink(host, switch, port2=1)
    net.addLink(switches[0], switches[1], port1=2, port2=2, bw=0.5)
    try:
        net.build()
        net.staticArp()
        net.start()
        receiver = hosts[1].popen([sys.executable, "-c", RECEIVE])
        assert receiver.stdout.readline() == b"ready\n"
        assert hosts[0].popen([sys.executable, "-c", SEND]).wait(timeout=20) == 0
        said, complaints = receiver.communicate(timeout=30)
        assert receiver.returncode == 0, complaints
    finally:
        net.stop()
    marks = [int(tos) for tos in said.split()]
    # 40 frames at once; the kernel holds some 16, so those behind the 26th find ten in the switch's queue
    assert marks[:5] == [2] * 5
    assert marks[-8:] == [3] * 8
    assert (tmp_path / "ecn1-eth2_out.pcap").stat().st_size > 40 * 1000
    # BMv2's log tells of each packet
    log = (tmp_path / "ecn1.log").read_text()
    assert "] [cxt 0] Processing packet received on port 1\n" in log
    assert "] [cxt 0] Transmitting packet of size 1000 out of port 2\n" in log
