"""The machine that runs the emulation: its idle CPU time, and frames that its queues lost."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MachineUse:
    """Use of the machine between two readings."""

    idle_share: float
    """Share of all CPUs that was idle, 0 to 1."""
    stolen_share: float
    """Share of all CPUs that a virtual machine wanted and its hypervisor gave to others (proc_stat(5)), 0 to 1."""
    backlog_dropped: int
    """Frames dropped between two virtual interfaces because a CPU's receive backlog was full."""


@dataclass(frozen=True)
class MachineReading:
    """Counters since boot."""

    busy_ticks: int
    """Busy ticks, including stolen ticks."""
    idle_ticks: int
    stolen_ticks: int
    backlog_dropped: int

    def since(self, earlier: "MachineReading") -> MachineUse:
        """Use since an earlier reading."""
        idle = self.idle_ticks - earlier.idle_ticks
        total = idle + self.busy_ticks - earlier.busy_ticks
        stolen = self.stolen_ticks - earlier.stolen_ticks
        return MachineUse(
            idle / total if total > 0 else 1.0,
            stolen / total if total > 0 else 0.0,
            self.backlog_dropped - earlier.backlog_dropped,
        )


def parse(stat: str, softnet: str) -> MachineReading:
    """Parses /proc/stat and /proc/net/softnet_stat (hexadecimal, a line for each CPU)."""
    # user nice system idle iowait irq softirq steal; user includes guest time.
    ticks = [int(word) for word in stat.splitlines()[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    # Second column: frames that found the backlog full.
    dropped = sum(int(line.split()[1], 16) for line in softnet.splitlines())
    return MachineReading(sum(ticks) - idle, idle, ticks[7], dropped)


def read_machine() -> MachineReading:
    """Reads the counters."""
    return parse(Path("/proc/stat").read_text(), Path("/proc/net/softnet_stat").read_text())


def description() -> dict[str, str | int]:
    """Kernel, processor and memory, for the record of a run."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    models = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return {
        "kernel": platform.release(),
        "processor": models[0] if models else platform.machine(),
        "cpus": os.cpu_count() or 0,
    }
