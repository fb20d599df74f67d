"""Long TCP traffic: transfers that start together, and their reports."""

import json
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from p4sched.lab.endpoints import Destination, UserSeat
from p4sched.lab.stoppable import Stoppable

IPERF3 = "iperf3"
FILES = ("iperf3/iperf3-user-*.json",)
"""Files of the traffic in the folder of its scheme."""
FIRST_TCP_PORT = 5201
FINISH_SECONDS = 5.0
START_SECONDS = 0.05
"""A generous time to start one client on a busy machine."""


@dataclass(frozen=True)
class Transfer:
    """Long-lived traffic of one user to one destination."""

    seat: UserSeat
    connections: int
    tcp_port: int
    """Port of the transfer's own iperf3 server."""
    tos: int = 0
    """TOS byte of the segments."""
    destination: Destination | None = None
    """Destination; None: the server, in a network with only one."""


@dataclass(frozen=True)
class TransferReport:
    """iperf3's measurements for one user, without warm-up."""

    goodput_bps: float
    """TCP payload that arrived at the server, bit/s."""
    retransmits: int


def spare_seconds(clients: int) -> int:
    """Extra running time of clients, because they start one after another."""
    return 1 + math.ceil(clients * START_SECONDS)


def transfers(seats: Sequence[UserSeat], connections: Sequence[int]) -> list[Transfer]:
    """One transfer for each seat, each with its own server port."""
    return [Transfer(seat, count, FIRST_TCP_PORT + seat.user) for seat, count in zip(seats, connections, strict=True)]


def read_report(text: str) -> TransferReport | None:
    """The totals of an iperf3 client's JSON report; None if it has none."""
    try:
        end: Mapping[str, Any] = json.loads(text)["end"]
        return TransferReport(
            goodput_bps=float(end["sum_received"]["bits_per_second"]),
            retransmits=int(end["sum_sent"]["retransmits"]),
        )
    except (ValueError, KeyError):
        return None


class LongTraffic(Stoppable):
    """TCP flows of a set of transfers; an asynchronous context manager that ends them all."""

    @abstractmethod
    async def serve(self, transfers: Sequence[Transfer]) -> None:
        """Starts the servers of these transfers. Raises LabError if one does not start."""

    @abstractmethod
    async def send(self, transfers: Sequence[Transfer], seconds: float, warm_up: float = 0.0) -> None:
        """Starts the transfers for `warm_up` + `seconds` each; the reports leave out the warm-up."""

    @abstractmethod
    def check_failures(self) -> None:
        """Raises LabError if a transfer ended with an error, because the measurement is then invalid."""

    @abstractmethod
    def check(self) -> None:
        """Raises LabError if a user's transfer has ended, also without an error."""

    @abstractmethod
    async def finish(self, patience: float = FINISH_SECONDS) -> Mapping[int, TransferReport]:
        """Waits up to `patience` seconds for the transfers to end; returns their reports by user."""

    @abstractmethod
    async def stop_user(self, user: int) -> None:
        """Ends one user's transfer, without an error."""
