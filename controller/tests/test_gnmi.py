"""The ports and metrics of a running switch, as finsy's gNMI client and the parser of Prometheus see them."""

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import finsy as fy
import pytest
from finsy.gnmiclient import GNMIClientError
from lab import PATIENCE_S
from switches import RunningSwitch, start_switch
from wires import IN_PORT, OUT_PORT, Wires, wires

from mininet_topos.nodes import free_port
from p4sched.paths import ROOT, rust_binary

DASHBOARD = ROOT / "docs" / "grafana.json"
OPER_STATUS = fy.GNMIPath("interfaces/interface[name=*]/state/oper-status")
ENABLED = fy.GNMIPath("interfaces/interface[name=*]/config/enabled")

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip")


@dataclass(frozen=True)
class Running:
    """A switch with two links, and where its metrics are."""

    switch: RunningSwitch
    links: Wires
    metrics: str


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A switch without a program."""
    place = f"127.0.0.1:{free_port()}"
    with wires() as links:
        switch = start_switch("embedded", tmp_path, links.near, options=["--metrics", place])
        try:
            yield Running(switch, links, f"http://{place}/metrics")
        finally:
            switch.stop()


async def next_status(subscription: fy.GNMISubscription) -> tuple[str, str]:
    """The interface and the state in the next update."""
    update = await asyncio.wait_for(anext(subscription.updates()), PATIENCE_S)
    return update.path["name"], update.value


async def test_finsy_takes_a_port_down_and_sees_it(running: Running) -> None:
    near, other = running.links.near[IN_PORT], running.links.near[OUT_PORT]
    async with fy.GNMIClient(running.switch.address) as client:
        subscription = client.subscribe()
        subscription.on_change(OPER_STATUS)
        states = {update.path["name"]: update.value async for update in subscription.synchronize()}
        assert states == {near: "UP", other: "UP"}

        await client.set(update=[(ENABLED.set(name=near), False)])
        assert await next_status(subscription) == (near, "DOWN")
        shown = subprocess.run(["ip", "-o", "link", "show", near], check=True, capture_output=True, text=True).stdout
        assert " state DOWN " in shown
        await client.set(update=[(ENABLED.set(name=near), True)])
        assert await next_status(subscription) == (near, "UP")

        subprocess.run(["ip", "link", "set", f"{other}x", "down"], check=True)
        assert await next_status(subscription) == (other, "DOWN")
        enabled = await client.get(ENABLED.set(name=other))
        assert [update.value for update in enabled] == [True], "the far end went down"


async def test_a_session_of_finsy_knows_the_ports(running: Running) -> None:
    async with fy.Switch("s1", running.switch.address, fy.SwitchOptions(device_id=1)) as switch:
        found = {port.id: (port.name, port.up) for port in switch.ports}
    assert found == {port: (name, True) for port, name in running.links.near.items()}


async def test_a_port_that_does_not_exist_is_refused_with_those_that_do(running: Running) -> None:
    async with fy.GNMIClient(running.switch.address) as client:
        with pytest.raises(GNMIClientError, match="no interface s9-eth9; this switch has p4t"):
            await client.get(OPER_STATUS.set(name="s9-eth9"))


def test_prometheus_reads_the_metrics_and_the_dashboard_names_no_others(running: Running) -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    running.links.sender.send(bytes(12) + b"\x88\xb5" + bytes(46))
    samples: list[Any] = []
    while not any(sample.name == "p4sched_port_frames_total" and sample.value for sample in samples):
        with urlopen(running.metrics, timeout=PATIENCE_S) as answer:
            assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
            text = answer.read().decode()
        samples = [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]
    frames = {
        (sample.labels["port"], sample.labels["direction"]): sample.value
        for sample in samples
        if sample.name == "p4sched_port_frames_total"
    }
    assert set(frames) == {(str(port), way) for port in (IN_PORT, OUT_PORT) for way in ("in", "out")}
    reasons = {
        sample.labels["reason"]: sample.value for sample in samples if sample.name == "p4sched_dropped_packets_total"
    }
    assert reasons["no_program"] == frames[str(IN_PORT), "in"]

    # Without a program there are no tables.
    names = {sample.name for sample in samples} | {"p4sched_table_entries", "p4sched_table_size"}
    used = set(re.findall(r"p4sched_\w+", json.dumps(json.loads(DASHBOARD.read_text("utf-8"))["panels"])))
    assert used <= names, used - names


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere", "--metrics nowhere: give HOST:PORT"),
        ("127.0.0.1:{grpc}", "is in use, perhaps by another switch; use --metrics for another address"),
    ],
)
def test_an_address_that_cannot_be_used_ends_the_switch_with_a_sentence(
    place: str, says: str, running: Running
) -> None:
    place = place.format(grpc=running.switch.address.rpartition(":")[2])
    command = [str(rust_binary("p4sched-switch")), "--grpc-server-addr", "127.0.0.1:0", "--metrics", place]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 1
    assert says in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
