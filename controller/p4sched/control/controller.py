"""The controller of one switch. It runs until it is stopped, also while the switch is away."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from p4sched.control.loop import AnyRound, Loop, LoopOf
from p4sched.errors import StoppedError
from p4sched.p4rt.dry_run import in_place_of_a_switch
from p4sched.p4rt.program import Loadable
from p4sched.p4rt.rank_source import RankSource, set_rank_source
from p4sched.p4rt.reader import SessionError, SwitchGoneError
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.tls import Tls, trouble
from p4sched.p4rt.traffic_manager import ports_of

RETRY_S = 0.5
"""Time between two attempts to reconnect to a lost switch."""


@dataclass(frozen=True)
class SwitchAddress:
    """Address of a switch's P4Runtime server."""

    address: str
    """HOST:PORT."""
    device_id: int = 1
    tls: Tls | None = None
    """TLS settings; None: no TLS."""

    def why_gone(self, error: SwitchGoneError) -> SwitchGoneError:
        """Returns a clearer error if the TLS settings explain why the switch does not answer."""
        reason = trouble(self.address, self.tls)
        return error if reason is None else SwitchGoneError(f"switch {self.address}: {reason}")


@dataclass(frozen=True)
class Controller:
    """A controller of one switch, as the command line describes it."""

    switch: SwitchAddress
    program: Loadable
    loop: LoopOf
    """Loop of the scheme, with its configuration and log."""
    sets: str
    """One word for the parameters of the law."""
    port: int | None
    """The egress port whose traffic the law follows; None: the law follows no port."""
    rank_source: RankSource | None
    patience_s: float
    """Time for attempts to reconnect to a lost switch."""
    say: Callable[[str], None]
    """Shows one line."""

    async def run(self) -> None:
        """Controls the switch until SIGTERM or Ctrl-C, then raises StoppedError.

        If the switch vanishes and comes back within `patience_s`, the controller takes it over like a new controller.
        Raises SwitchGoneError if the switch never answers or stays away.
        """
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        try:
            try:
                await self._until_gone()
            except SwitchGoneError as error:
                raise self.switch.why_gone(error) from error
            while True:
                await self._until_gone_again()
        except asyncio.CancelledError:
            self._tell(f"ended; traffic continues with the last {self.sets}")
            raise StoppedError from None

    async def _until_gone(self, gone_at: float | None = None) -> None:
        """Controls the switch until it vanishes. Raises SwitchGoneError if it does not answer at the start."""
        if self.port is not None:
            await self._require_port(self.port)
        at = self.switch
        async with connect(at.address, self.program, device_id=at.device_id, tls=at.tls) as session:
            loop = await self._start_loop(session)
            state = "taken over as it is"
            if session.loaded:
                replaced = " in place of another" if session.replaced else ""
                state = f"program loaded{replaced}; its tables are empty: it has no routes and no users"
            self._tell(state if gone_at is None else f"back after {_clock() - gone_at:.1f} s, {state}")
            with suppress(SwitchGoneError):
                await loop.run()

    async def _start_loop(self, session: Session) -> Loop:
        """Makes the loop, with the parameters in force on the switch."""
        loop = self.loop(session, on_update=self._report)
        await loop.take_over()
        if self.rank_source is not None:
            await set_rank_source(session, self.rank_source)
        return loop

    async def rehearse(self, *, tofino: bool) -> None:
        """Shows the messages to a switch without a program, up to the end of the first round. Connects to no switch.

        `tofino`: the program is for a Tofino.
        """
        async with (
            in_place_of_a_switch(self.say, tofino=tofino) as address,
            connect(address, self.program, device_id=self.switch.device_id) as session,
        ):
            await (await self._start_loop(session)).step()
        self.say(
            "# Then, ten times a second: the last Read, and a Write like the last one if the law changes something."
        )

    async def _require_port(self, port: int) -> None:
        """Raises an error for a missing port before anything is changed. The law would wait for traffic for ever."""
        ports = await ports_of(self.switch.address, self.switch.tls)
        if ports and port not in ports:
            has = ", ".join(map(str, ports))
            raise SessionError(f"switch {self.switch.address}: has no port {port}; it has {has}")

    async def _until_gone_again(self) -> None:
        """Reconnects to the lost switch, and controls it until it vanishes again."""
        gone_at = _clock()
        self._tell(f"the connection to the switch was lost; retrying for {self.patience_s:g} s")
        while _clock() - gone_at < self.patience_s:
            with suppress(SwitchGoneError):
                return await self._until_gone(gone_at)
            await asyncio.sleep(RETRY_S)
        raise SwitchGoneError(
            f"switch {self.switch.address}: was lost, and did not return within {self.patience_s:g} s"
        )

    def _tell(self, text: str) -> None:
        self.say(f"controller of {self.switch.address}: {text}")

    def _report(self, update: AnyRound) -> None:
        if update.written:
            self.say(update.decision.news())


def _clock() -> float:
    return asyncio.get_running_loop().time()
