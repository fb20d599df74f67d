"""Networks from a file: their routes, what is refused, and a whole run of leaf_spine on one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mininet_topos.fat_tree import FatTree
from mininet_topos.leaf_spine import Shape
from p4sched.cli.main import run_command
from p4sched.errors import P4schedError, UsageError
from p4sched.lab import topology_file
from p4sched.lab.topology_file import DescribedFabric
from p4sched.lab.virtual.topology import describe
from p4sched.paths import rust_binary


def missing() -> str | None:
    """What this machine lacks."""
    try:
        rust_binary("p4sched-virtual")
    except P4schedError as error:
        return str(error)
    return None


def triangle() -> dict[str, Any]:
    """Three switches, each connected to both others; a host at each, two at the last one."""

    def host(number: int, switch: str, port: int) -> dict[str, Any]:
        prefix = f"10.7.{number}"
        return {
            "name": f"h{number}",
            "mac": f"02:00:00:00:07:{number:02x}",
            "address": f"{prefix}.1",
            "gateway": f"{prefix}.254",
            "gateway_mac": "02:00:00:00:00:fe",
            "switch": switch,
            "port": port,
        }

    def link(one: str, port: int, other: str, its: int) -> dict[str, Any]:
        return {"ends": [{"switch": one, "port": port}, {"switch": other, "port": its}]}

    return {
        "switches": [{"name": name, "device_id": number} for number, name in ((5, "a"), (6, "b"), (9, "c"))],
        "hosts": [host(1, "a", 1), host(2, "b", 1), host(3, "c", 1), host(4, "c", 4)],
        "links": [link("a", 2, "b", 2), link("b", 3, "c", 3), link("c", 2, "a", 3)],
    }


def written(told: Any, folder: Path) -> Path:
    path = folder / "net.json"
    path.write_text(json.dumps(told))
    return path


def read(told: Any, folder: Path) -> DescribedFabric:
    return topology_file.read(written(told, folder))


@pytest.mark.parametrize("shape", [Shape(3, 2, 2), FatTree(4)])
def test_the_ways_of_a_described_shape_are_those_of_the_shape(shape: Shape | FatTree, tmp_path: Path) -> None:
    found = read(describe(shape.structure), tmp_path)
    assert found.structure.racks == shape.structure.racks
    assert found.structure.links == shape.structure.links
    for switch in shape.switch_names():
        assert found.groups(switch) == shape.groups(switch), switch


def test_a_switch_sends_over_the_shortest_path(tmp_path: Path) -> None:
    found = read(triangle(), tmp_path)
    assert found.device_ids == {"a": 5, "b": 6, "c": 9}
    assert [(route["prefix"], route["port"]) for route in found.routes("a")] == [
        ("10.7.1.0/24", 1),
        ("10.7.2.0/24", 2),
        ("10.7.3.0/24", 3),
        ("10.7.4.0/24", 3),
    ]
    assert found.groups("a") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda net: net.pop("hosts"), "has no 'hosts'"),
        (lambda net: net["hosts"][0].pop("port"), "has no 'port'"),
        (lambda net: net["hosts"][0].update(address="10.7.1"), "is not a description of a network"),
        (lambda net: net["hosts"][0].update(address="10.7.2.9"), "prefix of 24 bits 10.7.2.0/24 is there 2 times"),
        (lambda net: net["hosts"][0].update(port=2), "port 2 of a is there 2 times"),
        (lambda net: net["hosts"][0].update(switch="x"), "there is no switch 'x'"),
        (lambda net: net["switches"][1].update(name="a"), "name a is there 2 times"),
        (lambda net: net["links"].append(net["links"][0]), "is there 2 times"),
        (lambda net: net["links"][0]["ends"][1].update(switch="a", port=7), "a link of a leads to a itself"),
        (lambda net: net["switches"].append({"name": "d", "device_id": 4}), "there is no path from d to a"),
        (lambda net: net.update(switches=3), "is not a description of a network"),
    ],
)
def test_what_is_no_network_is_named(change: Callable[[dict[str, Any]], Any], message: str, tmp_path: Path) -> None:
    net = triangle()
    change(net)
    with pytest.raises(UsageError) as refused:
        read(net, tmp_path)
    assert str(refused.value).startswith(str(tmp_path / "net.json"))
    assert message in str(refused.value)


def test_a_file_that_is_not_there_or_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        topology_file.read(tmp_path / "gone.json")
    (tmp_path / "net.json").write_text("{")
    with pytest.raises(P4schedError, match=r"net\.json: not JSON"):
        topology_file.read(tmp_path / "net.json")


def test_an_experiment_with_its_own_network_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "fdpa_fairness", "--topology", "net.json"]) == 2
    words = " ".join(capsys.readouterr().err.split())
    assert "the network of fdpa_fairness follows from its own options; p4sched run leaf_spine takes one" in words


def test_a_file_that_is_too_deeply_nested_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text("[" * 200_000)
    with pytest.raises(P4schedError, match="nested deeper than 50 levels"):
        topology_file.read(tmp_path / "net.json")


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_leaf_spine_runs_on_a_network_from_a_file(tmp_path: Path) -> None:
    path, out = written(triangle(), tmp_path), tmp_path / "out"
    words = ["run", "leaf_spine", "--virtual", "--topology", str(path), "--schemes", "fifo", "--duration", "2s"]
    assert run_command([*words, "--out", str(out)]) == 0
    found = json.loads((out / "summary.json").read_text())
    assert found["configuration"]["topology"] == "net.json"
    assert found["configuration"]["racks"] == [1, 1, 2]
    fifo = found["schemes"]["fifo"]
    # 1 * 1 + 1 * 2 + 1 * 2 pairs of hosts each way, urgent and other
    assert len(fifo["transfers"]) == 20
    assert all(transfer["rate_bps"] > 0 for transfer in fifo["transfers"])
    assert set(fifo["switches"]) == {"a", "b", "c"}
    assert (out / "figure.png").exists()


def test_a_file_takes_the_place_of_leaves_and_spines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(triangle(), tmp_path)
    assert run_command(["run", "leaf_spine", "--topology", str(path), "--leaves", "3"]) == 2
    assert "--leaves has no effect with --topology" in " ".join(capsys.readouterr().err.split())
