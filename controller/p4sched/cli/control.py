"""`p4sched control`: a controller as a process of its own, to be killed and started again while traffic flows."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli.given import refuse
from p4sched.control.bands import Bands
from p4sched.control.controller import Controller
from p4sched.control.decision_log import refuse_other_file
from p4sched.control.law import Asked
from p4sched.control.laws.port_counters import MAX_PORT
from p4sched.errors import UsageError, in_range
from p4sched.lab.running import find_switch
from p4sched.p4rt.program import Program
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.schemes import FDPA, LAWS, SCHEMES, named
from p4sched.units import Duration, Rate


def titles(option: str) -> str:
    """Schemes for which an option means something, as a heading."""
    return ", ".join(scheme.title for scheme in SCHEMES.values() if option in scheme.options)


USERS_PANEL, RANKED_PANEL = titles("--bands"), titles("--port")
FIXABLE = "; ".join(
    f"{', '.join(law.config.symbols)} ({SCHEMES[name].title})"
    for name, law in LAWS.items()
    if "--fix" in SCHEMES[name].options
)
WINDOWS = ", ".join(
    f"{SCHEMES[name].title} {law.config.window_ranks}"
    for name, law in LAWS.items()
    if "--window" in SCHEMES[name].options
)


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
    scheme: Annotated[str, typer.Option(metavar="|".join(LAWS), help="Which scheduler's law.")] = FDPA.name,
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
            rich_help_panel=USERS_PANEL,
        ),
    ] = Bands.parse("1+4*0.5"),
    rtt: Annotated[
        Duration,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Round-trip time.", rich_help_panel=USERS_PANEL),
    ] = Duration.parse("10ms"),
    interval: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help="Estimator interval; default: 6 RTTs.",
            rich_help_panel=USERS_PANEL,
        ),
    ] = None,
    token_bucket: Annotated[
        bool, typer.Option(help="Token buckets instead of the average rate.", rich_help_panel=USERS_PANEL)
    ] = False,
    flowlet_gap: Annotated[
        Duration | None,
        typer.Option(
            parser=Duration.parse,
            metavar="TIME",
            help="A flow keeps its band until it pauses this long.",
            rich_help_panel=USERS_PANEL,
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
            help=f"Keep a parameter as it is, by the paper's name: {FIXABLE}.",
            rich_help_panel=RANKED_PANEL,
        ),
    ] = None,
    window: Annotated[
        int | None, typer.Option(help=f"Ranks in the window, |W|: {WINDOWS}.", rich_help_panel=RANKED_PANEL)
    ] = None,
    queues: Annotated[
        int, typer.Option(help=f"Queues that {titles('--queues')} uses.", rich_help_panel=RANKED_PANEL)
    ] = QUEUES,
) -> None:
    """Run a scheduler's control loop on a switch until SIGTERM or Ctrl-C.

    A switch that already runs the program is taken over as it is, also when it comes back after it has vanished. After
    the end of the controller, traffic goes on with the last parameters.
    """
    record = named(scheme)
    law = record.law
    if law is None or record.loop is None:
        raise UsageError(f"{scheme} has no parameters that follow the traffic; these schemes have: {', '.join(LAWS)}")
    _refuse_others(ctx, scheme)
    config = law.config.asked(
        Asked(
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
    )
    loop = partial(record.loop, config=config, log=log)
    if "--port" in record.options:
        if port is None:
            raise UsageError(f"--scheme {scheme} needs --port: the egress port whose traffic its law follows")
        in_range("--port", port, 0, MAX_PORT, "")
        loop = partial(loop, port=port)
    if log is not None:
        refuse_other_file(log)
    controller = Controller(
        find_switch(switch),
        Program.in_folder(program, scheme),
        loop,
        law.sets,
        port,
        rank_source,
        reconnect.seconds,
        typer.echo,
    )
    asyncio.run(controller.run())


def _refuse_others(ctx: typer.Context, scheme: str) -> None:
    """Fails if an option was given that means nothing for this scheme."""
    every = {option for each in SCHEMES.values() for option in each.options}
    for name in sorted(every.difference(SCHEMES[scheme].options)):
        takers = ", ".join(other for other, each in SCHEMES.items() if name in each.options)
        refuse(ctx, [name], f"for {scheme}; it is for {takers}")


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
