"""`p4sched control`: a controller as a process of its own, to be killed and started again while traffic flows."""

import asyncio
import json
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from p4sched.bands import Bands
from p4sched.decision_log import refuse_other_file
from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.given import refuse
from p4sched.lab.processes import ProcessIdentity
from p4sched.laws import LAWS, aifo, fdpa, packs, ranked, rifo
from p4sched.loop import ControlLoop, FdpaLoop, Round, Update
from p4sched.rank_source import RankSource, set_rank_source
from p4sched.ranked_loop import RankedLoop
from p4sched.session import Program, Session, SessionError, SwitchGoneError, connect
from p4sched.traffic_manager import ports_of
from p4sched.units import Duration, Rate

STATE_FILE = Path("/run/p4sched/state.json")
"""Where the running lab, a process known by pid and start time, says which switches it has:
{"run": {"pid": 123, "start_ticks": 456}, "switches": {"s1": {"address": "127.0.0.1:9559", "device_id": 1}}}."""
SCHEMES = ",".join(LAWS)
UNTUNED = ("fifo", "sp_pifo", "pifo", "stfq", "drr", "afq")
"""Schemes of the experiments without a control law."""
RETRY_S = 0.5
"""Between two looks for a switch that has vanished."""
FDPA_OPTIONS = ("--bands", "--rtt", "--interval", "--token-bucket", "--flowlet-gap")
RANKED_OPTIONS = ("--port", "--delay", "--span", "--depth", "--loss", "--fix", "--rank-source")
OPTIONS = {
    "fdpa": FDPA_OPTIONS,
    "aifo": (*RANKED_OPTIONS, "--window"),
    "rifo": RANKED_OPTIONS,
    "packs": (*RANKED_OPTIONS, "--window", "--queues"),
}
"""Options that mean something for each scheme, besides those of all."""
FDPA_PANEL = "FDPA"
RANKED_PANEL = "AIFO, RIFO, PACKS"


@dataclass(frozen=True)
class SwitchAddress:
    """Where a switch's P4Runtime server is."""

    address: str
    """HOST:PORT."""
    device_id: int = 1


