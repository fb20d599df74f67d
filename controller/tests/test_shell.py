"""p4runtime-shell on a switch: it reads, and writes only if it is asked to and nobody else does."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import PATIENCE_S, not_built
from switches import RunningSwitch

from mininet_topos.nodes import free_port
from p4sched.paths import ROOT, SHELL_PYTHON, rust_binary

pytestmark = pytest.mark.skipif(not SHELL_PYTHON.is_file(), reason="'make setup' installs p4runtime-shell")

EVERYTHING = ROOT / "switch" / "device" / "tests" / "programs" / "everything.json"
WRITES = """
te = table_entry["EverythingIngress.aging"](action="NoAction")
te.match["hdr.ethernet.src_addr"] = "{address}"
te.insert(); print("written")
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningSwitch]:
    """A switch with a program that no controller has set."""
    unbuilt = not_built("p4sched-switch")
    if unbuilt is not None:
        pytest.skip(unbuilt)
    port = free_port()
    command = [str(rust_binary("p4sched-switch")), "--grpc-server-addr", f"127.0.0.1:{port}", str(EVERYTHING)]
    command += ["--p4info", str(EVERYTHING.with_suffix(".p4info.txtpb"))]
    switch = RunningSwitch("embedded", command, port, 0, tmp_path / "switch.log")
    switch.wait_until_it_answers()
    yield switch
    switch.stop()


def session(switch: RunningSwitch, address: int, *options: str) -> str:
    """What p4runtime-shell prints while it adds an entry for this station."""
    start = [sys.executable, "-c", "from p4sched.cli.main import main; main()", "shell", switch.address, *options]
    script = WRITES.format(address=address)
    done = subprocess.run(start, input=script, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.stdout + done.stderr


def test_a_shell_does_not_write_even_where_nobody_else_does(running: RunningSwitch) -> None:
    said = session(running, 1)
    assert "you only have read access" in said
    assert ">>> written\n" not in said


def test_a_shell_writes_if_it_is_asked_to(running: RunningSwitch) -> None:
    assert ">>> written\n" in session(running, 1, "--primary")
    assert ">>> written\n" in session(running, 2, "--election-id", "0,20")
    said = session(running, 3, "--primary")
    assert ">>> written\n" in said, "an election id that is as high as the highest one seen"


def test_two_ways_to_write_exclude_each_other(running: RunningSwitch) -> None:
    assert "--primary and --election-id exclude each other" in session(running, 1, "--primary", "--election-id", "0,9")
