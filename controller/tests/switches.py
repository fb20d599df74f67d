"""Real switches on loopback: the embedded one where it is built, BMv2 where it is installed."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from lab import PATIENCE_S

from mininet_topos.nodes import free_port
from p4sched.control.loop import action_data_in_force
from p4sched.control.parameters import Parameters
from p4sched.errors import P4schedError
from p4sched.p4rt.reader import Reader
from p4sched.paths import rust_binary

ENCRYPT = "--grpc-server-ssl"
ParametersT = TypeVar("ParametersT", bound=Parameters)


class RunningSwitch:
    """A switch without ports unless told otherwise, and without a program until a controller loads one."""

    def __init__(self, kind: str, command: list[str], grpc_port: int, thrift_port: int, log: Path) -> None:
        self.kind = kind
        self.address = f"127.0.0.1:{grpc_port}"
        self.thrift_port = thrift_port
        self._command = command
        self._log = log
        self.start()

    def start(self) -> None:
        """Starts it, on the same port each time."""
        with self._log.open("wb") as file:
            self._process = subprocess.Popen(self._command, stdout=file, stderr=file, cwd=self._log.parent)

    def wait_until_it_answers(self) -> None:
        """Waits for its gRPC server. One that encrypts listens when it answers."""
        if ENCRYPT in self._command:
            while "gRPC on" not in self._log.read_text():
                assert self._process.poll() is None, self._log.read_text()
            return
        with grpc.insecure_channel(self.address) as channel:
            try:
                grpc.channel_ready_future(channel).result(timeout=PATIENCE_S)
            except grpc.FutureTimeoutError:
                pytest.fail(f"the {self.kind} switch does not answer; it said:\n{self._log.read_text()}")

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        try:
            self._process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start_switch(
    kind: str,
    folder: Path,
    interfaces: Mapping[int, str] | None = None,
    cpu_port: int | None = None,
    options: Sequence[str] = (),
) -> RunningSwitch:
    """Starts a switch of this kind, or skips the test with the reason why that cannot be. `interfaces`: by port;
    `options`: more of those that both kinds have."""
    attached = [word for port, name in (interfaces or {}).items() for word in ("-i", f"{port}@{name}")]
    grpc_port, thrift_port = free_port(), free_port()
    address = f"127.0.0.1:{grpc_port}"
    if kind == "embedded":
        try:
            binary = str(rust_binary("p4sched-switch"))
        except P4schedError as error:
            pytest.skip(str(error))
        command = [binary, "--no-p4", "--device-id", "1", "--grpc-server-addr", address, *attached]
    else:
        binary = shutil.which("simple_switch_grpc") or ""
        if not binary:
            pytest.skip("BMv2's simple_switch_grpc is not on the PATH")
        command = [binary, "--no-p4", "--device-id", "1", "--thrift-port", str(thrift_port), *attached]
        command += ["--", "--grpc-server-addr", address, "--priority-queues", "8"]
    command += [*([] if cpu_port is None else ["--cpu-port", str(cpu_port)]), *options]
    switch = RunningSwitch(kind, command, grpc_port, thrift_port, folder / f"{kind}.log")
    switch.wait_until_it_answers()
    return switch


async def found_parameters(reader: Reader, kind: type[ParametersT]) -> ParametersT | None:
    """The parameters in force; None if the default action is another one."""
    data = await action_data_in_force(reader, kind)
    return None if data is None else kind.from_action_data(data)
