"""Ranked UDP flows between the hosts of a fabric, and the account of their datagrams."""

import asyncio
import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet_topos.nodes import with_death_signal
from mininet_topos.stations import Station
from p4sched.constants import RANK_PORT
from p4sched.lab.emulated.network import Fabric
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger
from p4sched.paths import rust_binary

FRAME_BYTES = 200
STEADY_BPS, BURSTS_BPS = 200_000, 100_000
BURST = 40
"""Packets of a burst, more than a queue holds."""
AWAY = (1, 3)
"""Every host sends to the hosts at these distances."""
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Delivery:
    """Datagrams of all flows together."""

    sent: int
    received: int
    reordered: int
    refused: int
    """Refused by the kernel of a sender."""


class SoakTraffic:
    """A receiver and a sender in every host."""

    def __init__(self, network: Fabric, ledger: Ledger, folder: Path) -> None:
        self._network, self._ledger, self._folder = network, ledger, folder
        self._hosts = network.stations()
        self._runs: dict[str, subprocess.Popen[bytes]] = {}
        self._program = str(rust_binary("p4sched-traffic"))
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, seconds: float, seed: int) -> None:
        """Starts all senders and receivers. Senders stop after `seconds`, receivers a while later."""
        for host in self._hosts:
            words = ["udp-receive", "--address", host.address, "--ports", str(RANK_PORT)]
            self._start(f"receive-{host.name}", host, [*words, "--duration", f"{seconds + PATIENCE_S:.1f}"])
        for place, host in enumerate(self._hosts):
            flows = [self._flow(place, number, seconds) for number in range(2 * len(AWAY))]
            path = self._folder / f"flows-{host.name}.json"
            path.write_text(json.dumps(flows))
            self._start(f"send-{host.name}", host, ["udp-send", str(path), "--seed", str(seed + place)])
        self._ledger.add_processes(run.pid for run in self._runs.values())

    def _flow(self, place: int, number: int, seconds: float) -> dict[str, Any]:
        """Alternates steady flows and bursts. In the first second, receivers have time to start."""
        to = self._hosts[(place + AWAY[number // 2]) % len(self._hosts)]
        bursts = bool(number % 2)
        return {
            "flow": 100 * place + number,
            "src": self._hosts[place].address,
            "dst": to.address,
            "port": RANK_PORT,
            "rate_bps": BURSTS_BPS if bursts else STEADY_BPS,
            "frame_bytes": FRAME_BYTES,
            "ranks": {"fixed": number},
            "arrivals": {"bursts": BURST} if bursts else "constant",
            "start_s": 1.0,
            "stop_s": max(seconds, 2.0),
        }

    async def finish(self) -> Delivery:
        """Waits for the senders, then for the receivers."""
        sent = [flow for host in self._hosts for flow in await self._report(f"send-{host.name}")]
        received = [flow for host in self._hosts for flow in await self._report(f"receive-{host.name}")]
        return Delivery(
            sent=sum(flow["packets"] for flow in sent),
            received=sum(flow["packets"] for flow in received),
            reordered=sum(flow["reordered"] for flow in received),
            refused=sum(flow["refused"] for flow in sent),
        )

    def check(self) -> None:
        """Raises LabError if a sender or a receiver has failed."""
        for name, run in self._runs.items():
            if run.poll() not in (None, 0):
                said = (self._folder / f"{name}.error").read_text().strip()
                raise LabError(f"traffic '{name}' failed: {said or run.returncode}")

    def sockets_full(self) -> int:
        """Datagrams that did not fit into the buffer of a receiver's socket."""
        return sum(_udp_counter(self._network.pid(host.name), "RcvbufErrors") for host in self._hosts)

    async def _report(self, name: str) -> Sequence[dict[str, Any]]:
        deadline = time.monotonic() + 3 * PATIENCE_S
        while self._runs[name].poll() is None:
            if time.monotonic() > deadline:
                raise LabError(f"traffic '{name}' does not end")
            await asyncio.sleep(0.1)
        self.check()
        found: Sequence[dict[str, Any]] = json.loads((self._folder / f"{name}.json").read_text())
        return found

    def _start(self, name: str, host: Station, words: Sequence[str]) -> None:
        command = self._network.host(host.name).command(self._program, *words)
        with (self._folder / f"{name}.json").open("wb") as out, (self._folder / f"{name}.error").open("wb") as errors:
            self._runs[name] = subprocess.Popen(
                with_death_signal(command), stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True
            )


def _udp_counter(pid: int, name: str) -> int:
    """A UDP counter of the network namespace of a process."""
    heading, values = (
        line.split() for line in Path(f"/proc/{pid}/net/snmp").read_text().splitlines() if line.startswith("Udp:")
    )
    return int(values[heading.index(name)])
