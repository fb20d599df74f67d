"""Sends messages about running switches to a page, in rounds: about one switch, or about each network of a run."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError
from p4sched.json_records import MALFORMED, check, parse_json
from p4sched.lab import desk
from p4sched.lab.announcement import Announcement, of_run
from p4sched.lab.machine import read_machine
from p4sched.lab.processes import ProcessIdentity
from p4sched.lab.virtual.client import Client
from p4sched.live import messages
from p4sched.live.budget import Budget
from p4sched.live.collector import Collector, collecting, read_all
from p4sched.live.decision_tail import Logs
from p4sched.live.hub import Hub
from p4sched.live.recording import recording
from p4sched.p4rt.reader import NoProgramError

EVERY_S = 0.05
LOOK_S = 2.0
"""Time between two readings of program, ports, users, parameters and fidelity. Decisions and changes by hand are known
at once, from the files of the controller."""
RETRY_S = 0.5
FASTEST = 1000.0
"""Pace of virtual time that means: as fast as possible."""
NEXT_S = 0.05
"""Time between two attempts to find the next network of a run."""
LONG_AGO = float("-inf")
HINT_S = 5.0
"""Time without a switch until a hint is shown."""
HINT = "still no switch at {address}; 'p4sched switch --no-p4 -i 1@eth1 --grpc-server-addr {address}' starts one"
Say: TypeAlias = Callable[[str], None]
"""Shows a line in the terminal."""


class Clock(ABC):
    """The time of the shown switches, and the times of the rounds."""

    budget: Budget
    """Budget that sets the time between rounds."""

    @property
    def every_s(self) -> float:
        """Time between two rounds."""
        return self.budget.every_s

    @property
    @abstractmethod
    def pushed_s(self) -> float:
        """Real time between snapshots that the switches send by themselves; 0: each round requests them."""

    @abstractmethod
    def now_s(self) -> float:
        """Time since the start of the network or of the viewer."""

    @abstractmethod
    async def next(self) -> None:
        """Waits until a round is due."""


class WallClock(Clock):
    """Clock of switches in real time."""

    def __init__(self, budget: Budget, origin_ns: int | None = None) -> None:
        """`origin_ns`: time 0 on the clock of `time.monotonic_ns`."""
        self.budget = budget
        self._origin_ns = time.monotonic_ns() if origin_ns is None else origin_ns

    @property
    def pushed_s(self) -> float:
        return self.every_s

    def now_s(self) -> float:
        return (time.monotonic_ns() - self._origin_ns) / 1e9

    async def next(self) -> None:
        """Returns at once: the next snapshot of a switch sets the time of a round."""


@dataclass
class Pace:
    """Speed of virtual time, set by a viewer."""

    factor: float = 1.0
    """Virtual seconds in a second; 0: time stands still."""


class LockStepClock(Clock):
    """Clock of a simulation, which takes part in its lock step: time stands still during a round."""

    pushed_s = 0.0

    def __init__(self, client: Client, now_ns: int, budget: Budget) -> None:
        self.budget = budget
        self._client = client
        self._now_ns = now_ns
        self._failed: asyncio.Future[Any] = client.failed

    def now_s(self) -> float:
        return self._now_ns / 1e9

    async def _step(self, step_ns: int) -> None:
        """Lets time advance to the next multiple of the step."""
        waiting = asyncio.create_task(self._client.wait((self._now_ns // step_ns + 1) * step_ns, ()))
        await asyncio.wait((waiting, self._failed), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            raise self._client.failed.result()
        self._now_ns, _ = waiting.result()


class PacedClock(LockStepClock):
    """Clock of a simulation that runs at the speed that a viewer has set."""

    def __init__(self, client: Client, now_ns: int, pace: Pace, budget: Budget) -> None:
        super().__init__(client, now_ns, budget)
        self._pace = pace
        self._due = time.monotonic()

    async def next(self) -> None:
        while self._pace.factor == 0:
            # without any request, the simulation would take this participant for dead
            await self._client.describe()
            await asyncio.sleep(0.1)
        self._due = max(self._due + self.every_s / self._pace.factor, time.monotonic() - self.every_s)
        await asyncio.sleep(max(0.0, self._due - time.monotonic()))
        await self._step(round(self.every_s * 1e9))


class FullSpeedClock(LockStepClock):
    """Clock of a simulation that runs at full speed: a round is due from time to time, in real time."""

    def __init__(self, client: Client, now_ns: int, budget: Budget) -> None:
        super().__init__(client, now_ns, budget)
        self._step_ns = round(self.every_s * 1e9)

    async def next(self) -> None:
        began = time.monotonic()
        await self._step(self._step_ns)
        share = self.every_s / max(time.monotonic() - began, 1e-6)
        self._step_ns = max(1, round(self._step_ns * min(max(share, 0.5), 2.0)))


@dataclass(frozen=True)
class SourceOptions:
    """Options for reading a run."""

    pace: Pace = field(default_factory=Pace)
    budget: Budget = field(default_factory=lambda: Budget(EVERY_S))
    decisions: bool = True
    """True: with decisions and changes by hand; False: only the state of the switches."""
    commands: bool = True
    """True: viewers may set parameters, and the pace of virtual time."""
    record: bool = False
    """True: write recordings into the folders of the networks."""


@dataclass
class Source:
    """Switches to show, and their data."""

    heading: str
    switches: Mapping[str, SwitchAddress]
    clock: Clock
    topology: Mapping[str, Any] = field(default_factory=dict)
    logs: Logs | None = None
    desk: Path | None = None
    """Socket of the switches' controller."""
    origin_ns: int = 0
    """Time 0 on the controller's clock."""
    pace: Pace | None = None
    """Pace of virtual time, if viewers may set it."""

    @property
    def virtual(self) -> bool:
        """True in virtual time."""
        return isinstance(self.clock, LockStepClock)


