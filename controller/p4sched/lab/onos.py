"""Runs ONOS in place of the Python controller: it programs the switches and runs the control laws.

ONOS is a Java process (controller/onos/embedded): the core of ONOS with the application org.p4sched.onos. The lab
writes its network configuration, waits until all switches follow it, and also reads their counters.
"""

import asyncio
import http.client
import json
import signal
import subprocess
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from mininet_topos.nodes import answers, free_port, on_host_cpus, with_death_signal
from p4sched.control.loop import run_loops
from p4sched.control.parameters import Parameters
from p4sched.lab.controllers import Controllers, SwitchController, SwitchPlan, python_controllers
from p4sched.lab.desk import CHANGES
from p4sched.lab.emulated.lab import EmulatedLab
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import ControllerKind, Stage
from p4sched.lab.ledger import Ledger
from p4sched.lab.netcfg import device, network_configuration, user
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.session import watch
from p4sched.p4rt.users import User
from p4sched.paths import ONOS_JAR, NotBuiltError, tool

JAVA_OPTIONS = ("-XX:+UseSerialGC", "-Xmx384m", "-XX:TieredStopAtLevel=1")
"""Options for a small process that starts quickly, because the lab needs the CPUs."""
LOG, NETCFG = "onos.log", "netcfg.json"
FILES = (LOG, NETCFG, "s[0-9]*/decisions.jsonl", "s[0-9]*/port-*.jsonl")
"""Files that ONOS leaves in the folder of its scheme."""
REST_PORT = 8181
"""Default port of ONOS; another port is used if it is taken."""
READY = b"ready\n"
READY_S = 120.0
STOP_S = 5.0
REST_S = 10.0
BUILD = "./setup.sh onos"


def controllers_of(stage: Stage) -> Controllers:
    """Controllers of this run."""
    if stage.controller is ControllerKind.ONOS:
        return partial(onos_controllers, stage=stage)
    return partial(python_controllers, changes=stage.folder / CHANGES)


def require_onos() -> None:
    """Raises P4schedError unless this machine can start ONOS."""
    tool("java", f"ONOS runs in it; '{BUILD}' installs it and builds ONOS")
    if not ONOS_JAR.is_file():
        raise NotBuiltError(ONOS_JAR, BUILD)


class Onos:
    """A process of ONOS. It may be killed and started again; the switches keep running."""

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        """Logs and the decision logs of its laws go to `folder`."""
        require_onos()
        self._ledger = ledger
        self._folder = folder
        self._rest_port = free_port() if answers(REST_PORT) else REST_PORT
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        """The process, after `start`."""
        assert self._process is not None, "start() comes first"
        return self._process

    async def start(self, plans: Mapping[str, SwitchPlan]) -> None:
        """Starts ONOS and waits until all switches follow their plans. Raises LabError, with the end of the log."""
        netcfg = self._folder / NETCFG
        netcfg.write_text(json.dumps(network_configuration(plans), indent=2))
        words = ["java", *JAVA_OPTIONS, "-jar", str(ONOS_JAR), "--netcfg", str(netcfg), "--log-dir", str(self._folder)]
        words += ["--rest", f"127.0.0.1:{self._rest_port}"]
        with (self._folder / LOG).open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *with_death_signal(on_host_cpus(words)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._ledger.add_processes([self._process.pid])
        assert self._process.stdout is not None
        try:
            said = await asyncio.wait_for(self._process.stdout.readline(), READY_S)
        except TimeoutError:
            await self.stop()
            raise LabError(f"ONOS not ready within {READY_S:.0f} s:\n{self._tail()}") from None
        if said != READY:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), STOP_S)
            await self.stop()
            raise LabError(f"ONOS {self._end_reason()} at start:\n{self._tail()}")

    @asynccontextmanager
    async def at_work(self, plans: Mapping[str, SwitchPlan]) -> AsyncIterator[Mapping[str, SwitchController]]:
        """Runs ONOS during the block; this process only reads."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.stop)
            await self.start(plans)
            found: dict[str, SwitchController] = {}
            for name, plan in plans.items():
                watching = watch(plan.at.address, device_id=plan.at.device_id)
                reader = await stack.enter_async_context(watching)
                found[name] = OnosController(self, name, plan, reader, self._folder / name)
            yield found

    async def run(self) -> None:
        """Waits until ONOS ends, then raises LabError."""
        await self.process.wait()
        raise LabError(f"ONOS {self._end_reason()} during the run:\n{self._tail()}")

    async def stop(self) -> None:
        """Ends ONOS: SIGTERM, then SIGKILL after STOP_S. The switches keep running."""
        if self._process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                self.process.send_signal(number)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), STOP_S)
                return

    async def ask(self, method: str, path: str, body: Any = None) -> None:
        """Sends a request to ONOS's REST interface, which answers after the switch has confirmed. Raises LabError."""
        await asyncio.to_thread(self._ask, method, path, body)

    def _ask(self, method: str, path: str, body: Any) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._rest_port, timeout=REST_S)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, f"/p4sched/v1{path}", content, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            text = reply.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise LabError(f"ONOS does not answer {method} {path}: {error}") from error
        finally:
            connection.close()
        if reply.status >= http.client.BAD_REQUEST:
            raise LabError(f"ONOS refuses {method} {path}: {text.strip() or reply.reason}")

    def _end_reason(self) -> str:
        status = self.process.returncode
        assert status is not None
        return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

    def _tail(self, lines: int = 12) -> str:
        text = (self._folder / LOG).read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:]) or "(it said nothing)"


class OnosController(SwitchController):
    """ONOS at work on one switch."""

    def __init__(self, onos: Onos, switch: str, plan: SwitchPlan, reader: Reader, folder: Path) -> None:
        laws = plan.laws
        super().__init__(reader, {} if laws is None else {port: folder / laws.log(port) for port in laws.configs})
        self._onos = onos
        self._path = f"/devices/{device(switch)}"
        self._tuned_ports = list(self.logs)

    async def add(self, users: Sequence[User]) -> None:
        for each in users:
            await self._onos.ask("PUT", f"{self._path}/users/{each.user}", user(each))

    async def remove(self, users: Sequence[User]) -> None:
        for each in users:
            await self._onos.ask("DELETE", f"{self._path}/users/{each.user}")

    async def set_parameters(self, parameters: Parameters) -> None:
        while self._tuned_ports:
            await self._onos.ask("DELETE", f"{self._path}/ports/{self._tuned_ports.pop()}")
        await self._onos.ask("PUT", f"{self._path}/parameters", parameters.action_data())


@asynccontextmanager
async def onos_controllers(
    plans: Mapping[str, SwitchPlan], stage: Stage
) -> AsyncIterator[Mapping[str, SwitchController]]:
    """Runs ONOS as the controller of all switches. The run ends if ONOS ends."""
    stage.tell("starting ONOS")
    assert isinstance(stage.lab, EmulatedLab), "an ONOS knows no virtual time"
    onos = Onos(stage.lab.ledger, stage.folder)
    async with onos.at_work(plans) as found, run_loops(onos):
        yield found
