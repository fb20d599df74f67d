"""Makes a network of Mininet from a structure, for the lab and for `mn`.

This file imports only the standard library and Mininet, so that Debian's `mn` can also load it.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

from collections.abc import Callable, Sequence
from typing import Any

from mininet.topo import Topo

from mininet_topos.nodes import P4Switch
from mininet_topos.shapes import Structure
from mininet_topos.stations import FIRST_GRPC_PORT, attach, program_loader, switch_node, with_free_names

Entries = Sequence[dict[str, Any]]


class StructureTopo(Topo):
    """Switches, their hosts, and the links between switches."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """The arguments are those of `build`."""
        super().__init__(*args, **params)

    def build(
        self,
        structure: Structure,
        switch: str | type[P4Switch] = "embedded",
        switch_params: dict[str, dict[str, Any]] | None = None,
        congestion_control: str | None = None,
    ) -> None:
        """Called by the constructor of Topo. `switch` is "embedded", "bmv2" or a class; `switch_params` are parameters
        by the name of the switch."""
        node = switch_node(switch)
        for name in structure.switch_names():
            self.addSwitch(name, cls=node, **(switch_params or {}).get(name, {}))
        for name, rack in structure.racks.items():
            attach(self, name, rack, congestion_control)
        for (lower, port), (upper, its_port) in structure.links:
            self.addLink(lower, upper, port1=port, port2=its_port)


def for_mn(
    structure: Structure,
    routes: Callable[[str], Entries],
    groups: Callable[[str], Entries],
    switch: str,
    program: str,
) -> Topo:
    """The topology for `mn`, with the program, routes and groups loaded. s1 has the default P4Runtime port of clients,
    s2 the next port."""
    params = {
        name: {
            "after_start": program_loader(program, routes(name), groups(name)),
            "grpc_port": FIRST_GRPC_PORT + place,
        }
        for place, name in enumerate(structure.switch_names())
    }
    return with_free_names(StructureTopo(structure=structure, switch=switch, switch_params=params))
