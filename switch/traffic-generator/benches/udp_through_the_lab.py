"""Precision of UDP at the given rates and frame sizes: from a lab host through the embedded switch to the server.

    .venv/bin/python switch/traffic-generator/benches/udp_through_the_lab.py

Needs root, as the lab does, and a machine that has nothing else to do. Prints a row for each rate and size: the rate
that left the sender, over the time that it really took; how late a datagram was sent at worst; what the switch read and
the server received of it.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from p4sched.constants import RANK_PORT
from p4sched.control.laws import fifo
from p4sched.lab.emulated.generator import GeneratorRuns
from p4sched.lab.emulated.network import dumbbell
from p4sched.lab.ledger import Ledger
from p4sched.lab.machine import read_machine
from p4sched.lab.ranked_schemes import ranked_testbed
from p4sched.lab.run import clean_run
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.scheme import Setup
from p4sched.schemes import FIFO
from p4sched.units import Duration, Rate

CASES = [
    (Rate.parse(rate), frame_bytes)
    for rate, sizes in (
        ("10mbit", (1400, 512, 66)),
        ("100mbit", (1400, 512, 66)),
        ("500mbit", (1400, 512)),
        ("1gbit", (1400,)),
    )
    for frame_bytes in sizes
]
SECONDS = 3.0
LEAD_S = 0.3
LINK = Link(Rate.parse("10gbit"), Duration.parse("1ms"))


async def measure(rate: Rate, frame_bytes: int, ledger: Ledger, folder: Path) -> dict[str, Any]:
    """One flow of constant rate for SECONDS."""
    with dumbbell(ledger, 1, "embedded", folder, hosts=1) as network:
        seat = network.seats[0]
        flow = {
            "flow": 1,
            "src": seat.address,
            "dst": network.server_address,
            "port": RANK_PORT,
            "rate_bps": int(rate),
            "frame_bytes": frame_bytes,
            "ranks": {"fixed": 1},
            "start_s": LEAD_S,
            "stop_s": LEAD_S + SECONDS,
        }
        async with (
            ranked_testbed(
                network, Setup(FIFO, fifo.Parameters(buffer=10_000)), LINK, RankSource.HEADER, [seat.user]
            ) as testbed,
            GeneratorRuns(network, ledger, folder) as traffic,
        ):
            await traffic.receive_udp([RANK_PORT], LEAD_S + 2 * SECONDS)
            machine = read_machine()
            sending = await traffic.send_udp(seat.host, [flow], 1)
            (sent,) = await traffic.report(sending, 2 * SECONDS)
            idle = read_machine().since(machine).idle_share
            stats = await testbed.traffic_manager.stats()
            received = await traffic.report("receive", 2 * SECONDS + 5)
    assert stats is not None
    return {"sent": sent, "idle": idle, "read": stats[1], "received": received[0]["packets"] if received else 0}


def main() -> None:
    """Measures all cases and prints the table."""
    table = Table(
        "asked, Mbit/s",
        "frame, bytes",
        "packets/s",
        "sent, Mbit/s",
        "off by",
        "late at worst, ms",
        "refused",
        "read by the switch",
        "received",
        "CPU idle",
    )
    with clean_run(Path(sys.argv[0]).name) as ledger, TemporaryDirectory() as folder:
        for place, (rate, frame_bytes) in enumerate(CASES):
            found = asyncio.run(measure(rate, frame_bytes, ledger, Path(folder) / str(place)))
            sent = found["sent"]
            table.add_row(
                f"{rate / 1e6:g}",
                str(frame_bytes),
                f"{rate / 8 / frame_bytes:.0f}",
                f"{sent['rate_bps'] / 1e6:.3f}",
                f"{sent['rate_bps'] / rate - 1:+.3%}",
                f"{sent['late_max_ns'] / 1e6:.2f}",
                str(sent["refused"]),
                f"{found['read'].rx_packets / max(sent['packets'], 1):.2%}",
                f"{found['received'] / max(sent['packets'], 1):.2%}",
                f"{found['idle']:.0%}",
            )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
