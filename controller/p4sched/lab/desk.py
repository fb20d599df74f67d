"""Lets a person change parameters of a run from another process. The controller holds them until they are released.

A request and its answer are lines of JSON on a socket in the folder of the announcements. Each change is a line of a
file in the folder of the scheme:

    {"time_ns": ..., "switch": "s1", "port": 5 | null, "name": "k", "value": 0.2 | null}

`value` null: the parameter is released. The decision log also records the change: it begins a run with a configuration.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from p4sched.clock import now_ns
from p4sched.control.knobs import RATE, Knob, by_hand, in_range, knobs, with_held_values
from p4sched.control.laws import fdpa
from p4sched.control.loop import AnyTuning, Loop
from p4sched.control.parameters import Parameters
from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.json_records import MALFORMED, parse_json
from p4sched.lab.announcement import own_desk
from p4sched.p4rt.session import Session
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager, PortSettings, QueueSettings
from p4sched.proto.enums import Discipline

CHANGES = "changes.jsonl"
BUFFER, ROOM = "buffer", "room"
LOWEST_RATE, HIGHEST_RATE = 0.1, 2.0
"""Limits of a link's rate, as a share of its first rate."""
LEAST_ROOM, MOST_ROOM = 0.1, 4.0
"""Limits of the room in a port's queues, as a share of the first room."""


class Hand(ABC):
    """A set of parameters that a person can change, and the held values."""

    def __init__(self, port: int | None) -> None:
        self.port = port
        """Port; None: the parameters of all ports."""
        self.values: dict[str, float] = {}
        """Held values."""

    @abstractmethod
    def knobs(self) -> list[Knob]:
        """Knobs with the values in force."""

    @abstractmethod
    async def apply(self, values: Mapping[str, float]) -> None:
        """Holds exactly these values. Raises P4schedError for an impossible value."""

    async def turn(self, name: str, value: float | None) -> None:
        """Holds a parameter at a value; None releases it. Raises P4schedError for an impossible value."""
        there = {knob.name: knob for knob in self.knobs()}
        values = {each: kept for each, kept in self.values.items() if each != name}
        if value is not None:
            in_range(there[name], value)
            values[name] = value
        await self.apply(values)
        self.values = values


class LawHand(Hand):
    """Parameters that a law sets."""

    def __init__(self, port: int | None, tuning: AnyTuning) -> None:
        super().__init__(port)
        self._tuning = tuning
        self._own = tuning.config

    def knobs(self) -> list[Knob]:
        return knobs(self._tuning.parameters, self._tuning.config, self._own)

    async def apply(self, values: Mapping[str, float]) -> None:
        config = with_held_values(self._own, values)
        if isinstance(config, fdpa.Config):
            # a person may have changed the rate of the link
            config = replace(config, capacity_bps=self._tuning.config.capacity_bps)
        self._tuning.use_config(config)


class ProgramHand(Hand):
    """Parameters that no law sets."""

    def __init__(self, session: Session, parameters: Parameters) -> None:
        super().__init__(None)
        self._session = session
        self._own = parameters
        self._now = parameters

    def knobs(self) -> list[Knob]:
        return knobs(self._now)

    async def apply(self, values: Mapping[str, float]) -> None:
        found = by_hand(self._own, values)
        await self._session.set_default_action(found.table, found.action, found.action_data())
        self._now = found


class LinkHand(Hand):
    """The rate of a link, and the room of its port: packets of a single queue, or a share of the first sizes."""

    def __init__(self, address: str, settings: PortSettings, tunings: Mapping[int | None, AnyTuning]) -> None:
        super().__init__(settings.port)
        self._address = address
        self._own = settings
        self._capacities = [tuning for tuning in tunings.values() if isinstance(tuning.config, fdpa.Config)]
        self._one_queue = settings.discipline is not Discipline.STRICT

    def knobs(self) -> list[Knob]:
        rate = self._own.rate_bps or 0
        low, high = rate * LOWEST_RATE / 1e6, rate * HIGHEST_RATE / 1e6
        found = [Knob(RATE, "Mbit/s", low, high, rate / 1e8, self.values.get(RATE, rate / 1e6))]
        size = self._own.buffer_packets or 0
        if not self._one_queue:
            found.append(Knob(ROOM, "x", LEAST_ROOM, MOST_ROOM, LEAST_ROOM, self.values.get(ROOM, 1.0)))
        elif size:
            found.append(Knob(BUFFER, "packets", 1, size * MOST_ROOM, 1, self.values.get(BUFFER, size)))
        return found

    async def apply(self, values: Mapping[str, float]) -> None:
        rate_bps = int(values[RATE] * 1e6) if RATE in values else self._own.rate_bps
        buffer = int(values[BUFFER]) if BUFFER in values else self._own.buffer_packets
        room = values.get(ROOM, 1.0)
        queues = {
            number: QueueSettings(max(1, round(queue.depth_packets * room)))
            for number, queue in self._own.queues.items()
            if queue.depth_packets
        }
        manager = EmbeddedTrafficManager(self._address)
        try:
            await manager.set_ports([PortSettings(self._own.port, rate_bps, queues=queues, buffer_packets=buffer)])
        finally:
            await manager.close()
        for tuning in self._capacities:
            tuning.use_config(replace(tuning.config, capacity_bps=rate_bps))


