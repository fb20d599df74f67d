"""Table entries per second over P4Runtime, and the memory of an entry."""

import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from mininet_topos.nodes import answers, free_port
from p4sched.bench.part import SWITCH_DIR, Outcome, Target, resident_bytes, running, rust_bench
from p4sched.errors import P4schedError
from p4sched.p4rt.compile import compile_program
from p4sched.p4rt.program import Program
from p4sched.paths import rust_binary

ROUNDS = 3
SOURCE = SWITCH_DIR / "p4runtime/benches/large.p4"
READY_S = 15.0


@dataclass(frozen=True)
class Load:
    """Entries for one table."""

    label: str
    table: str
    entries: int
    batch: int


SINGLE = Load("one entry a request", "exact_flows", 20_000, 1)
BATCHES = Load("1000 entries a request", "exact_flows", 100_000, 1000)
FULL = (
    Load("1 million exact", "exact_flows", 1_000_000, 1000),
    Load("500,000 prefixes", "prefixes", 500_000, 1000),
    Load("10,000 with mask and range", "classes", 10_000, 1000),
)
"""Tables that are filled once, in our switch."""


def _commands(address: str) -> dict[str, list[str]]:
    """The installed switches, each with its command line."""
    ours = [str(rust_binary("p4sched-switch")), "--no-p4", "--device-id", "1"]
    found = {"p4sched": [*ours, "--grpc-server-addr", address]}
    if bmv2 := shutil.which("simple_switch_grpc"):
        found["BMv2"] = [bmv2, "--no-p4", "--device-id", "1", "--log-level", "off", "--", "--grpc-server-addr", address]
    return found


def _fill(switch: str, program: Program, load: Load, folder: Path) -> dict[str, Any]:
    """Fills the table of a fresh switch: seconds, and bytes of memory for each entry."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    with running(_commands(address)[switch], folder / f"{switch}.log") as process:
        until = time.monotonic() + READY_S
        while not answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise P4schedError(f"{switch} does not start: {(folder / f'{switch}.log').read_text()}")
            time.sleep(0.05)
        before = resident_bytes(process.pid)
        what = (str(program.json), str(program.p4info), load.table, str(load.entries), str(load.batch))
        found: dict[str, Any] = rust_bench("writes", address, *what)
        return {**found, "bytes_per_entry": (resident_bytes(process.pid) - before) / load.entries}


def measure() -> Outcome:
    """Measures all switches in turn, ROUNDS times; takes the medians."""
    table = Table(title="Table entries over P4Runtime", title_justify="left")
    for column in ("", "switch", "entries/s", "longest request, ms", "memory, bytes/entry"):
        table.add_column(column, justify="left" if column in ("", "switch") else "right")
    figures: dict[str, Any] = {}

    def row(load: Load, switch: str, rounds: Sequence[dict[str, Any]]) -> None:
        rate = statistics.median(found["entries"] / found["seconds"] for found in rounds)
        longest = statistics.median(found["longest_s"] for found in rounds)
        memory = statistics.median(found["bytes_per_entry"] for found in rounds)
        figures.setdefault(load.label, {})[switch] = {"entries_per_s": rate, "longest_s": longest, "rounds": rounds}
        table.add_row(load.label, switch, f"{rate:,.0f}", f"{longest * 1e3:.1f}", f"{memory:,.0f}")

    with TemporaryDirectory() as name:
        folder = Path(name)
        program = compile_program(SOURCE, folder)
        switches = list(_commands(""))
        for load in (SINGLE, BATCHES):
            rounds = [{switch: _fill(switch, program, load, folder) for switch in switches} for _ in range(ROUNDS)]
            for switch in switches:
                row(load, switch, [found[switch] for found in rounds])
        for load in FULL:
            row(load, "p4sched", [_fill("p4sched", program, load, folder)])
    return Outcome(table, figures, _targets(figures))


def _targets(figures: dict[str, Any]) -> list[Target]:
    def ratio(load: Load) -> float:
        found = figures[load.label]
        return float(found["p4sched"]["entries_per_s"] / found["BMv2"]["entries_per_s"])

    if "BMv2" not in figures[SINGLE.label]:
        return []
    return [Target("BMv2's rate, single", ratio(SINGLE), 2.0), Target("BMv2's rate, batches", ratio(BATCHES), 1.0)]
