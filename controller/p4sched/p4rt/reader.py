"""Reads from a switch over P4Runtime: pipeline, entries, counters. A reader is not primary, so it can run next to a
controller."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import finsy as fy
import grpc
import grpc.aio
from finsy.gnmiclient import GNMIClientError
from finsy.grpcutil import GRPCStatusCode
from finsy.p4client import P4ClientError, P4RpcStatus
from finsy.p4entity import P4Entity, decode_entity, encode_entities
from finsy.proto import p4r, p4r_grpc

from p4sched.clock import await_answer, now_ns
from p4sched.errors import P4schedError
from p4sched.p4rt.tls import Tls, channel

READ_TIMEOUT_S = 10.0
EGRESS_PORT = "egress_spec"
"""Key of the tables that hold the parameters of a scheme."""
_SHOWN_ERRORS = 3

# finsy logs a failure and also raises it; the user should read it once
_FINSY_LOG = logging.getLogger("finsy")
_FINSY_LOG.addHandler(logging.NullHandler())
_FINSY_LOG.propagate = False
# finsy warns that BMv2 has no gNMI and that a switch has no program; both are expected here
_FINSY_LOG.setLevel(logging.ERROR)


class SessionError(P4schedError):
    """An error of a switch: it cannot be reached, refuses a request, or runs another program than expected."""


class SwitchGoneError(SessionError):
    """The switch does not answer: it does not run, or it cannot be reached."""


class NoProgramError(SessionError):
    """The switch runs no program yet."""


@dataclass(frozen=True)
class Count:
    """A counter's value."""

    packets: int = 0
    bytes: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.packets + other.packets, self.bytes + other.bytes)


@dataclass(frozen=True)
class Entry:
    """A table entry and, if its table has a direct counter, its count."""

    action: str
    arguments: Mapping[str, int]
    count: Count | None


@dataclass(frozen=True)
class CounterCells:
    """Cells of indirect counters, encoded once for many requests."""

    request: p4r.ReadRequest
    names: Mapping[int, str]
    """Names of the counters by P4Info id."""


@dataclass(frozen=True)
class TimedCounts:
    """Counts by counter and cell, from some instant between `before_ns` and `after_ns`."""

    before_ns: int
    after_ns: int
    counts: Mapping[str, Mapping[int, Count]]


