"""Parts of the topologies: hosts attached to a switch, routes, and programs for switches under plain `mn`.

This file imports only the standard library and Mininet, so that Debian's `mn` can also load it.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from mininet.topo import Topo

from mininet_topos.nodes import (
    FILES,
    PYTHON,
    REMEDY,
    Bmv2Switch,
    EmbeddedSwitch,
    NodeError,
    OffloadFreeHost,
    P4Switch,
)

SWITCH_NODES: dict[str, type[P4Switch]] = {"embedded": EmbeddedSwitch, "bmv2": Bmv2Switch}
FIRST_GRPC_PORT = 9559
"""P4Runtime port of s1 under `mn`, the default port of clients; s2 has the next port."""
HOST_BITS = 24
"""Every host has its own prefix, so its only neighbour is the switch."""


@dataclass(frozen=True)
class Station:
    """A host and its port at a switch."""

    name: str
    port: int
    """Port of the switch."""
    address: str
    """Address of the host, in addition to those of its users."""
    prefix: str
    """Prefix of all its addresses."""
    mac: str
    users: tuple[str, ...] = ()
    """Addresses of its users."""

    @property
    def gateway(self) -> str:
        """The gateway address in its prefix."""
        return self.prefix.rsplit(".", 1)[0] + ".254"


def whole(what: str, value: object, least: int, most: int) -> int:
    """Parses a number from the command line of `mn`. Raises NodeError outside least .. most."""
    if not isinstance(value, int) or not least <= value <= most:
        raise NodeError(f"{value} {what}: must be {least} to {most}")
    return value


def switch_node(kind: str | type[P4Switch]) -> type[P4Switch]:
    """The node class of "embedded" or "bmv2", or the class itself. Raises NodeError."""
    if isinstance(kind, type):
        return kind
    if kind not in SWITCH_NODES:
        raise NodeError(f"no switch {kind!r}: use {' or '.join(SWITCH_NODES)}")
    return SWITCH_NODES[kind]


def attach(topo: Topo, switch: str, stations: Sequence[Station], congestion_control: str | None) -> None:
    """Adds the hosts and their links to the switch."""
    for station in stations:
        topo.addHost(
            station.name,
            cls=OffloadFreeHost,
            ip=f"{station.address}/{HOST_BITS}",
            mac=station.mac,
            gateway=station.gateway,
            addresses=station.users,
            congestion_control=congestion_control,
        )
        topo.addLink(station.name, switch, port1=0, port2=station.port)


def routes(stations: Sequence[Station]) -> list[dict[str, Any]]:
    """Entries of `ipv4_routes`: prefix, port, and MAC address of the next hop."""
    return [{"prefix": s.prefix, "port": s.port, "mac": s.mac} for s in stations]


def router_mac(switch: str) -> str:
    """The MAC address of a switch, on all of its ports."""
    number = int(switch.removeprefix("s"))
    return f"02:00:00:01:{number >> 8:02x}:{number & 255:02x}"


def refuse_taken_names(interfaces: Iterable[str]) -> None:
    """Raises NodeError if an interface exists, because Mininet would remove this interface of another network."""
    for name in interfaces:
        if Path("/sys/class/net", name).exists():
            raise NodeError(
                f"interface {name} already exists, in another Mininet network: stop that network first;"
                " 'mn -c' removes the remains of a crashed one"
            )


def exit_on_node_error(standalone: Callable[..., Topo]) -> Callable[..., Topo]:
    """Wraps a function that makes a topology for `mn`, so that a NodeError ends `mn` with only its message.

    After any other exception, `mn` removes all networks of the machine, also that of a running experiment.
    """

    @wraps(standalone)
    def made(*args: Any, **params: Any) -> Topo:
        try:
            return standalone(*args, **params)
        except NodeError as error:
            raise SystemExit(f"mn: {error}") from None

    return made


def with_free_names(topo: Topo) -> Topo:
    """The topology for `mn`. Raises NodeError if it would replace interfaces of a running network."""
    ends = [(link[f"node{end}"], link[f"port{end}"]) for _, _, link in topo.links(withInfo=True) for end in (1, 2)]
    refuse_taken_names(f"{node}-eth{port}" for node, port in ends if topo.isSwitch(node))
    return topo


def program_loader(
    program: str, entries: Sequence[dict[str, Any]], groups: Sequence[dict[str, Any]] = ()
) -> Callable[[P4Switch], None]:
    """Makes a function that loads p4/PROGRAM.p4, routes and ECMP groups. Raises NodeError if there is no such program.

    The function uses the laboratory's environment, because Debian's Python has no P4Runtime client.

    A route has a port and a MAC address, or a group: {"prefix": ..., "group": 1}; a group has paths:
    {"group": 1, "paths": [{"port": ..., "mac": ...}, ...]}.
    """
    programs = sorted(path.stem for path in (FILES / "p4").glob("*.p4"))
    if program not in programs:
        raise NodeError(f"no program {program!r}: use one of {', '.join(programs)}")

    def load(switch: P4Switch) -> None:
        if not PYTHON.exists():
            raise NodeError(f"found no {PYTHON}: {REMEDY}")
        request = json.dumps(
            {
                "address": switch.address,
                "device_id": switch.device_id,
                "program": program,
                "routes": list(entries),
                "groups": list(groups),
            }
        )
        command = [str(PYTHON), "-m", "p4sched.lab.load_program"]
        process = subprocess.run(command, input=request, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            raise NodeError(f"switch {switch.name}: could not load {program}.p4: {process.stderr.strip()}")

    return load
