"""Traffic in virtual time: runs of traffic programs. The reports have the format of the emulation's programs.

The failure of a run is reported together with its report, or when the traffic ends.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from p4sched.clock import now_ns
from p4sched.lab import probe
from p4sched.lab.endpoints import Destination
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import HostKind
from p4sched.lab.probe import ProbeRecord, parse_record
from p4sched.lab.probe_stream import ProbeStream
from p4sched.lab.ranked_traffic import Flow, GeneratedTraffic
from p4sched.lab.traffic import FINISH_SECONDS, LongTraffic, Transfer, TransferReport, read_report
from p4sched.lab.virtual.client import Client
from p4sched.proto import simulation_pb2 as pb

NS = 10**9
POLL_S = 0.05
START_NS = 1_000_000
"""Time between the starts of two clients, because on a real machine they do not start at the same instant."""
LAST_PACKETS_S = 0.2
PROBE_PORT = 7000
GUEST_AHEAD_NS = 10 * NS
"""Difference between a guest's clock and the network's clock: a guest boots earlier (switch/guest, BOOT_NS)."""
ENDED = (pb.RunState.ENDED, pb.RunState.FAILED)


def nanoseconds(seconds: float) -> int:
    """Converts seconds to whole ns."""
    return round(seconds * NS)


class Runs:
    """Runs of a simulation with the same prefix."""

    def __init__(self, client: Client, origin_ns: int, prefix: str) -> None:
        self._client = client
        self._origin_ns = origin_ns
        """Origin of the simulation, on the run's clock."""
        self._prefix = prefix
        self._stopped: set[str] = set()
        self.names: list[str] = []

    def make_run(self, name: str, host: str, at_ns: int | None = None) -> pb.Run:
        """An empty run that starts at this time on the run's clock; None: now."""
        self.names.append(name)
        start_ns = 0 if at_ns is None else max(0, at_ns - self._origin_ns)
        return pb.Run(name=self._prefix + name, host=host, start_ns=start_ns)

    async def start(self, *runs: pb.Run) -> None:
        """Starts these runs at their times."""
        await self._client.start(runs)

    async def states(self, names: Sequence[str]) -> dict[str, pb.RunState]:
        """States by name."""
        states = await self._client.states([self._prefix + name for name in names])
        return {state.name.removeprefix(self._prefix): state for state in states}

    async def stop(self, *names: str) -> None:
        """Ends these runs."""
        self._stopped |= set(names)
        await self._client.stop([self._prefix + name for name in names])

    async def stop_all(self) -> None:
        """Ends all runs that have not ended."""
        states = await self.states(self.names)
        await self.stop(*(name for name, state in states.items() if state.phase not in ENDED))

    async def check(self) -> None:
        """Raises LabError if a run has failed."""
        for name, state in (await self.states(self.names)).items():
            if state.phase == pb.RunState.FAILED and name not in self._stopped:
                raise LabError(f"traffic '{name}' failed: {state.error.strip() or 'it does not say why'}")

    async def log(self, name: str) -> bytes:
        """Log of a run."""
        return await self._client.log(self._prefix + name)


class VirtualLongTraffic(LongTraffic):
    """Endless TCP connections, with reports in the format of iperf3."""

    def __init__(self, runs: Runs, folder: Path, congestion_control: str, destination: Destination | None) -> None:
        self._runs = runs
        self._folder = folder
        self._congestion_control = congestion_control
        self._destination = destination
        self._users: list[int] = []

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self._runs.check()
            await self.stop()

    async def serve(self, transfers: Sequence[Transfer]) -> None:
        servers = []
        for transfer in transfers:
            run = self._runs.make_run(f"server-{transfer.seat.user}", self._to(transfer).host)
            run.bulk_receive.port = transfer.tcp_port
            servers.append(run)
        await self._runs.start(*servers)

    async def send(self, transfers: Sequence[Transfer], seconds: float, warm_up: float = 0.0) -> None:
        clients, begun_ns = [], now_ns()
        for place, transfer in enumerate(transfers):
            seat = transfer.seat
            run = self._runs.make_run(_client(seat.user), seat.host, begun_ns + place * START_NS)
            run.bulk_send.CopyFrom(
                pb.BulkSend(
                    source=seat.address,
                    destination=self._to(transfer).address,
                    port=transfer.tcp_port,
                    connections=transfer.connections,
                    tos=transfer.tos,
                    congestion_control=self._congestion_control,
                    duration_ns=round(seconds) * NS,
                    warm_up_ns=round(warm_up) * NS,
                )
            )
            self._users.append(seat.user)
            clients.append(run)
        await self._runs.start(*clients)

    def check_failures(self) -> None:
        """Failures are reported at the end."""

    def check(self) -> None:
        """Failures are reported at the end; no client ends before its time."""

    async def finish(self, patience: float = FINISH_SECONDS) -> dict[int, TransferReport]:
        clock = asyncio.get_running_loop().time
        deadline = clock() + patience
        while True:
            states = await self._runs.states([_client(user) for user in self._users])
            if all(state.phase in ENDED for state in states.values()) or clock() >= deadline:
                break
            await asyncio.sleep(POLL_S)
        reports = {}
        self._folder.mkdir(parents=True, exist_ok=True)
        for user in self._users:
            text = states[_client(user)].report
            (self._folder / f"iperf3-user-{user}.json").write_text(text)
            report = read_report(text)
            if report is not None:
                reports[user] = report
        return reports

    async def stop_user(self, user: int) -> None:
        await self._runs.stop(_client(user))

    async def stop(self) -> None:
        await self._runs.stop_all()

    def _to(self, transfer: Transfer) -> Destination:
        found = transfer.destination or self._destination
        assert found is not None, "a transfer without a destination in a network that has several"
        return found


