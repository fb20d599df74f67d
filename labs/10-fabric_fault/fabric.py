"""The fabric of lab 10, and its fault. Writes the tables that students get: `python labs/10-fabric_fault/fabric.py`."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from p4sched import simulate

LEAVES, SPINES, HOSTS = 4, 2, 4
ACCESS_BPS, FABRIC_BPS, FAULTY_BPS = 1_000_000_000, 2_000_000_000, 100_000_000
FAULTY = ("leaf3", "spine1")
END_NS = 200_000_000
START = Path(__file__).parent / "start"


def network() -> dict[str, Any]:
    """The network in the form of a scenario."""
    leaves = [f"leaf{number + 1}" for number in range(LEAVES)]
    spines = [f"spine{number + 1}" for number in range(SPINES)]
    hosts = [f"h{number + 1}" for number in range(LEAVES * HOSTS)]
    links = [
        {"between": [host, leaves[number // HOSTS]], "rate_bps": ACCESS_BPS, "delay_ns": 5000}
        for number, host in enumerate(hosts)
    ]
    for leaf in leaves:
        for spine in spines:
            rate = FAULTY_BPS if (leaf, spine) == FAULTY else FABRIC_BPS
            links.append({"between": [leaf, spine], "rate_bps": rate, "delay_ns": 5000})
    return {"described": {"hosts": hosts, "switches": [*leaves, *spines], "links": links}}


def run() -> simulate.Result:
    """The fabric under web traffic."""
    scenario = simulate.Scenario(
        topology=network(),
        ports=simulate.Ports("fifo", queues=1, queue_size=100),
        flows=simulate.Poisson("web_search", load=0.3, link_bps=LEAVES * HOSTS * ACCESS_BPS, duration_ns=END_NS),
        transports={"tcp": {"control": "cubic"}},
        end_ns=END_NS,
        seed=7,
    )
    return simulate.run(scenario)


def main() -> None:
    result = run()
    ports = [one for one in result.ports if not one["node"].startswith("h")]
    columns = (
        "node",
        "port",
        "to",
        "sent_packets",
        "sent_bytes",
        "dropped_full",
        "queue_mean",
        "queue_p99",
        "queue_longest",
    )
    _write(START / "ports.csv", columns, ports)
    flows = [one for one in result.flows if one["bytes"] >= 100_000]
    _write(START / "flows.csv", ("flow", "source", "destination", "bytes", "completion_s", "retransmitted"), flows)


def _write(file: Path, columns: tuple[str, ...], rows: Iterable[Any]) -> None:
    with file.open("w", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow(columns)
        for row in rows:
            values = [row[column].item() if hasattr(row[column], "item") else row[column] for column in columns]
            table.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in values])


if __name__ == "__main__":
    main()
