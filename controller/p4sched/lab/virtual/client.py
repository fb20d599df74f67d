"""Client of p4sched-virtual's service (switch/proto/p4sched/v1/simulation.proto)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
import grpc.aio

from p4sched.clock import Conversation, await_answer
from p4sched.control.loop import run_loops
from p4sched.lab.errors import LabError
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.lab.virtual.loop import MessageCounts, VirtualLoop
from p4sched.proto import simulation_pb2 as pb
from p4sched.proto.simulation_pb2_grpc import SimulationStub

LOW_64 = 2**64 - 1
LARGEST_ANSWER = 2**30
"""Largest answer in bytes. A report has a line for each of at most a million flows."""


class Client:
    """A connection to a simulation. It can also take part in the lock step of the simulation."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._channel = grpc.aio.insecure_channel(
            address, options=[("grpc.max_receive_message_length", LARGEST_ANSWER)]
        )
        # the generated stub is typed for synchronous channels as well
        self._stub = SimulationStub(self._channel)
        self._steps: grpc.aio.StreamStreamCall[pb.ParticipateRequest, pb.ParticipateResponse] | None = None
        self.failed: asyncio.Future[LabError] = asyncio.get_running_loop().create_future()
        """Set when the lock step fails."""

    async def participate(self) -> int:
        """Joins the lock step; returns the time in ns."""
        self._steps = self._stub.Participate()
        async with _sentences("take part"):
            return int((await self._step(0, ())).now_ns)

    async def wait(self, until_ns: int, conversations: Sequence[Conversation]) -> tuple[int, MessageCounts]:
        """Lets time pass until `until_ns`, or until a switch sends a message. Returns the time, and the number of
        messages in each conversation."""
        listeners = list(conversations)
        try:
            answer = await self._step(until_ns, listeners)
        except (grpc.aio.AioRpcError, LabError) as error:
            reason = error.details() if isinstance(error, grpc.aio.AioRpcError) else error
            self.failed.set_result(LabError(f"virtual time: {reason}"))
            # the task that awaits `failed` cancels this wait
            never: asyncio.Future[tuple[int, MessageCounts]] = asyncio.get_running_loop().create_future()
            return await never
        counts = {conversation.device_id: int(conversation.from_switch) for conversation in answer.conversations}
        return int(answer.now_ns), [
            (listener, counts[listener.device_id]) for listener in listeners if listener.device_id in counts
        ]

    async def _step(self, until_ns: int, conversations: Sequence[Conversation]) -> pb.ParticipateResponse:
        assert self._steps is not None, "participate() comes first"
        try:
            conversation_counts = [
                pb.Conversation(
                    device_id=each.device_id,
                    election_id_high=each.election_id >> 64,
                    election_id_low=each.election_id & LOW_64,
                    from_switch=each.received,
                    to_switch=each.sent,
                )
                for each in conversations
            ]
            await self._steps.write(pb.ParticipateRequest(until_ns=until_ns, conversations=conversation_counts))
            answer = await self._steps.read()
        except asyncio.InvalidStateError as error:
            # the stream had already ended
            raise LabError(await self._steps.details() or "the simulation has ended") from error
        if isinstance(answer, pb.ParticipateResponse):
            return answer
        raise LabError(await self._steps.details() or "the simulation has ended")

    async def describe(self) -> pb.DescribeResponse:
        """Description of the network."""
        async with _sentences("describe the network"):
            return await self._stub.Describe(pb.DescribeRequest())

    async def start(self, runs: Sequence[pb.Run]) -> None:
        """Plans runs of traffic programs."""
        async with _sentences("start traffic"):
            await self._stub.StartTraffic(pb.StartTrafficRequest(runs=runs))

    async def stop(self, names: Sequence[str]) -> None:
        """Ends runs."""
        if names:
            async with _sentences("stop traffic"):
                await self._stub.StopTraffic(pb.StopTrafficRequest(names=names))

    async def states(self, names: Sequence[str]) -> list[pb.RunState]:
        """States of these runs, in the same order."""
        if not names:
            return []
        async with _sentences("read traffic"):
            answer = await self._stub.Traffic(pb.TrafficRequest(names=names))
        return list(answer.runs)

    async def log(self, name: str) -> bytes:
        """The log of a run."""
        async with _sentences("read a log"):
            return b"".join([piece.text async for piece in self._stub.ReadLog(pb.ReadLogRequest(name=name))])

    async def set_hosts(
        self,
        *,
        rto_min_ns: int | None = None,
        initial_window: int | None = None,
        resent_rank: pb.ResentRank.ValueType | None = None,
    ) -> None:
        """Sets TCP's parameters, and the rank of data that is sent again, in all hosts; None keeps a value."""
        request = pb.SetHostsRequest(rto_min_ns=rto_min_ns, initial_window=initial_window, resent_rank=resent_rank)
        async with _sentences("set up the hosts"):
            await self._stub.SetHosts(request)

    async def counters(self, hosts: Sequence[str]) -> TcpCounters:
        """TCP's counters of these hosts together."""
        async with _sentences("read the hosts"):
            answer = await self._stub.ReadHosts(pb.ReadHostsRequest(names=hosts))
        return sum(map(_counters, answer.hosts), TcpCounters())

    async def close(self) -> None:
        """Leaves the lock step and closes the connection."""
        async with await_answer():
            if self._steps is not None:
                self._steps.cancel()
            await self._channel.close()


@dataclass(frozen=True)
class _Watch:
    """Waits until the simulation ends, which ends its block."""

    client: Client

    async def run(self) -> None:
        raise await self.client.failed


@asynccontextmanager
async def in_lock_step(address: str) -> AsyncIterator[tuple[Client, int]]:
    """Gives the event loop, a `VirtualLoop`, the time of the simulation at this address during the block.

    Yields a client, and the simulation's time 0 on the clock of the loop. Raises LabError if the simulation does not
    answer, or ends before the block.
    """
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop), "virtual time has an event loop of its own"
    client = Client(address)
    try:
        now_ns = await client.participate()
        origin_ns = loop.join(client, now_ns)
        async with run_loops(_Watch(client)):
            yield client, origin_ns
    finally:
        loop.leave()
        await client.close()


def _counters(host: pb.HostCounters) -> TcpCounters:
    return TcpCounters(**{name: getattr(host, name) for name in TcpCounters.__dataclass_fields__})


@asynccontextmanager
async def _sentences(what: str) -> AsyncIterator[None]:
    """A block that waits for an answer. Turns errors of gRPC into LabError."""
    async with await_answer():
        try:
            yield
        except grpc.aio.AioRpcError as error:
            raise LabError(f"virtual time: cannot {what}: {error.details()}") from error
