"""Description of a running network for other processes of the same user: its switches, links and logs.

Each run has its own file, which is removed with its network. The file of a crashed run is ignored.
"""

import itertools
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from mininet_topos.shapes import Structure
from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError
from p4sched.folders.schemes import find, words
from p4sched.json_records import MALFORMED
from p4sched.lab.ledger import FOLDER
from p4sched.lab.network import Dumbbell, Fabric, Network
from p4sched.lab.processes import ProcessIdentity, identify
from p4sched.schemes import SCHEMES

Topology: TypeAlias = Mapping[str, Any]
"""{"nodes": [{"name": "s1", "kind": "switch", "layer": 1}, ...], "links": [[END, END], ...]}, where an END is
{"node": "s1", "port": 5}; a host's END has no port. Layers are drawn one above the other, 0 at the bottom."""

_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Announcement:
    """A running network."""

    run: ProcessIdentity
    number: int
    """Number of the network in its run."""
    heading: str
    """Heading, such as "fdpa_fairness: FDPA"."""
    folder: str
    """Folder of the decision logs."""
    origin_ns: int
    """Time 0 of the network on the clock of its logs, ns."""
    simulation: str | None
    """Address of the simulation's service, in virtual time."""
    switches: Mapping[str, SwitchAddress]
    topology: Topology
    schedulers: Sequence[str] = ()
    """Words for the schemes of the run that are not of the laboratory (`p4sched.folders.schemes.words`)."""

    @property
    def desk(self) -> Path:
        """Socket of the switches' controller."""
        return _desk(self.run.pid)


def own_desk() -> Path:
    """The socket of this process; makes its folder."""
    _own_folder(runs_folder())
    return _desk(os.getpid())


def _desk(pid: int) -> Path:
    return runs_folder() / f"{pid}.socket"


def runs_folder() -> Path:
    """Folder of the files. Only the user can write to it."""
    if os.geteuid() == 0:
        return FOLDER / "runs"
    home = os.environ.get("XDG_RUNTIME_DIR")
    return Path(home) / "p4sched" if home else Path(tempfile.gettempdir()) / f"p4sched-{os.geteuid()}"


def announcements() -> list[Announcement]:
    """All running networks of this user, the newest run last. Removes the files of crashed runs."""
    current = []
    for path in runs_folder().glob("*.json"):
        announcement = _read(path)
        if announcement is not None and announcement.run.alive():
            current.append((announcement.run.start_ticks, announcement))
        elif announcement is not None:
            path.unlink(missing_ok=True)
            announcement.desk.unlink(missing_ok=True)
    return [announcement for _, announcement in sorted(current, key=lambda pair: pair[0])]


def of_run(pid: int) -> Announcement | None:
    """The current network of a run; None if it has none."""
    return _read(runs_folder() / f"{pid}.json")


@contextmanager
def announce(
    heading: str, network: Network, folder: Path, origin_ns: int, simulation: str | None = None
) -> Iterator[None]:
    """Announces the network during the block."""
    run = identify(os.getpid())
    assert run is not None
    path = runs_folder() / f"{run.pid}.json"
    switches = {name: SwitchAddress(switch.address, switch.device_id) for name, switch in network.switches.items()}
    _own_folder(path.parent)
    _write(
        path,
        Announcement(
            run,
            next(_NUMBERS),
            heading,
            str(folder.resolve()),
            origin_ns,
            simulation,
            switches,
            topology(network),
            words(),
        ),
    )
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def topology(network: Network) -> Topology:
    """Nodes and links of a network."""
    if isinstance(network, Fabric):
        return wiring(network.shape.structure)
    assert isinstance(network, Dumbbell)
    name = network.switch.name
    hosts = [
        {"name": station.name, "kind": "host", "layer": 2 if station.name == network.server_name else 0}
        for station in network.stations()
    ]
    links = [_link(_end(name, station.port), _end(station.name)) for station in network.stations()]
    return {"nodes": [{"name": name, "kind": "switch", "layer": 1}, *hosts], "links": links}


def wiring(structure: Structure) -> Topology:
    """Switches with hosts in the first layer, those above them in the next ones."""
    layers = dict.fromkeys(structure.racks, 1)
    below = list(layers)
    for name in below:
        for neighbour in structure.neighbours(name):
            if neighbour not in layers:
                layers[neighbour] = layers[name] + 1
                below.append(neighbour)
    nodes = [{"name": name, "kind": "switch", "layer": layers.get(name, 1)} for name in structure.switch_names()]
    links = []
    for leaf, rack in structure.racks.items():
        nodes += [{"name": station.name, "kind": "host", "layer": 0} for station in rack]
        links += [_link(_end(leaf, station.port), _end(station.name)) for station in rack]
        links += [_link(_end(*lower), _end(*upper)) for lower, upper in structure.links if lower[0] == leaf]
    links += [_link(_end(*lower), _end(*upper)) for lower, upper in structure.links if lower[0] not in structure.racks]
    return {"nodes": nodes, "links": links}


def _end(node: str, port: int | None = None) -> dict[str, Any]:
    return {"node": node, "port": port}


def _link(*ends: dict[str, Any]) -> Sequence[dict[str, Any]]:
    return list(ends)


def _own_folder(folder: Path) -> None:
    """Makes the folder. Raises P4schedError if another user could write to it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise P4schedError(f"{folder}: others can write there; remove it")


def _write(path: Path, announcement: Announcement) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(announcement)))
    os.replace(new, path)


def _read(path: Path) -> Announcement | None:
    try:
        found = json.loads(path.read_text())
        found["run"] = ProcessIdentity(**found["run"])
        found["switches"] = {name: SwitchAddress(**at) for name, at in found["switches"].items()}
        announcement = Announcement(**found)
    except (OSError, *MALFORMED):
        return None
    for word in announcement.schedulers:
        # a folder that has changed or gone meanwhile shows as another program
        with suppress(P4schedError):
            find(word, SCHEMES)
    return announcement
