"""Present capacity of this machine: load through the switch, wake-up latency of threads, time of the hypervisor.

The measurement takes some seconds. TCP goes from one host through the switch to another, first at full speed, then at
a share of this speed through a shaped link. CPU time per frame gives the share of the CPUs that an experiment takes at
its packet rate. The lateness of the shaped frames gives the round-trip times that the machine can emulate.
"""

import asyncio
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median_low

from mininet_topos.nodes import data_plane_cpu
from p4sched.lab.emulated.iperf3 import Iperf3Traffic
from p4sched.lab.emulated.network import Dumbbell, dumbbell
from p4sched.lab.errors import LabError
from p4sched.lab.ledger import Ledger
from p4sched.lab.machine import MachineUse, read_machine
from p4sched.lab.processes import cpu_seconds
from p4sched.lab.programming import port_settings, program_network
from p4sched.lab.run import clean_run
from p4sched.lab.schemes import Link
from p4sched.lab.temporary import run_folder
from p4sched.lab.traffic import IPERF3, transfers
from p4sched.p4rt.traffic_manager import Fidelity, TrafficManager
from p4sched.scheme import Setup
from p4sched.schemes import FIFO
from p4sched.units import Duration, Rate

FULL_SPEED = Link(Rate.parse("40gbit"), Duration.parse("1ms"))
"""A rate that the switch cannot reach, so its CPU is the bottleneck."""
PACED_SHARE = 0.2
"""Share of the maximum rate. The switch has work at this rate, and can be on time."""
PACED_RTT = Duration.parse("5ms")
"""An RTT so short that the switch polls its ports at its highest rate: the most expensive case."""
SLOWEST_PACED = Rate.parse("10mbit")
"""Lower limit of the paced load, for a machine that is so busy that hardly a frame passes at full speed."""
CONNECTIONS = 8
IDLE_S, START_S, FULL_S, SETTLE_S, PACED_S = 0.5, 0.4, 0.6, 0.3, 0.44
SPARE_S = 30
"""Additional time of the traffic, because a busy machine is slower. The traffic is stopped after the last window."""
PACED_WINDOWS = 5
"""Number of windows. A single stall of 20 ms makes 1 in 100 frames of two seconds late, but falls into one window. So
the median over the windows is not affected by it."""
SLEEP_S = 0.001
REAL_TIME_PRIORITY = 2
"""Priority of the switch's data plane."""


@dataclass(frozen=True)
class Capacity:
    """Capacity of a machine."""

    cpus: int
    full_frames_per_s: float
    """Largest rate of frames that the switch forwards between two hosts, with acknowledgements."""
    full_bits_per_s: float
    frame_cpu_ns: float
    """CPU time for a frame in the switch and in the TCP of the hosts, at the paced load."""
    switch_frame_cpu_ns: float
    """The part of the data plane in `frame_cpu_ns`."""
    others_share: float
    """Share of all CPUs that is busy without traffic."""
    stolen_share: float
    """Share of all CPUs that the hypervisor takes for other machines during traffic."""
    wakeup_real_time_p99_ns: int
    """Wake-up latency of a thread with the switch's priority, 99th percentile."""
    wakeup_normal_p99_ns: int
    lateness_p99_ns: int
    """Lateness of frames at the paced load, 99th percentile; the median of the windows."""
    lateness_p999_ns: int
    """The same, 99.9th percentile."""


@dataclass(frozen=True)
class Window:
    """Reports of the switch and the machine for one period."""

    switch: Fidelity
    machine: MachineUse
    bits: float
    """Sent on the bottleneck."""
    cpu_s: float
    """CPU time of the traffic processes."""

    @property
    def seconds(self) -> float:
        """Length of the period."""
        return self.switch.measured_ns / 1e9


@cache
def capacity() -> Capacity:
    """Measures this machine, once per process. Raises P4schedError like a run of an experiment."""
    with (
        run_folder() as folder,
        clean_run("the calibration of p4sched", programs=[IPERF3]) as ledger,
    ):
        before = read_machine()
        real_time, normal = wakeup_latencies(IDLE_S)
        others = read_machine().since(before)
        with dumbbell(ledger, 1, "embedded", folder, hosts=1) as network:
            full, paced = asyncio.run(_through_the_switch(network, ledger, folder))
    return from_windows(others, real_time, normal, full, paced)