class Reader:
    """Reads from one switch. Names of tables, actions and counters are P4Info names or aliases."""

    def __init__(self, address: str, device_id: int = 1, tls: Tls | None = None) -> None:
        self.address = address
        self.device_id = device_id
        self.tls = tls
        self.schema = fy.P4Schema()
        """The P4Info in force; empty until `load_schema`."""
        self._channel = channel(address, tls)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)

    async def close(self) -> None:
        """Closes the connection."""
        async with await_answer():
            await self._channel.close()

    async def pipeline_cookie(self) -> int | None:
        """Cookie of the pipeline that the switch runs; None if it runs none, or one without a cookie."""
        config = await self._pipeline(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
        return config.cookie.cookie if config is not None and config.HasField("cookie") else None

    async def load_schema(self) -> None:
        """Reads the P4Info from the switch."""
        config = await self._pipeline(p4r.GetForwardingPipelineConfigRequest.P4INFO_AND_COOKIE)
        if config is None:
            raise NoProgramError(f"switch {self.address}: runs no program yet")
        self.schema.set_p4info(config.p4info)

    async def _pipeline(
        self, response_type: p4r.GetForwardingPipelineConfigRequest.ResponseType.ValueType
    ) -> p4r.ForwardingPipelineConfig | None:
        request = p4r.GetForwardingPipelineConfigRequest(device_id=self.device_id, response_type=response_type)
        try:
            async with await_answer():
                reply = await self._stub.GetForwardingPipelineConfig(request, timeout=READ_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            # in the specification, `config` is unset before the first program; BMv2 answers with this error
            if error.code() == grpc.StatusCode.FAILED_PRECONDITION:
                return None
            raise session_error(self.address, "ask for the pipeline", error) from error
        return reply.config if reply.HasField("config") else None

    async def set_pipeline(self, config: p4r.ForwardingPipelineConfig, election_id: int) -> None:
        """Loads a program. The controller with `election_id` must be primary."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=p4r.Uint128(low=election_id),
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=config,
        )
        async with one_sentence(self.address, "load the program"):
            await self._stub.SetForwardingPipelineConfig(request, timeout=60.0)

    async def read(self, entities: Sequence[P4Entity]) -> list[P4Entity]:
        """Sends one Read of these entities."""
        found = await self._read(entities)
        with clear_errors(self.address, "decode what it read"):
            return [decode_entity(entity, self.schema) for entity in found]

    async def _read(self, entities: Sequence[P4Entity]) -> list[p4r.Entity]:
        async with one_sentence(self.address, "read"):
            request = p4r.ReadRequest(device_id=self.device_id, entities=encode_entities(entities, self.schema))
            return [
                entity async for reply in self._stub.Read(request, timeout=READ_TIMEOUT_S) for entity in reply.entities
            ]

    async def default_action(self, table: str) -> tuple[str, dict[str, int]] | None:
        """The default action in force and its arguments; None if the switch does not report it."""
        for entry in await self.read([fy.P4TableEntry(table, is_default_action=True)]):
            if (
                isinstance(entry, fy.P4TableEntry)
                and entry.is_default_action
                and isinstance(entry.action, fy.P4TableAction)
            ):
                return entry.action.name, dict(entry.action.args)
        return None

    async def port_actions(self, table: str) -> dict[int, dict[str, int]]:
        """The arguments of the entries, by port, of a table whose key is the egress port."""
        found = {}
        for entry in await self.read([fy.P4TableEntry(table)]):
            if isinstance(entry, fy.P4TableEntry) and entry.match and isinstance(entry.action, fy.P4TableAction):
                port = entry.match[EGRESS_PORT]
                assert isinstance(port, int)
                found[port] = dict(entry.action.args)
        return found

    async def entries(self, *tables: str) -> list[Entry]:
        """All entries of these tables with their direct counts, in one Read."""
        entities = [fy.P4TableEntry(table, counter_data=fy.P4CounterData()) for table in tables]
        # a control loop reads hundreds of entries ten times a second, and finsy's decoding would take a tenth of a CPU
        action_names: dict[int, tuple[str, dict[int, str]]] = {}
        found = []
        for entity in await self._read(entities):
            entry = entity.table_entry
            if entry.is_default_action or not entry.action.HasField("action"):
                continue
            action = entry.action.action
            if action.action_id not in action_names:
                action_names[action.action_id] = self._action_names(action.action_id)
            name, parameters = action_names[action.action_id]
            found.append(
                Entry(
                    action=name,
                    arguments={parameters[p.param_id]: int.from_bytes(p.value, "big") for p in action.params},
                    count=Count(entry.counter_data.packet_count, entry.counter_data.byte_count)
                    if entry.HasField("counter_data")
                    else None,
                )
            )
        return found

    def _action_names(self, action_id: int) -> tuple[str, dict[int, str]]:
        action = self.schema.actions[action_id]
        return action.alias, {parameter.id: parameter.name for parameter in action.params}

    def counter_cells(self, cells: Mapping[str, Sequence[int]]) -> CounterCells:
        """Cells of several indirect counters, for repeated reads."""
        counter_entries = [fy.P4CounterEntry(name, index=cell) for name, indices in cells.items() for cell in indices]
        with clear_errors(self.address, "encode which counters to read"):
            ids = {self.schema.counters[name].id: name for name in cells}
            entities = encode_entities(counter_entries, self.schema)
        return CounterCells(p4r.ReadRequest(device_id=self.device_id, entities=entities), ids)

    def request(self, entities: Sequence[P4Entity]) -> p4r.ReadRequest:
        """A Read of these entities, encoded once for repeated use."""
        with clear_errors(self.address, "encode what to read"):
            return p4r.ReadRequest(device_id=self.device_id, entities=encode_entities(entities, self.schema))

    async def counters(self, cells: CounterCells, clock: Callable[[], int] = now_ns) -> TimedCounts:
        """Values of these cells, from one Read, with its duration."""
        before = clock()
        async with one_sentence(self.address, "read"):
            replies = [reply async for reply in self._stub.Read(cells.request, timeout=READ_TIMEOUT_S)]
        after = clock()
        counts: dict[str, dict[int, Count]] = {name: {} for name in cells.names.values()}
        # a hundred cells ten times a second: decoded here, like the entries of tables, to save CPU time
        for reply in replies:
            for entity in reply.entities:
                entry = entity.counter_entry
                count = Count(entry.data.packet_count, entry.data.byte_count)
                counts[cells.names[entry.counter_id]][entry.index.index] = count
        return TimedCounts(before, after, counts)

    async def counts(self, counter: str, cells: Sequence[int]) -> Mapping[int, Count]:
        """Values of these cells of an indirect counter, from one Read."""
        return (await self.counters(self.counter_cells({counter: cells}))).counts[counter]


def session_error(address: str, what: str, error: Exception) -> SessionError:
    """Turns a gRPC or P4Runtime error into one sentence."""
    if isinstance(error, grpc.aio.AioRpcError):
        status = P4RpcStatus.from_rpc_error(error)
        code, message, details = status.code, status.message, status.details
    elif isinstance(error, P4ClientError):
        code, message, details = error.code, error.message, error.details
    elif isinstance(error, GNMIClientError):
        # finsy requests gNMI from every switch at the start of a session
        code, message, details = error.code, error.message, {}
    else:
        return SessionError(f"switch {address}: cannot {what}: {' '.join(str(error).split())}")
    if code == GRPCStatusCode.UNAVAILABLE:
        return SwitchGoneError(f"switch {address}: does not answer (cannot {what}); is it running?")
    if details:
        items = sorted(details.items())
        shown = [(i + 1, detail.message or detail.canonical_code.name) for i, detail in items[:_SHOWN_ERRORS]]
        message = "; ".join(f"update {number}: {problem}" for number, problem in shown)
        message += f"; and {len(items) - _SHOWN_ERRORS} more" if len(items) > _SHOWN_ERRORS else ""
    return SessionError(f"switch {address}: cannot {what}: {' '.join(message.split()) or code.name}")


@contextmanager
def clear_errors(address: str, what: str) -> Iterator[None]:
    """Turns errors of gRPC and of finsy's encoding into a SessionError with one sentence."""
    try:
        yield
    except (grpc.aio.AioRpcError, P4ClientError, GNMIClientError, ValueError, KeyError) as error:
        raise session_error(address, what, error) from error


@asynccontextmanager
async def one_sentence(address: str, what: str) -> AsyncIterator[None]:
    """A block that waits for an answer of the switch. An error in it becomes one sentence.

    When a switch stops, finsy closes the connection, and gRPC cancels the open requests. This cancellation becomes an
    error, because otherwise it would end a task silently. A later request meets finsy's assertion that there is a
    connection.
    """
    async with await_answer():
        try:
            with clear_errors(address, what):
                yield
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            message = f"switch {address}: does not answer (cannot {what}): it cancelled the request"
            raise SwitchGoneError(message) from None
        except AssertionError as error:
            if not _is_of_finsy(error):
                raise
            message = f"switch {address}: does not answer (cannot {what}): the connection is closed"
            raise SwitchGoneError(message) from None


def _is_of_finsy(error: BaseException) -> bool:
    """True if finsy raised the error. It asserts that there is a connection, which ends when the switch does."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals["__name__"]).startswith("finsy.")
