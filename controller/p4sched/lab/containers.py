"""Files that let other engines run a topology in containers: containerlab, and Kathará.

Both get the same nodes. A switch is `p4sched-switch` with a program of p4/ and its routes; a host has the addresses and
the gateway of the topology. `NODE.startup` configures a node when its interfaces are there. `NODE/routes.json` holds
the program and the routes of a switch (`p4sched.lab.load_program`). Links have no rate and no delay.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mininet_topos.nodes import GATEWAY_MAC
from mininet_topos.shapes import End
from mininet_topos.stations import FIRST_GRPC_PORT, HOST_BITS, Station
from p4sched.lab.topology_file import DescribedFabric

IMAGE = "p4sched/lab"
ROUTES = "routes.json"
"""A switch's file of program and routes, at the root of its container."""
READY_S = 60


class Engine(StrEnum):
    """An engine for networks of containers."""

    CONTAINERLAB = "containerlab"
    KATHARA = "kathara"

    @property
    def first_interface(self) -> int:
        """Number of a node's first interface on a link. containerlab's eth0 leads to the machine."""
        return 1 if self is Engine.CONTAINERLAB else 0


@dataclass(frozen=True)
class Containers:
    """A network for an engine."""

    fabric: DescribedFabric
    name: str
    engine: Engine
    program: str = "fifo"
    image: str = IMAGE

    def files(self) -> dict[str, str]:
        """Content of each file, by its path."""
        found = {}
        for switch in self.fabric.structure.switch_names():
            found[f"{switch}.startup"] = _script(self._switch(switch))
            found[f"{switch}/{ROUTES}"] = json.dumps(self._routes(switch), indent=1) + "\n"
        for station in self.fabric.structure.stations():
            found[f"{station.name}.startup"] = _script(self._host(station))
        if self.engine is Engine.CONTAINERLAB:
            found[f"{self.name}.clab.yml"] = "\n".join(self._containerlab()) + "\n"
        else:
            found["lab.conf"] = "\n".join(self._kathara()) + "\n"
        return found

    def write(self, folder: Path) -> None:
        """Writes all files. Raises OSError."""
        for name, content in self.files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")

    def nodes(self) -> list[str]:
        """Names of switches and hosts."""
        return [*self.fabric.structure.switch_names(), *(each.name for each in self.fabric.structure.stations())]

    def interfaces(self, switch: str) -> dict[int, str]:
        """The interface of each port of a switch. They have consecutive numbers, as Kathará needs."""
        ports = sorted(self.fabric.structure.ports(switch))
        return {port: f"eth{number}" for number, port in enumerate(ports, self.engine.first_interface)}

    def links(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Both ends of each link: node and interface."""
        racks, between = self.fabric.structure.racks, self.fabric.structure.links
        to_hosts = [
            ((station.name, self._host_interface), self._end((switch, station.port)))
            for switch, rack in racks.items()
            for station in rack
        ]
        return to_hosts + [(self._end(one), self._end(other)) for one, other in between]

    @property
    def _host_interface(self) -> str:
        return f"eth{self.engine.first_interface}"

    def _end(self, end: End) -> tuple[str, str]:
        switch, port = end
        return switch, self.interfaces(switch)[port]

    def _routes(self, switch: str) -> Mapping[str, Any]:
        """A request of `p4sched.lab.load_program`."""
        return {
            "address": f"127.0.0.1:{FIRST_GRPC_PORT}",
            "device_id": self.fabric.device_ids[switch],
            "program": self.program,
            "routes": self.fabric.routes(switch),
            "groups": self.fabric.groups(switch),
        }

    def _switch(self, name: str) -> Iterator[str]:
        log = f"/tmp/p4sched-{name}.log"
        interfaces = self.interfaces(name)
        yield f"# The switch {name}: P4Runtime on port {FIRST_GRPC_PORT} of all addresses, log in {log}."
        yield from map(_quiet, interfaces.values())
        ports = " ".join(f"-i {port}@{interface}" for port, interface in interfaces.items())
        command = f"p4sched switch --no-p4 --device-id {self.fabric.device_ids[name]}"
        yield f"setsid {command} --grpc-server-addr 0.0.0.0:{FIRST_GRPC_PORT} {ports} >{log} 2>&1 </dev/null &"
        yield f"for _ in $(seq {READY_S}); do grep -q 'p4sched-switch: device ' {log} && break; sleep 1; done"
        yield f"python -m p4sched.lab.load_program </{ROUTES}"

    def _host(self, station: Station) -> Iterator[str]:
        interface = self._host_interface
        yield f"# The host {station.name}: its gateway needs no ARP, its frames are those of a wire."
        yield _quiet(interface)
        yield f"ip link set dev {interface} address {station.mac} up"
        yield f"ip address replace {station.address}/{HOST_BITS} dev {interface}"
        yield from (f"ip address replace {user}/32 dev {interface}" for user in station.users)
        yield f"ip neighbour replace {station.gateway} lladdr {GATEWAY_MAC} dev {interface} nud permanent"
        yield f"ip route replace default via {station.gateway} dev {interface}"
        yield f"ethtool -K {interface} tso off gso off gro off tx off rx off"

    def _containerlab(self) -> Iterator[str]:
        yield f"name: {self.name}"
        yield "topology:"
        yield "  defaults:"
        yield "    kind: linux"
        yield f"    image: {json.dumps(self.image)}"
        yield "    entrypoint: sleep infinity"
        yield "  nodes:"
        switches = self.fabric.structure.switch_names()
        for name in self.nodes():
            yield f"    {name}:"
            yield "      binds:"
            yield f"        - {name}.startup:/startup:ro"
            if name in switches:
                yield f"        - {name}/{ROUTES}:/{ROUTES}:ro"
            yield "      exec: [sh /startup]"
        yield "  links:"
        for link in self.links():
            ends = ", ".join(f'"{node}:{interface}"' for node, interface in link)
            yield f"    - endpoints: [{ends}]"

    def _kathara(self) -> Iterator[str]:
        yield f'LAB_DESCRIPTION="{self.name} of p4sched"'
        for name in self.nodes():
            yield f'{name}[image]="{self.image}"'
            yield f'{name}[entrypoint]="sleep infinity"'
        for number, link in enumerate(self.links(), start=1):
            for node, interface in link:
                yield f'{node}[{interface.removeprefix("eth")}]="L{number}"'


def _quiet(interface: str) -> str:
    """Lets the kernel send nothing of its own on an interface."""
    return f"sysctl -q -w net.ipv6.conf.{interface}.disable_ipv6=1; ip link set dev {interface} up"


def _script(lines: Iterable[str]) -> str:
    """A file that any shell runs."""
    return "\n".join(lines) + "\n"
