"""`p4sched control`: a controller as a process of its own, to be killed and started again while traffic flows."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from p4sched.bands import Bands
from p4sched.errors import P4schedError, unknown_name
from p4sched.laws import fdpa
from p4sched.loop import FdpaLoop, Update
from p4sched.session import Program, connect
from p4sched.units import Duration, Rate

STATE_FILE = Path("/run/p4sched/state.json")
"""Where the running lab says which switches it has: {"switches": {"s1": {"address": "127.0.0.1:9559"}}}."""


def control(
    switch: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    rate: Annotated[Rate, typer.Option(parser=Rate.parse, metavar="RATE", help="Capacity of the shared link.")],
    program: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with fdpa.json and fdpa.p4info.txtpb, as 'compile' writes it.")
    ],
    bands: Annotated[
        Bands, typer.Option(parser=Bands.parse, metavar="BANDS", help="Bands in fair shares: FIRST+COUNT*SIZE.")
    ] = Bands.parse("1+4*0.5"),
    rtt: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Round-trip time.")
    ] = Duration.parse("10ms"),
    interval: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Estimator interval; default: 6 RTTs."),
    ] = None,
    token_bucket: Annotated[bool, typer.Option(help="Token buckets instead of the average rate.")] = False,
    flowlet_gap: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="A flow keeps its band until it pauses this long."),
    ] = None,
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Append decisions to FILE as JSON lines.")] = None,
) -> None:
    """Run FDPA's control loop on a switch until SIGTERM or Ctrl-C.

    A switch that already runs the program is taken over as it is. When the controller ends, however it ends, traffic
    goes on with the last bands.
    """
    config = fdpa.Config(
        capacity_bps=rate,
        bands=bands,
        interval_us=(interval or 6 * rtt) // 1000,
        rtt_ns=rtt,
        token_bucket=token_bucket,
        flowlet_gap_us=0 if flowlet_gap is None else max(1, flowlet_gap // 1000),
    )
    asyncio.run(_control(switch_address(switch), Program.in_folder(program, "fdpa"), config, log))


async def _control(address: str, program: Program, config: fdpa.Config, log: Path | None) -> None:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        async with connect(address, program) as session:
            loop = FdpaLoop(session, config, log=log, on_update=_report)
            await loop.take_over()
            typer.echo(f"controller of {address}: {'program loaded' if session.loaded else 'taken over as it is'}")
            await loop.run()
    except asyncio.CancelledError:
        typer.echo(f"controller of {address}: ended; traffic goes on with the last bands")


def _report(update: Update) -> None:
    if update.written:
        decision = update.decision
        typer.echo(f"{len(decision.active)} active users, fair share {decision.fair_share_bps / 1e6:.3f} Mbit/s")


def switch_address(name: str, state_file: Path = STATE_FILE) -> str:
    """HOST:PORT of a switch of the running lab; HOST:PORT itself is returned as it is."""
    host, colon, port = name.rpartition(":")
    if colon:
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise P4schedError(f"'{name}' is not HOST:PORT, for example 127.0.0.1:9559")
        return name
    try:
        switches: dict[str, dict[str, str]] = json.loads(state_file.read_text())["switches"]
    except FileNotFoundError:
        raise P4schedError(f"no lab is running, so there is no switch '{name}'; HOST:PORT works as well") from None
    except (ValueError, KeyError) as error:
        raise P4schedError(f"{state_file}: not the state of a lab: {error}") from error
    if name not in switches:
        raise unknown_name("switch", name, switches)
    return switches[name]["address"]
