"""What a page of running switches gets, round after round: of one switch, or of a run and each of its networks."""

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError
from p4sched.lab import desk
from p4sched.lab.announcement import Announcement, of_run
from p4sched.lab.machine import read_machine
from p4sched.lab.processes import ProcessIdentity
from p4sched.lab.virtual.client import Client
from p4sched.live import messages
from p4sched.live.collector import Collector, collecting, read_all
from p4sched.live.decisions import Logs
from p4sched.live.hub import Hub
from p4sched.live.recording import recording
from p4sched.p4rt.reader import NoProgramError

EVERY_S = 0.05
LOOK_S = 1.0
"""Between two looks at program, ports, users, parameters and fidelity."""
LOGS_S = 0.2
"""Between two looks at the decision logs."""
RETRY_S = 0.5
FASTEST = 1000.0
"""Pace of virtual time: as fast as it goes."""
NEXT_S = 0.05
"""Between two looks for the next network of a run."""


class Clock(ABC):
    """The time of what is shown, and when the next round is due."""

    every_s: float
    """Between two rounds."""
    pushed_s: float
    """How often the switches say by themselves how they are, of the wall clock; 0: they are asked in each round."""

    @abstractmethod
    def now_s(self) -> float:
        """Since the network was there, or since somebody looks."""

    @abstractmethod
    async def next(self) -> None:
        """Waits until a round is due."""


class WallClock(Clock):
    """Of switches that run by the wall clock."""

    def __init__(self, origin_ns: int | None = None, every_s: float = EVERY_S) -> None:
        """`origin_ns`: time 0, as `time.monotonic_ns` has it."""
        self.every_s = self.pushed_s = every_s
        self._origin_ns = time.monotonic_ns() if origin_ns is None else origin_ns

    def now_s(self) -> float:
        return (time.monotonic_ns() - self._origin_ns) / 1e9

    async def next(self) -> None:
        """A round is due as soon as a switch has said how it is."""


@dataclass
class Pace:
    """How fast virtual time may go, as somebody who looks wants it."""

    factor: float = 1.0
    """Virtual seconds a second; 0: time stands."""


