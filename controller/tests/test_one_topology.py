"""p4sched-simulate and the lab read the descriptions in mininet-topos/shapes/ alike: hosts, switches, ports, links."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from p4sched import simulate
from p4sched.errors import P4schedError
from p4sched.lab.virtual.topology import BY_NAME
from p4sched.paths import rust_binary

NARROW, WIDE = simulate.Link.of("100mbit", "10us"), simulate.Link.of("400mbit", "5us")
MS = 1_000_000
NETWORKS: dict[str, tuple[simulate.Topology, tuple[int, ...], dict[str, simulate.Link]]] = {
    "dumbbell": (simulate.Dumbbell(5, WIDE, NARROW), (5, 5), {"server": NARROW}),
    "incast": (simulate.Incast(7, WIDE, NARROW), (7,), {"receiver": NARROW}),
    "leaf_spine": (simulate.LeafSpine(3, 2, 4, NARROW, WIDE), (3, 2, 4), {}),
    "fat_tree": (simulate.FatTree(4, NARROW, WIDE), (4,), {}),
}
"""A shape, the numbers of the same network in mininet-topos/, and hosts whose links are not as those of the others."""


def missing() -> str | None:
    """What this machine lacks."""
    try:
        rust_binary(simulate.BINARY)
        rust_binary("p4sched-p4c")
    except P4schedError as error:
        return str(error)
    return None


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("name", NETWORKS)
def test_a_shape_and_the_file_of_the_lab_give_the_same_results(name: str, tmp_path: Path) -> None:
    shape, numbers, others = NETWORKS[name]
    described = BY_NAME[name](*numbers)
    file = tmp_path / "network.json"
    file.write_text(json.dumps(described))
    access = WIDE if others else NARROW
    hosts = [host["name"] for host in described["hosts"]]
    scenario = simulate.Scenario(
        topology=shape,
        ports=simulate.Ports("packs", queues=2, queue_size=8, window=8),
        flows=simulate.Poisson("web_search", 0.5, NARROW.rate_bps * len(hosts), 100 * MS, scale=0.05),
        end_ns=200 * MS,
        ranks="remaining",
    )
    of_lab = replace(scenario, topology=simulate.LabFile(file, access, others, WIDE if described["links"] else None))
    for programs in (False, True):
        ours, theirs = (simulate.run(each, programs=programs).summary for each in (scenario, of_lab))
        for summary in (ours, theirs):
            # the file has the links of all hosts first
            summary["ports"].sort(key=lambda port: (port["node"], port["port"] or 0))
        assert ours == theirs
        assert ours["flows"]["completed"] > 10


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_host_on_another_port_is_seen(tmp_path: Path) -> None:
    described = BY_NAME["dumbbell"](2, 0)
    described["hosts"][0]["port"], described["hosts"][1]["port"] = 2, 1
    file = tmp_path / "network.json"
    file.write_text(json.dumps(described))
    flows = [simulate.Flow("u1", "server", 10_000)]
    scenario = simulate.Scenario(simulate.Dumbbell(2, WIDE, NARROW), simulate.Ports("fifo"), flows, end_ns=100 * MS)
    of_lab = replace(scenario, topology=simulate.LabFile(file, WIDE, {"server": NARROW}))
    assert simulate.run(scenario).summary["ports"] != simulate.run(of_lab).summary["ports"]
