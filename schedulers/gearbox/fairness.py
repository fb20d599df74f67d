"""Shares of long flows over one link: Gearbox and the ideals, in virtual time.

.venv/bin/python schedulers/gearbox/fairness.py [--seconds 5]
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.folders.schemes import of_folder

RATE = "100mbit"
BUFFER = 256
"""Packets in the buffer of each scheme, except those of `afq, FIFOs of 256`."""
EQUAL = (1,) * 8
WEIGHTS = (1, 1, 2, 2, 4, 4, 8, 8)
TRANSPORTS = {"tcp": {"control": "cubic"}, "udp": {"control": {"udp": {"rate_bps": 60_000_000}}}}
TRAFFIC = (
    ("8 TCP flows, equal weights", EQUAL, 0),
    ("8 TCP flows, weights 1 1 2 2 4 4 8 8", WEIGHTS, 0),
    ("8 UDP flows of 60 Mbit/s, weights 1 1 2 2 4 4 8 8", WEIGHTS, 8),
    ("2 UDP flows of 60 Mbit/s and 6 TCP flows, equal weights", EQUAL, 2),
)
"""Title, weights, and the number of flows that are UDP: the first ones."""
Setup = tuple[Mapping[str, Any], str]
"""The ports of switches, and the source of ranks."""


def ideal(scheme: str, **settings: Any) -> dict[str, Any]:
    """A port with a scheme or a discipline of the project."""
    return {"scheme": scheme, "queues": 1, "queue_size": BUFFER, **settings}


def tree(weights: Sequence[int]) -> dict[str, Any]:
    """Start-time fair queueing with weights: a leaf for each flow. A leaf holds a share of the buffer by its weight."""
    leaves = [
        {
            "parent": 0,
            "discipline": "fifo",
            "queue_size": BUFFER * weight // sum(weights),
            "scale": 256 // weight,
        }
        for weight in weights
    ]
    return ideal("tree", tree=[{"discipline": "stfq"}, *leaves])


def gearbox(levels: int, fifos: int, burst: int = 256, whole_sets: int = 1) -> Setup:
    """Rounds of 256 bytes; weights are ranks."""
    parameters = {
        "levels": levels,
        "fifos": fifos,
        "tick": 256,
        "burst": burst,
        "fifo_size": BUFFER,
        "size": BUFFER,
        "whole_sets": whole_sets,
        "weights": 1,
    }
    return {"scheme": of_folder(Path(__file__).resolve().parent).name, "parameters": parameters}, "flow"


def setups(weights: Sequence[int]) -> Iterator[tuple[str, Setup]]:
    """The schemes, by name. Only `pifo` with start times, `tree` and `gearbox` know weights."""
    yield "fifo", (ideal("fifo"), "flow")
    yield "pifo, start_time", (ideal("pifo"), "start_time")
    yield "tree of stfq", (tree(weights), "flow")
    yield "stfq", (ideal("stfq"), "flow")
    yield "drr", (ideal("drr"), "flow")
    yield "afq", (ideal("afq", queues=32, queue_size=BUFFER // 32), "flow")
    yield "afq, FIFOs of 256", (ideal("afq", queues=32), "flow")
    yield "gearbox 3 x 8", gearbox(3, 8)
    yield "gearbox 3 x 8, hardware", gearbox(3, 8, whole_sets=0)
    yield "gearbox 2 x 16", gearbox(2, 16)
    yield "gearbox 1 x 256", gearbox(1, 256)
    bytes_each = BUFFER * 1514 // sum(weights)
    yield "gearbox 3 x 8, burst fits", gearbox(3, 8, burst=bytes_each // 256)


def run(setup: Setup, weights: Sequence[int], fast: int, seconds: float) -> simulate.Result:
    """The flows u1, u2, ... to the server, from the beginning to the end."""
    ports, ranks = setup
    flows = [
        {
            "source": f"u{number}",
            "destination": "server",
            "bytes": 10**10,
            "weight": weight,
            "rank": 256 // weight,
            "user": number,
            "transport": "udp" if number <= fast else "tcp",
        }
        for number, weight in enumerate(weights, 1)
    ]
    access, bottleneck = simulate.Link.of("1gbit", "10us"), simulate.Link.of(RATE, "2ms")
    return simulate.run(
        {
            "end_ns": round(seconds * 1e9),
            "topology": simulate.Dumbbell(len(weights), access, bottleneck).to_json(),
            "ports": ports,
            "ranks": ranks,
            "transports": TRANSPORTS,
            "flows": {"list": flows},
        }
    )


def main() -> None:
    """Prints a table for each kind of traffic."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    for title, weights, fast in TRAFFIC:
        print(f"\n{title}: share of the flow's fair rate\n")
        print(f"{'scheme':25}  Jain  Mbit/s  least   most  queue  resent  dropped  Mbit/s of each flow")
        for name, setup in setups(weights):
            result = run(setup, weights, fast, seconds)
            rates = result.flows["received_bytes"] * 8 / seconds / 1e6
            share = rates / np.array(weights)
            share /= share.mean()
            port = result.ports[(result.ports["node"] == "s1") & (result.ports["to"] == "server")][0]
            lost = int(port["dropped_full"] + port["dropped_refused"] + port["pushed_out"])
            print(
                f"{name:25} {1 / (share**2).mean():.3f}  {rates.sum():6.1f}  {share.min():5.2f}  {share.max():5.2f}"
                f"  {port['queue_mean']:5.0f}  {result.flows['retransmitted'].sum():6}  {lost:7}"
                f"  {' '.join(f'{rate:.1f}' for rate in rates)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
