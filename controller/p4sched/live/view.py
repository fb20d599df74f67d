"""View of a switch: its ports and queues, its scheme, and the cells with their values."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from p4sched.control.laws.port_counters import BUCKETS
from p4sched.control.parameters import Parameters
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.target import PROGRAMS, target_of
from p4sched.p4rt.traffic_manager import QUEUES, PortSettings
from p4sched.p4rt.users import DEPARTURES
from p4sched.proto import traffic_manager_pb2 as pb
from p4sched.proto.enums import Discipline
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES

REFUSED, FULL = "dropped_by_admission", "dropped_full"
"""Counters of the ranked programs, by (port << 3) | priority."""
TAIL_DROPS = "port_dropped"
"""Counter of the other programs, by port."""
WINDOW_CELL = re.compile(r"\bcell_(\d+)\.entry$")
RANGE = {"min_rank": ("lowest", 0), "max_rank": ("highest", 0), "lowered_by": ("lowered", 0)}
RAISED_BOUND = re.compile(r"\bqueue_(\d)\.raised_bound$")
ARRIVALS = "rank_histogram"
"""Counter of the programs with ranks, by (port << 6) | bucket."""
MOST_PORTS = 64
"""Largest number of ports whose counters are read."""
MOST_HISTOGRAMS = 4
"""Largest number of ports whose arrivals are read by rank, 33 cells each."""


@dataclass(frozen=True)
class PortView:
    """A port and the queues behind it."""

    port: int
    rate_bps: int
    """Rate of the port; 0: not shaped."""
    delay_ns: int
    discipline: Discipline
    sizes: Mapping[int, int]
    """Packets that each queue can hold, by priority. A discipline with one buffer has only queue 0."""

    @classmethod
    def of(cls, settings: PortSettings) -> "PortView":
        """View of the settings in force."""
        discipline = settings.discipline or Discipline.STRICT
        sizes = {0: settings.buffer_packets or 0}
        if discipline is Discipline.STRICT:
            sizes = {number: queue.depth_packets or 0 for number, queue in settings.queues.items()}
        return cls(settings.port, settings.rate_bps or 0, settings.delay_ns or 0, discipline, sizes)


@dataclass(frozen=True)
class SwitchView:
    """Current state of one switch."""

    name: str
    scheme: Scheme | None
    """Scheme; None: a program of another project."""
    target: str
    ports: tuple[PortView, ...]
    users: Mapping[int, float]
    """Weights by user id."""

    @property
    def busy(self) -> tuple[PortView, ...]:
        """Ports whose queues can grow: the shaped ports, or all if none is shaped."""
        shaped = tuple(port for port in self.ports if port.rate_bps)
        return (shaped or self.ports)[:MOST_PORTS]

    @property
    def rtt_ns(self) -> int:
        """Sum of the propagation delays of the ports, in both directions."""
        return 2 * max((port.delay_ns for port in self.ports), default=0)


def scheme_of(reader: Reader, ports: Iterable[PortView]) -> Scheme | None:
    """Scheme of the program, identified by the table of parameters, and by the discipline for an ideal."""
    disciplines = {port.discipline for port in ports if port.rate_bps}
    found = [
        scheme
        for scheme in SCHEMES.values()
        if reader.schema.tables.get(scheme.parameters.table) is not None and issubclass(scheme.parameters, Parameters)
    ]
    ideal = next(
        (scheme for scheme in found if scheme.discipline in disciplines and scheme.program != scheme.name), None
    )
    return ideal or next((scheme for scheme in found if scheme.program == scheme.name), None)


def architecture(reader: Reader) -> str:
    """Architecture of the program: v1model, tna or t2na."""
    return target_of(reader.schema.arch).value


@dataclass(frozen=True)
class Cells:
    """Ports, and cells of counters and registers, in each snapshot, and their places in it."""

    request: pb.WatchRequest
    ports: tuple[int, ...]
    """Ports whose cells of counters and registers are read."""
    counters: Mapping[str, slice]
    """Places of the cells of each counter; empty for a missing counter."""
    bridge_bytes: int
    """Bytes that egress counts for each packet in addition to its frame (p4sched.p4rt.target)."""
    registers: tuple[tuple[str, int], ...]
    """For each register, with one value a port: its kind ("window", "bound", "lowest", "highest" or "lowered"), and its
    number within the kind."""

    @classmethod
    def of(cls, reader: Reader, view: SwitchView) -> "Cells":
        """Cells of this switch's program."""
        request = pb.WatchRequest(ports=[port.port for port in view.ports])
        ports = tuple(port.port for port in view.busy)
        counters, place = {}, 0
        for name, cells in _counter_cells(ports, list(view.users)):
            found = reader.schema.counters.get(name)
            counters[name] = slice(place, place)
            if found is not None and cells:
                request.counters.append(pb.Cells(id=found.id, cells=cells))
                counters[name] = slice(place, place := place + len(cells))
        registers = []
        for register in reader.schema.registers:
            kind = _kind(register.alias)
            if kind is not None:
                registers.append(kind)
                request.registers.append(pb.Cells(id=register.id, cells=ports))
        bridge_bytes = PROGRAMS[target_of(reader.schema.arch)].bridge_bytes
        return cls(request, ports, counters, bridge_bytes, tuple(registers))


def _counter_cells(ports: Sequence[int], users: list[int]) -> list[tuple[str, list[int]]]:
    queues = [cell for port in ports for cell in range(port << 3, (port << 3) + QUEUES)]
    buckets = [cell for port in ports for cell in range(port << 6, (port << 6) + BUCKETS)]
    return [
        *((name, queues) for name in (REFUSED, FULL)),
        (TAIL_DROPS, list(ports)),
        (DEPARTURES, users),
        (ARRIVALS, buckets if len(ports) <= MOST_HISTOGRAMS else []),
    ]


def _kind(register: str) -> tuple[str, int] | None:
    cell, bound = WINDOW_CELL.search(register), RAISED_BOUND.search(register)
    if cell is not None:
        return "window", int(cell[1])
    if bound is not None:
        return "bound", int(bound[1])
    return RANGE.get(register.rpartition(".")[2])