def _client(user: int) -> str:
    return f"client-{user}"


class VirtualGeneratedTraffic(GeneratedTraffic):
    """Runs of the traffic generator, with records in the format of the emulation."""

    def __init__(self, runs: Runs, folder: Path, server: Destination) -> None:
        self._runs = runs
        self._folder = folder
        self._server = server
        self._logs: dict[str, Path] = {}
        folder.mkdir(parents=True, exist_ok=True)

    async def receive_udp(self, ports: Sequence[int], seconds: float, log: Path | None = None) -> None:
        run = self._runs.make_run("receive", self._server.host)
        wanted = {"address": self._server.address, "ports": ports, "duration_ns": nanoseconds(seconds)}
        run.udp_receive.CopyFrom(pb.UdpReceive(**wanted, log=self._keep_log("receive", log)))  # type: ignore[arg-type]
        await self._runs.start(run)

    async def serve_tcp(self, port: int, seconds: float, flows: int | None = None) -> None:
        run = self._runs.make_run("serve", self._server.host)
        run.tcp_serve.CopyFrom(
            pb.TcpServe(address=self._server.address, port=port, duration_ns=nanoseconds(seconds), flows=flows)
        )
        await self._runs.start(run)

    async def observe(self, seconds: float, log: Path) -> None:
        run = self._runs.make_run("observe", self._server.host)
        run.observe.CopyFrom(pb.Observe(duration_ns=nanoseconds(seconds), log=self._keep_log("observe", log)))
        await self._runs.start(run)

    async def send_udp(self, host: str, flows: Sequence[Flow], seed: int, log: Path | None = None) -> str:
        name = f"send-{host}"
        run = self._runs.make_run(name, host)
        run.udp_send.CopyFrom(pb.UdpSend(flows=self._list(host, flows), seed=seed, log=self._keep_log(name, log)))
        await self._runs.start(run)
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
        name = f"send-{host}"
        run = self._runs.make_run(name, host, epoch_ns)
        run.tcp_send.CopyFrom(
            pb.TcpSend(
                flows=self._list(host, flows),
                congestion_control=congestion,
                deadline_ns=nanoseconds(deadline),
                open_ahead=open_ahead,
            )
        )
        await self._runs.start(run)
        return name

    def check(self) -> None:
        """Failures are reported with the results."""

    async def report(self, name: str, patience: float) -> Any:
        clock = asyncio.get_running_loop().time
        deadline = clock() + patience
        while (state := (await self._runs.states([name]))[name]).phase not in ENDED:
            if clock() > deadline:
                raise LabError(f"traffic '{name}' has not ended after {patience:.0f} s more than planned")
            await asyncio.sleep(POLL_S)
        await self._runs.check()
        (self._folder / f"{name}.json").write_text(state.report)
        if name in self._logs:
            self._logs[name].write_bytes(await self._runs.log(name))
        return json.loads(state.report)

    async def stop(self) -> None:
        await self._runs.stop_all()

    def _keep_log(self, name: str, log: Path | None) -> bool:
        if log is not None:
            self._logs[name] = log
        return log is not None

    def _list(self, host: str, flows: Sequence[Mapping[str, Any]]) -> str:
        text = json.dumps(list(flows))
        (self._folder / f"flows-{host}.json").write_text(text)
        return text


class VirtualProbe(ProbeStream):
    """The probe in virtual time."""

    def __init__(
        self, runs: Runs, origin_ns: int, source: Destination, server: Destination, rate: float, hosts: HostKind
    ) -> None:
        self._runs = runs
        self._hosts = hosts
        self._shift_s = (origin_ns - (GUEST_AHEAD_NS if hosts is HostKind.KERNEL else 0)) / NS
        self._source = source
        self._server = server
        self._rate = rate

    async def start(self) -> None:
        receiver = self._runs.make_run("receive", self._server.host)
        if self._hosts is HostKind.KERNEL:
            # the receiver starts before the first packet
            sender = self._runs.make_run("send", self._source.host, now_ns() + START_NS)
            command = [sys.executable, "-m", probe.__name__]
            receiver.command.words.extend([*command, "receive", str(PROBE_PORT)])
            ends = [self._source.address, self._server.address, str(PROBE_PORT)]
            sender.command.words.extend([*command, "send", *ends, str(self._rate)])
            await self._runs.start(receiver, sender)
            return
        receiver.probe_receive.port = PROBE_PORT
        sender = self._runs.make_run("send", self._source.host)
        sender.probe_send.CopyFrom(
            pb.ProbeSend(
                source=self._source.address,
                destination=self._server.address,
                port=PROBE_PORT,
                packets_per_s=self._rate,
            )
        )
        await self._runs.start(receiver, sender)

    async def finish(self) -> ProbeRecord:
        await self._runs.stop("send")
        await asyncio.sleep(LAST_PACKETS_S)
        await self._runs.stop("receive")
        await self._runs.check()
        states = await self._runs.states(["send", "receive"])
        seen = parse_record(int(states["send"].report), states["receive"].report)
        shift = self._shift_s
        return ProbeRecord(seen.sent, tuple((number, a + shift, b + shift) for number, a, b in seen.arrivals))

    async def stop(self) -> None:
        await self._runs.stop_all()
