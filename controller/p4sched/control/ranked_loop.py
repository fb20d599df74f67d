"""The control loops of the ranked schemes, which read the counters of egress ports.

`RankedLoop` follows one port and sets the default parameters, which apply to all ports. `RankedPortsLoop` sets
parameters for each of several ports: entries of the parameter table, whose key is the egress port.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from p4sched.clock import now_ns
from p4sched.control.laws import ranked
from p4sched.control.laws.port_counters import BUCKETS, MAX_PORT, Sample
from p4sched.control.loop import POLL_S, AnyTuning, ControlLoop, Loop, Round, Tuning, action_data_in_force
from p4sched.errors import UsageError, in_range
from p4sched.p4rt.reader import Count, CounterCells, Reader, TimedCounts
from p4sched.p4rt.session import Session
from p4sched.p4rt.traffic_manager import QUEUES

VERDICTS = ("admitted", "dropped_by_admission", "dropped_full")
"""Counters by (port << 3) | priority."""
HISTOGRAMS = ("rank_histogram", "depth_histogram")
"""Counters by (port << 6) | bucket."""
_Tuning: TypeAlias = Tuning[ranked.Config, ranked.State, Sample, ranked.Decision]


Update: TypeAlias = Round[Sample, ranked.Decision]
"""One round of a loop, of one port."""


class RankedLoop(ControlLoop[ranked.Config, ranked.State, Sample, ranked.Decision]):
    """Control loop of a ranked scheme over one session. The traffic of `port` decides the parameters of all ports."""

    def __init__(self, session: Session, config: ranked.Config, port: int, **how: Any) -> None:
        """`how`: further arguments of `ControlLoop`."""
        in_range("egress port", port, 0, MAX_PORT, "")
        self._port = port
        self._cells = port_cells(session, port)
        super().__init__(session, config, **how)

    async def read(self) -> Sample:
        return port_sample(await self._session.counters(self._cells, self._clock), self._port)


class RankedPortsLoop(Loop):
    """Loop of a scheme over several ports, each with its own law. A round is one Read and at most one Write."""

    def __init__(
        self,
        session: Session,
        configs: Mapping[int, ranked.Config],
        *,
        logs: Path | None = None,
        poll_s: float = POLL_S,
        on_update: Callable[[int, Update], None] | None = None,
        clock: Callable[[], int] = now_ns,
    ) -> None:
        """`configs`: configurations of the same law by egress port. Decisions of port N go to LOGS/port-N.jsonl."""
        super().__init__(poll_s)
        laws = {config.law.name: config.law for config in configs.values()}
        if len(laws) != 1:
            given = ", ".join(sorted(laws)) or "none"
            raise UsageError(f"the ports of a switch run one program, so they take one law; given: {given}")
        for port in configs:
            in_range("egress port", port, 0, MAX_PORT, "")
        (self._law,) = laws.values()
        self._session = session
        self._clock = clock
        self._cells = port_cells(session, *configs)
        self._present: set[int] = set()

        def tuning(port: int, config: ranked.Config) -> _Tuning:
            log = None if logs is None else logs / f"port-{port}.jsonl"
            return Tuning(config, log, None if on_update is None else partial(on_update, port))

        self._tunings = {port: tuning(port, config) for port, config in configs.items()}

    @property
    def tunings(self) -> Mapping[int | None, AnyTuning]:
        found: dict[int | None, AnyTuning] = {}
        found.update(self._tunings.items())
        return found

    def close(self) -> None:
        for tuning in self._tunings.values():
            tuning.close()

    async def take_over(self) -> None:
        if all(tuning.has_started for tuning in self._tunings.values()):
            return
        default = await action_data_in_force(self._session, self._law.parameters)
        entries = await self._session.port_actions(self._law.parameters.table)
        self._present = set(entries)
        for port, tuning in self._tunings.items():
            tuning.take_over(entries.get(port, default))

    async def step(self) -> dict[int, Update]:
        """Runs one round of every port."""
        await self.take_over()
        read = await self._session.counters(self._cells, self._clock)
        samples = {port: port_sample(read, port) for port in self._tunings}
        decisions = {port: tuning.decide(samples[port]) for port, tuning in self._tunings.items()}
        changed = {port: decision.parameters.action_data() for port, decision in decisions.items() if decision.changed}
        if changed:
            await self._session.set_port_actions(
                self._law.parameters.table, self._law.parameters.action, changed, self._present
            )
            self._present |= set(changed)
        return {port: tuning.accept(samples[port], decisions[port]) for port, tuning in self._tunings.items()}


def port_cells(reader: Reader, *ports: int) -> CounterCells:
    """All counter cells of the program for these egress ports."""
    queues = [cell for port in ports for cell in _queues(port)]
    buckets = [cell for port in ports for cell in _buckets(port)]
    return reader.counter_cells({**dict.fromkeys(VERDICTS, queues), **dict.fromkeys(HISTOGRAMS, buckets)})


def port_sample(read: TimedCounts, port: int) -> Sample:
    """The counters of a port, as a sample for its law."""
    admitted, refused, full = (
        sum((Count(cells[queue].packets, cells[queue].bytes) for queue in _queues(port)), Count())
        for cells in (read.counts[name] for name in VERDICTS)
    )
    ranks, depths = (tuple(read.counts[name][bucket].packets for bucket in _buckets(port)) for name in HISTOGRAMS)
    time_ns = (read.before_ns + read.after_ns) // 2
    return Sample(time_ns, read.after_ns - read.before_ns, admitted, refused, full, ranks, depths)


def _queues(port: int) -> range:
    return range(port << 3, (port << 3) + QUEUES)


def _buckets(port: int) -> range:
    return range(port << 6, (port << 6) + BUCKETS)