class Rounds:
    """Reads running switches, and sends messages with the readings."""

    def __init__(self, hub: Hub, source: Source, collectors: Mapping[str, Collector]) -> None:
        self._hub = hub
        self._source = source
        self._collectors = collectors
        self._parameters: dict[tuple[str, int | None], dict[str, int]] = {}
        self._knobs: dict[str, dict[str, Any]] = {}
        self._machine = read_machine()
        self._ahead_s = float("inf")
        self._looked_s = LONG_AGO

    async def run(self, *, same: bool = False) -> None:
        """Runs until a switch does not answer. `same`: earlier messages stay valid."""
        clock = self._source.clock
        self._set_scene(same=same)
        if self._source.pace is not None:
            self._hub.say(messages.pace(self._source.pace.factor))
        knobs_s = LONG_AGO
        while True:
            now_s = clock.now_s()
            self._tell_marks()
            if now_s - self._looked_s >= LOOK_S:
                self._looked_s = now_s
                await self._look(now_s)
            # real time: a viewer may change a parameter while virtual time stands still
            if time.monotonic() - knobs_s >= LOOK_S and self._source.desk is not None:
                knobs_s = time.monotonic()
                await self.ask({"do": "knobs"})
            await read_all(list(self._collectors.values()))
            self._hub.say(messages.frame(self._time_s(), self._collectors))
            await self._keep_budget()
            await clock.next()

    async def _keep_budget(self) -> None:
        """Reads less often if it takes too much CPU time."""
        if self._source.clock.budget.adapt():
            for collector in self._collectors.values():
                await collector.snapshots.set_interval(self._source.clock.pushed_s)

    def _tell_marks(self) -> None:
        """Sends new decisions and changes by hand. The parameters of a decision need not be read from the switch."""
        if self._source.logs is None:
            return
        for change in self._source.logs.changes():
            self._hub.say(change)
            self._looked_s = LONG_AGO
        for mark in self._source.logs.marks():
            self._hub.say(mark)
            self._parameters[mark["switch"], mark["port"]] = mark["after"]

    def _time_s(self) -> float:
        """Time of the last reading, on the clock of the view. The shortest delay so far counts as 0."""
        first = next(iter(self._collectors.values()))
        read_s = first.newest.time_ns / 1e9
        self._ahead_s = min(self._ahead_s, self._source.clock.now_s() - read_s)
        return read_s + self._ahead_s

    async def _look(self, now_s: float) -> None:
        """Sends logs, program, ports, users and parameters if they have changed, and always the fidelity."""
        if self._source.logs is not None:
            self._source.logs.look()
        collectors = list(self._collectors.values())
        if any(await asyncio.gather(*(collector.look() for collector in collectors))):
            self._set_scene(same=True)
        found = await asyncio.gather(*(collector.parameters() for collector in collectors))
        for name, parameters in zip(self._collectors, found, strict=True):
            for port, values in parameters.items():
                if self._parameters.get((name, port)) != values:
                    self._parameters[name, port] = values
                    self._hub.say(messages.parameters(now_s, name, port, values))
        faithful = await asyncio.gather(*(collector.fidelity() for collector in collectors))
        reports = [(collector.view, report) for collector, report in zip(collectors, faithful, strict=True)]
        if self._source.virtual:
            self._hub.say(messages.exact())
        else:
            self._hub.say(messages.health(reports, read_machine().since(self._machine)))

    async def ask(self, request: Mapping[str, Any]) -> None:
        """Sends a request to the controller of the switches, and shows the answer."""
        assert self._source.desk is not None
        try:
            answer = await desk.ask(self._source.desk, request)
        except P4schedError as error:
            if request["do"] != "knobs":
                self._hub.say(messages.note(self._source.clock.now_s(), str(error)))
            return
        for name, knobs in answer["knobs"].items():
            found = messages.knobs(name, knobs)
            if self._knobs.get(name) != found:
                self._knobs[name] = found
                self._hub.say(found)
        self._tell_marks()

    def _set_scene(self, *, same: bool) -> None:
        views = [collector.view for collector in self._collectors.values()]
        time_kind = "virtual" if self._source.virtual else "wall"
        more = {"same": True} if same else {}
        self._hub.say(messages.scene(self._source.heading, views, self._source.topology, time=time_kind, **more))


