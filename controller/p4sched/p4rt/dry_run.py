"""A P4Runtime server on loopback that shows each message of a controller, in place of a switch.

The controller's own code talks to this server, so a switch would get the same messages in the same order. The server
answers like a new switch: it has no program, its counters are 0, its tables are empty.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import grpc
import grpc.aio
from finsy.proto import p4i, p4r, p4r_grpc
from google.protobuf import text_format
from google.protobuf.message import Message

from p4sched.proto.tofino_pipeline_pb2 import TofinoPipeline

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
NO_PROGRAM = "No forwarding pipeline config has been pushed so far"
"""Error text of BMv2 and Stratum, which finsy recognizes."""
_ID = re.compile(r"\b(table|action|counter|meter|register|digest)_id: (\d+)$", re.MULTILINE)


class DryRunServicer(p4r_grpc.P4RuntimeServicer):
    """A P4Runtime service that shows every request."""

    def __init__(self, say: Callable[[str], None], tofino: bool) -> None:
        self._say = say
        self._tofino = tofino
        self._names: Mapping[int, str] = {}

    async def Capabilities(  # noqa: N802 - gRPC's names
        self, request: p4r.CapabilitiesRequest, context: Context
    ) -> p4r.CapabilitiesResponse:
        self._show(request)
        return p4r.CapabilitiesResponse(p4runtime_api_version="1.3.0")

    async def GetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.GetForwardingPipelineConfigRequest, context: Context
    ) -> p4r.GetForwardingPipelineConfigResponse:
        self._show(request)
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, NO_PROGRAM)
        raise AssertionError("abort raises")

    async def SetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.SetForwardingPipelineConfigRequest, context: Context
    ) -> p4r.SetForwardingPipelineConfigResponse:
        self._names = names(request.config.p4info)
        sizes = self._sizes(request.config)
        request.config.ClearField("p4info")
        request.config.ClearField("p4_device_config")
        self._show(request, sizes)
        return p4r.SetForwardingPipelineConfigResponse()

    async def Write(  # noqa: N802
        self, request: p4r.WriteRequest, context: Context
    ) -> p4r.WriteResponse:
        self._show(request)
        return p4r.WriteResponse()

    async def Read(  # noqa: N802
        self, request: p4r.ReadRequest, context: Context
    ) -> AsyncIterator[p4r.ReadResponse]:
        self._show(request)
        counters = [entity for entity in request.entities if entity.HasField("counter_entry")]
        for entity in counters:
            entity.counter_entry.data.SetInParent()
        yield p4r.ReadResponse(entities=counters)

    async def StreamChannel(  # noqa: N802
        self, requests: AsyncIterator[p4r.StreamMessageRequest], context: Context
    ) -> AsyncIterator[p4r.StreamMessageResponse]:
        async for request in requests:
            self._show(request)
            if request.HasField("arbitration"):
                yield p4r.StreamMessageResponse(arbitration=request.arbitration)

    def _sizes(self, config: p4r.ForwardingPipelineConfig) -> str:
        """Sizes of the parts that are too long to show."""
        lines = [f"p4info: {config.p4info.ByteSize()} bytes, {len(config.p4info.tables)} tables"]
        lines.append(f"p4_device_config: {len(config.p4_device_config)} bytes")
        if self._tofino:
            device = TofinoPipeline.FromString(config.p4_device_config)
            lines.append(f"  program {device.program}, {len(device.runtime_names)} bytes of names")
            lines += [
                f"  {profile.name}: context {len(profile.context)} bytes, binary {len(profile.binary)} bytes,"
                f" pipes {' '.join(map(str, profile.pipes))}"
                for profile in device.profiles
            ]
        return "".join(f"# {line}\n" for line in lines)

    def _show(self, message: Message, above: str = "") -> None:
        text = text_format.MessageToString(message)
        named = _ID.sub(lambda found: f"{found[0]}  # {self._names.get(int(found[2]), '?')}", text)
        self._say(f"# {message.DESCRIPTOR.name}\n{above}{named}")


def names(p4info: p4i.P4Info) -> dict[int, str]:
    """The names of a program's entities by their ids."""
    found: dict[int, str] = {}
    for field, values in p4info.ListFields():
        if field.name not in ("pkg_info", "type_info", "externs"):
            found |= {value.preamble.id: value.preamble.name for value in values}
    return found


@asynccontextmanager
async def in_place_of_a_switch(say: Callable[[str], None], *, tofino: bool) -> AsyncIterator[str]:
    """Runs the server during the block; yields its address. `tofino`: the pipelines are for a Tofino."""
    # a program for a Tofino is larger than gRPC's usual limit of 4 MiB
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    p4r_grpc.add_P4RuntimeServicer_to_server(DryRunServicer(say, tofino), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)
