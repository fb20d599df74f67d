"""The process p4sched-virtual, which runs for one network."""

import asyncio
import json
import select
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from mininet_topos.nodes import with_death_signal
from p4sched.clock import await_answer
from p4sched.errors import P4schedError
from p4sched.lab.errors import LabError
from p4sched.lab.temporary import remove_left, run_folder
from p4sched.lab.virtual.topology import Topology
from p4sched.paths import rust_binary

PROGRAM = "p4sched-virtual"
READY_S = 600.0
"""Limit of elapsed time until the process is ready. Hosts with kernels boot faster, also on a busy machine. A host that
fails ends the process earlier."""
STOP_S, DYING_S = 3.0, 1.0


class VirtualProcess:
    """A running p4sched-virtual."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log
        self.address = ""
        """HOST:PORT of the service."""

    async def ready(self) -> None:
        """Waits for the address. Raises LabError with the last output of the process."""
        async with await_answer():
            line = await asyncio.to_thread(self._first_line)
        try:
            self.address = str(json.loads(line)["simulation"])
        except (ValueError, KeyError, TypeError):
            self.check_alive(DYING_S)
            raise LabError(f"{PROGRAM} was not ready within {READY_S:g} s") from None

    def _first_line(self) -> bytes:
        output = self._process.stdout
        assert output is not None
        return output.readline() if select.select([output], [], [], READY_S)[0] else b""

    def check_alive(self, patience_s: float = 0.0, seen: P4schedError | None = None) -> None:
        """Raises LabError, with the last output, if the process has ended or ends within `patience_s`. `seen`: the
        error that this caused."""
        try:
            status = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return
        said = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        raise LabError(said[-1] if said and status > 0 else f"{PROGRAM} {how}") from seen

    def end(self) -> None:
        """Ends the process: SIGTERM, then SIGKILL. Removes its files; after a failure, the guests' output stays until
        the next run."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.returncode < 0:
            remove_left()
        assert self._process.stdout is not None
        self._process.stdout.close()


@asynccontextmanager
async def virtual_process(topology: Topology, options: Sequence[str]) -> AsyncIterator[VirtualProcess]:
    """Starts the process for this network and waits until it is ready. It ends with the block and with this process."""
    program = str(rust_binary(PROGRAM))
    with run_folder() as folder:
        path, log = folder / "topology.json", folder / "log"
        path.write_text(json.dumps(topology))
        with log.open("wb") as errors:
            found = VirtualProcess(_start([program, str(path), *options], errors), log)
        try:
            await found.ready()
            yield found
        except P4schedError as error:
            # a connection breaks a moment before its process ends
            found.check_alive(DYING_S, error)
            raise
        finally:
            found.end()


def _start(words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        with_death_signal(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
    )
