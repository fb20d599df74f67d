"""`p4sched control`: a controller in its own process, which can be killed and restarted while traffic flows."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from p4sched.cli import tls, writable
from p4sched.cli.command_line import refuse
from p4sched.control.bands import Bands
from p4sched.control.controller import Controller
from p4sched.control.decision_log import refuse_other_file
from p4sched.control.laws.port_counters import MAX_PORT
from p4sched.errors import UsageError, in_range, require
from p4sched.folders.schemes import find
from p4sched.lab.switch_lookup import find_switch
from p4sched.lab.virtual.client import in_lock_step
from p4sched.lab.virtual.loop import VirtualLoop
from p4sched.p4rt.program import Loadable, Program
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.target import PROGRAMS, Target, target_of
from p4sched.p4rt.tofino import TofinoProgram
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.schemes import FDPA, LAWS, SCHEMES
from p4sched.units import Duration, Rate


def titles(option: str) -> str:
    """Titles of the schemes that have an option, as a heading."""
    return ", ".join(scheme.title for scheme in SCHEMES.values() if option in scheme.options)


USERS_PANEL, RANKED_PANEL = titles("--bands"), titles("--port")
FIXABLE = "; ".join(
    f"{', '.join(law.config.fixable)} ({SCHEMES[name].title})"
    for name, law in LAWS.items()
    if "--fix" in SCHEMES[name].options
)
WINDOWS = ", ".join(
    f"{SCHEMES[name].title} {law.config.window_ranks}"
    for name, law in LAWS.items()
    if "--window" in SCHEMES[name].options
)


TIME = (Duration.parse, "TIME")


class Loads(StrEnum):
    """Format of the program that a switch loads."""

    BMV2 = "bmv2"
    """BMv2 JSON, for the embedded switch and BMv2."""
    TOFINO = "tofino"
    """Output of the chip's compiler, in the format of Stratum."""


def option(panel: str | None, text: str, parser: Callable[[Any], Any] | None = None, metavar: str | None = None) -> Any:
    """An option under the heading of the schemes that have it; None: all schemes have it."""
    return typer.Option(help=text, parser=parser, metavar=metavar, rich_help_panel=panel)


general, users, ranked = partial(option, None), partial(option, USERS_PANEL), partial(option, RANKED_PANEL)


