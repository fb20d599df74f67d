"""FDPA's control loop: the users and what they sent are read from the switch's own tables."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from p4sched.control.laws import fdpa
from p4sched.control.loop import POLL_S, ControlLoop, Round
from p4sched.p4rt.session import Session
from p4sched.p4rt.users import user_counters

Update: TypeAlias = Round[fdpa.Sample, fdpa.Decision]
"""One round of the loop."""


class FdpaLoop(ControlLoop[fdpa.Config, fdpa.State, fdpa.Sample, fdpa.Decision]):
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

        super().__init__(session, fdpa.LAW, config, read, log=log, poll_s=poll_s, on_update=on_update)
