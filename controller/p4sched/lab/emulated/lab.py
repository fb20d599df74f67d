"""The lab under Mininet."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from p4sched.clock import now_ns
from p4sched.lab.announcement import announce
from p4sched.lab.emulated import network
from p4sched.lab.ledger import Ledger
from p4sched.lab.network import USER_HOSTS, Dumbbell, Fabric, FabricShape, Lab


class EmulatedLab(Lab):
    """Makes networks under Mininet with switches of one kind. The ledger records everything that is started."""

    def __init__(self, ledger: Ledger, switch: str) -> None:
        self.ledger = ledger
        self._switch = switch

    @asynccontextmanager
    async def dumbbell(self, users: int, folder: Path, hosts: int = USER_HOSTS) -> AsyncIterator[Dumbbell]:
        with (
            network.dumbbell(self.ledger, users, self._switch, folder, hosts) as up,
            announce(self.heading, up, folder, now_ns()),
        ):
            yield up

    @asynccontextmanager
    async def incast(self, senders: int, folder: Path) -> AsyncIterator[Dumbbell]:
        with (
            network.incast(self.ledger, senders, self._switch, folder) as up,
            announce(self.heading, up, folder, now_ns()),
        ):
            yield up

    @asynccontextmanager
    async def fabric(self, shape: FabricShape, folder: Path) -> AsyncIterator[Fabric]:
        with (
            network.fabric(self.ledger, shape, self._switch, folder) as up,
            announce(self.heading, up, folder, now_ns()),
        ):
            yield up
