"""`p4sched calibrate`: the present capacity of this machine, and the speed of each experiment on it."""

from rich.console import Console
from rich.table import Table

from p4sched.lab import experiment, time_scale
from p4sched.lab.calibrate import Capacity, capacity
from p4sched.results.tables import print_table


def calibrate() -> None:
    """Measure how much traffic this machine can carry now. Takes a few seconds."""
    console = Console()
    with console.status("measuring"):
        found = capacity()
    print_table(console, table(found))
    print_table(console, paces(found))


def table(machine: Capacity) -> Table:
    """Measured capacity."""
    rows = Table("this machine, now", "", title_justify="left", show_header=False)
    for name, value in (
        ("CPUs", f"{machine.cpus}, others use {machine.others_share:.0%} of them"),
        (
            "the switch forwards",
            f"{machine.full_bits_per_s / 1e6:.0f} Mbit/s, {machine.full_frames_per_s:.0f} frames/s",
        ),
        (
            "CPU time a frame",
            f"{machine.frame_cpu_ns / 1e3:.1f} µs, of it the switch {_us(machine.switch_frame_cpu_ns)}",
        ),
        ("a sleeping thread wakes late by", f"{_us(machine.wakeup_normal_p99_ns)} (99th percentile)"),
        ("with the switch's priority", f"{_us(machine.wakeup_real_time_p99_ns)}"),
        ("frames leave late by", f"{_us(machine.lateness_p99_ns)}, 1 in 1000 by {_us(machine.lateness_p999_ns)}"),
        ("the hypervisor takes", f"{machine.stolen_share:.1%} of the CPUs"),
    ):
        rows.add_row(name, value)
    return rows


def paces(machine: Capacity) -> Table:
    """Time scale, rate and RTT of each experiment at this capacity."""
    rows = Table("experiment", "time scale", "rate", "RTT", "CPU", "fits now")
    for name in experiment.names():
        base = experiment.load(name).base
        if base is None:
            continue
        scale = time_scale.fastest(base, machine)
        goes = base.at(scale)
        fits = "no" if goes.beyond(machine) else "yes"
        rows.add_row(name, str(scale), str(goes.rate), str(goes.rtt), f"{goes.cpu_share(machine):.0%}", fits)
    return rows


def _us(time_ns: float) -> str:
    return f"{time_ns / 1e3:.0f} µs" if time_ns < 1e6 else f"{time_ns / 1e6:.1f} ms"
