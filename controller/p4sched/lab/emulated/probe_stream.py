"""A probe between a Mininet host and the server."""

import asyncio
import subprocess
import sys
import time

from mininet_topos.nodes import with_death_signal
from p4sched.lab.emulated.hosts import MininetHosts
from p4sched.lab.errors import LabError
from p4sched.lab.probe import ProbeRecord, parse_record
from p4sched.lab.probe_stream import ProbeStream

UDP_PORT = 7000
LISTEN_SECONDS = 60.0
LATE_SECONDS = 60.0


class HostProbe(ProbeStream):
    """Runs the probe module (lab/probe.py) as a process in both hosts."""

    def __init__(self, network: MininetHosts, packets_per_s: float) -> None:
        assert network.destination is not None, "a probe goes to one host"
        self._network, self._server = network, network.destination
        self._rate = packets_per_s
        self._receiver: subprocess.Popen[str] | None = None
        self._sender: subprocess.Popen[str] | None = None

    async def stop(self) -> None:
        for process in (self._sender, self._receiver):
            if process is not None:
                process.kill()
                process.communicate()

    async def start(self) -> None:
        """Starts both sides, the receiver first. Raises LabError if one does not start."""
        self._receiver = self._spawn(self._server.host, "receive", str(UDP_PORT))
        deadline = time.monotonic() + LISTEN_SECONDS
        table = f"/proc/{self._network.pid(self._server.host)}/net/udp"
        while f":{UDP_PORT:04X} " not in await asyncio.to_thread(_text, table):
            if self._receiver.poll() is not None or time.monotonic() > deadline:
                raise LabError("the receiving side of the probe did not start")
            await asyncio.sleep(0.02)
        source = self._network.stations()[0]
        words = ("send", source.address, self._server.address, str(UDP_PORT), str(self._rate))
        self._sender = self._spawn(source.name, *words)

    async def finish(self) -> ProbeRecord:
        """Ends the stream, waits for its last packets, and returns the record."""
        assert self._sender is not None
        assert self._receiver is not None
        sent = await _end(self._sender)
        await asyncio.sleep(0.2)
        return parse_record(int(sent), await _end(self._receiver))

    def _spawn(self, host: str, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "p4sched.lab.probe", *words]
        return subprocess.Popen(
            with_death_signal(self._network.host(host).command(*command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


async def _end(process: subprocess.Popen[str]) -> str:
    """Sends SIGTERM, which makes a side print its record, and returns the output."""
    process.terminate()
    output, _ = await asyncio.to_thread(process.communicate, None, LATE_SECONDS)
    return output


def _text(path: str) -> str:
    with open(path) as file:
        return file.read()
