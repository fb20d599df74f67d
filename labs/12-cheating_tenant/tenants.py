"""The tenants of lab 12, and the one who lies. Writes the tables that students get:
`python labs/12-cheating_tenant/tenants.py`."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.sweep import leaf_spine

TENANTS = 4
LIAR, FACTOR, HONEST_BYTES = 3, 50, 10_000
"""Tenants have numbers from 1. The liar divides the rank of a flow above so many bytes by the factor."""
LOADS, SCALES = (0.1, 0.2, 0.2, 0.3), (0.02, 0.1, 0.1, 0.2)
"""Load of each tenant on all hosts, and the factor on web-search sizes."""
DURATION_NS = 60_000_000
TRANSPORT = {"control": "new_reno"}
LARGE_BYTES = 100_000
START = Path(__file__).parent / "start"
SCHEMES = ("fifo", "drr", "aifo", "pifo", "tree")


def _listed(tenant: int) -> simulate.Array:
    hosts = leaf_spine.LEAVES * leaf_spine.HOSTS
    flows = simulate.Poisson(
        "web_search", LOADS[tenant], hosts * leaf_spine.ACCESS.rate_bps, DURATION_NS, SCALES[tenant]
    )
    scenario = leaf_spine.scenario(simulate.Ports("fifo"), TRANSPORT, 0.1, DURATION_NS, 40 + tenant)
    return simulate.run(scenario.with_(flows=flows, end_ns=1)).flows


def flows_of_all() -> list[simulate.Flow]:
    """The flows of all tenants, with their sizes as ranks."""
    flows = [
        simulate.Flow(
            str(flow["source"]),
            str(flow["destination"]),
            int(flow["bytes"]),
            int(flow["start_ns"]),
            rank=int(flow["bytes"]),
            # its leaf in a tree: leaf 1 has the acknowledgements
            user=tenant + 1,
        )
        for tenant in range(1, TENANTS + 1)
        for flow in _listed(tenant - 1)
    ]
    return sorted(flows, key=lambda flow: flow.start_ns)


def with_a_lie(flows: Sequence[simulate.Flow]) -> list[simulate.Flow]:
    """The flows as the tenants told them."""
    lies = [flow.user == LIAR + 1 and flow.bytes > HONEST_BYTES for flow in flows]
    return [replace(flow, rank=flow.bytes // FACTOR) if lie else flow for flow, lie in zip(flows, lies, strict=True)]


def ports(scheme: str) -> simulate.Ports:
    """The ports of a scheme, with room for 80 packets."""
    if scheme == "tree":
        leaf = {"parent": 0, "queue_size": 40}
        leaves = [leaf | {"discipline": "fifo"}, *([leaf | {"discipline": "pifo"}] * TENANTS)]
        return simulate.Ports("tree", queues=4, queue_size=20, tree=[{"discipline": "drr"}, *leaves])
    if scheme == "drr":
        return simulate.Ports("drr", queues=4, queue_size=20)
    return simulate.Ports(scheme, queues=4, queue_size=20, window=20, headroom_256=26)


def run(scheme: str, flows: Sequence[simulate.Flow]) -> simulate.Result:
    """These flows, with this scheduler at all ports."""
    used = ports(scheme)
    scenario = leaf_spine.scenario(used, TRANSPORT, 0.1, DURATION_NS, 1, ranks="flow")
    return simulate.run(scenario.with_(flows=flows))


def rows(flows: Sequence[simulate.Flow], result: simulate.Result) -> list[dict[str, Any]]:
    """A row for each flow."""
    slowdown = leaf_spine.slowdowns(result)
    return [
        {
            "flow": number,
            "tenant": (flow.user or 0) - 1,
            "bytes": flow.bytes,
            "rank": flow.rank,
            "completion_us": 1e6 * float(result.flows["restricted_s"][number]),
            "slowdown": float(slowdown[number]),
        }
        for number, flow in enumerate(flows)
    ]


def means(of_flows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Mean slowdown of the large flows of the liar, of those of the others, and of all flows."""
    listed = list(of_flows)

    def mean(wanted: Iterable[Mapping[str, Any]]) -> float:
        return float(np.mean([row["slowdown"] for row in wanted]))

    large = [row for row in listed if row["bytes"] >= LARGE_BYTES]
    return {
        "its_large": mean(row for row in large if row["tenant"] == LIAR),
        "others_large": mean(row for row in large if row["tenant"] != LIAR),
        "all": mean(listed),
    }


def main() -> None:
    honest = flows_of_all()
    told = with_a_lie(honest)
    schemes = []
    for scheme in SCHEMES:
        before, after = (rows(flows, run(scheme, flows)) for flows in (honest, told))
        if scheme == "pifo":
            _write(START / "honest.csv", before)
            _write(START / "flows.csv", after)
        schemes.append(
            {"scheme": scheme}
            | {f"honest_{key}": value for key, value in means(before).items()}
            | {f"now_{key}": value for key, value in means(after).items()}
        )
    _write(START / "schemes.csv", schemes)


def _write(file: Path, listed: Sequence[Mapping[str, Any]]) -> None:
    with file.open("w", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow(listed[0])
        for row in listed:
            table.writerow([f"{value:.5g}" if isinstance(value, float) else value for value in row.values()])


if __name__ == "__main__":
    main()
