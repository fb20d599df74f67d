"""The machine below the emulation: CPU left over, and frames that its own queues lost."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MachineReading:
    """Counters since boot."""

    busy_ticks: int
    idle_ticks: int
    backlog_dropped: int
    """Frames dropped between two virtual interfaces because a CPU's receive backlog was full."""

    def idle_share_since(self, earlier: "MachineReading") -> float:
        """Share of all CPUs that was idle between two readings, 0 to 1."""
        idle = self.idle_ticks - earlier.idle_ticks
        total = idle + self.busy_ticks - earlier.busy_ticks
        return idle / total if total > 0 else 1.0


def parse(stat: str, softnet: str) -> MachineReading:
    """From the text of /proc/stat and /proc/net/softnet_stat (hexadecimal, a line for each CPU)."""
    # user nice system idle iowait irq softirq steal; guest time is in user already.
    ticks = [int(word) for word in stat.splitlines()[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    # Second column: frames that found the backlog full.
    dropped = sum(int(line.split()[1], 16) for line in softnet.splitlines())
    return MachineReading(sum(ticks) - idle, idle, dropped)


def read_machine() -> MachineReading:
    """Now."""
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