def control(
    ctx: typer.Context,
    switch: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    rate: Annotated[Rate, typer.Option(parser=Rate.parse, metavar="RATE", help="Capacity of the shared link.")],
    program: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder with SCHEME.json and SCHEME.p4info.txtpb, as 'p4sched compile' writes them."
        ),
    ],
    scheme: Annotated[str, typer.Option(metavar=SCHEMES.replace(",", "|"), help="Which scheduler's law.")] = "fdpa",
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Append decisions to FILE as JSON lines.")] = None,
    reconnect: Annotated[
        Duration,
        typer.Option(
            parser=Duration.parse, metavar="TIME", help="How long to look for the switch when it has vanished."
        ),
    ] = Duration.parse("30s"),
    bands: Annotated[
        Bands,
        typer.Option(
            parser=Bands.parse,
            metavar="BANDS",
            help="Bands in fair shares: FIRST+COUNT*SIZE.",
            rich_help_panel=FDPA_PANEL,
        ),
    ] = Bands.parse("1+4*0.5"),
    rtt: Annotated[
        Duration,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Round-trip time.", rich_help_panel=FDPA_PANEL),
    ] = Duration.parse("10ms"),
    interval: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help="Estimator interval; default: 6 RTTs.",
            rich_help_panel=FDPA_PANEL,
        ),
    ] = None,
    token_bucket: Annotated[
        bool, typer.Option(help="Token buckets instead of the average rate.", rich_help_panel=FDPA_PANEL)
    ] = False,
    flowlet_gap: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help="A flow keeps its band until it pauses this long.",
            rich_help_panel=FDPA_PANEL,
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Egress port whose traffic the law follows.", rich_help_panel=RANKED_PANEL)
    ] = None,
    rank_source: Annotated[
        RankSource | None,
        typer.Option(
            parser=RankSource.parse,
            metavar="|".join(map(str, RankSource)),
            help="Where the switch takes ranks from, on all ports; default: as it is.",
            rich_help_panel=RANKED_PANEL,
        ),
    ] = None,
    delay: Annotated[
        Duration,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help="Delay target: what a packet may wait in a queue of the target length.",
            rich_help_panel=RANKED_PANEL,
        ),
    ] = Duration.parse("5ms"),
    span: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help="Arrivals that the window or range spans; default: 15 delay targets.",
            rich_help_panel=RANKED_PANEL,
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(help="Packets that each queue of the port can hold.", rich_help_panel=RANKED_PANEL)
    ] = 512,
    loss: Annotated[
        float,
        typer.Option(
            help="Share of the time that the link may idle for refused packets.", rich_help_panel=RANKED_PANEL
        ),
    ] = 0.05,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Keep a parameter as it is, by the paper's name: C, S, k (AIFO); B, T, k (RIFO); B, S, k (PACKS).",
            rich_help_panel=RANKED_PANEL,
        ),
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Ranks in the window, |W|: AIFO 20, PACKS 16.", rich_help_panel=RANKED_PANEL)
    ] = None,
    queues: Annotated[
        int, typer.Option(help="Queues that PACKS uses.", rich_help_panel=RANKED_PANEL)
    ] = ranked.PRIORITIES,
) -> None:
    """Run a scheduler's control loop on a switch until SIGTERM or Ctrl-C.

    A switch that already runs the program is taken over as it is, also when it comes back after it has vanished. When
    the controller ends, however it ends, traffic goes on with the last parameters.
    """
    if scheme in UNTUNED:
        raise UsageError(f"{scheme} has no parameters that follow the traffic; these schemes have: {', '.join(LAWS)}")
    if scheme not in LAWS:
        raise unknown_name("scheme", scheme, LAWS)
    _refuse_others(ctx, scheme)
    config: fdpa.Config | ranked.Config
    if scheme == "fdpa":
        config = fdpa.Config(
            capacity_bps=rate,
            bands=bands,
            interval_us=(interval or 6 * rtt) // 1000,
            rtt_ns=rtt,
            token_bucket=token_bucket,
            flowlet_gap_us=0 if flowlet_gap is None else max(1, flowlet_gap // 1000),
        )
    else:
        asked = {
            "rate_bps": int(rate),
            "delay_ns": int(delay),
            "queue_packets": depth,
            "span_ns": int(span or 0),
            "loss": loss,
            "fixed": fixed_parameters(fix or ()),
        }
        config = _ranked_config(scheme, asked, window, queues)
        if port is None:
            raise UsageError(f"--scheme {scheme} needs --port: the egress port whose traffic its law follows")
        ranked.in_range("--port", port, 0, ranked.MAX_PORT, "")
    if log is not None:
        refuse_other_file(log)
    controller = Controller(
        find_switch(switch), Program.in_folder(program, scheme), config, port, rank_source, log, reconnect.seconds
    )
    asyncio.run(controller.run())


def _refuse_others(ctx: typer.Context, scheme: str) -> None:
    """Fails if an option was given that means nothing for this scheme."""
    every = {name for names in OPTIONS.values() for name in names}
    for name in sorted(every.difference(OPTIONS[scheme])):
        takers = ", ".join(other for other, names in OPTIONS.items() if name in names)
        refuse(ctx, [name], f"for {scheme}; it is for {takers}")


def _ranked_config(scheme: str, asked: Mapping[str, Any], window: int | None, queues: int) -> ranked.Config:
    given: dict[str, Any] = {} if window is None else {"window_ranks": window}
    match scheme:
        case "aifo":
            return aifo.Config(**asked, **given)
        case "rifo":
            return rifo.Config(**asked)
        case _:
            return packs.Config(**asked, **given, queues=queues)


def fixed_parameters(given: Sequence[str]) -> dict[str, float]:
    """["C=20", "k=0.1"] as numbers by name."""
    fixed: dict[str, float] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if name in fixed:
            raise UsageError(f"--fix '{text}': {name} is fixed already")
        try:
            fixed[name] = float(value)
        except ValueError:
            raise UsageError(f"--fix '{text}' is not NAME=VALUE, for example k=0.1") from None
    return fixed


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
            return FdpaLoop(session, self.config, log=self.log, on_update=_report_bands)
        assert self.port is not None
        return RankedLoop(session, self.config, self.port, log=self.log, on_update=_report_parameters)

    def _tell(self, text: str) -> None:
        typer.echo(f"controller of {self.switch.address}: {text}")


def _report_bands(update: Update) -> None:
    if update.written:
        decision = update.decision
        typer.echo(f"{len(decision.active)} active users, fair share {decision.fair_share_bps / 1e6:.3f} Mbit/s")


def _report_parameters(update: Round[ranked.Sample, ranked.Decision]) -> None:
    if update.written:
        traffic = update.decision.traffic
        seen = "nothing measured yet"
        if traffic is not None:
            seen = (
                f"load {traffic.load:.2f}, drain {traffic.drain_bps / 1e6:.3f} Mbit/s, "
                f"index of dispersion {traffic.dispersion:.2f}"
            )
        values = ", ".join(f"{name} {value}" for name, value in update.decision.parameters.action_data().items())
        typer.echo(f"{seen}: {values}")


def find_switch(name: str, state_file: Path = STATE_FILE) -> SwitchAddress:
    """A switch of the running lab by its name; HOST:PORT is that of device 1."""
    host, colon, port = name.rpartition(":")
    if colon:
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise P4schedError(f"'{name}' is not HOST:PORT, for example 127.0.0.1:9559")
        return SwitchAddress(name)
    try:
        found = json.loads(state_file.read_text())
        running = "run" in found and ProcessIdentity(**found["run"]).alive()
        switches = {known: SwitchAddress(**switch) for known, switch in found["switches"].items()}
    except FileNotFoundError:
        running, switches = False, {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise P4schedError(f"{state_file}: not the state of a lab: {error}") from error
    if not running:
        raise P4schedError(f"no lab is running, so there is no switch '{name}'; HOST:PORT works as well")
    if name not in switches:
        raise unknown_name("switch", name, switches)
    return switches[name]
