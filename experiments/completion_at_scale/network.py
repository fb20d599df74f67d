"""A data centre in virtual time: network, ports and hosts of the papers' simulations, and its flows."""

import csv
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from experiments.completion_at_scale.papers import Line
from experiments.completion_at_scale.ports import OVERHEAD_BYTES
from experiments.completion_at_scale.workloads import Workload
from p4sched import simulate
from p4sched.results.completion import Flow

FLOWS = "flows.csv"


@dataclass(frozen=True)
class Run:
    """A run for one line of a figure at one load, with the flows of one seed."""

    line: Line
    workload: Workload
    access_bps: int
    """Rate of a server's link. Links between switches have four times this rate."""
    load: float
    seed: int
    end_ns: int
    """End of the starts and of the run. Flows that are not complete then count as incomplete."""

    def scenario(self) -> dict[str, Any]:
        """Scenario for p4sched-simulate."""
        return {
            "seed": self.seed,
            "end_ns": self.end_ns,
            "topology": self.workload.network.topology(self.access_bps),
            "ports": self.line.port,
            # a port of a host is a model
            **({"hosts": self.line.port} if self.line.has_model else {}),
            "ranks": self.line.ranks,
            **({"events": self.line.events} if self.line.events else {}),
            "overhead_bytes": OVERHEAD_BYTES,
            "transports": {"hosts": self.line.hosts},
            "flows": {"file": FLOWS},
        }

    def flows(self) -> list[tuple[int, int, int, int]]:
        """Start in ns, source, destination and bytes of each flow; the same for every line."""
        return self.workload.flows(self.load, self.access_bps, self.seed, self.end_ns)

    def in_folder(self, folder: Path) -> dict[str, Any]:
        """The scenario, with a list of its flows in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / FLOWS).open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["start_ns", "source", "destination", "bytes"])
            rows.writerows(self.flows())
        return self.scenario() | {"flows": {"file": str((folder / FLOWS).absolute())}}

    async def outcome(self, folder: Path) -> list[Flow]:
        """Result of each flow. A flow is complete when the sender knows that all bytes have arrived."""
        scenario = self.in_folder(folder)
        result = await simulate.run_async(scenario, folder / "results")
        return flow_list(result)


def flow_list(result: simulate.Result) -> list[Flow]:
    """The flows of a run. A flow without its last acknowledgement is incomplete."""
    end_s = result.summary["end_ns"] / 1e9
    fields = ("bytes", "acknowledged_s", "start_ns", "retransmitted")
    rows = zip(*(result.flows[field].tolist() for field in fields), strict=True)
    return [
        Flow(size, None if isnan(took) else took, start / 1e9, again, end_s - start / 1e9 if isnan(took) else took)
        for size, took, start, again in rows
    ]
