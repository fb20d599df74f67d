"""`p4sched topology`: files for containerlab and Kathará. Here namespaces run the scripts of the nodes."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from lab import MACHINE, missing, run_here

from mininet_topos.leaf_spine import Shape
from p4sched.lab.containers import Containers, Engine
from p4sched.lab.topology_file import described
from p4sched.lab.virtual.topology import BY_NAME, describe
from p4sched.paths import ROOT

LABEL = f"p4c{os.getpid() % 10000}-"
"""Begins the names of this test's namespaces."""
EACH = pytest.mark.parametrize("engine", list(Engine))


def network(engine: Engine, name: str, *numbers: int) -> Containers:
    return Containers(described(Path(name), BY_NAME[name](*numbers)), name, engine)


def kathara_links(text: str) -> dict[str, list[tuple[str, str]]]:
    """Nodes and interfaces of each collision domain of a lab.conf."""
    links: dict[str, list[tuple[str, str]]] = {}
    for node, number, domain in re.findall(r'^(\w+)\[(\d+)\]="(\w+)"$', text, re.MULTILINE):
        links.setdefault(domain, []).append((node, f"eth{number}"))
    return links


@EACH
def test_every_link_of_the_topology_is_in_the_file(engine: Engine, tmp_path: Path) -> None:
    made = network(engine, "fat_tree", 4)
    made.write(tmp_path)
    if engine is Engine.CONTAINERLAB:
        content = yaml.safe_load((tmp_path / "fat_tree.clab.yml").read_text())["topology"]
        nodes = set(content["nodes"])
        links = [tuple(tuple(end.split(":")) for end in link["endpoints"]) for link in content["links"]]
    else:
        text = (tmp_path / "lab.conf").read_text()
        nodes = set(re.findall(r"^(\w+)\[image\]", text, re.MULTILINE))
        links = [tuple(ends) for ends in kathara_links(text).values()]
    structure = made.fabric.structure
    assert nodes == {*structure.switch_names(), *(station.name for station in structure.stations())}
    assert sorted(links) == sorted(made.links())
    # 16 hosts, and 4 k links between the 20 switches with k = 4 ports
    assert len(links) == 16 + 32
    first = engine.first_interface
    for switch in structure.switch_names():
        numbers = sorted(int(face[3:]) for link in links for node, face in link if node == switch)
        assert numbers == list(range(first, first + 4))


def test_the_files_of_a_node_are_there(tmp_path: Path) -> None:
    network(Engine.CONTAINERLAB, "dumbbell", 2).write(tmp_path)
    content = yaml.safe_load((tmp_path / "dumbbell.clab.yml").read_text())
    for node in content["topology"]["nodes"].values():
        for bind in node["binds"]:
            assert (tmp_path / bind.split(":")[0]).is_file()


@pytest.fixture
def namespaces() -> Iterator[None]:
    """Removes the namespaces of this test, and what runs in them."""
    yield
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split()
    for name in (each for each in listed if each.startswith(LABEL)):
        pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False).stdout
        for pid in pids.split():
            os.kill(int(pid), signal.SIGKILL)
        subprocess.run(["ip", "netns", "delete", name], check=True)


def inside(node: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in the namespace of a node, with the programs of this environment."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["ip", "netns", "exec", LABEL + node, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


@MACHINE
@pytest.mark.skipif(missing("embedded") is not None, reason=str(missing("embedded")))
@pytest.mark.usefixtures("namespaces")
@EACH
def test_hosts_reach_each_other_through_switches_that_the_scripts_start(engine: Engine, tmp_path: Path) -> None:
    made = Containers(described(Path("t"), describe(Shape(2, 2, 1).structure)), "t", engine)
    made.write(tmp_path)
    for node in made.nodes():
        subprocess.run(["ip", "netns", "add", LABEL + node], check=True)
        inside(node, "ip", "link", "set", "lo", "up")
    for (one, here), (other, there) in made.links():
        peer = ["peer", "name", there, "netns", LABEL + other]
        ran = inside(one, "ip", "link", "add", here, "type", "veth", *peer)
        assert ran.returncode == 0, ran.stderr
    for node in made.nodes():
        script = (tmp_path / f"{node}.startup").read_text().replace("/tmp/", f"{tmp_path}/")
        ran = inside(node, "sh", "-e", "-c", script.replace("</routes.json", f"<{tmp_path}/{node}/routes.json"))
        assert ran.returncode == 0, ran.stderr
    ran = inside("h1", "ping", "-c", "2", "-W", "30", "10.2.1.1")
    assert "2 received" in ran.stdout, ran.stdout + ran.stderr


def test_without_an_engine_the_file_is_that_of_virtual_time() -> None:
    ran = run_here("topology", "leaf_spine", "2", "2", "1")
    assert ran.returncode == 0
    assert json.loads(ran.stdout) == BY_NAME["leaf_spine"](2, 2, 1)


def test_a_file_of_its_own_becomes_containers(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(run_here("topology", "incast", "3").stdout)
    out = tmp_path / "out"
    ran = run_here("topology", str(tmp_path / "mine.json"), "--kathara", "--out", str(out), "--program", "aifo")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"{out}: 5 nodes; start them with 'cd {out} && kathara lstart'\n"
    assert json.loads((out / "s1" / "routes.json").read_text())["program"] == "aifo"


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("dumbell", "no topology 'dumbell'; did you mean 'dumbbell'?"),
        ("gone.json", "gone.json: there is no such file"),
        ("dumbbell 1 2 3", "dumbbell: too many numbers: 1 2 3"),
        ("fat_tree 3", "fat_tree: 3 ports a switch"),
        ("dumbbell --kathara --containerlab", "--containerlab and --kathara are two engines"),
        ("dumbbell --kathara --program fif", "no program 'fif'; did you mean 'fifo'?"),
        ("dumbbell --kathara --image a;b", "--image 'a;b' is not the name of an image"),
        (f"dumbbell --kathara --out {ROOT}/Makefile", "is not a folder"),
    ],
)
def test_wrong_usage_is_one_sentence(words: str, wrong: str) -> None:
    ran = run_here("topology", *words.split())
    assert ran.returncode == 2
    assert wrong in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
