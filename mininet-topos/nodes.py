"""Mininet nodes of the lab: hosts without offloads, the embedded switch, and BMv2.

This file imports only the standard library and Mininet, so that Debian's `mn` can also load it.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc,override"

import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mininet.node import Host, Switch

BESIDE = Path(__file__).resolve().parents[1]
# True if a wheel was installed: then this folder is beside the package p4sched.
INSTALLED = (BESIDE / "p4sched" / "files").is_dir()
FILES = BESIDE / "p4sched" / "files" if INSTALLED else BESIDE
RELEASE = FILES / ("bin" if INSTALLED else "switch/target/release")
# BESIDE is lib/python3.NN/site-packages of an environment.
PYTHON = BESIDE.parents[2] / "bin/python" if INSTALLED else BESIDE / ".venv/bin/python"
REMEDY = "install p4sched again" if INSTALLED else "run `make setup`"

# Gateway of every host: a static neighbour, so that no program needs ARP.
GATEWAY_MAC = "02:00:00:00:00:fe"
# Buffer of a TCP connection in bytes (minimum, default, maximum), enough for any bandwidth-delay product here.
TCP_BUFFER = "4096 131072 16777216"
# Packets in flight, if the sending host emulates the propagation delay.
DELAYED_PACKETS = 100_000
# Name of the data-plane thread of the embedded switch.
DATA_PLANE_THREAD = "data-plane"
READY_SECONDS = 60.0
STOP_SECONDS = 3.0
# Lower ports often belong to known services.
LOWEST_PORT = 10_000
PORT_TRIES = 100


class NodeError(RuntimeError):
    """An error in setting up or starting a node. The message says which node, why, and what would help."""


def data_plane_cpu() -> int:
    """The CPU of the embedded switch's data plane: the last one, which the hosts do not use."""
    return max(os.sched_getaffinity(0))


def host_cpus() -> set[int]:
    """The CPUs of hosts: all except that of the data plane, if there are others."""
    cpus = os.sched_getaffinity(0)
    return cpus - {data_plane_cpu()} or cpus


def on_cpus(cpus: Iterable[int], command: Sequence[str]) -> list[str]:
    """The command with these CPUs."""
    return ["taskset", "--cpu-list", ",".join(map(str, sorted(cpus))), *command]


def on_host_cpus(command: Sequence[str]) -> list[str]:
    """The command with the CPUs of hosts."""
    return on_cpus(host_cpus(), command)


def cpu_mask(cpu: int) -> str:
    """The kernel's hexadecimal mask for one CPU: groups of 32 bits, separated by commas."""
    groups = [f"{1 << cpu >> shift & 0xFFFFFFFF:08x}" for shift in range(0, cpu + 1, 32)]
    return ",".join(reversed(groups))


def embedded_binary() -> str:
    """Path of the embedded switch: $P4SCHED_SWITCH, or the build of this laboratory. Raises NodeError."""
    named = os.environ.get("P4SCHED_SWITCH")
    path = named or str(RELEASE / "p4sched-switch")
    if not os.access(path, os.X_OK):
        raise NodeError(f"$P4SCHED_SWITCH is {path}, not a program" if named else f"no {path}: {REMEDY}")
    return path


def bmv2_binary() -> str:
    """Path of simple_switch_grpc, from the PATH. Raises NodeError."""
    found = shutil.which("simple_switch_grpc")
    if found is None:
        raise NodeError("found no simple_switch_grpc on the PATH: BMv2 is not installed, or not for this user")
    return found


def free_port() -> int:
    """A free TCP port of 127.0.0.1, outside the range of ports that the kernel gives to connections."""
    first, _ = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    for _ in range(PORT_TRIES):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", random.SystemRandom().randrange(LOWEST_PORT, max(first, LOWEST_PORT + 1))))
            return int(probe.getsockname()[1])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """True if a process listens on this TCP port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def with_death_signal(command: Sequence[str]) -> list[str]:
    """The command, which the kernel kills if the calling thread dies first."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]


