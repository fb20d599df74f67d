"""Traffic of the project's own generator: ranked UDP flows, TCP flows of given sizes, what arrived."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from p4sched.errors import UsageError
from p4sched.units import Rate

FRAME_BYTES = 1514
RUNS = ("observe", "receive", "send-*", "serve")
"""Names of the runs."""
FASTEST = Rate.parse("400gbit")
"""The highest rate of a flow that p4sched-traffic takes."""
Flow = Mapping[str, Any]
"""A flow in the form of p4sched-traffic (switch/traffic-generator/src/flow.rs)."""


def refuse_faster(asked: str, rate: Rate, load: float) -> None:
    """Raises UsageError if a UDP flow of `load` times this rate cannot be sent; `asked` is what was asked for."""
    if load * rate > FASTEST:
        raise UsageError(f"{asked}: a flow sends {load:g} times {rate}, and at most {FASTEST} can be sent")


def files_in(folder: str) -> tuple[str, ...]:
    """Files of the traffic in this folder, as patterns."""
    return (f"{folder}/flows-*.json", *(f"{folder}/{run}.{end}" for run in RUNS for end in ("json", "error")))


FILES = files_in("traffic")


class GeneratedTraffic(ABC):
    """Named runs of the generator in the hosts of a network; an asynchronous context manager that ends them all."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @abstractmethod
    async def receive_udp(self, ports: Sequence[int], seconds: float, log: Path | None = None) -> None:
        """Receives at the server from now on, under the name "receive"."""

    @abstractmethod
    async def serve_tcp(self, port: int, seconds: float, flows: int | None = None) -> None:
        """Accepts flows at the server from now on, under the name "serve".

        It ends when `flows` of them have arrived, otherwise after `seconds`.
        """

    @abstractmethod
    async def observe(self, seconds: float, log: Path) -> None:
        """Records TCP segments at the server from now on, under the name "observe"."""

    @abstractmethod
    async def send_udp(self, host: str, flows: Sequence[Flow], seed: int, log: Path | None = None) -> str:
        """Starts to send UDP flows from a host; returns the run's name."""

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
        """Starts to send TCP flows from a host; returns the run's name. The times of the flows count from `epoch_ns`
        on the run's clock, which is one for all hosts; or from now. With `open_ahead` all connections are opened
        before the first flow starts, otherwise each at its flow's start."""

    @abstractmethod
    def check(self) -> None:
        """Raises LabError if a run has failed."""

    @abstractmethod
    async def report(self, name: str, patience: float) -> Any:
        """Waits for a run to end; what it reported. Raises LabError if it fails or takes longer than `patience`."""

    @abstractmethod
    async def stop(self) -> None:
        """Ends everything."""
