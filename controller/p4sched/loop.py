"""The control loop: read the users' counters, ask the law, write at most one MODIFY, log the decision."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from p4sched.decision_log import DecisionLog
from p4sched.laws import fdpa
from p4sched.reader import Reader
from p4sched.session import Session
from p4sched.users import user_counters

FDPA_TABLE = "fdpa_params"
FDPA_ACTION = "set_bands"
POLL_S = 0.1
"""Time between two reads of the counters; the law's activity window is chosen for it."""


@dataclass(frozen=True)
class Update:
    """One round of the loop, for whoever watches it."""

    sample: fdpa.Sample
    decision: fdpa.Decision
    written: bool


class FdpaLoop:
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
        self._session = session
        self._config = config
        self._log = None if log is None else DecisionLog(log)
        self._poll_s = poll_s
        self._on_update = on_update
        self._clock = clock
        self._state: fdpa.State | None = None

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
        await self._taken_over()

    async def _taken_over(self) -> fdpa.State:
        if self._state is None:
            self._state = fdpa.State.take_over(await parameters_in_force(self._session))
            if self._log is not None:
                self._log.start(self._config, self._state)
        return self._state

    async def step(self) -> Update:
        """One round."""
        state = await self._taken_over()
        users = await user_counters(self._session)
        sample = fdpa.Sample(self._clock(), users)
        decision = fdpa.decide(self._config, state, sample)
        if decision.changed and decision.parameters is not None:
            await self._session.set_default_action(FDPA_TABLE, FDPA_ACTION, decision.parameters.action_data())
        # only now: had the write failed, the parameters would not be in force
        self._state = decision.state
        if self._log is not None:
            self._log.decision(sample, decision)
        update = Update(sample, decision, decision.changed)
        if self._on_update is not None:
            self._on_update(update)
        return update


async def parameters_in_force(session: Reader) -> fdpa.Parameters | None:
    """What the switch's default action carries now."""
    found = await session.default_action(FDPA_TABLE)
    if found is None or found[0].rpartition(".")[2] != FDPA_ACTION:
        return None
    return fdpa.Parameters.from_action_data(found[1])


@asynccontextmanager
async def controlled(loop: FdpaLoop) -> AsyncIterator[None]:
    """Runs the loop beside the block. If the loop fails, the block is cancelled and the loop's error comes out."""
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(loop.run(), name="fdpa control loop")
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as group_error:
        if len(group_error.exceptions) == 1:
            raise group_error.exceptions[0] from None
        raise
