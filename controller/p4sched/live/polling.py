"""Reads a switch many times a second with as little work as gRPC allows.

The calls wait for their answers. A switch answers within a millisecond, and asyncio would wake up a dozen times
for each of them.
"""

import grpc
from finsy.proto import p4r, p4r_grpc
from grpc.experimental import ChannelOptions

from p4sched.p4rt.reader import SessionError, SwitchGoneError
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.proto.traffic_manager_pb2_grpc import TrafficManagerStub

TIMEOUT_S = 2.0
OPTIONS = ((ChannelOptions.SingleThreadedUnaryStream, 1),)
"""The thread that asks also takes the answers."""


class Poll:
    """A connection to one switch."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._channel = grpc.insecure_channel(address, OPTIONS)
        self._runtime = p4r_grpc.P4RuntimeStub(self._channel)
        self._manager = TrafficManagerStub(self._channel)

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()

    def read(self, request: p4r.ReadRequest | None) -> tuple[pb.GetStatsResponse, list[p4r.Entity]]:
        """The queues and ports, of one instant, and just after it the entities of a Read. Raises SessionError."""
        try:
            report = self._manager.GetStats(pb.GetStatsRequest(), timeout=TIMEOUT_S)
            replies = [] if request is None else list(self._runtime.Read(request, timeout=TIMEOUT_S))
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise SwitchGoneError(f"switch {self._address}: does not answer; is it running?") from error
            raise SessionError(f"switch {self._address}: cannot read: {error.details()}") from error
        return report, [entity for reply in replies for entity in reply.entities]
