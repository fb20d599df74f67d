"""Controllers of the switches of a run: the Python controller; `onos` has ONOS.

A `SwitchPlan` describes the settings of a switch. `Controllers` apply the plans to all switches of a network, and
work until the block ends.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from p4sched.control.controller import SwitchAddress
from p4sched.control.loop import Loop, run_loops
from p4sched.control.parameters import Parameters
from p4sched.control.ranked_loop import RankedPortsLoop
from p4sched.lab.desk import ControlledSwitch, open_desk
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.rank_source import RankSource, set_rank_source
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.routes import entries
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.users import User
from p4sched.scheme import Setup


@dataclass(frozen=True)
class Laws:
    """Control laws at work on a switch."""

    configs: Mapping[int, Any]
    """A law's configuration, by the egress port whose traffic it follows."""
    logs: Path
    """Folder of the decision logs."""
    per_port: bool = False
    """True if each port has its own parameters. Otherwise one law sets the parameters of all ports."""

    def log(self, port: int) -> str:
        """Name of the log of a port's law."""
        return f"port-{port}.jsonl" if self.per_port else "decisions.jsonl"


@dataclass(frozen=True)
class SwitchPlan:
    """Programming of a switch that has no program yet."""

    at: SwitchAddress
    setup: Setup
    ports: Mapping[int, str]
    """Interfaces by port."""
    routes: Sequence[Mapping[str, Any]]
    """Routes in the format of mininet-topos/stations.py, with ECMP groups."""
    groups: Sequence[Mapping[str, Any]] = ()
    users: Sequence[User] = ()
    rank_source: RankSource | None = None
    """Source of the ranks; None: the program has no ranks."""
    parameters: Parameters | None = None
    """Parameters of all ports until a law writes; None: the defaults of the program."""
    laws: Laws | None = None
    """Laws; None: there is no law."""


class SwitchController(ABC):
    """A controller at work on one switch."""

    def __init__(self, reader: Reader, logs: Mapping[int, Path]) -> None:
        self.reader = reader
        """A reader next to the controller, or the controller itself."""
        self.logs = logs
        """Decision logs by egress port."""

    @abstractmethod
    async def add(self, users: Sequence[User]) -> None: ...

    @abstractmethod
    async def remove(self, users: Sequence[User]) -> None: ...

    @abstractmethod
    async def set_parameters(self, parameters: Parameters) -> None:
        """Sets the parameters of all ports. Stops the laws."""


AtWork: TypeAlias = AbstractAsyncContextManager[Mapping[str, SwitchController]]
Controllers: TypeAlias = Callable[[Mapping[str, SwitchPlan]], AtWork]
"""Programs switches by their plans; returns the controller of each switch by name."""


class PythonController(SwitchController):
    """The session with a switch, and the control loops over it."""

    def __init__(self, session: Session, laws: Laws | None) -> None:
        logs = {} if laws is None else {port: laws.logs / laws.log(port) for port in laws.configs}
        super().__init__(session, logs)
        self._session = session
        self.loop: asyncio.Task[None] | None = None
        """The control loop, once it runs."""

    async def add(self, users: Sequence[User]) -> None:
        await self._session.insert([user.entry(self._session) for user in users])

    async def remove(self, users: Sequence[User]) -> None:
        await self._session.remove([user.entry(self._session) for user in users])

    async def set_parameters(self, parameters: Parameters) -> None:
        if self.loop is not None:
            self.loop.cancel()
            await asyncio.wait([self.loop])
        await self._session.set_default_action(parameters.table, parameters.action, parameters.action_data())


@asynccontextmanager
async def python_controllers(
    plans: Mapping[str, SwitchPlan], changes: Path | None = None
) -> AsyncIterator[Mapping[str, SwitchController]]:
    """Runs the sessions and control loops of all switches in this process. `changes`: file that records parameters
    changed by hand."""
    async with AsyncExitStack() as stack:
        controllers: dict[str, SwitchController] = {}
        loops: list[tuple[PythonController, Loop]] = []
        turned: dict[str, ControlledSwitch] = {}
        for name, plan in plans.items():
            setup = plan.setup
            program = compiled_program(setup.scheme.source(setup.target), macros=setup.macros, target=setup.target)
            connection = connect(plan.at.address, program, device_id=plan.at.device_id, force=True)
            session = await stack.enter_async_context(connection)
            users = [user.entry(session) for user in plan.users]
            await session.insert(entries(plan.routes, plan.groups) + users)
            if plan.rank_source is not None:
                await set_rank_source(session, plan.rank_source)
            parameters = plan.parameters
            if parameters is not None:
                await session.set_default_action(parameters.table, parameters.action, parameters.action_data())
            controllers[name] = controller = PythonController(session, plan.laws)
            loop = None if plan.laws is None else _loop(session, setup, plan.laws)
            if loop is not None:
                loops.append((controller, loop))
            turned[name] = ControlledSwitch(session, loop, parameters)
        tasks = await stack.enter_async_context(run_loops(*(loop for _, loop in loops)))
        for (controller, _), task in zip(loops, tasks, strict=True):
            controller.loop = task
        if changes is not None:
            await stack.enter_async_context(open_desk(turned, changes))
        yield controllers


def _loop(session: Session, setup: Setup, laws: Laws) -> Loop:
    """The loop that runs these laws."""
    if laws.per_port:
        return RankedPortsLoop(session, laws.configs, logs=laws.logs)
    ((port, config),) = laws.configs.items()
    scheme = setup.scheme
    assert scheme.loop is not None, f"{scheme.name} has no control law"
    where = {"port": port} if "--port" in scheme.options else {}
    return scheme.loop(session, config=config, log=laws.logs / laws.log(port), **where)
