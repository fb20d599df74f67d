"""Types and functions that the parts of `make bench` share."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from p4sched.errors import P4schedError
from p4sched.paths import ROOT

SWITCH_DIR = ROOT / "switch"


@dataclass(frozen=True)
class Target:
    """A measured figure and its goal."""

    name: str
    value: float
    """Measured value, in the unit of `goal`; mostly a ratio."""
    goal: float
    at_most: bool = False
    """True if less is better."""

    @property
    def met(self) -> bool:
        """True if this run reached the goal."""
        return self.value <= self.goal if self.at_most else self.value >= self.goal


@dataclass(frozen=True)
class Outcome:
    table: Table
    figures: dict[str, Any]
    """Figures, as in build/bench/PART.json."""
    targets: Sequence[Target] = ()


LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""The switch's own setting (switch/switchd/src/huge_pages.rs)."""


def rust_bench(name: str, *arguments: str) -> Any:
    """Runs a bench of the workspace in switch/, which prints JSON. Raises P4schedError if it fails."""
    bench = ["--manifest-path", str(SWITCH_DIR / "Cargo.toml"), "--locked", "--workspace", "--bench", name]
    command = ["cargo", "bench", "--quiet", *bench, "--", *arguments]
    found = subprocess.run(command, stdout=subprocess.PIPE, env={**os.environ, **LARGE_PAGES}, check=False)
    if found.returncode != 0:
        raise P4schedError(f"the bench '{name}' failed with status {found.returncode}")
    return json.loads(found.stdout)


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process until the block ends. The kernel kills it if this process dies first."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command], stdout=out, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def resident_bytes(pid: int) -> int:
    """Memory of a process, bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
