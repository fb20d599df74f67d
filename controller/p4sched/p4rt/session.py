"""The session of a primary controller with a switch, which runs the right program.

finsy does the arbitration, the encoding and the writes. This module adds two things: a controller takes over a running
switch without a reset, and every error is one sentence.
"""

from collections.abc import AsyncIterator, Container, Iterable, Mapping
from contextlib import asynccontextmanager

import finsy as fy
from finsy.proto import p4r

from p4sched.clock import await_answer, converse, fall_silent
from p4sched.constants import LENGTH_REPORT_BYTES, LENGTH_REPORT_SESSION
from p4sched.p4rt.conversation import ConversingSwitch
from p4sched.p4rt.program import Loadable, Pipeline
from p4sched.p4rt.reader import EGRESS_PORT, Reader, SessionError, one_sentence
from p4sched.p4rt.target import PROGRAMS, target_of
from p4sched.p4rt.tls import Tls


class Session(Reader):
    """The session of a primary controller, which reads and writes."""

    def __init__(self, address: str, device_id: int, tls: Tls | None = None) -> None:
        super().__init__(address, device_id, tls)
        self._switch: ConversingSwitch | None = None
        self.loaded = False
        """True if this session loaded the program, False if the switch already ran it."""
        self.replaced = False
        """True if the session replaced another program, whose table entries are lost."""

    @property
    def finsy(self) -> fy.Switch:
        """The finsy switch, for operations that this class lacks."""
        if self._switch is None:
            raise SessionError(f"switch {self.address}: the session is closed")
        return self._switch

    async def insert(self, entries: Iterable[fy.P4TableEntry]) -> None:
        """Inserts entries with one Write."""
        async with one_sentence(self.address, "insert table entries"):
            await self.finsy.insert(list(entries))

    async def remove(self, entries: Iterable[fy.P4TableEntry]) -> None:
        """Removes entries with one Write."""
        async with one_sentence(self.address, "remove table entries"):
            await self.finsy.delete(list(entries))

    async def set_default_action(self, table: str, action: str, arguments: Mapping[str, int]) -> None:
        """Changes a table's default action with one MODIFY, so that all parameters take effect together."""
        entry = fy.P4TableEntry(table, action=fy.P4TableAction(action, **arguments), is_default_action=True)
        async with one_sentence(self.address, f"set the default action of {table}"):
            await self.finsy.modify([entry])

    async def packet_out(self, frame: bytes) -> None:
        """Sends a frame to the CPU port of the switch, for a program without a packet_out header."""
        async with one_sentence(self.address, "send a packet-out"):
            # finsy's P4PacketOut needs such a header
            await self.finsy.write([p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=frame))])

    async def set_port_actions(
        self, table: str, action: str, arguments: Mapping[int, Mapping[str, int]], present: Container[int]
    ) -> None:
        """Sets the entries of several egress ports with one Write: MODIFY for ports in `present`, INSERT for the
        others."""
        updates = []
        for port, values in arguments.items():
            match = fy.P4TableMatch({EGRESS_PORT: port})
            entry = fy.P4TableEntry(table, match=match, action=fy.P4TableAction(action, **values))
            updates.append(~entry if port in present else +entry)
        async with one_sentence(self.address, f"set entries of {table}"):
            await self.finsy.write(updates)

    async def open(self, pipeline: Pipeline, force: bool) -> None:
        """Becomes primary and makes sure that the switch runs the program."""
        self.schema = pipeline.schema
        config = pipeline.config
        cookie = await self.pipeline_cookie()
        switch = await self._become_primary(pipeline.schema)
        self._switch = switch
        converse(switch)
        if force or cookie != config.cookie.cookie:
            await self.set_pipeline(config, switch.election_id)
            self.loaded = True
            self.replaced = cookie not in (None, config.cookie.cookie)
            await self._let_departures_report()

    async def close(self) -> None:
        """Ends the session; the switch keeps the last entries."""
        if self._switch is not None:
            switch, self._switch = self._switch, None
            fall_silent(switch)
            async with await_answer():
                await switch.__aexit__(None, None, None)
        await super().close()

    async def _let_departures_report(self) -> None:
        """Sets up the mirror session for the reports of queue lengths at departures, if the target needs it."""
        of_target = PROGRAMS[target_of(self.schema.arch)]
        if of_target.length_reports:
            replicas = ((of_target.recirculation_port, 1),)
            entry = fy.P4CloneSessionEntry(
                LENGTH_REPORT_SESSION, packet_length_bytes=LENGTH_REPORT_BYTES, replicas=replicas
            )
            async with one_sentence(self.address, "set up the mirror session of the length reports"):
                await self.finsy.insert([entry])

    async def _become_primary(self, schema: fy.P4Schema) -> ConversingSwitch:
        # P4Info only: finsy would load a device configuration and hide the reason of a failure
        switch = ConversingSwitch(self.address, self.device_id, self.tls)
        switch.p4info.set_p4info(schema.p4info)
        async with one_sentence(self.address, "become its controller"):
            await switch.__aenter__()
        if not switch.is_primary:
            primary = switch.primary_id
            await switch.__aexit__(None, None, None)
            raise SessionError(
                f"switch {self.address}: another controller (election id {primary}) is its primary; stop that one first"
            )
        return switch


@asynccontextmanager
async def connect(
    address: str, program: Loadable, *, device_id: int = 1, force: bool = False, tls: Tls | None = None
) -> AsyncIterator[Session]:
    """Opens the primary session with the switch at `address` (HOST:PORT).

    If the switch already runs this program (same cookie of the pipeline), it keeps its entries, registers and queues.
    Another program is replaced. `force` always loads the program. The end of the block ends the session, not the
    traffic.
    """
    session = Session(address, device_id, tls)
    try:
        await session.open(program.pipeline(), force)
        yield session
    finally:
        await session.close()


@asynccontextmanager
async def watch(address: str, *, device_id: int = 1, tls: Tls | None = None) -> AsyncIterator[Reader]:
    """Opens a reader of the switch at `address`, next to its controller, if any."""
    reader = Reader(address, device_id, tls)
    try:
        await reader.load_schema()
        yield reader
    finally:
        await reader.close()