def from_windows(
    others: MachineUse, real_time: Sequence[int], normal: Sequence[int], full: Window, paced: Sequence[Window]
) -> Capacity:
    """Capacity from the measured parts; `paced` holds consecutive windows. Raises LabError if no traffic passed the
    switch."""
    seconds, departures = sum(window.seconds for window in paced), sum(window.switch.departures for window in paced)
    if not full.switch.departures or not departures:
        raise LabError("no frame left the switch: this machine cannot be measured")
    idle_share = sum(window.machine.idle_share * window.seconds for window in paced) / seconds
    cpus = os.cpu_count() or 1
    others_share = 1 - others.idle_share
    # Kernel work outside processes appears only as time that is not idle. If others leave no idle time, only the
    # time of the processes is known.
    busy_s = (1 - idle_share - others_share) * cpus * seconds
    return Capacity(
        cpus=cpus,
        full_frames_per_s=full.switch.departures / full.seconds,
        full_bits_per_s=full.bits / full.seconds,
        frame_cpu_ns=max(busy_s, sum(window.cpu_s for window in paced)) * 1e9 / departures,
        switch_frame_cpu_ns=sum(window.switch.cpu_ns or 0 for window in paced) / departures,
        others_share=others_share,
        stolen_share=sum(window.machine.stolen_share * window.seconds for window in paced) / seconds,
        wakeup_real_time_p99_ns=percentile(real_time, 0.99),
        wakeup_normal_p99_ns=percentile(normal, 0.99),
        lateness_p99_ns=median_low(window.switch.lateness_p99_ns or 0 for window in paced),
        lateness_p999_ns=median_low(window.switch.lateness_p999_ns or 0 for window in paced),
    )


async def _through_the_switch(network: Dumbbell, ledger: Ledger, folder: Path) -> tuple[Window, list[Window]]:
    planned = transfers(network.seats, [CONNECTIONS])
    weights = {seat.user: 1.0 for seat in network.seats}
    async with program_network(network, _fifo(FULL_SPEED), FULL_SPEED, weights) as testbed:
        manager = testbed.traffic_manager
        async with Iperf3Traffic(network, ledger, folder / "iperf3") as traffic:
            await traffic.serve(planned)
            await traffic.send(planned, START_S + FULL_S + SETTLE_S + PACED_WINDOWS * PACED_S + SPARE_S)
            await asyncio.sleep(START_S)
            full = await _observed(manager, network.bottleneck_port, FULL_S, ledger)
            link = paced_link(full.bits / full.seconds)
            await manager.set_ports(port_settings(network, _fifo(link), link))
            await asyncio.sleep(SETTLE_S)
            paced = [await _observed(manager, network.bottleneck_port, PACED_S, ledger) for _ in range(PACED_WINDOWS)]
            traffic.check()
    return full, paced


def paced_link(full_bits_per_s: float) -> Link:
    """The shaped link, for what the switch forwarded at full speed."""
    return Link(max(round(PACED_SHARE * full_bits_per_s), SLOWEST_PACED), PACED_RTT)


def _fifo(link: Link) -> Setup:
    return replace(FIFO.default_setup(), room=link.bdp_packets)


async def _observed(manager: TrafficManager, port: int, seconds: float, ledger: Ledger) -> Window:
    before, sent, cpu_s = read_machine(), await _sent_bits(manager, port), cpu_seconds(ledger.processes)
    await manager.fidelity(reset=True)
    await asyncio.sleep(seconds)
    switch = await manager.fidelity()
    assert switch is not None, "the embedded switch reports its fidelity"
    used = cpu_seconds(ledger.processes) - cpu_s
    return Window(switch, read_machine().since(before), await _sent_bits(manager, port) - sent, used)


async def _sent_bits(manager: TrafficManager, port: int) -> float:
    stats = await manager.stats([port])
    assert stats is not None, "the embedded switch counts"
    return stats[port].tx_bytes * 8


def wakeup_latencies(seconds: float) -> tuple[list[int], list[int]]:
    """Wake-up latencies of two sleeping threads, in ns: a real-time one on the data plane's CPU, and a normal one
    anywhere."""
    found: dict[bool, list[int]] = {True: [], False: []}

    def sleep(real_time: bool) -> None:
        if real_time:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
            os.sched_setaffinity(0, {data_plane_cpu()})
        end = time.monotonic() + seconds
        while (begun := time.monotonic_ns()) < end * 1e9:
            time.sleep(SLEEP_S)
            found[real_time].append(time.monotonic_ns() - begun - round(SLEEP_S * 1e9))

    threads = [threading.Thread(target=sleep, args=[real_time]) for real_time in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found[True], found[False]


def percentile(values: Sequence[int], share: float) -> int:
    """Smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
