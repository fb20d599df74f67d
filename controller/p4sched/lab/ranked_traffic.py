"""Traffic of the project's own generator: ranked UDP flows, TCP flows of given sizes, and their reports."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from p4sched.errors import UsageError
from p4sched.lab.stoppable import Stoppable
from p4sched.units import Rate

FRAME_BYTES = 1514
RUNS = ("observe", "receive", "send-*", "serve")
"""Names of the runs."""
FASTEST = Rate.parse("400gbit")
"""Highest rate of a flow of p4sched-traffic."""
Flow = Mapping[str, Any]
"""A flow in the form of p4sched-traffic (switch/traffic-generator/src/flow.rs)."""


def refuse_faster(option: str, rate: Rate, load: float) -> None:
    """Raises UsageError if p4sched-traffic cannot send a UDP flow of `load` times this rate. `option`: the option."""
    if load * rate > FASTEST:
        raise UsageError(f"{option}: a flow sends {load:g} times {rate}, and at most {FASTEST} can be sent")


def files_in(folder: str) -> tuple[str, ...]:
    """Files of the traffic in this folder, as patterns."""
    return (f"{folder}/flows-*.json", *(f"{folder}/{run}.{end}" for run in RUNS for end in ("json", "error")))


FILES = files_in("traffic")


class GeneratedTraffic(Stoppable):
    """Named runs of the generator in the hosts of a network; an asynchronous context manager that ends them all."""

    @abstractmethod
    async def receive_udp(self, ports: Sequence[int], seconds: float, log: Path | None = None) -> None:
        """Starts a receiver at the server, with the name "receive"."""

    @abstractmethod
    async def serve_tcp(self, port: int, seconds: float, flows: int | None = None) -> None:
        """Starts a TCP server, with the name "serve".

        The run ends after `flows` flows, otherwise after `seconds`.
        """

    @abstractmethod
    async def observe(self, seconds: float, log: Path) -> None:
        """Starts a record of TCP segments at the server, with the name "observe"."""

    @abstractmethod
    async def send_udp(self, host: str, flows: Sequence[Flow], seed: int, log: Path | None = None) -> str:
        """Starts UDP flows from a host; returns the name of the run."""

    @abstractmethod
    async def send_tcp(
        self,
        host: str,
        flows: Sequence[Flow],
        congestion: str,
        deadline: float,
        epoch_ns: int | None = None,
        open_ahead: bool = False,
    ) -> str:
        """Starts TCP flows from a host; returns the name of the run.

        Start times count from `epoch_ns` on the clock of the run, which all hosts share; None: from this call. With
        `open_ahead`, all connections are opened before the first flow starts, otherwise each when its flow starts.
        """

    @abstractmethod
    def check(self) -> None:
        """Raises LabError if a run has failed."""

    @abstractmethod
    async def report(self, name: str, patience: float) -> Any:
        """Waits for a run to end; returns its report. Raises LabError if it fails or takes longer than `patience`."""