class LockStep(Clock):
    """Of a simulation, as a participant in its lock step: time stands while a round is read."""

    pushed_s = 0.0

    def __init__(self, client: Client, now_ns: int, every_s: float) -> None:
        self.every_s = every_s
        self._client = client
        self._now_ns = now_ns
        self._failed: asyncio.Future[Any] = client.failed

    def now_s(self) -> float:
        return self._now_ns / 1e9

    async def _step(self, step_ns: int) -> None:
        """Lets time go on to the next multiple of the step."""
        waiting = asyncio.create_task(self._client.wait((self._now_ns // step_ns + 1) * step_ns, ()))
        await asyncio.wait((waiting, self._failed), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            raise self._client.failed.result()
        self._now_ns, _ = waiting.result()


class Paced(LockStep):
    """Time goes on as fast as somebody who looks wants it."""

    def __init__(self, client: Client, now_ns: int, pace: Pace, every_s: float = EVERY_S) -> None:
        super().__init__(client, now_ns, every_s)
        self._pace = pace
        self._due = time.monotonic()

    async def next(self) -> None:
        while self._pace.factor == 0:
            # whoever neither waits nor asks is taken for dead
            await self._client.describe()
            await asyncio.sleep(0.1)
        self._due = max(self._due + self.every_s / self._pace.factor, time.monotonic() - self.every_s)
        await asyncio.sleep(max(0.0, self._due - time.monotonic()))
        await self._step(round(self.every_s * 1e9))


class Unhurried(LockStep):
    """Time goes on as fast as it would without whoever looks: a round every now and then, of the wall clock."""

    def __init__(self, client: Client, now_ns: int, every_s: float) -> None:
        super().__init__(client, now_ns, every_s)
        self._step_ns = round(every_s * 1e9)

    async def next(self) -> None:
        began = time.monotonic()
        await self._step(self._step_ns)
        share = self.every_s / max(time.monotonic() - began, 1e-6)
        self._step_ns = max(1, round(self._step_ns * min(max(share, 0.5), 2.0)))


@dataclass(frozen=True)
class Manner:
    """How a run is read."""

    pace: Pace = field(default_factory=Pace)
    every_s: float = EVERY_S
    whole: bool = True
    """With decisions, knobs and the pace of virtual time; otherwise only how the switches are."""
    record: bool = False
    """The folders of the networks get what was said."""


@dataclass
class Shown:
    """What is shown at a time: some switches and what is known about them."""

    heading: str
    switches: Mapping[str, SwitchAddress]
    clock: Clock
    topology: Mapping[str, Any] = field(default_factory=dict)
    logs: Logs | None = None
    desk: Path | None = None
    """Of whoever controls the switches."""
    origin_ns: int = 0
    """Time 0 on the controller's clock."""
    pace: Pace | None = None
    """Of virtual time, where whoever looks may set it."""

    @property
    def virtual(self) -> bool:
        """Whether this is virtual time."""
        return isinstance(self.clock, LockStep)


class Rounds:
    """Reads switches that answer, and says what it has read."""

    def __init__(self, hub: Hub, shown: Shown, collectors: Mapping[str, Collector]) -> None:
        self._hub = hub
        self._shown = shown
        self._collectors = collectors
        self._parameters: dict[tuple[str, int | None], dict[str, int]] = {}
        self._knobs: dict[str, dict[str, Any]] = {}
        self._machine = read_machine()
        self._ahead_s = float("inf")

    async def go_on(self, *, same: bool = False) -> None:
        """Until a switch no longer answers. `same`: what was said before holds on."""
        clock = self._shown.clock
        self._set_scene(same=same)
        if self._shown.pace is not None:
            self._hub.say(messages.pace(self._shown.pace.factor))
        looked_s = logs_s = knobs_s = float("-inf")
        while True:
            now_s = clock.now_s()
            if now_s - looked_s >= LOOK_S:
                looked_s = now_s
                await self._look(now_s)
            # of the wall clock: while virtual time stands, somebody may still turn something
            if time.monotonic() - knobs_s >= LOOK_S and self._shown.desk is not None:
                knobs_s = time.monotonic()
                await self.ask({"do": "knobs"})
            if now_s - logs_s >= LOGS_S and self._shown.logs is not None:
                logs_s = now_s
                for mark in self._shown.logs.marks():
                    self._hub.say(mark)
            await read_all(list(self._collectors.values()))
            self._hub.say(messages.frame(self._time_s(), self._collectors))
            await clock.next()

    def _time_s(self) -> float:
        """Of the newest reading, on the clock of what is shown: the shortest way so far is taken for none."""
        first = next(iter(self._collectors.values()))
        read_s = first.newest.time_ns / 1e9
        self._ahead_s = min(self._ahead_s, self._shown.clock.now_s() - read_s)
        return read_s + self._ahead_s

    async def _look(self, now_s: float) -> None:
        """Logs, program, ports, users and parameters, where they have changed; fidelity in any case."""
        if self._shown.logs is not None:
            self._shown.logs.look()
        changed = [await collector.look() for collector in self._collectors.values()]
        if any(changed):
            self._set_scene(same=True)
        reports = []
        for name, collector in self._collectors.items():
            for port, values in (await collector.parameters()).items():
                if self._parameters.get((name, port)) != values:
                    self._parameters[name, port] = values
                    self._hub.say(messages.parameters(now_s, name, port, values))
            reports.append((collector.view, await collector.fidelity()))
        if self._shown.virtual:
            self._hub.say(messages.exact())
        else:
            self._hub.say(messages.health(reports, read_machine().since(self._machine)))

    async def ask(self, request: Mapping[str, Any]) -> None:
        """Asks whoever controls the switches, and says the answer."""
        assert self._shown.desk is not None
        try:
            answer = await desk.ask(self._shown.desk, request)
        except P4schedError as error:
            if request["do"] != "knobs":
                self._hub.say(messages.note(self._shown.clock.now_s(), str(error)))
            return
        for name, knobs in answer["knobs"].items():
            found = messages.knobs(name, knobs)
            if self._knobs.get(name) != found:
                self._knobs[name] = found
                self._hub.say(found)
        if answer["changed"] is not None:
            self._hub.say(messages.change(answer["changed"], self._shown.origin_ns))

    def _set_scene(self, *, same: bool) -> None:
        views = [collector.view for collector in self._collectors.values()]
        time_kind = "virtual" if self._shown.virtual else "wall"
        more = {"same": True} if same else {}
        self._hub.say(messages.scene(self._shown.heading, views, self._shown.topology, time=time_kind, **more))


@dataclass
class Commands:
    """Does what a page asks for."""

    hub: Hub
    shown: Shown
    rounds: Rounds

    async def do(self, text: str) -> None:
        """One command; what makes no sense is left out."""
        try:
            asked = json.loads(text)
            what = asked["do"]
            if what == "pace" and self.shown.pace is not None:
                self.shown.pace.factor = min(max(float(asked["value"]), 0.0), FASTEST)
                self.hub.say(messages.pace(self.shown.pace.factor))
            elif what in ("hold", "release") and self.shown.desk is not None:
                await self.rounds.ask(asked)
        except (ValueError, KeyError, TypeError):
            return


async def switch(hub: Hub, shown: Shown) -> None:
    """Reads switches until cancelled. Goes on when one vanishes, and looks for it."""
    gone = False
    while True:
        try:
            async with collecting(shown.switches, shown.clock.pushed_s) as collectors:
                if gone:
                    hub.say(messages.note(shown.clock.now_s(), "the switch is back"))
                await Rounds(hub, shown, collectors).go_on(same=gone)
        except P4schedError as error:
            if not gone:
                hub.say(messages.note(shown.clock.now_s(), str(error)))
            gone = True
            await asyncio.sleep(RETRY_S)


async def run(hub: Hub, process: ProcessIdentity, manner: Manner) -> None:
    """Reads the networks of a run, one after the other, until the run has ended."""
    said = 0
    while process.alive():
        announced = of_run(process.pid)
        if announced is not None:
            again = announced.number == said
            said = announced.number
            # a network that is taken down no longer answers; one that is still there is looked for
            with suppress(P4schedError), recording(hub, Path(announced.folder)) if manner.record else nullcontext():
                await _network(hub, announced, manner, same=again)
        await asyncio.sleep(NEXT_S)


async def _network(hub: Hub, announced: Announcement, manner: Manner, *, same: bool) -> None:
    async with _clock(announced, manner) as clock:
        shown = Shown(announced.heading, announced.switches, clock, announced.topology, origin_ns=announced.origin_ns)
        if manner.whole:
            only = next(iter(announced.switches), "")
            shown.logs = Logs(Path(announced.folder), only, announced.origin_ns)
            shown.desk = announced.desk
            shown.pace = manner.pace if shown.virtual else None
        while True:
            with suppress(NoProgramError):
                async with collecting(shown.switches, clock.pushed_s) as collectors:
                    rounds = Rounds(hub, shown, collectors)
                    hub.command = Commands(hub, shown, rounds).do
                    await rounds.go_on(same=same)
            await asyncio.sleep(0 if shown.virtual else NEXT_S)
            await clock.next()


@asynccontextmanager
async def _clock(announced: Announcement, manner: Manner) -> AsyncIterator[Clock]:
    if announced.simulation is None:
        yield WallClock(announced.origin_ns, manner.every_s)
        return
    client = Client(announced.simulation)
    try:
        now_ns = await client.participate()
        if manner.whole:
            yield Paced(client, now_ns, manner.pace, manner.every_s)
        else:
            yield Unhurried(client, now_ns, manner.every_s)
    finally:
        await client.close()
