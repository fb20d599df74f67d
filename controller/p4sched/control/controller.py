"""The controller of one switch: its loop from the start to the end, also while the switch is away."""

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4sched.control.laws import fdpa, ranked
from p4sched.control.loop import ControlLoop, FdpaLoop, Round, Update
from p4sched.control.ranked_loop import RankedLoop
from p4sched.p4rt.program import Program
from p4sched.p4rt.rank_source import RankSource, set_rank_source
from p4sched.p4rt.session import Session, SessionError, SwitchGoneError, connect
from p4sched.p4rt.traffic_manager import ports_of

RETRY_S = 0.5
"""Between two looks for a switch that has vanished."""


@dataclass(frozen=True)
class SwitchAddress:
    """Where a switch's P4Runtime server is."""

    address: str
    """HOST:PORT."""
    device_id: int = 1


@dataclass(frozen=True)
class Controller:
    """What the command line asks for."""

    switch: SwitchAddress
    program: Program
    config: fdpa.Config | ranked.Config
    port: int | None
    rank_source: RankSource | None
    log: Path | None
    patience_s: float
    """How long to look for a switch that has vanished."""
    say: Callable[[str], None]
    """Shows one line."""

    async def run(self) -> None:
        """Controls the switch until SIGTERM or Ctrl-C. A switch that vanishes and comes back in time is taken over as
        by a new controller; one that was never there, or that does not come back, is an error."""
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        try:
            await self._until_gone()
            while True:
                await self._until_gone_again()
        except asyncio.CancelledError:
            last = "bands" if isinstance(self.config, fdpa.Config) else "parameters"
            self._tell(f"ended; traffic goes on with the last {last}")

    async def _until_gone(self, gone_at: float | None = None) -> None:
        """Controls the switch until it vanishes. Raises SwitchGoneError if it is not there to begin with."""
        if self.port is not None:
            await self._require_port(self.port)
        async with connect(self.switch.address, self.program, device_id=self.switch.device_id) as session:
            loop = self._loop(session)
            await loop.take_over()
            if self.rank_source is not None:
                await set_rank_source(session, self.rank_source)
            found = "taken over as it is"
            if session.loaded:
                replaced = " in place of another" if session.replaced else ""
                found = f"program loaded{replaced}; its tables are empty: it has no routes and no users"
            self._tell(found if gone_at is None else f"back after {time.monotonic() - gone_at:.1f} s, {found}")
            with suppress(SwitchGoneError):
                await loop.run()

    async def _require_port(self, port: int) -> None:
        """Before anything is changed: a law would wait for ever for the traffic of a port that there is not."""
        ports = await ports_of(self.switch.address)
        if ports and port not in ports:
            has = ", ".join(map(str, ports))
            raise SessionError(f"switch {self.switch.address}: has no port {port}; it has {has}")

    async def _until_gone_again(self) -> None:
        """Looks for the switch that has vanished, and controls it until it vanishes again."""
        gone_at = time.monotonic()
        self._tell(f"the switch has vanished; looking for it for {self.patience_s:g} s")
        while time.monotonic() - gone_at < self.patience_s:
            with suppress(SwitchGoneError):
                return await self._until_gone(gone_at)
            await asyncio.sleep(RETRY_S)
        raise SwitchGoneError(
            f"switch {self.switch.address}: has vanished, and did not come back within {self.patience_s:g} s"
        )

    def _loop(self, session: Session) -> ControlLoop[Any, Any]:
        if isinstance(self.config, fdpa.Config):
            return FdpaLoop(session, self.config, log=self.log, on_update=self._report_bands)
        assert self.port is not None
        return RankedLoop(session, self.config, self.port, log=self.log, on_update=self._report_parameters)

    def _tell(self, text: str) -> None:
        self.say(f"controller of {self.switch.address}: {text}")

    def _report_bands(self, update: Update) -> None:
        if update.written:
            decision = update.decision
            self.say(f"{len(decision.active)} active users, fair share {decision.fair_share_bps / 1e6:.3f} Mbit/s")

    def _report_parameters(self, update: Round[ranked.Sample, ranked.Decision]) -> None:
        if update.written:
            traffic = update.decision.traffic
            seen = "nothing measured yet"
            if traffic is not None:
                seen = (
                    f"load {traffic.load:.2f}, drain {traffic.drain_bps / 1e6:.3f} Mbit/s, "
                    f"index of dispersion {traffic.dispersion:.2f}"
                )
            values = ", ".join(f"{name} {value}" for name, value in update.decision.parameters.action_data().items())
            self.say(f"{seen}: {values}")
