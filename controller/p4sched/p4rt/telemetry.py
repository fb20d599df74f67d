"""What a switch counted, sampled over time: users, ports, bands, queues. Rows for CSV."""

import asyncio
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.p4rt.reader import Count, Reader
from p4sched.p4rt.traffic_manager import QUEUES, PortStats, TrafficManager
from p4sched.p4rt.users import DEPARTURES

COLUMNS = ("seconds", "subject", "index", "packets", "bytes", "depth_packets", "dropped_packets")


@dataclass(frozen=True)
class Snapshot:
    """Counters since the switch loaded its program, read one after the other within a few ms."""

    seconds: float
    """Event loop's clock, the middle of the read."""
    departures: Mapping[int, Count]
    """Delivered, by user."""
    admitted: Mapping[int, Count]
    """Admitted by the program, by egress port."""
    dropped: Mapping[int, Count]
    """Dropped by the program because the queue was full, by egress port."""
    bands: Mapping[tuple[int, int], Count]
    """Admitted, by (egress port, priority)."""
    ports: Mapping[int, PortStats]
    """The traffic manager's own counters; empty if the switch has none."""


async def departures(reader: Reader, users: Sequence[int]) -> dict[int, Count]:
    """Packets and bytes delivered for each of these users so far, in one Read."""
    return await reader.counts(DEPARTURES, users)


async def snapshot(
    reader: Reader, users: Sequence[int], ports: Sequence[int], traffic_manager: TrafficManager | None = None
) -> Snapshot:
    """Everything that the programs and the traffic manager count about these users and egress ports."""
    clock = asyncio.get_running_loop().time
    before = clock()
    cells = {(port << 3) | priority: (port, priority) for port in ports for priority in range(QUEUES)}
    bands = await reader.counts("band_admitted", list(cells))
    stats = None if traffic_manager is None else await traffic_manager.stats(ports)
    return Snapshot(
        departures=await departures(reader, users),
        admitted=await reader.counts("port_admitted", ports),
        dropped=await reader.counts("port_dropped", ports),
        bands={cells[cell]: count for cell, count in bands.items()},
        ports={} if stats is None else stats.ports,
        seconds=(before + clock()) / 2,
    )


def rows(snapshot: Snapshot) -> list[tuple[object, ...]]:
    """The snapshot as rows of COLUMNS; fields that a subject does not have are empty."""
    at = round(snapshot.seconds, 6)
    table: list[tuple[object, ...]] = []
    for subject, counts in (
        ("user_departures", snapshot.departures),
        ("port_admitted", snapshot.admitted),
        ("port_dropped", snapshot.dropped),
    ):
        table += [(at, subject, index, count.packets, count.bytes, "", "") for index, count in sorted(counts.items())]
    table += [
        (at, "band_admitted", f"{port}:{priority}", count.packets, count.bytes, "", "")
        for (port, priority), count in sorted(snapshot.bands.items())
    ]
    for port, stats in sorted(snapshot.ports.items()):
        table += [
            (at, "queue", f"{port}:{number}", queue.dequeued_packets, queue.dequeued_bytes, queue.depth_packets,
             queue.dropped_packets)
            for number, queue in sorted(stats.queues.items())
        ]  # fmt: skip
    return table


async def record(
    path: Path,
    reader: Reader,
    users: Sequence[int],
    ports: Sequence[int],
    traffic_manager: TrafficManager | None = None,
    period_s: float = 1.0,
) -> None:
    """Writes a snapshot to a CSV file every period, on a fixed grid, until cancelled."""
    clock = asyncio.get_running_loop().time
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        due = clock()
        while True:
            writer.writerows(rows(await snapshot(reader, users, ports, traffic_manager)))
            file.flush()
            due = max(due + period_s, clock())
            await asyncio.sleep(due - clock())
