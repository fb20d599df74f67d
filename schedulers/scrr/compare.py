"""Compares SCRR with DRR, STFQ and AFQ in virtual time: packets of four sizes, light flows, TCP with four round trips.

.venv/bin/python schedulers/scrr/compare.py    prints three tables
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.simulate import Flow, Link, Scenario

ACCESS, BOTTLENECK = Link.of("1gbit", "10us"), Link.of("100mbit", "100us")
TCP_HEADERS = 66
VERSIONS = ("basic", "scrr", "npm", "nmia", "nmne", "neia")
MTU = 1448
ALWAYS = 10**9
"""Bytes of a flow that does not end."""


def tcp(mss: int, window: int) -> dict[str, Any]:
    """TCP that sends at once and has `window` bytes in flight at most."""
    own = {"mss": mss, "window": window, "initial_window": 20, "recovery": "sack"}
    return {"control": "new_reno", "handshake": False, "delayed_ack": None, **own}


def ports(buffer: int, flow_size: int, rounds: Mapping[str, int]) -> dict[str, Mapping[str, Any]]:
    """The schedulers, each with room for `buffer` packets. `flow_size`: room of a flow with SCRR; `rounds`: of AFQ."""
    room = {"queues": 1, "queue_size": buffer}
    folder = str(Path(__file__).parent)
    limits = {"size": buffer, "flow_size": flow_size}
    versions = ((name, {**limits, "version": number}) for number, name in enumerate(VERSIONS))
    return {
        "FIFO": {"scheme": "fifo", **room},
        **{
            f"DRR, {quantum} bytes": {"scheme": "drr", "quantum_bytes": quantum, **room}
            for quantum in (200, 1514, 9000)
        },
        "STFQ": {"scheme": "stfq", **room},
        "AFQ": {"scheme": "afq", **rounds},
        **{f"SCRR {name}": {"scheme": folder, "parameters": parameters} for name, parameters in versions},
    }


def run(scenario: Scenario, port: Mapping[str, Any]) -> Any:
    """The rows of the flows."""
    return simulate.run({**scenario.to_json(), "ports": port}).flows


def jain(shares: Any) -> float:
    """Jain's index: 1 if all shares are equal."""
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def sizes() -> None:
    """Eight flows that always wait; a segment has 100, 300, 700 or 1448 bytes."""
    segments = (100, 300, 700, MTU)
    seconds = 2
    flows = [Flow(f"u{n + 1}", "server", ALWAYS, start_ns=n * 1000, transport=f"{segments[n % 4]}") for n in range(8)]
    scenario = Scenario(
        topology=simulate.Dumbbell(8, ACCESS, BOTTLENECK),
        ports=simulate.Ports("fifo"),
        flows=flows,
        end_ns=seconds * 10**9,
        transports={f"{mss}": tcp(mss, 40_000) for mss in segments},
    )
    print("\nPackets of four sizes: Jain's index, Mbit/s of a flow with packets of 166, 366, 766 and 1514 bytes")
    for name, port in ports(5000, 5000, {"queues": 32, "queue_size": 157}).items():
        mss = np.array([segments[n % 4] for n in range(8)])
        mbits = run(scenario, port)["received_bytes"] * (mss + TCP_HEADERS) / mss * 8 / seconds / 1e6
        print(f"{name:16} {jain(mbits):.4f}   {' '.join(f'{each:6.2f}' for each in mbits[:4])}")


def light_flows() -> None:
    """20 flows always wait; five flows have one packet at a time; short flows of 1, 10 and 3 packets come and end."""
    bulk, light, seconds = 20, 5, 2
    flows = [Flow(f"u{n + 1}", "server", ALWAYS, start_ns=n * 1000, transport="bulk") for n in range(bulk)]
    first_ns = 50_000_000
    for n in range(light):
        flows.append(Flow(f"u{bulk + 1 + n}", "server", ALWAYS, start_ns=first_ns + n * 10_007, transport="light"))
    random = np.random.default_rng(1)
    at_ns = 100_000_000
    while at_ns < (seconds - 0.2) * 1e9:
        at_ns += int(random.exponential(2.5e6))
        size, transport = ((200, "small"), (2000, "small"), (3 * MTU, "bulk"))[random.integers(3)]
        host = f"u{bulk + light + 1 + len(flows) % 5}"
        flows.append(Flow(host, "server", size, start_ns=at_ns, transport=transport))
    scenario = Scenario(
        topology=simulate.Dumbbell(bulk + light + 5, ACCESS, BOTTLENECK),
        ports=simulate.Ports("fifo"),
        flows=flows,
        end_ns=seconds * 10**9,
        transports={"bulk": tcp(MTU, 30_000), "light": tcp(200, 200), "small": tcp(200, 30_000)},
    )
    print("\nLight flows, ms: round trip of one packet at a time; mean and 99th percentile of a flow of")
    columns = f"{'1 packet':>15} {'10 packets':>15} {'3 full packets':>15}   Jain, Mbit/s of 20 long"
    print(f"{'':16} {'round trip':>10} {columns}")
    for name, port in ports(5000, 5000, {"queues": 32, "queue_size": 157}).items():
        found = run(scenario, port)
        trips = found["received_bytes"][bulk : bulk + light] / 200
        cells = [f"{np.mean((seconds - first_ns / 1e9) / trips) * 1e3:10.2f}"]
        short = found[bulk + light :]
        for size in (200, 2000, 3 * MTU):
            times = short["completion_s"][short["bytes"] == size] * 1e3
            cells.append(f"{times.mean():7.2f} {np.percentile(times, 99):7.2f}")
        got = found["received_bytes"][:bulk]
        cells.append(f"  {jain(got):.4f} {got.sum() * 8 / seconds / 1e6:5.1f}")
        print(f"{name:16} {' '.join(cells)}")


def round_trips() -> None:
    """Eight flows of Cubic with round trips of 4 to 32 ms share 200 Mbit/s and a buffer of 400 packets."""
    seconds, rates = 5, Link.of("1gbit").rate_bps
    links = [{"between": ["server", "s1"], "rate_bps": 200_000_000, "delay_ns": 0}]
    trips_ms: Sequence[int] = (4, 8, 16, 32)
    for n in range(8):
        links.append({"between": [f"u{n}", "s1"], "rate_bps": rates, "delay_ns": trips_ms[n % 4] * 500_000})
    hosts = ["server", *(f"u{n}" for n in range(8))]
    scenario = Scenario(
        topology={"described": {"hosts": hosts, "switches": ["s1"], "links": links}},
        ports=simulate.Ports("fifo"),
        flows=[Flow(f"u{n}", "server", ALWAYS, start_ns=n * 1000) for n in range(8)],
        end_ns=seconds * 10**9,
        transports={"tcp": {"control": "cubic"}},
    )
    print("\nCubic, round trips of 4, 8, 16 and 32 ms: Jain's index, throughput in Mbit/s, retransmitted segments")
    compared = ports(400, 50, {"queues": 16, "queue_size": 25, "log_bytes_per_round": 12})
    for flow_size in (100, 400):
        compared[f"SCRR neia, {flow_size}"] = ports(400, flow_size, {})["SCRR neia"]
    for name, port in compared.items():
        found = run(scenario, port)
        got = found["received_bytes"]
        print(f"{name:16} {jain(got):.4f}   {got.sum() * 8 / seconds / 1e6:6.1f} {int(found['retransmitted'].sum()):6}")


if __name__ == "__main__":
    sizes()
    light_flows()
    round_trips()
