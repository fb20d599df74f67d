"""A data centre in virtual time: network, ports and hosts of the papers' simulations, and the flows that cross it."""

import asyncio
import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.completion_at_scale.papers import Line
from experiments.completion_at_scale.ports import OVERHEAD_BYTES
from experiments.completion_at_scale.workloads import LEAVES, SERVERS, Workload
from p4sched.errors import P4schedError
from p4sched.paths import rust_binary
from p4sched.results.completion import Flow

SPINES = 4
DELAY_NS = 20
"""Of a link, each way."""
SCENARIO, FLOWS = "scenario.json", "flows.csv"


@dataclass(frozen=True)
class Run:
    """One line of a figure under one load, with the flows of one seed."""

    line: Line
    workload: Workload
    access_bps: int
    """Rate of a server's link; the links between leaves and spines have four times as much."""
    load: float
    seed: int
    end_ns: int
    """Flows start until then, and what is not done then counts as not done."""

    def scenario(self) -> dict[str, Any]:
        """For p4sched-simulate."""
        shape = {
            "leaves": LEAVES,
            "spines": SPINES,
            "hosts": SERVERS,
            "access": {"rate_bps": self.access_bps, "delay_ns": DELAY_NS},
            "fabric": {"rate_bps": 4 * self.access_bps, "delay_ns": DELAY_NS},
        }
        return {
            "seed": self.seed,
            "end_ns": self.end_ns,
            "topology": {"leaf_spine": shape},
            "ports": self.line.port,
            "hosts": self.line.port,
            "ranks": self.line.ranks,
            "overhead_bytes": OVERHEAD_BYTES,
            "transports": {"hosts": self.line.hosts},
            "flows": {"file": FLOWS},
        }

    def flows(self) -> list[tuple[int, int, int, int]]:
        """Start in ns, source, destination and bytes of each flow. The same for every line."""
        return self.workload.flows(self.load, self.access_bps, self.seed, self.end_ns)

    async def outcome(self, folder: Path) -> list[Flow]:
        """What became of each flow. The completion time ends when the sender knows that all bytes have arrived."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / FLOWS).open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["start_ns", "source", "destination", "bytes"])
            rows.writerows(self.flows())
        (folder / SCENARIO).write_text(json.dumps(self.scenario(), indent=2) + "\n")
        done = folder / "results"
        words = [str(rust_binary("p4sched-simulate")), str(folder / SCENARIO), "--output", str(done)]
        process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
        try:
            _, told = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode != 0:
            reason = told.decode().strip().splitlines()
            raise P4schedError(reason[-1] if reason else f"p4sched-simulate ended with {process.returncode}")
        return read(done / FLOWS)


def read(path: Path) -> list[Flow]:
    """The flows of a run, as p4sched-simulate writes them."""
    with path.open(newline="") as file:
        return [_flow(row) for row in csv.DictReader(file)]


def _flow(row: Mapping[str, str]) -> Flow:
    start_ns, end_ns = int(row["start_ns"]), row["acknowledged_ns"]
    completion_s = (int(end_ns) - start_ns) / 1e9 if end_ns else None
    return Flow(int(row["bytes"]), completion_s, start_ns / 1e9, int(row["retransmitted"]))
