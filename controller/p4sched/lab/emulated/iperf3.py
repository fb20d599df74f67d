"""TCP traffic of iperf3: a client and a server for each transfer."""

import asyncio
import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mininet_topos.nodes import with_death_signal
from p4sched.lab.emulated.hosts import MininetHosts
from p4sched.lab.endpoints import Destination
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger
from p4sched.lab.traffic import FINISH_SECONDS, IPERF3, LongTraffic, Transfer, TransferReport, read_report
from p4sched.paths import tool

LISTEN_SECONDS = 60.0
CONNECT_MILLISECONDS = 10_000


class Iperf3Traffic(LongTraffic):
    """iperf3 servers and clients of a set of transfers."""

    def __init__(self, network: MininetHosts, ledger: Ledger, folder: Path, congestion_control: str = "cubic") -> None:
        self._network = network
        self._ledger = ledger
        self._folder = folder
        self._congestion_control = congestion_control
        self._servers: list[subprocess.Popen[bytes]] = []
        self._clients: dict[int, subprocess.Popen[bytes]] = {}
        self._stopped: set[int] = set()
        tool(IPERF3, "'make setup' installs it")
        folder.mkdir(parents=True, exist_ok=True)

    async def serve(self, transfers: Sequence[Transfer]) -> None:
        """Starts the servers and waits until all of them listen. Raises LabError if one does not."""
        for transfer in transfers:
            words = [IPERF3, "--server", "--one-off", "--version4", "--port", str(transfer.tcp_port)]
            self._servers.append(self._spawn(self._destination(transfer).host, words, subprocess.DEVNULL))
        self._ledger.add_processes(server.pid for server in self._servers)
        wanted = {(self._destination(transfer).host, transfer.tcp_port) for transfer in transfers}
        hosts = {host for host, _ in wanted}
        deadline = time.monotonic() + LISTEN_SECONDS
        while missing := wanted - {(host, port) for host in hosts for port in self._listening(host)}:
            if time.monotonic() > deadline:
                raise LabError(
                    f"{len(missing)} of {len(wanted)} iperf3 servers took over {LISTEN_SECONDS:.0f} s to start"
                )
            await asyncio.sleep(0.05)

    async def send(self, transfers: Sequence[Transfer], seconds: float, warm_up: float = 0.0) -> None:
        """Starts the clients for `warm_up` + `seconds` each; the reports leave out the warm-up."""
        for transfer in transfers:
            words = [IPERF3, "--client", self._destination(transfer).address, "--version4"]
            words += ["--port", str(transfer.tcp_port), "--bind", transfer.seat.address]
            words += ["--congestion", self._congestion_control, "--parallel", str(transfer.connections)]
            words += ["--time", str(round(seconds)), "--omit", str(round(warm_up))]
            words += ["--tos", str(transfer.tos)] if transfer.tos else []
            words += ["--interval", "0", "--json", "--connect-timeout", str(CONNECT_MILLISECONDS)]
            with self._report_path(transfer.seat.user).open("wb") as report:
                self._clients[transfer.seat.user] = self._spawn(transfer.seat.host, words, report)
        self._ledger.add_processes(client.pid for client in self._clients.values())

    def failed_users(self) -> dict[int, str]:
        """Users whose client ended with an error, and the error. `stop_user` is not an error."""
        return {
            user: _error(self._report_path(user), client.returncode)
            for user, client in self._clients.items()
            if user not in self._stopped and client.poll() not in (None, 0)
        }

    def ended_users(self) -> list[int]:
        """Users whose client ended for any reason other than `stop_user`."""
        return [
            user for user, client in self._clients.items() if user not in self._stopped and client.poll() is not None
        ]

    def check_failures(self) -> None:
        """Raises LabError if a client ended with an error, because the measurement is then invalid."""
        if failed := self.failed_users():
            user, reason = next(iter(failed.items()))
            raise LabError(
                f"the iperf3 clients of {len(failed)} of {len(self._clients)} users failed, user {user}'s: {reason}"
            )

    def check(self) -> None:
        """Raises LabError if a user's client has ended, also without an error."""
        self.check_failures()
        if early := self.ended_users():
            raise LabError(
                f"the traffic of {len(early)} of {len(self._clients)} users ended before the last sample:"
                " this machine is too busy to start so many clients in time"
            )

    async def finish(self, patience: float = FINISH_SECONDS) -> dict[int, TransferReport]:
        """Waits up to `patience` seconds for the clients to end; returns their reports."""
        deadline = time.monotonic() + patience
        while any(client.poll() is None for client in self._clients.values()) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        return {
            user: report
            for user, client in self._clients.items()
            if client.poll() == 0 and (report := read_report(self._report_path(user).read_text())) is not None
        }

    async def stop_user(self, user: int) -> None:
        """Ends one user's client."""
        client = self._clients.get(user)
        if client is not None and client.poll() is None:
            self._stopped.add(user)
            client.terminate()

    async def stop(self) -> None:
        """Ends all clients and servers."""
        running = [process for process in [*self._clients.values(), *self._servers] if process.poll() is None]
        for process in running:
            process.kill()
        for process in running:
            process.wait()

    def _destination(self, transfer: Transfer) -> Destination:
        found = transfer.destination or self._network.destination
        assert found is not None, "a transfer without a destination in a network that has several"
        return found

    def _listening(self, host: str) -> set[int]:
        return listening_ports(Path(f"/proc/{self._network.pid(host)}/net/tcp").read_text())

    def _report_path(self, user: int) -> Path:
        return self._folder / f"iperf3-user-{user}.json"

    def _spawn(self, host: str, words: Sequence[str], output: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            with_death_signal(self._network.host(host).on_own_cpu(*words)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def listening_ports(table: str) -> set[int]:
    """TCP ports in state LISTEN (0A) in the text of /proc/net/tcp."""
    rows = (line.split() for line in table.splitlines()[1:])
    return {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A"}


def _error(path: Path, status: int) -> str:
    try:
        return str(json.loads(path.read_text())["error"])
    except (ValueError, KeyError):
        return f"ended with status {status} and no report"
