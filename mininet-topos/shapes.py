"""Reads the descriptions of the topologies in shapes/, whose README explains them.

This file imports only the standard library and Mininet, so that Debian's `mn` can also load it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from mininet_topos.nodes import NodeError
from mininet_topos.stations import Station

SHAPES = Path(__file__).resolve().parent / "shapes"

End = tuple[str, int]
"""A switch and its port."""


@dataclass(frozen=True)
class Structure:
    """Switches, hosts and links of a network."""

    kinds: Mapping[str, Sequence[str]]
    """Names of the switches, by kind."""
    racks: Mapping[str, Sequence[Station]]
    """Hosts of each switch with hosts."""
    links: Sequence[tuple[End, End]]
    """Links between switches: the lower end and the upper end."""

    def switch_names(self) -> list[str]:
        """All switches: s1, s2, ..."""
        return [name for names in self.kinds.values() for name in names]

    def stations(self) -> list[Station]:
        """All hosts."""
        return [station for rack in self.racks.values() for station in rack]

    def ports(self, switch: str) -> list[int]:
        """All ports of a switch, first those to its hosts."""
        rack = [station.port for station in self.racks.get(switch, ())]
        return rack + [port for link in self.links for name, port in link if name == switch]

    def interfaces(self) -> list[str]:
        """Mininet's names of the switches' interfaces."""
        return [f"{name}-eth{port}" for name in self.switch_names() for port in self.ports(name)]

    def neighbours(self, switch: str) -> dict[str, int]:
        """Ports to the switches above and below, by the name of the neighbour."""
        found = {upper: port for (lower, port), (upper, _) in self.links if lower == switch}
        return found | {lower: port for (lower, _), (upper, port) in self.links if upper == switch}


@cache
def structure(shape: str, **numbers: int) -> Structure:
    """A shape with these numbers. Raises NodeError if there are not enough addresses."""
    content = json.loads((SHAPES / f"{shape}.json").read_text())
    for name, (least, most) in content["numbers"].items():
        if not least <= numbers[name] <= most:
            raise NodeError(f"{shape}: {name} = {numbers[name]}: must be {least} to {most}")
    known = dict(numbers)
    for name, whole in content.get("halves", {}).items():
        if known[whole] % 2:
            raise NodeError(f"{shape}: {whole} = {known[whole]} is odd; half of a switch's ports go up, half go down")
        known[name] = known[whole] // 2
    building = _Building()
    for kind in content["switches"]:
        _passes(kind["each"], known, partial(building.switch, kind))
    for part in content["parts"]:
        _passes(part["each"], known, partial(building.part, part))
    return Structure(building.kinds, building.racks, building.links)


Known = Mapping[str, int]
"""Numbers and variables."""


def _passes(variables: Mapping[str, str], known: Known, build: Callable[[Known], None]) -> None:
    """Calls `build` for each value of the variables."""
    if not variables:
        build(known)
        return
    (name, most), *others = variables.items()
    for value in range(1, _value(most, known) + 1):
        _passes(dict(others), {**known, name: value}, build)


def _value(word: str, known: Known) -> int:
    return int(word) if word.isdecimal() else known[word]


@dataclass
class _Building:
    """A network during its construction."""

    kinds: dict[str, list[str]] = field(default_factory=dict)
    racks: dict[str, list[Station]] = field(default_factory=dict)
    links: list[tuple[End, End]] = field(default_factory=list)
    names: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Names of the switches, by kind and variables."""
    hosts: int = 0

    def switch(self, content: Mapping[str, Any], known: Known) -> None:
        name = f"s{len(self.names) + 1}"
        self.names[(content["kind"], *(str(known[variable]) for variable in content["each"]))] = name
        self.kinds.setdefault(content["kind"], []).append(name)

    def part(self, content: Mapping[str, Any], known: Known) -> None:
        before = self.hosts
        for piece in content["then"]:
            build = self._host if "host" in piece else self._link
            _passes(piece["each"], known, partial(build, piece, before))

    def _host(self, content: Mapping[str, Any], before: int, known: Known) -> None:
        self.hosts += 1
        known = {**known, "place": self.hosts - before}
        one, two, three, four = (_value(word, known) for word in content["address"].split("."))
        switch, port = self._end(content["at"], known)
        station = Station(
            name=content["host"].replace("#", str(self.hosts)),
            port=port,
            address=f"{one}.{two}.{three}.{four}",
            prefix=f"{one}.{two}.{three}.0/24",
            mac=f"02:00:00:00:{two:02x}:{three or four:02x}",
        )
        self.racks.setdefault(switch, []).append(station)

    def _link(self, content: Mapping[str, Any], _: int, known: Known) -> None:
        lower, upper = content["link"]
        self.links.append((self._end(lower, known), self._end(upper, known)))

    def _end(self, content: str, known: Known) -> End:
        """A switch and its port: `leaf l: hosts + s`."""
        switch, port = content.split(":")
        kind, *variables = switch.split()
        name = self.names[(kind, *(str(_value(word, known)) for word in variables))]
        return name, sum(_value(word.strip(), known) for word in port.split("+"))
