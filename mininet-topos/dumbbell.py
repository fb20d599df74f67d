"""One switch, users on one side, a server on the other; the link to the server is the bottleneck.

    u1 ─┐
    u2 ─┤  1..H
    u3 ─┼─ s1 ── H+1 ── server
    u4 ─┘

Users are IPv4 addresses spread over a few hosts, so that hundreds of them fit on one machine. By itself:

    mn --custom mininet-topos/dumbbell.py --topo dumbbell[,HOSTS[,USERS[,SWITCH]]][,program=PROGRAM]

starts the switch (embedded or bmv2) with p4/PROGRAM.p4 loaded, which is fifo.p4 unless given, and its routes installed;
`pingall` then answers.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import sys
from pathlib import Path
from typing import Any

from mininet.topo import Topo

if __name__ != "mininet_topos.dumbbell":
    # `mn --custom` executes this file by itself, with Debian's Python, and without defining __file__.
    sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parent.parent / "controller"))

from mininet_topos.nodes import NodeError
from mininet_topos.stations import FIRST_GRPC_PORT, Station, alone, attach, program_loader, routes, switch_node, whole

# Names at this level end up among the globals of `mn`, which has a SWITCHES, HOSTS, TOPOS, ... of its own.
USERS_PER_HOST = 240


def user_stations(hosts: int, users: int) -> list[Station]:
    """The hosts on the users' side, users dealt to them in turn. Raises NodeError when they do not fit."""
    whole("user hosts", hosts, 1, 200)
    if whole("users", users, 0, 4095) > hosts * USERS_PER_HOST:
        raise NodeError(f"{users} users on {hosts} hosts: a host has room for {USERS_PER_HOST}")
    stations = []
    for host in range(1, hosts + 1):
        here = range(host, users + 1, hosts)
        stations.append(
            Station(
                name=f"u{host}",
                port=host,
                address=f"10.1.{host}.250",
                prefix=f"10.1.{host}.0/24",
                mac=f"02:00:00:00:01:{host:02x}",
                users=tuple(f"10.1.{host}.{place}" for place in range(1, len(here) + 1)),
            )
        )
    return stations


def server_station(hosts: int) -> Station:
    """The server, on the port after those of the user hosts: the bottleneck."""
    return Station("server", hosts + 1, "10.2.0.1", "10.2.0.0/24", "02:00:00:00:02:01")


class DumbbellTopo(Topo):
    """See the head of this file. `switch` is "embedded" or "bmv2"; `switch_params` go to the switch node."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Arguments are those of `build`."""
        super().__init__(*args, **params)

    def build(
        self,
        hosts: int = 4,
        users: int = 0,
        switch: str = "embedded",
        switch_params: dict[str, Any] | None = None,
        congestion_control: str | None = None,
    ) -> None:
        """Called by Topo's constructor with its arguments."""
        node = switch_node(switch)
        self.users_side = user_stations(hosts, users)
        self.server_side = server_station(hosts)
        name = self.addSwitch("s1", cls=node, **(switch_params or {}))
        attach(self, name, self.stations(), congestion_control)

    def stations(self) -> list[Station]:
        """All hosts, the server last."""
        return [*self.users_side, self.server_side]


def standalone(hosts: int = 4, users: int = 0, switch: str = "embedded", program: str = "fifo") -> Topo:
    """The dumbbell for `mn`: with the program loaded, and the P4Runtime port that P4Runtime clients try first."""
    stations = [*user_stations(hosts, users), server_station(hosts)]
    params = {"after_start": program_loader(program, routes(stations)), "grpc_port": FIRST_GRPC_PORT}
    return alone(DumbbellTopo(hosts=hosts, users=users, switch=switch, switch_params=params))


topos = {"dumbbell": standalone}

__all__ = ["DumbbellTopo", "topos"]
