"""Record of everything that a run creates on this machine, so that a later command can remove it.

An orderly run removes everything itself and deletes the ledger. After a crash the kernel removes most of it: processes
die with their parent, links with their namespace. The ledger lists the rest. A name is not enough to remove something:
the ledger knows processes by pid and start time, and links by name and index.
"""

import json
import os
import socket
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from p4sched.json_records import MALFORMED
from p4sched.lab.errors import LabError
from p4sched.lab.processes import ProcessIdentity, end, identify

FOLDER = Path("/run/p4sched")
STATE_FILE = "state.json"


class DamagedLedgerError(LabError):
    """An error in the file of a ledger."""


@dataclass(frozen=True)
class LinkIdentity:
    """A network interface of the machine's own namespace."""

    name: str
    index: int

    def exists(self) -> bool:
        """True if this interface, and not a later one with its name, exists."""
        return interface_index(self.name) == self.index


def interface_index(name: str) -> int | None:
    """Index of an interface in the machine's own namespace; None if there is none."""
    # Not from /sys, where the file of an interface that is just going gives EINVAL.
    try:
        return socket.if_nametoindex(name)
    except OSError:
        return None


@dataclass
class Ledger:
    """The ledger of one run."""

    path: Path
    processes: list[ProcessIdentity] = field(default_factory=list)
    links: list[LinkIdentity] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    """Files under /proc/sys and /sys that the run changed, with the value to restore."""
    switches: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Running switches by name, with the address and the device id of their P4Runtime server."""
    run: ProcessIdentity | None = field(default_factory=lambda: identify(os.getpid()))
    """The process of the run. Its switches end with it."""

    def add_processes(self, pids: Iterable[int]) -> None:
        """Records processes that the run has started."""
        self.processes += [known for pid in pids if (known := identify(pid)) is not None]
        self.write()

    def add_links(self, names: Iterable[str]) -> None:
        """Records interfaces that the run has made in the machine's own namespace."""
        self.links += [LinkIdentity(name, index) for name in names if (index := interface_index(name)) is not None]
        self.write()

    def change_setting(self, path: str, value: str) -> None:
        """Records the value of a kernel setting and changes it. Raises LabError if that is not allowed."""
        if not os.access(path, os.R_OK | os.W_OK):
            raise LabError(f"cannot change {path} here: a container must be privileged and share its host's network")
        current = Path(path).read_text().strip()
        if current == value:
            return
        self.settings.setdefault(path, current)
        self.write()
        Path(path).write_text(value)

    def add_switch(self, name: str, address: str, device_id: int) -> None:
        """Records a running switch, for commands that take a switch's name."""
        self.switches[name] = {"address": address, "device_id": device_id}
        self.write()

    def forget_network(self) -> None:
        """Removes the processes and links of a network that has ended in order."""
        self.processes = [process for process in self.processes if process.alive()]
        self.links = [link for link in self.links if link.exists()]
        self.switches = {}
        self.write()

    def write(self) -> None:
        """Replaces the file of the ledger atomically."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({key: value for key, value in asdict(self).items() if key != "path"}))
        os.replace(new, self.path)

    def undo(self) -> list[str]:
        """Removes everything that is left of the run, and the ledger. Returns a description of what it removed."""
        done = [f"process {process.pid}" for process in end(self.processes)]
        for link in self.links:
            if link.exists():
                subprocess.run(["ip", "link", "delete", link.name], check=False, capture_output=True)
                done.append(f"link {link.name}")
        for path, value in self.settings.items():
            setting = Path(path)
            if setting.exists() and setting.read_text().strip() != value:
                setting.write_text(value)
                done.append(f"setting {path}")
        self.path.unlink(missing_ok=True)
        return done


def read_ledger(path: Path) -> Ledger | None:
    """The ledger of an earlier run; None if there is none. Deletes a damaged ledger and raises DamagedLedgerError."""
    try:
        found = json.loads(path.read_text())
        return Ledger(
            path,
            [ProcessIdentity(**process) for process in found["processes"]],
            [LinkIdentity(**link) for link in found["links"]],
            dict(found["settings"]),
        )
    except FileNotFoundError:
        return None
    except MALFORMED as error:
        path.unlink()
        raise DamagedLedgerError(
            f"{path} was damaged and is deleted: what a crashed run has made cannot be known; look for links named"
            " s1-eth*, processes p4sched-switch and simple_switch_grpc, and what you expect of the sysctls"
            " net.core.netdev_max_backlog and net.ipv4.tcp_allowed_congestion_control, and of"
            " /sys/module/haltpoll/parameters/guest_halt_poll_ns"
        ) from error