@dataclass
class ControlledSwitch:
    """A switch whose parameters a person can change."""

    session: Session
    loop: Loop | None
    """Control loop; None: there is no law."""
    parameters: Parameters | None
    """Parameters that no law sets."""
    _hands: list[Hand] = field(default_factory=list)
    _manager: EmbeddedTrafficManager | None = None

    async def close(self) -> None:
        """Closes the connection to the switch."""
        if self._manager is not None:
            await self._manager.close()

    async def hands(self) -> list[Hand]:
        """All sets of knobs. The links come later than the others: they get their rate after the controller begins."""
        tunings = {} if self.loop is None else self.loop.tunings
        if not self._hands:
            self._hands += [LawHand(port, tuning) for port, tuning in tunings.items()]
            if self.parameters is not None and not tunings:
                self._hands.append(ProgramHand(self.session, self.parameters))
        if self._manager is None:
            self._manager = EmbeddedTrafficManager(self.session.address)
        ports = await self._manager.ports()
        known = {hand.port for hand in self._hands if isinstance(hand, LinkHand)}
        self._hands += [
            LinkHand(self.session.address, port, tunings) for port in ports if port.rate_bps and port.port not in known
        ]
        return self._hands


class Desk:
    """Answers requests."""

    def __init__(self, switches: Mapping[str, ControlledSwitch], changes: Path) -> None:
        self._switches = switches
        self._changes = changes

    async def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answers {"do": "knobs"}, {"do": "hold", "switch", "port", "name", "value"} or {"do": "release", ...} with the
        knobs and the change. Raises P4schedError for an impossible value."""
        changed = None
        if request["do"] in ("hold", "release"):
            changed = await self._turn(request, float(request["value"]) if request["do"] == "hold" else None)
        return {
            "knobs": {name: await self._knobs(switch) for name, switch in self._switches.items()},
            "changed": changed,
        }

    async def _turn(self, request: Mapping[str, Any], value: float | None) -> dict[str, Any]:
        switch, port, name = request["switch"], request["port"], request["name"]
        if switch not in self._switches:
            raise unknown_name("switch", str(switch), self._switches)
        hands = [hand for hand in await self._switches[switch].hands() if hand.port == port]
        hand = next((each for each in hands if name in [knob.name for knob in each.knobs()]), None)
        if hand is None:
            raise UsageError(f"port {port} of {switch} has no parameter '{name}' that can be changed")
        await hand.turn(name, value)
        line = {"time_ns": now_ns(), "switch": switch, "port": port, "name": name, "value": value}
        with self._changes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return line

    async def _knobs(self, switch: ControlledSwitch) -> list[dict[str, Any]]:
        return [
            {**asdict(knob), "port": hand.port, "held": knob.name in hand.values}
            for hand in await switch.hands()
            for knob in hand.knobs()
        ]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one request."""
        try:
            answer = await self.answer(parse_json((await reader.readline()).decode()))
        except P4schedError as error:
            answer = {"error": str(error)}
        except MALFORMED as error:
            answer = {"error": f"no request: {error}"}
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        writer.close()


def changes_by_hand(folder: Path) -> dict[str, int]:
    """Part of summary.json: how often parameters were changed by hand while a scheme was measured; empty if never."""
    path = folder / CHANGES
    return {"changes_by_hand": len(path.read_text().splitlines())} if path.exists() else {}


@asynccontextmanager
async def open_desk(switches: Mapping[str, ControlledSwitch], changes: Path) -> AsyncIterator[None]:
    """Answers requests while the block runs."""
    path = own_desk()
    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(Desk(switches, changes).serve, path)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)
        for switch in switches.values():
            await switch.close()


async def ask(path: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer from the desk of another process. Raises P4schedError if it has none, or if the answer is an error."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=2**20)
        writer.write(json.dumps(request).encode() + b"\n")
        line = await reader.readline()
        writer.close()
        answer = json.loads(line)
    except (OSError, ValueError) as error:
        raise P4schedError(f"no controller holds parameters of this run: {error}") from error
    if "error" in answer:
        raise P4schedError(answer["error"])
    return dict(answer)
