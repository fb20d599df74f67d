"""What the tests of the lab for real share: what they need, and how they look at the machine."""

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TypeVar

import pytest

from p4sched.cli.main import run_command
from p4sched.errors import P4schedError
from p4sched.paths import ROOT, rust_binary

P4SCHED = Path(sys.executable).parent / "p4sched"
PATIENCE_S = 300.0
"""No test is about how fast the machine is. What has not come by then never comes."""
TestT = TypeVar("TestT", bound=Callable[..., object])


def run_here(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of p4sched in this process, which has loaded most of it already."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_command(words)
    out.seek(0)
    return subprocess.CompletedProcess(words, code, out.read(), err.getvalue())


def not_built(*programs: str) -> str | None:
    """Which of these programs of `switch/` this machine lacks, in a sentence."""
    try:
        for program in programs:
            rust_binary(program)
    except P4schedError as error:
        return str(error)
    return None


def missing(switch: str) -> str | None:
    """What this machine lacks to run the lab on this switch."""
    if os.geteuid() != 0:
        return "needs root"
    for program in ("mnexec", "iperf3", "ethtool"):
        if shutil.which(program) is None:
            return f"needs {program}"
    unbuilt = not_built("p4sched-p4c", *(["p4sched-switch"] if switch == "embedded" else []))
    if unbuilt is not None:
        return unbuilt
    if switch == "bmv2" and shutil.which("simple_switch_grpc") is None:
        return "BMv2 is not installed"
    return None


MACHINE = pytest.mark.machine
"""Takes what the machine has once: names of interfaces, the lock of a run, a fixed port, all CPUs."""
IN_VIRTUAL_TIME = pytest.mark.skipif(
    not_built("p4sched-virtual", "p4sched-p4c") is not None, reason=str(not_built("p4sched-virtual", "p4sched-p4c"))
)


def _on(switch: str) -> list[pytest.MarkDecorator]:
    lacking = missing(switch)
    return [pytest.mark.skipif(lacking is not None, reason=str(lacking)), MACHINE]


EMBEDDED, BMV2 = (pytest.param(switch, marks=_on(switch)) for switch in ("embedded", "bmv2"))


def on_embedded(test: TestT) -> TestT:
    """Marks a test of the lab on the embedded switch."""
    for mark in _on("embedded"):
        test = mark(test)
    return test


def living(what: str) -> list[int]:
    """Processes, not ended ones, whose command line has this word."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and what.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def in_plain_mininet(topology: str) -> str:
    """What `mn` says of a topology's pingall: "incast,3" is topology incast of mininet-topos/incast.py."""
    # `mn` kills processes by name when something fails: it gets process and mount namespaces of its own.
    isolated = ["unshare", "--pid", "--fork", "--mount-proc", "--mount"]
    name = topology.partition(",")[0]
    file = ROOT / "mininet-topos" / f"{name}.py"
    words = ["mn", "--custom", str(file), "--topo", topology, "--test", "pingall"]
    # It also removes files in /tmp, so it gets one of its own; a repository below /tmp stays where it is.
    private = (
        'mount --bind "$0" /mnt && mount -t tmpfs tmpfs /tmp && mkdir -p "$0" && mount --bind /mnt "$0" && exec "$@"'
    )
    shell = ["sh", "-c", private, str(ROOT), *words]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([*isolated, *shell], capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr


@contextmanager
def busy_machine() -> Iterator[None]:
    """A process that computes on every CPU."""
    words = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(words) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
