"""The control loop: read the counters, ask the law, write at most one MODIFY, log the decision."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from p4sched.clock import now_ns
from p4sched.control.decision_log import DecisionLog
from p4sched.control.law import ConfigT, Decision, DecisionT, Law, SampleT, StateT
from p4sched.control.parameters import Parameters
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.session import Session

POLL_S = 0.1
"""Time between two reads of the counters; the windows of the laws are chosen for it."""

SeenT_co = TypeVar("SeenT_co", covariant=True)
DecidedT_co = TypeVar("DecidedT_co", bound=Decision, covariant=True)


@dataclass(frozen=True)
class Round(Generic[SeenT_co, DecidedT_co]):
    """One round of the loop, for observers."""

    sample: SeenT_co
    decision: DecidedT_co
    written: bool


class Tuning(Generic[ConfigT, StateT, SampleT, DecisionT]):
    """A law at work on one set of parameters: configuration, state and log. Does not touch the switch."""

    def __init__(
        self,
        config: ConfigT,
        log: Path | None,
        on_update: Callable[[Round[SampleT, DecisionT]], None] | None,
    ) -> None:
        self.law: Law[ConfigT, StateT, SampleT, DecisionT] = config.law
        self._config = config
        self._log = None if log is None else DecisionLog(log)
        self._on_update = on_update
        self._state: StateT | None = None
        self._next_config: ConfigT | None = None

    @property
    def has_started(self) -> bool:
        """True if the parameters in force are known."""
        return self._state is not None

    @property
    def config(self) -> ConfigT:
        """Configuration of the law."""
        return self._next_config or self._config

    @property
    def parameters(self) -> Parameters | None:
        """Parameters in force, if known."""
        return None if self._state is None else self._state.parameters

    def use_config(self, config: ConfigT) -> None:
        """Gives the law this configuration from the next round on. The law keeps its state."""
        self._next_config = config

    def take_over(self, action_data: Mapping[str, int] | None) -> None:
        """Begins with the action data on the switch; None: the switch has no such action."""
        self._state = self.law.take_over(action_data)
        if self._log is not None:
            self._log.start(self._config, self._state)

    def decide(self, sample: SampleT) -> DecisionT:
        """Decision of the law on these counters, after `take_over`."""
        assert self._state is not None
        if self._next_config is not None:
            self._config, self._next_config = self._next_config, None
            self._state = self._state.reconfigured()
            if self._log is not None:
                self._log.start(self._config, self._state, reconfigured=True)
        return self.law.decide(self._config, self._state, sample)

    def accept(self, sample: SampleT, decision: DecisionT) -> Round[SampleT, DecisionT]:
        """Records that the decision is in force. Call it after the write, which may fail."""
        self._state = decision.state
        if self._log is not None:
            self._log.decision(sample, decision)
        update = Round(sample, decision, decision.changed)
        if self._on_update is not None:
            self._on_update(update)
        return update

    def close(self) -> None:
        if self._log is not None:
            self._log.close()


class Runnable(Protocol):
    """Work during a block of code."""

    async def run(self) -> None:
        """Runs until it is cancelled or fails."""


class Loop(ABC):
    """Rounds at a fixed period."""

    def __init__(self, poll_s: float) -> None:
        self._poll_s = poll_s

    async def run(self) -> None:
        """Runs until it is cancelled. Raises SwitchGoneError if the switch does not answer."""
        try:
            clock = asyncio.get_running_loop().time
            due = clock()
            while True:
                await self.step()
                # a late round delays the next ones, so that they keep the period
                due = max(due + self._poll_s, clock())
                await asyncio.sleep(due - clock())
        finally:
            self.close()

    @abstractmethod
    async def take_over(self) -> None:
        """Reads the parameters in force. The first step calls it if it was not called before."""

    @abstractmethod
    async def step(self) -> object:
        """Runs one round."""

    @property
    @abstractmethod
    def tunings(self) -> Mapping[int | None, "AnyTuning"]:
        """The laws at work, by port; None: the parameters of all ports."""

    @abstractmethod
    def close(self) -> None:
        """Closes the logs."""


class ControlLoop(Loop, Generic[ConfigT, StateT, SampleT, DecisionT]):
    """A law's loop over one session. It sets the parameters of all ports."""

    def __init__(
        self,
        session: Session,
        config: ConfigT,
        *,
        log: Path | None = None,
        poll_s: float = POLL_S,
        on_update: Callable[[Round[SampleT, DecisionT]], None] | None = None,
        clock: Callable[[], int] = now_ns,
    ) -> None:
        super().__init__(poll_s)
        self._session = session
        self._clock = clock
        self._tuning: Tuning[ConfigT, StateT, SampleT, DecisionT] = Tuning(config, log, on_update)

    @abstractmethod
    async def read(self) -> SampleT:
        """The counters that the law needs."""

    @property
    def tunings(self) -> Mapping[int | None, "AnyTuning"]:
        return {None: self._tuning}

    def close(self) -> None:
        self._tuning.close()

    async def take_over(self) -> None:
        if not self._tuning.has_started:
            self._tuning.take_over(await action_data_in_force(self._session, self._tuning.law.parameters))

    async def step(self) -> Round[SampleT, DecisionT]:
        await self.take_over()
        sample = await self.read()
        decision = self._tuning.decide(sample)
        parameters = decision.parameters
        if decision.changed and parameters is not None:
            await self._session.set_default_action(parameters.table, parameters.action, parameters.action_data())
        return self._tuning.accept(sample, decision)


AnyTuning: TypeAlias = Tuning[Any, Any, Any, Any]
"""Tuning of any law."""
AnyRound: TypeAlias = Round[object, Decision]
"""A round of some law."""
LoopOf: TypeAlias = Callable[..., Loop]
"""Makes the loop of a scheme from a session and the law's configuration; `log` and `on_update` as in `ControlLoop`."""


async def action_data_in_force(reader: Reader, parameters: type[Parameters]) -> dict[str, int] | None:
    """The action data of the switch's default action; None if this is another action."""
    default_action = await reader.default_action(parameters.table)
    if default_action is None or default_action[0].rpartition(".")[2] != parameters.action:
        return None
    return default_action[1]


@asynccontextmanager
async def run_loops(*loops: Runnable) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Runs each loop in a task during the block. If a loop fails, cancels the block and raises the loop's error. The
    block may cancel a task itself; this is not a failure."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(loop.run(), name="control loop") for loop in loops]
            try:
                yield tasks
            finally:
                for task in tasks:
                    task.cancel()
    except BaseExceptionGroup as group_error:
        # if a machine goes down, all its loops fail; one error is enough
        raise group_error.exceptions[0] from None
