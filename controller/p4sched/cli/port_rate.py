"""`p4sched port-rate`: the rate that the queues of a port share."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from p4sched.cli import tls
from p4sched.control.controller import SwitchAddress
from p4sched.errors import UsageError
from p4sched.lab.switch_lookup import find_switch
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager, PortSettings
from p4sched.units import Rate

NONE = "none"


def port_rate(
    name: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    port: Annotated[
        int | None, typer.Argument(metavar="[PORT]", help="Number of the port; default: all ports.")
    ] = None,
    rate: Annotated[
        str | None, typer.Argument(metavar="[RATE|none]", help="New rate, for example 10mbit; none: no limit.")
    ] = None,
    ssl: tls.Ssl = False,
    cacert: tls.Authority = None,
    cert: tls.Certificate = None,
    private_key: tls.Key = None,
) -> None:
    """Show or set the rate of a switch's ports. The queues of a port share its rate; the most urgent is served first.

    BMv2 has no such rate. A port with a rate bypasses the tc settings of its interface.
    """
    found = replace(find_switch(name), tls=tls.from_options(ssl, cacert, cert, private_key))
    wanted = None if rate is None else _rate(rate)
    for line in asyncio.run(_lines(found, port, wanted)):
        typer.echo(line)


def _rate(text: str) -> int:
    """The rate in bit/s, 0 for none."""
    return 0 if text == NONE else Rate.parse(text)


async def _lines(switch: SwitchAddress, port: int | None, rate_bps: int | None) -> Sequence[str]:
    """Sets the rate of the port, unless `rate_bps` is None; returns a line for this port, or for each port."""
    manager = EmbeddedTrafficManager(switch.address, switch.tls)
    try:
        interfaces = {number: stats.interface for number, stats in (await manager.stats()).items()}
        if port is not None and port not in interfaces:
            raise UsageError(f"no port {port}; this switch has {', '.join(map(str, sorted(interfaces))) or 'none'}")
        if port is not None and rate_bps is not None:
            await manager.set_ports([PortSettings(port, rate_bps=rate_bps)])
        ports = [settings for settings in await manager.ports() if port in (None, settings.port)]
    finally:
        await manager.close()
    return [
        f"port {settings.port} ({interfaces[settings.port]}): {Rate(settings.rate_bps) if settings.rate_bps else NONE}"
        for settings in ports
    ]