class OffloadFreeHost(Host):
    """A host with the packets of a real wire: no segmentation or checksum offload, IPv4 only.

    A host has one CPU (`cpu`), on which it receives. Otherwise the sender of a frame on a virtual link, mostly the
    switch, would also run the receiving host's TCP. The host's TCP programs also run on this CPU (`on_own_cpu`): a TCP
    sender sends after a write and after an acknowledgement, and on two CPUs these segments could be reordered.

    Parameters (on top of Mininet's):
      gateway      IPv4 address of the default gateway, reached at GATEWAY_MAC without ARP
      addresses    additional IPv4 addresses of the host, one for each of its users
      congestion_control
                   the host's default, which the machine must allow (tcp_allowed_congestion_control)
    """

    _numbers = itertools.count()

    def __init__(self, *args: Any, **params: Any) -> None:
        # hosts get the CPUs in turn
        cpus = sorted(host_cpus())
        self.cpu = cpus[next(self._numbers) % len(cpus)]
        super().__init__(*args, **params)

    def config(
        self,
        gateway: str | None = None,
        addresses: Sequence[str] = (),
        congestion_control: str | None = None,
        **params: Any,
    ) -> Any:
        """Configures the host: first Mininet's part, then ours."""
        self.write_sysctl("net/ipv6/conf/all/disable_ipv6", "1", needed=False)
        self.write_sysctl("net/ipv6/conf/default/disable_ipv6", "1", needed=False)
        result = super().config(**params)
        interface = str(self.defaultIntf())
        self.set_up_interface(interface)
        lines = [f"address add {address}/32 dev {interface}" for address in addresses]
        if gateway is not None:
            lines.append(f"neighbour replace {gateway} lladdr {GATEWAY_MAC} dev {interface} nud permanent")
            lines.append(f"route replace default via {gateway} dev {interface}")
        # 250 addresses do not fit into a shell line; `ip -batch` reads them from its input.
        self.run("ip", "-batch", "-", stdin="\n".join(lines) + "\n")
        if congestion_control is not None:
            self.write_sysctl("net/ipv4/tcp_congestion_control", congestion_control)
        self.write_sysctl("net/ipv4/tcp_rmem", TCP_BUFFER)
        self.write_sysctl("net/ipv4/tcp_wmem", TCP_BUFFER)
        # Otherwise a connection starts with the metrics of an earlier connection to the same address.
        self.write_sysctl("net/ipv4/tcp_no_metrics_save", "1")
        return result

    def set_up_interface(self, interface: str) -> None:
        """Makes the host's CPU receive frames from this interface, and turns offloads off."""
        self.run("tee", f"/sys/class/net/{interface}/queues/rx-0/rps_cpus", stdin=cpu_mask(self.cpu))
        features = ("tso", "gso", "gro", "tx", "rx")
        self.run("ethtool", "-K", interface, *(word for feature in features for word in (feature, "off")))

    def command(self, *words: str) -> list[str]:
        """The command line that runs `words` in this host."""
        return ["mnexec", "-a", str(self.pid), *words]

    def on_own_cpu(self, *words: str) -> list[str]:
        """Same as `command`, on the host's CPU."""
        return on_cpus([self.cpu], self.command(*words))

    def run(self, *words: str, stdin: str = "") -> str:
        """Runs a command in this host, without a shell. Raises NodeError if it fails."""
        done = subprocess.run(self.command(*words), input=stdin, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reason = done.stderr.strip() or done.stdout.strip()
            raise NodeError(f"host {self.name}: `{' '.join(words)}` failed: {reason}")
        return done.stdout

    def delay(self, delay_ns: int) -> None:
        """Delays every packet that this host sends. Raises NodeError if the kernel has no netem."""
        qdisc = ["root", "netem", "delay", f"{delay_ns // 1000}us", "limit", str(DELAYED_PACKETS)]
        self.run("tc", "qdisc", "replace", "dev", str(self.defaultIntf()), *qdisc)

    def set_shortest_timeout(self, rto_min_ns: int) -> None:
        """Sets the minimum that TCP adds to the smoothed RTT before it sends a segment again (default: 200 ms).

        It is a property of the route (ip-route(8), rto_min), in whole milliseconds, rounded up.
        """
        self.set_route_option("rto_min", f"{-(-rto_min_ns // 10**6)}ms")

    def set_initial_window(self, segments: int) -> None:
        """Sets the largest number of segments before the first acknowledgement (default: 10; ip-route(8), initcwnd)."""
        self.set_route_option("initcwnd", str(segments))

    def set_route_option(self, name: str, value: str) -> None:
        """Sets an option of the default route and keeps the others."""
        # `ip` shows a locked rto_min as "rto_min lock 8ms", but reads it without the word "lock".
        route = [word for word in self.run("ip", "-4", "route", "show", "default").split() if word != "lock"]
        if name in route:
            place = route.index(name)
            del route[place : place + 2]
        self.run("ip", "route", "change", *route, name, value)

    def write_sysctl(self, name: str, value: str, needed: bool = True) -> None:
        """Writes a setting of this host's namespace. `needed=False` ignores a setting that the kernel lacks."""
        path = f"/proc/sys/{name}"
        if not needed and not os.path.exists(path):
            return
        self.run("tee", path, stdin=value)


class P4Switch(Switch):
    """Base class of the switch nodes: a process with a log, which is ready after the start or raises a clear error.

    Parameters:
      grpc_port   TCP port of the P4Runtime server at 127.0.0.1 (default: a free one)
      cpu_port    port number for packet-in and packet-out (default: none)
      log_folder  folder for the log (default: a new temporary folder)
      after_start function that is called with the node when the switch answers
    """

    program = ""

    def __init__(
        self,
        name: str,
        grpc_port: int | None = None,
        cpu_port: int | None = None,
        log_folder: str | os.PathLike[str] | None = None,
        after_start: Callable[["P4Switch"], None] | None = None,
        **params: Any,
    ) -> None:
        super().__init__(name, **params)
        self.grpc_port = free_port() if grpc_port is None else grpc_port
        self.cpu_port = cpu_port
        self.device_id = int(self.dpid, 16)
        self.own_log_folder = log_folder is None
        self.log_folder = None if log_folder is None else Path(log_folder)
        self.after_start = after_start
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """host:port of the P4Runtime server."""
        return f"127.0.0.1:{self.grpc_port}"

    def port_interfaces(self) -> list[tuple[int, str]]:
        """(port number, interface) of every data port."""
        return [(port, str(intf)) for port, intf in sorted(self.intfs.items()) if port > 0]

    @property
    def log_path(self) -> Path | None:
        """Path of the log; None if there is no folder yet."""
        return None if self.log_folder is None else self.log_folder / f"{self.name}.log"

    def switch_command(self) -> list[str]:
        """Command line of the switch. Raises NodeError if it is not installed."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """True if the running switch can be used."""
        raise NotImplementedError

    def start(self, _controllers: Sequence[Any]) -> None:
        """Starts the switch and waits until it is ready. Raises NodeError with the end of its log."""
        for _, interface in self.port_interfaces():
            setting = Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6")
            if setting.exists():
                setting.write_text("1")
        if answers(self.grpc_port):
            raise NodeError(f"switch {self.name}: TCP port {self.grpc_port} is in use")
        command = self.switch_command()
        if self.log_folder is None:
            self.log_folder = Path(tempfile.mkdtemp(prefix=f"p4sched-{self.name}-"))
        try:
            self._start(command, self.log_folder)
            if self.after_start is not None:
                self.after_start(self)
        except NodeError:
            self._remove_own_log()
            raise

    def _start(self, command: Sequence[str], log_folder: Path) -> None:
        """Starts the switch and waits until it is ready."""
        with (log_folder / f"{self.name}.log").open("wb") as log:
            self.process = subprocess.Popen(
                with_death_signal(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=log_folder,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            code = self.process.poll()
            if code is not None:
                raise NodeError(f"switch {self.name} ended with status {code} at start:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise NodeError(f"switch {self.name} not ready within {READY_SECONDS:.0f} s:\n{self.log_tail()}")
            time.sleep(0.02)

    def log_tail(self, lines: int = 12) -> str:
        """The last lines of the switch's log."""
        if self.log_path is None or not self.log_path.exists():
            return "(no log)"
        return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-lines:])

    def death(self, patience: float = 0.0) -> str | None:
        """A sentence about the end of the switch, now or within `patience` seconds; None while it runs."""
        if self.process is None:
            return None
        try:
            status = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        tail = self.log_tail()
        return f"switch {self.name} ({self.program}) {how} during the run" + (f":\n{tail}" if tail else "")

    def _remove_own_log(self) -> None:
        if self.own_log_folder and self.log_folder is not None:
            shutil.rmtree(self.log_folder, ignore_errors=True)
            self.log_folder = None

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 (Mininet's name)
        """Ends the switch: SIGTERM, then SIGKILL after STOP_SECONDS."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        super().stop(deleteIntfs)
        self._remove_own_log()

    @classmethod
    def setup(cls) -> None:
        """Does nothing; Mininet calls it to check whether the node class can work."""


class EmbeddedSwitch(P4Switch):
    """The project's own switch, `p4sched-switch`, with a traffic manager behind every port.

    Parameters (on top of those of every switch):
      interpret   True: the switch does not compile its program
    """

    program = "p4sched-switch"

    def __init__(self, name: str, interpret: bool = False, **params: Any) -> None:
        super().__init__(name, **params)
        self.interpret = interpret

    def switch_command(self) -> list[str]:
        command = [embedded_binary(), "--no-p4", "--device-id", str(self.device_id), "--grpc-server-addr", self.address]
        if self.interpret:
            command.append("--no-jit")
        if self.cpu_port is not None:
            command += ["--cpu-port", str(self.cpu_port)]
        for port, interface in self.port_interfaces():
            command += ["-i", f"{port}@{interface}"]
        return command

    def is_ready(self) -> bool:
        return "p4sched-switch: device " in self.log_tail(1000)

    def start(self, controllers: Sequence[Any]) -> None:
        """Starts the switch. Its data plane stays on one CPU, which the hosts do not use."""
        super().start(controllers)
        assert self.process is not None
        for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
            if (thread / "comm").read_text().strip() == DATA_PLANE_THREAD:
                os.sched_setaffinity(int(thread.name), {data_plane_cpu()})


class Bmv2Switch(P4Switch):
    """BMv2's simple_switch_grpc from the PATH, with eight priority queues per port."""

    program = "simple_switch_grpc"

    def __init__(self, name: str, thrift_port: int | None = None, **params: Any) -> None:
        super().__init__(name, **params)
        self.thrift_port = free_port() if thrift_port is None else thrift_port

    def switch_command(self) -> list[str]:
        command = [bmv2_binary(), "--no-p4", "--device-id", str(self.device_id)]
        command += ["--thrift-port", str(self.thrift_port), "--log-console", "-L", "warn"]
        for port, interface in self.port_interfaces():
            command += ["-i", f"{port}@{interface}"]
        command += ["--", "--grpc-server-addr", self.address, "--priority-queues", "8"]
        if self.cpu_port is not None:
            command += ["--cpu-port", str(self.cpu_port)]
        return command

    def is_ready(self) -> bool:
        return answers(self.grpc_port) and answers(self.thrift_port)
