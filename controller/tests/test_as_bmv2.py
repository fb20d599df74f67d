"""What was written for BMv2 and p4c runs as it is: `p4sched as-bmv2`."""

import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest
from lab import P4SCHED, PATIENCE_S, on_embedded
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Switch

from mininet_topos.nodes import free_port

TESTS = Path(__file__).parent
NAMES = ("simple_switch", "simple_switch_grpc", "p4c", "p4c-bm2-ss")

RECEIVE = """
import socket
inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inlet.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
inlet.bind(("10.7.0.2", 5000))
inlet.settimeout(300)
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
    return subprocess.run(
        [str(P4SCHED), "as-bmv2", *command], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


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
def test_a_missing_command_is_reported() -> None:
    """In one line."""
    ended = as_bmv2("no-such-program")
    assert ended.returncode == 2
    assert ended.stderr == "p4sched: no command 'no-such-program' on the PATH\n"
    assert "Usage: p4sched as-bmv2" in as_bmv2("--help").stdout


def bare_python(folder: Path) -> tuple[str, Path]:
    """A Python without any package, and the folder for packages of its own."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    return str(folder / "bin" / "python"), packages


MATERIAL_IMPORTS = """
import grpc, psutil, scapy.all, mininet.net, p4runtime_sh.shell
from google.rpc import code_pb2, status_pb2
from p4.config.v1 import p4info_pb2
from p4.tmp import p4config_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
config = p4config_pb2.P4DeviceConfig(reassign=True, device_data=b"{}")
config.extras.kv["key"] = "value"
print(config.SerializeToString() == bytes.fromhex("0801 120e 0a0c 0a03 6b6579 1205 76616c7565 1a02 7b7d"))
"""


def test_a_python_without_packages_finds_what_material_for_bmv2_imports(tmp_path: Path) -> None:
    """The messages of p4.tmp, which no package has, are to the byte those of their description."""
    python, _ = bare_python(tmp_path)
    missing = subprocess.run(
        [python, "-c", MATERIAL_IMPORTS], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert "No module named 'grpc'" in missing.stderr
    found = as_bmv2(python, "-c", MATERIAL_IMPORTS)
    assert (found.stdout, found.stderr) == ("True\n", "")


def test_packages_of_its_own_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what they lack is brought: `p4` may be there without `p4.tmp`. PYTHONPATH and sitecustomize stay."""
    python, packages = bare_python(tmp_path / "python")
    (packages / "p4").mkdir()
    (packages / "p4" / "__init__.py").write_text("version = 'own'\n")
    (packages / "scapy.py").write_text("version = 'own'\n")
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = 'own'\n")
    asked = "import p4, scapy, p4.tmp.p4config_pb2; print(p4.version, scapy.version, customized)"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert as_bmv2(python, "-c", asked).stdout == "own own own\n"


@on_embedded
def test_sudo_keeps_the_names_and_the_packages(tmp_path: Path) -> None:
    """Also a sudo that clears the environment; it takes settings before and between its options."""
    clearing = tmp_path / "sudo"
    clearing.write_text('#!/bin/sh\nexec env -i "$@"\n')
    clearing.chmod(0o755)
    asked = "print(__import__('p4.tmp.p4config_pb2').__name__, __import__('shutil').which('p4c'))"
    python, _ = bare_python(tmp_path / "python")
    said = f"p4 {TESTS.parents[1] / 'switch' / 'bmv2' / 'p4c'}\n"
    assert as_bmv2("env", "sudo", "-E", "A=b", python, "-c", asked).stdout == said
    line = f'PATH="$PATH:{tmp_path}" sudo A=b "$@"'
    assert as_bmv2("sh", "-c", line, "sh", python, "-c", asked).stdout == said


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
        ends = time.monotonic() + PATIENCE_S
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
        assert hosts[0].popen([sys.executable, "-c", SEND]).wait(timeout=PATIENCE_S) == 0
        said, complaints = receiver.communicate(timeout=PATIENCE_S)
        assert receiver.returncode == 0, complaints
    finally:
        net.stop()
    marks = [int(tos) for tos in said.split()]
    # 40 frames at once; HTB lets some ten through, so those behind the 20th find ten in the switch's queue
    assert marks[:5] == [2] * 5
    assert marks[-8:] == [3] * 8
    assert (tmp_path / "ecn1-eth2_out.pcap").stat().st_size > 40 * 1000
    # BMv2's log tells of each packet
    log = (tmp_path / "ecn1.log").read_text()
    assert "] [cxt 0] Processing packet received on port 1\n" in log
    assert "] [cxt 0] Transmitting packet of size 1000 out of port 2\n" in log