def control(
    ctx: typer.Context,
    switch: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    rate: Annotated[Rate, general("Capacity of the shared link.", Rate.parse, "RATE")],
    program: Annotated[
        Path,
        general(
            "Folder with SCHEME.json and SCHEME.p4info.txtpb ('p4sched compile' writes them); with --target tofino,"
            " the output folder of the chip's compiler.",
            metavar="DIR",
        ),
    ],
    scheme: Annotated[
        str,
        general(
            "Scheduler whose control law runs: a name, or the folder of a scheduler with a law.",
            metavar="|".join([*LAWS, "FOLDER"]),
        ),
    ] = FDPA.name,
    log: Annotated[Path | None, general("Append decisions to FILE as JSON lines.", metavar="FILE")] = None,
    reconnect: Annotated[
        Duration, general("How long to try to reconnect after the switch is lost.", *TIME)
    ] = Duration.parse("30s"),
    target: Annotated[Loads, general("Format of the program: BMv2 JSON, or Stratum's for a Tofino.")] = Loads.BMV2,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the messages to the switch; connect to no switch.")
    ] = False,
    lock_step: Annotated[
        str | None,
        general(
            "Join the virtual time of this p4sched-virtual: time advances while the controller waits.",
            metavar="HOST:PORT",
        ),
    ] = None,
    bands: Annotated[Bands, users("Bands in fair shares: FIRST+COUNT*SIZE.", Bands.parse, "BANDS")] = Bands.parse(
        "1+4*0.5"
    ),
    rtt: Annotated[Duration, users("Round-trip time.", *TIME)] = Duration.parse("10ms"),
    interval: Annotated[Duration | None, users("Estimator interval; default: 6 RTTs.", *TIME)] = None,
    token_bucket: Annotated[bool, users("Use token buckets instead of the average rate.")] = False,
    flowlet_gap: Annotated[Duration | None, users("A flow keeps its band until it pauses this long.", *TIME)] = None,
    port: Annotated[int | None, ranked("Egress port whose traffic the law follows.")] = None,
    rank_source: Annotated[
        RankSource | None,
        ranked(
            "Source of the ranks, on all ports; default: leave it unchanged.",
            RankSource.parse,
            "|".join(map(str, RankSource)),
        ),
    ] = None,
    delay: Annotated[
        Duration, ranked("Delay target: waiting time in a queue of the target length.", *TIME)
    ] = Duration.parse("5ms"),
    span: Annotated[
        Duration | None, ranked("Time that the window or range covers; default: 15 delay targets.", *TIME)
    ] = None,
    depth: Annotated[int, ranked("Packets that each queue of the port holds.")] = 512,
    loss: Annotated[float, ranked("Share of time that the link may be idle because packets were refused.")] = 0.05,
    fix: Annotated[
        list[str] | None,
        ranked(f"Fix a parameter; NAME is the paper's symbol: {FIXABLE}.", metavar="NAME=VALUE"),
    ] = None,
    window: Annotated[int | None, ranked(f"Ranks in the window, |W|: {WINDOWS}.")] = None,
    queues: Annotated[int, ranked(f"Queues that {titles('--queues')} uses.")] = QUEUES,
    ssl: tls.Ssl = False,
    cacert: tls.Authority = None,
    cert: tls.Certificate = None,
    private_key: tls.Key = None,
) -> None:
    """Run a scheduler's control loop on a switch until SIGTERM or Ctrl-C.

    If the switch already runs the program, the controller takes it over unchanged, also after a lost connection. When
    the controller ends, the switch keeps the last parameters and traffic continues.
    """
    scheme = find(scheme, SCHEMES)
    record = SCHEMES[scheme]
    law = record.law
    if law is None or record.loop is None:
        raise UsageError(f"{scheme} has no control law; these schemes have one: {', '.join(LAWS)}")
    _refuse_others(ctx, scheme)
    config = law.config.from_options(
        rate_bps=int(rate),
        bands=bands,
        rtt_ns=int(rtt),
        interval_ns=interval,
        token_bucket=token_bucket,
        flowlet_gap_ns=flowlet_gap,
        delay_ns=int(delay),
        span_ns=span,
        queue_packets=depth,
        loss=loss,
        fixed=fixed_parameters(fix or ()),
        window_ranks=window,
        queues=queues,
    )
    loop = partial(record.loop, log=log)
    if "--port" in record.options:
        if port is None:
            raise UsageError(f"--scheme {scheme} needs --port: the egress port whose traffic its law follows")
        in_range("--port", port, 0, MAX_PORT, "")
        loop = partial(loop, port=port)
    if dry_run:
        refuse(
            ctx,
            ["--log", "--reconnect", "--lock-step", *tls.OPTIONS],
            "with --dry-run: it connects to no switch",
        )
    if log is not None:
        writable.file("--log", log, in_new_folder=True)
        refuse_other_file(log)
    found = replace(find_switch(switch), tls=tls.from_options(ssl, cacert, cert, private_key))
    loadable = TofinoProgram(program) if target is Loads.TOFINO else Program.in_folder(program, record.program)
    architecture = _program_target(loadable, program, scheme)
    if window is not None:
        in_range("--window", window, 1, PROGRAMS[architecture].largest_window, f"ranks for {architecture}")
    require(
        architecture is Target.V1MODEL or rank_source is not RankSource.STFQ,
        "--rank-source stfq: a Tofino has no ranks of STFQ; use one of: static, header, tos",
    )
    controller = Controller(
        found,
        loadable,
        partial(loop, config=config.on(architecture)),
        law.sets,
        port,
        rank_source,
        reconnect.seconds,
        typer.echo,
    )
    if lock_step is not None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(_in_lock_step(controller, lock_step))
    else:
        asyncio.run(controller.rehearse(tofino=target is Loads.TOFINO) if dry_run else controller.run())


async def _in_lock_step(controller: Controller, address: str) -> None:
    async with in_lock_step(address):
        await controller.run()


def _program_target(program: Loadable, folder: Path, scheme: str) -> Target:
    """The target of a program. Reports a wrong program before it is loaded: a chip takes seconds to load a program,
    and all traffic stops meanwhile."""
    schema = program.pipeline().schema
    table = SCHEMES[scheme].parameters.table
    if schema.tables.get(table) is None:
        raise SessionError(f"{folder}: no table {table} in its program, so this is not a program of {scheme}")
    return target_of(schema.arch)


def _refuse_others(ctx: typer.Context, scheme: str) -> None:
    """Raises UsageError if the command line has an option that this scheme lacks."""
    every = {option for each in SCHEMES.values() for option in each.options}
    for name in sorted(every.difference(SCHEMES[scheme].options)):
        takers = ", ".join(other for other, each in SCHEMES.items() if name in each.options)
        refuse(ctx, [name], f"for {scheme}; it is for {takers}")


def fixed_parameters(texts: Sequence[str]) -> dict[str, float]:
    """Parses ["C=20", "k=0.1"] into numbers by name."""
    fixed: dict[str, float] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if name in fixed:
            raise UsageError(f"--fix '{text}': {name} is fixed already")
        try:
            fixed[name] = float(value)
        except ValueError:
            raise UsageError(f"--fix '{text}' is not NAME=VALUE, for example k=0.1") from None
    return fixed
