"""Access to the hosts of a network under Mininet."""

from typing import Any

from mininet_topos.nodes import OffloadFreeHost
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import Network


class MininetHosts(Network):
    """A network under Mininet, as its traffic sees it."""

    def __init__(self, net: Any, ledger: Ledger) -> None:
        self._net = net
        self._ledger = ledger

    def host(self, name: str) -> OffloadFreeHost:
        """The Mininet host with this name."""
        host: OffloadFreeHost = self._net[name]
        return host

    def pid(self, host: str) -> int:
        """Id of a process in this host's network namespace."""
        pid: int = self._net[host].pid
        return pid
