"""The control loop: read the counters, ask the law, write at most one MODIFY, log the decision."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from p4sched.control.decision_log import DecisionLog
from p4sched.control.laws import Law, fdpa, law
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.session import Session
from p4sched.p4rt.users import user_counters

POLL_S = 0.1
"""Time between two reads of the counters; the windows of the laws are chosen for it."""

SampleT = TypeVar("SampleT")
DecisionT = TypeVar("DecisionT")


@dataclass(frozen=True)
class Round(Generic[SampleT, DecisionT]):
    """One round of the loop, for whoever watches it."""

    sample: SampleT
    decision: DecisionT
    written: bool


Update: TypeAlias = Round[fdpa.Sample, fdpa.Decision]
"""One round of FDPA's loop."""


class Tuning(Generic[SampleT, DecisionT]):
    """A law at work on one set of parameters: configuration, state and log. Does not touch the switch."""

    def __init__(
        self,
        config: Any,
        log: Path | None,
        on_update: Callable[[Round[SampleT, DecisionT]], None] | None,
    ) -> None:
        """`config` is that of a law, which it names."""
        self.law = law(config.law)
        self._config = config
        self._log = None if log is None else DecisionLog(log)
        self._on_update = on_update
        self._state: Any = None

    @property
    def begun(self) -> bool:
        """Whether it knows which parameters are in force."""
        return self._state is not None

    def take_over(self, found: Any) -> None:
        """Begins with the parameters found on the switch; None if there are none."""
        self._state = self.law.State.take_over(found)
        if self._log is not None:
            self._log.start(self._config, self._state)

    def decide(self, sample: SampleT) -> DecisionT:
        """What the law makes of the counters."""
        decision: DecisionT = self.law.decide(self._config, self._state, sample)
        return decision

    def accept(self, sample: Any, decision: Any) -> Round[SampleT, DecisionT]:
        """The decision is in force: had the write failed, the state and the log would be wrong."""
        self._state = decision.state
        if self._log is not None:
            self._log.decision(sample, decision)
        update = Round[SampleT, DecisionT](sample, decision, decision.changed)
        if self._on_update is not None:
            self._on_update(update)
        return update

    def close(self) -> None:
        """Closes the log."""
        if self._log is not None:
            self._log.close()


class Loop(ABC):
    """Rounds at a fixed distance."""

    def __init__(self, poll_s: float) -> None:
        self._poll_s = poll_s

    async def run(self) -> None:
        """Goes on until cancelled. Fails if the switch no longer answers."""
        try:
            due = time.monotonic()
            while True:
                await self.step()
                # a late round does not make the following ones bunch up
                due = max(due + self._poll_s, time.monotonic())
                await asyncio.sleep(due - time.monotonic())
        finally:
            self.close()

    @abstractmethod
    async def step(self) -> Any:
        """One round."""

    @abstractmethod
    def close(self) -> None:
        """Closes the logs."""


class ControlLoop(Loop, Generic[SampleT, DecisionT]):
    """A law's loop over one session: its parameters are those of all ports."""

    def __init__(
        self,
        session: Session,
        config: Any,
        read: Callable[[], Awaitable[SampleT]],
        *,
        log: Path | None = None,
        poll_s: float = POLL_S,
        on_update: Callable[[Round[SampleT, DecisionT]], None] | None = None,
    ) -> None:
        """`config` is that of a law, which it names; `read` gets the counters the law needs."""
        super().__init__(poll_s)
        self._session = session
        self._read = read
        self._tuning = Tuning[SampleT, DecisionT](config, log, on_update)

    def close(self) -> None:
        self._tuning.close()

    async def take_over(self) -> None:
        """Learns the parameters that are in force. The first step does it if nobody did."""
        if not self._tuning.begun:
            self._tuning.take_over(await found_parameters(self._session, self._tuning.law))

    async def step(self) -> Round[SampleT, DecisionT]:
        """One round."""
        await self.take_over()
        sample = await self._read()
        decision: Any = self._tuning.decide(sample)
        if decision.changed and decision.parameters is not None:
            law = self._tuning.law
            await self._session.set_default_action(
                law.Parameters.table, law.Parameters.action, decision.parameters.action_data()
            )
        return self._tuning.accept(sample, decision)


class FdpaLoop(ControlLoop[fdpa.Sample, fdpa.Decision]):
    """FDPA's control loop over one session."""

    def __init__(
        self,
        session: Session,
        config: fdpa.Config,
        *,
        log: Path | None = None,
        poll_s: float = POLL_S,
        on_update: Callable[[Update], None] | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        async def read() -> fdpa.Sample:
            users = await user_counters(session)
            return fdpa.Sample(clock(), users)

        super().__init__(session, config, read, log=log, poll_s=poll_s, on_update=on_update)


async def found_parameters(session: Reader, the_law: Law) -> Any:
    """The law's parameters that the switch's default action carries now; None if it carries none."""
    found = await session.default_action(the_law.Parameters.table)
    if found is None or found[0].rpartition(".")[2] != the_law.Parameters.action:
        return None
    return the_law.Parameters.from_action_data(found[1])


async def parameters_in_force(session: Reader) -> fdpa.Parameters | None:
    """FDPA's parameters that the switch's default action carries now."""
    found: fdpa.Parameters | None = await found_parameters(session, fdpa)
    return found


@asynccontextmanager
async def controlled(*loops: Loop) -> AsyncIterator[None]:
    """Runs the loops beside the block. If one fails, the block is cancelled and that loop's error comes out."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(loop.run(), name="control loop") for loop in loops]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
    except BaseExceptionGroup as group_error:
        # when a machine goes down, all its loops fail: one error says it
        raise group_error.exceptions[0] from None