@dataclass
class Commands:
    """Executes the requests of pages."""

    hub: Hub
    source: Source
    rounds: Rounds

    async def do(self, text: str) -> None:
        """Executes a command; ignores an invalid one."""
        try:
            request = parse_json(text)
            what = request["do"]
            if what == "pace" and self.source.pace is not None:
                check("value", request["value"], float)
                self.source.pace.factor = min(max(float(request["value"]), 0.0), FASTEST)
                self.hub.say(messages.pace(self.source.pace.factor))
            elif what in ("hold", "release") and self.source.desk is not None:
                await self.rounds.ask(request)
        except MALFORMED:
            return


async def switch(hub: Hub, source: Source, say: Say) -> None:
    """Reads switches until it is cancelled. Reports a missing or lost switch and retries."""
    gone_s: float | None = None
    seen = hinted = False

    def tell(text: str) -> None:
        say(text)
        hub.say(messages.note(source.clock.now_s(), text))

    while True:
        try:
            async with collecting(source.switches, source.clock.pushed_s) as collectors:
                if gone_s is not None:
                    tell("the switch is back" if seen else "the switch is there")
                rounds = Rounds(hub, source, collectors)
                same, seen, gone_s = seen, True, None
                await rounds.run(same=same)
        except P4schedError as error:
            if gone_s is None:
                gone_s = source.clock.now_s()
                tell(f"waiting for the switch: {error}")
            elif not seen and not hinted and source.clock.now_s() - gone_s >= HINT_S:
                hinted = True
                tell(HINT.format(address=", ".join(at.address for at in source.switches.values())))
            await asyncio.sleep(RETRY_S)


async def run(hub: Hub, process: ProcessIdentity, manner: SourceOptions) -> None:
    """Reads the networks of a run, one after the other, until the run has ended."""
    number = 0
    while process.alive():
        announcement = of_run(process.pid)
        if announcement is not None:
            same = announcement.number == number
            number = announcement.number
            # a network at its end does not answer; an announced network is tried again
            with suppress(P4schedError), recording(hub, Path(announcement.folder)) if manner.record else nullcontext():
                await _network(hub, announcement, manner, same=same)
        await asyncio.sleep(NEXT_S)


async def _network(hub: Hub, announcement: Announcement, manner: SourceOptions, *, same: bool) -> None:
    async with _clock(announcement, manner) as clock:
        source = Source(
            announcement.heading, announcement.switches, clock, announcement.topology, origin_ns=announcement.origin_ns
        )
        if manner.decisions:
            only = next(iter(announcement.switches), "")
            source.logs = Logs(Path(announcement.folder), only, announcement.origin_ns)
        if manner.commands:
            source.desk = announcement.desk
            source.pace = manner.pace if source.virtual else None
        # the next network may have the same address, and no program yet
        while of_run(announcement.run.pid) == announcement:
            with suppress(NoProgramError):
                async with collecting(source.switches, clock.pushed_s) as collectors:
                    rounds = Rounds(hub, source, collectors)
                    hub.command = Commands(hub, source, rounds).do
                    await rounds.run(same=same)
            await asyncio.sleep(0 if source.virtual else NEXT_S)
            await clock.next()


@asynccontextmanager
async def _clock(announcement: Announcement, manner: SourceOptions) -> AsyncIterator[Clock]:
    if announcement.simulation is None:
        yield WallClock(manner.budget, announcement.origin_ns)
        return
    client = Client(announcement.simulation)
    try:
        now_ns = await client.participate()
        if manner.commands:
            yield PacedClock(client, now_ns, manner.pace, manner.budget)
        else:
            yield FullSpeedClock(client, now_ns, manner.budget)
    finally:
        await client.close()
