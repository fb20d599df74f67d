"""One switch, users on one side, a server on the other; the link to the server is the bottleneck.

    u1 ─┐
    u2 ─┤  1..H
    u3 ─┼─ s1 ── H+1 ── server
    u4 ─┘

Users are IPv4 addresses spread over a few hosts, so that hundreds of them fit on one machine. By itself:

    mn --custom mininet-topos/dumbbell.py --topo dumbbell[,HOSTS[,USERS[,SWITCH]]]

starts the switch (embedded or bmv2) with p4/fifo.p4 loaded and its routes installed; `pingall` then answers.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet.topo import Topo

# `mn --custom` executes this file without defining __file__ and without its folder on the path.
sys.path.insert(0, str(Path(sys._getframe().f_code.co_filename).resolve().parent))

from nodes import REPOSITORY, Bmv2Switch, EmbeddedSwitch, NodeError, OffloadFreeHost, P4Switch

# Names at this level end up among the globals of `mn`, which has a SWITCHES, HOSTS, TOPOS, ... of its own.
USERS_PER_HOST = 240
SWITCH_NODES: dict[str, type[P4Switch]] = {"embedded": EmbeddedSwitch, "bmv2": Bmv2Switch}


@dataclass(frozen=True)
class Station:
    """A host of the dumbbell and where it is attached."""

    name: str
    port: int
    address: str
    """Its own address, besides those of its users."""
    prefix: str
    """All of its addresses."""
    mac: str
    users: tuple[str, ...] = ()
    """Addresses of its users."""

    @property
    def gateway(self) -> str:
        """The gateway address in its prefix."""
        return self.prefix.rsplit(".", 1)[0] + ".254"


def user_stations(hosts: int, users: int) -> list[Station]:
    """The hosts on the users' side, users dealt to them in turn. Raises NodeError when they do not fit."""
    if hosts < 1 or hosts > 200:
        raise NodeError(f"{hosts} user hosts: there can be 1 to 200")
    if users < 0 or users > hosts * USERS_PER_HOST:
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
        if switch not in SWITCH_NODES:
            raise NodeError(f"no switch {switch!r}: use {' or '.join(SWITCH_NODES)}")
        self.users_side = user_stations(hosts, users)
        self.server_side = server_station(hosts)
        name = self.addSwitch("s1", cls=SWITCH_NODES[switch], **(switch_params or {}))
        for station in [*self.users_side, self.server_side]:
            self.addHost(
                station.name,
                cls=OffloadFreeHost,
                ip=f"{station.address}/24",
                mac=station.mac,
                gateway=station.gateway,
                addresses=station.users,
                congestion_control=congestion_control,
            )
            self.addLink(station.name, name, port1=0, port2=station.port)

    def stations(self) -> list[Station]:
        """All hosts, the server last."""
        return [*self.users_side, self.server_side]


def routes(stations: Sequence[Station]) -> list[dict[str, Any]]:
    """Entries of `ipv4_routes`: prefix, port, and MAC address of the next hop."""
    return [{"prefix": s.prefix, "port": s.port, "mac": s.mac} for s in stations]


def fifo_loader(entries: list[dict[str, Any]]) -> Callable[[P4Switch], None]:
    """Loads p4/fifo.p4 and routes, in the project's environment: Debian's Python has no P4Runtime client."""

    def load(switch: P4Switch) -> None:
        python = REPOSITORY / ".venv/bin/python"
        if not python.exists():
            raise NodeError(f"found no {python}; run `make setup` first")
        request = json.dumps({"address": switch.address, "device_id": switch.device_id, "routes": entries})
        command = [str(python), "-m", "p4sched.lab.load_fifo"]
        done = subprocess.run(command, input=request, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NodeError(f"switch {switch.name}: could not load fifo.p4: {done.stderr.strip()}")

    return load


def standalone(hosts: int = 4, users: int = 0, switch: str = "embedded") -> DumbbellTopo:
    """The dumbbell for `mn`: with fifo.p4 loaded, and the P4Runtime port that P4Runtime clients try first."""
    stations = [*user_stations(hosts, users), server_station(hosts)]
    params = {"after_start": fifo_loader(routes(stations)), "grpc_port": 9559}
    return DumbbellTopo(hosts=hosts, users=users, switch=switch, switch_params=params)


topos = {"dumbbell": standalone}

__all__ = ["DumbbellTopo", "Station", "topos"]
