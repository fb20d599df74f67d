"""Runs of p4sched-traffic in Mininet's hosts."""

import asyncio
import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mininet_topos.nodes import with_death_signal
from p4sched.lab.emulated.hosts import MininetHosts
from p4sched.lab.emulated.iperf3 import listening_ports
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger
from p4sched.lab.ranked_traffic import Flow, GeneratedTraffic
from p4sched.paths import rust_binary

START_SECONDS = 60.0


class GeneratorRuns(GeneratedTraffic):
    """Runs of p4sched-traffic in the hosts of a network; a process each."""

    def __init__(self, network: MininetHosts, ledger: Ledger, folder: Path) -> None:
        self._network = network
        assert network.destination is not None, "generated traffic goes to one host"
        self._server = network.destination
        self._ledger = ledger
        self._folder = folder
        self._runs: dict[str, subprocess.Popen[bytes]] = {}
        self._program = str(rust_binary("p4sched-traffic"))
        folder.mkdir(parents=True, exist_ok=True)

    async def stop(self) -> None:
        for run in self._runs.values():
            if run.poll() is None:
                run.kill()
                run.wait()

    async def receive_udp(self, ports: Sequence[int], seconds: float, log: Path | None = None) -> None:
        """Starts a receiver at the server, with the name "receive", and waits until it is ready."""
        listed = ",".join(map(str, ports))
        words = ["udp-receive", "--address", self._server.address, "--ports", listed]
        words += ["--duration", f"{seconds:.3f}", *_log(log)]
        self.start("receive", self._server.host, words)
        self._precise("receive")
        await self._until("receive", lambda: set(ports) <= bound_ports(self._table("udp")))

    async def serve_tcp(self, port: int, seconds: float, flows: int | None = None) -> None:
        """Starts a TCP server, with the name "serve", and waits until it is ready.

        The run ends after `flows` flows, otherwise after `seconds`.
        """
        address = f"{self._server.address}:{port}"
        words = ["tcp-serve", "--address", address, "--duration", f"{seconds:.3f}"]
        self.start("serve", self._server.host, words if flows is None else [*words, "--flows", str(flows)])
        await self._until("serve", lambda: port in listening_ports(self._table("tcp")))

    async def observe(self, seconds: float, log: Path) -> None:
        """Starts a record of TCP segments at the server, with the name "observe", and waits until it is ready."""
        self.start("observe", self._server.host, ["observe", "--duration", f"{seconds:.3f}", *_log(log)])
        # A line below the heading means that a packet socket is open.
        await self._until("observe", lambda: len(self._table("packet").splitlines()) > 1)

    async def send_udp(self, host: str, flows: Sequence[Flow], seed: int, log: Path | None = None) -> str:
        """Starts UDP flows from a host; returns the name of the run."""
        path = self._list(host, flows)
        name = self.start(f"send-{host}", host, ["udp-send", str(path), "--seed", str(seed), *_log(log)])
        self._precise(name)
        return name

    async def send_tcp(
        self,
        host: str,
        flows: Sequence[Flow],
        congestion: str,
        deadline: float,
        epoch_ns: int | None = None,
        open_ahead: bool = False,
    ) -> str:
        """Starts TCP flows from a host; returns the name of the run.

        Start times count from `epoch_ns` on the monotonic clock, which all hosts share; None: from this call. With
        `open_ahead`, all connections are opened before the first flow starts, otherwise each when its flow starts.
        """
        words = ["tcp-send", str(self._list(host, flows)), "--congestion", congestion, "--deadline", f"{deadline:.3f}"]
        words += [] if epoch_ns is None else ["--epoch", str(epoch_ns)]
        words += ["--open-ahead"] if open_ahead else []
        return self.start(f"send-{host}", host, words)

    def start(self, name: str, host: str, words: Sequence[str]) -> str:
        """Starts a run of p4sched-traffic in a host."""
        node = self._network.host(host)
        command = (node.on_own_cpu if words[0] == "tcp-send" else node.command)(self._program, *words)
        with self._path(name, "json").open("wb") as output, self._path(name, "error").open("wb") as errors:
            self._runs[name] = subprocess.Popen(
                with_death_signal(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        self._ledger.add_processes([self._runs[name].pid])
        return name

    def _precise(self, name: str) -> None:
        """Gives a run real-time priority, if the system allows it, so that packets are on time on a busy machine."""
        with contextlib.suppress(OSError):
            os.sched_setscheduler(self._runs[name].pid, os.SCHED_RR, os.sched_param(1))

    def check(self) -> None:
        """Raises LabError if a run has failed."""
        for name, run in self._runs.items():
            if run.poll() not in (None, 0):
                said = self._path(name, "error").read_text().strip()
                raise LabError(f"traffic '{name}' failed: {said or f'it ended with {run.returncode}'}")

    async def report(self, name: str, patience: float) -> Any:
        """Waits for a run to end; returns its report. Raises LabError if it fails or takes longer than `patience`."""
        deadline = time.monotonic() + patience
        while self._runs[name].poll() is None:
            if time.monotonic() > deadline:
                raise LabError(f"traffic '{name}' has not ended after {patience:.0f} s more than planned")
            await asyncio.sleep(0.05)
        self.check()
        return json.loads(self._path(name, "json").read_text())

    async def _until(self, name: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise LabError(f"traffic '{name}' took over {START_SECONDS:.0f} s to start")
            await asyncio.sleep(0.02)

    def _list(self, host: str, flows: Sequence[Flow]) -> Path:
        path = self._path(f"flows-{host}", "json")
        path.write_text(json.dumps(list(flows)))
        return path

    def _path(self, name: str, suffix: str) -> Path:
        return self._folder / f"{name}.{suffix}"

    def _table(self, name: str) -> str:
        return Path(f"/proc/{self._network.pid(self._server.host)}/net/{name}").read_text()


def bound_ports(table: str) -> set[int]:
    """Local ports in the text of /proc/net/udp."""
    rows = (line.split() for line in table.splitlines()[1:])
    return {int(row[1].split(":")[1], 16) for row in rows}


def _log(path: Path | None) -> list[str]:
    return [] if path is None else ["--log", str(path)]
