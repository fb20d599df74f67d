"""The control loop: read the counters, ask the law, write at most one MODIFY, log the decision."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from p4sched.decision_log import DecisionLog
from p4sched.laws import Law, fdpa, law
from p4sched.reader import Reader
from p4sched.session import Session
from p4sched.users import user_counters

FDPA_TABLE = fdpa.TABLE
FDPA_ACTION = fdpa.ACTION
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


class ControlLoop(Generic[SampleT, DecisionT]):
    """A law's loop over one session."""

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
        self._session = session
        self._config = config
        self._law = law(config.law)
        self._read = read
        self._log = None if log is None else DecisionLog(log)
        self._poll_s = poll_s
        self._on_update = on_update
        self._state: Any = None

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
            if self._log is not None:
                self._log.close()

    async def take_over(self) -> None:
        """Learns the parameters that are in force. The first step does it if nobody did."""
        if self._state is None:
            self._state = self._law.State.take_over(await found_parameters(self._session, self._law))
            if self._log is not None:
                self._log.start(self._config, self._state)

    async def step(self) -> Round[SampleT, DecisionT]:
        """One round."""
        await self.take_over()
        sample: Any = await self._read()
        decision = self._law.decide(self._config, self._state, sample)
        if decision.changed and decision.parameters is not None:
            parameters = decision.parameters.action_data()
            await self._session.set_default_action(self._law.TABLE, self._law.ACTION, parameters)
        # only now: had the write failed, the parameters would not be in force
        self._state = decision.state
        if self._log is not None:
            self._log.decision(sample, decision)
        update = Round[SampleT, DecisionT](sample, decision, decision.changed)
        if self._on_update is not None:
            self._on_update(update)
        return update


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
    found = await session.default_action(the_law.TABLE)
    if found is None or found[0].rpartition(".")[2] != the_law.ACTION:
        return None
    return the_law.Parameters.from_action_data(found[1])


async def parameters_in_force(session: Reader) -> fdpa.Parameters | None:
    """FDPA's parameters that the switch's default action carries now."""
    found: fdpa.Parameters | None = await found_parameters(session, fdpa)
    return found


@asynccontextmanager
async def controlled(loop: ControlLoop[Any, Any]) -> AsyncIterator[None]:
    """Runs the loop beside the block. If the loop fails, the block is cancelled and the loop's error comes out."""
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(loop.run(), name="control loop")
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as group_error:
        if len(group_error.exceptions) == 1:
            raise group_error.exceptions[0] from None
        raise
