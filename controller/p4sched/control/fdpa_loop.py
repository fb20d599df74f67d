"""FDPA's control loop. It reads the users and their byte counters from the tables of the switch."""

from typing import TypeAlias

from p4sched.control.laws import fdpa
from p4sched.control.loop import ControlLoop, Round
from p4sched.p4rt.users import user_counters

Update: TypeAlias = Round[fdpa.Sample, fdpa.Decision]
"""One round of the loop."""


class FdpaLoop(ControlLoop[fdpa.Config, fdpa.State, fdpa.Sample, fdpa.Decision]):
    """FDPA's control loop over one session."""

    async def read(self) -> fdpa.Sample:
        users = await user_counters(self._session)
        return fdpa.Sample(self._clock(), users)
