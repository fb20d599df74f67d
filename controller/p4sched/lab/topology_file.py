"""A network from a file in the format of p4sched-virtual (switch/virtual/README.md): links and shortest paths.

The network may have any shape: switches with and without hosts, and links between them. A switch with several shortest
paths to a host has an ECMP group for them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

from mininet_topos.shapes import End, Structure
from mininet_topos.stations import HOST_BITS, Station, router_mac, routes
from p4sched.errors import P4schedError, UsageError
from p4sched.json_records import parse_json

LONGEST_INTERFACE = 15
"""Longest name of an interface, in characters (Linux: IFNAMSIZ less one)."""


@dataclass(frozen=True)
class DescribedFabric:
    """Switches and hosts of a file."""

    path: Path
    description: Mapping[str, Any]
    """Content of the file."""
    structure: Structure

    @cached_property
    def device_ids(self) -> Mapping[str, int]:
        """Device ids of the switches in P4Runtime."""
        return {each["name"]: each["device_id"] for each in self.description["switches"]}

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.structure.switch_names(), start=1)}

    @cached_property
    def _ways(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """For each switch with hosts, and each other switch: the neighbours on shortest paths to the first."""
        neighbours = {name: list(self.structure.neighbours(name)) for name in self._numbers}
        found = {}
        for leaf in self.structure.racks:
            far = _distances(leaf, neighbours)
            found[leaf] = {
                name: tuple(each for each in neighbours[name] if far.get(each, len(far)) < far.get(name, 0))
                for name in self._numbers
            }
        return found

    def routes(self, switch: str) -> list[dict[str, Any]]:
        """Entries of `ipv4_routes`: a port for each host, or a group if there are several paths."""
        ports, found = self.structure.neighbours(switch), []
        for leaf, rack in self.structure.racks.items():
            ways = self._ways[leaf][switch]
            if leaf == switch:
                found += routes(rack)
            elif len(ways) == 1:
                towards = {"port": ports[ways[0]], "mac": self._mac(ways[0])}
                found += [{"prefix": station.prefix, **towards} for station in rack]
            else:
                found += [{"prefix": station.prefix, "group": self._sets(switch).index(ways) + 1} for station in rack]
        return found

    def groups(self, switch: str) -> list[dict[str, Any]]:
        """ECMP groups, one for each set of next hops. A switch without hosts assigns blocks of buckets, because the
        traffic from a switch below it has only some of the buckets."""
        ports = self.structure.neighbours(switch)
        found = []
        for number, ways in enumerate(self._sets(switch), start=1):
            times = 1 if switch in self.structure.racks else len(ways)
            paths = [{"port": ports[name], "mac": self._mac(name)} for name in ways for _ in range(times)]
            found.append({"group": number, "paths": paths})
        return found

    def check(self) -> None:
        """Raises UsageError for a switch without a path to a host, and for impossible names of interfaces."""
        for leaf in self.structure.racks:
            for other in self._numbers:
                if other != leaf and not self._ways[leaf][other]:
                    raise UsageError(f"{self.path}: there is no path from {other} to {leaf}")
        for interface in self.structure.interfaces():
            if len(interface) > LONGEST_INTERFACE:
                raise UsageError(f"{self.path}: {interface}: a name has {LONGEST_INTERFACE} characters at most")

    def _sets(self, switch: str) -> list[tuple[str, ...]]:
        """The different sets of next hops, for destinations with several."""
        several = [ways[switch] for ways in self._ways.values() if len(ways[switch]) > 1]
        return list(dict.fromkeys(several))

    def _mac(self, switch: str) -> str:
        return router_mac(f"s{self._numbers[switch]}")


def _distances(leaf: str, neighbours: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Hops from each switch to this one."""
    found, edge = {leaf: 0}, [leaf]
    for name in edge:
        for neighbour in neighbours[name]:
            if neighbour not in found:
                found[neighbour] = found[name] + 1
                edge.append(neighbour)
    return found


def read(path: Path) -> DescribedFabric:
    """Reads the network of a file. Raises UsageError, which names the mistake, and P4schedError if it is not JSON."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--topology {path}: {error.strerror}") from error
    except ValueError as error:
        raise P4schedError(f"{path}: {error}") from error
    return described(path, content)


def described(path: Path, content: Any) -> DescribedFabric:
    """The network of a description. Raises UsageError, which names the path and the mistake."""
    try:
        fabric = DescribedFabric(path, *_structure(content))
    except _WrongError as error:
        raise UsageError(f"{path}: {error}") from error
    except KeyError as error:
        raise UsageError(f"{path}: a switch, host or link has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: is not a description of a network: {error}") from error
    fabric.check()
    return fabric


class _WrongError(Exception):
    """An error in the description."""


def _structure(content: Mapping[str, Any]) -> tuple[Mapping[str, Any], Structure]:
    names = [switch["name"] for switch in content["switches"]]
    racks: dict[str, list[Station]] = {}
    for host in content["hosts"]:
        racks.setdefault(host["switch"], []).append(_station(host))
    links = [_ends(link["ends"]) for link in content.get("links", [])]
    stations = [station for rack in racks.values() for station in rack]
    _once("name", [*names, *(station.name for station in stations)])
    _once("device_id", [switch["device_id"] for switch in content["switches"]])
    _once(f"prefix of {HOST_BITS} bits", [station.prefix for station in stations])
    _once("mac", [station.mac for station in stations])
    ends: list[End] = [(switch, station.port) for switch, rack in racks.items() for station in rack]
    ends += [end for link in links for end in link]
    _once("port", [f"{port} of {switch}" for switch, port in ends])
    _once("link", [" and ".join(sorted(name for name, _ in link)) for link in links])
    for name, _ in ends:
        if name not in names:
            raise _WrongError(f"there is no switch '{name}'")
    for (one, _), (other, _) in links:
        if one == other:
            raise _WrongError(f"a link of {one} leads to {one} itself")
    return content, Structure({"switch": names}, {name: racks[name] for name in names if name in racks}, links)


def _once(what: str, values: Iterable[Any]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise _WrongError(f"{what} {value} is there {count} times")


def _ends(content: Sequence[Mapping[str, Any]]) -> tuple[End, End]:
    one, other = ((end["switch"], int(end["port"])) for end in content)
    return one, other


def _station(host: Mapping[str, Any]) -> Station:
    prefix = IPv4Interface(f"{host['address']}/{HOST_BITS}").network
    return Station(
        name=host["name"],
        port=int(host["port"]),
        address=host["address"],
        prefix=str(prefix),
        mac=host["mac"],
        users=tuple(host.get("users", ())),
    )
