"""The schemes at the link, and the settings of each."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product

from experiments.fdpa_cheating import users
from experiments.fdpa_cheating.users import Clock
from p4sched import simulate
from p4sched.control.bands import Bands
from p4sched.sweep.tuned import Group

LABELS = {
    "fifo": "FIFO",
    "fdpa_short": "FDPA, 2 RTTs",
    "fdpa": "FDPA, 6 RTTs",
    "fdpa_long": "FDPA, 18 RTTs",
    "fdpa_tna": "FDPA for Tofino, 67 ms",
    "fdpa_hold_4": "FDPA, hold of 4 intervals",
    "fdpa_hold_16": "FDPA, hold of 16 intervals",
    "fdpa_current": "FDPA, current interval counts",
    "fdpa_current_short": "FDPA, 2 RTTs, current one counts",
    "fdpa_buckets": "FDPA, token buckets",
    "afq": "AFQ of users",
    "drr": "DRR of users",
    "afq_flows": "AFQ of flows",
    "drr_flows": "DRR of flows",
}
AVERAGES = {
    "fdpa_short": 2,
    "fdpa": 6,
    "fdpa_long": 18,
    "fdpa_hold_4": 6,
    "fdpa_hold_16": 6,
    "fdpa_current": 6,
    "fdpa_current_short": 2,
}
"""FDPA with the average rate, and its interval in RTTs."""
HOLDS = {"fdpa_hold_4": 4, "fdpa_hold_16": 16}
"""Intervals after which a user may return to a more urgent band."""
CURRENT = ("fdpa_current", "fdpa_current_short")
"""FDPA with the rate at least the charges of the current interval."""
BANDWISE = (*AVERAGES, "fdpa_tna", "fdpa_buckets")
CHIP_INTERVAL_NS = 2**26
"""The power of two next to six RTTs. On a Tofino all intervals begin at multiples of it."""
BDP_PACKETS = users.RATE_BPS * users.RTT_NS // (8 * 1500 * 10**9)


@dataclass(frozen=True)
class Grid:
    """Values of the parameters of each scheme, for all combinations."""

    bands: tuple[str, ...]
    bursts: tuple[int, ...]
    """Sizes of the token buckets in bytes; two RTTs of a fair share are 62,500."""
    buffers: tuple[int, ...]
    """Buffers of FIFO, DRR and AFQ in packets."""
    rounds: tuple[int, ...]
    """Queues of AFQ."""
    log_bytes: tuple[int, ...]
    """log2 of the bytes of a user in a round of AFQ."""


BANDS = ("1+4*0.25", "1+4*0.5", "1+4*1", "1+4*2", "2+4*0.5")
BUFFERS = (BDP_PACKETS // 2, BDP_PACKETS, 2 * BDP_PACKETS, 4 * BDP_PACKETS)
FULL = Grid(BANDS, (31_250, 62_500, 250_000, 1_000_000), BUFFERS, (16, 32, 64), (11, 13))
QUICK = Grid(("1+4*0.5",), (62_500,), (BDP_PACKETS,), (32,), (11,))


@dataclass(frozen=True)
class Knobs:
    """A setting of a scheme; 0 and "-" where it has no such parameter."""

    bands: str = "-"
    interval_rtts: int = 0
    hold_intervals: int = 0
    burst_bytes: int = 0
    buffer_packets: int = 0
    rounds: int = 0
    log_bytes: int = 0

    @classmethod
    def of(cls, parameters: Group) -> "Knobs":
        """The setting from a record."""
        bands = str(parameters["bands"])
        return cls(bands, **{name: int(value) for name, value in parameters.items() if name != "bands"})

    def record(self) -> Group:
        """The setting as columns."""
        return asdict(self)

    def constant_bands(self) -> Bands:
        """Bands whose edges give the constant rates."""
        return users.PLAIN_BANDS if self.bands == "-" else Bands.parse(self.bands)

    def clock(self, scheme: str) -> Clock:
        """What a cheater knows of the estimator. A scheme without one is attacked as if it had six RTTs."""
        if scheme == "fdpa_tna":
            return Clock(CHIP_INTERVAL_NS)
        return Clock((self.interval_rtts or 6) * users.RTT_NS, self.hold_intervals)


def settings(scheme: str, grid: Grid) -> Iterator[Knobs]:
    """All settings of a scheme."""
    if scheme in AVERAGES:
        for bands in grid.bands:
            yield Knobs(bands, AVERAGES[scheme], HOLDS.get(scheme, 0))
    elif scheme == "fdpa_tna":
        for bands in grid.bands:
            yield Knobs(bands)
    elif scheme == "fdpa_buckets":
        for bands, bursts in product(grid.bands, grid.bursts):
            yield Knobs(bands, burst_bytes=bursts)
    elif scheme.startswith("afq"):
        for buffer, rounds, log_bytes in product(grid.buffers, grid.rounds, grid.log_bytes):
            yield Knobs(buffer_packets=buffer, rounds=rounds, log_bytes=log_bytes)
    else:
        for buffer in grid.buffers:
            yield Knobs(buffer_packets=buffer)


def ports(scheme: str, knobs: Knobs, behaviour: str, cheaters: int = 1) -> simulate.Ports:
    """The ports of a scheme. The edges of bands are those of the control law for all addresses of the users."""
    if scheme in BANDWISE:
        interval_us = round(knobs.clock(scheme).interval_ns / 1000)
        action = users.parameters(behaviour, Bands.parse(knobs.bands), interval_us, knobs.burst_bytes, cheaters)
        return simulate.Ports(
            "fdpa",
            parameters=action,
            target="tna" if scheme == "fdpa_tna" else None,
            variants=["current_interval"] if scheme in CURRENT else None,
            hold_us=knobs.hold_intervals * interval_us or None,
        )
    if scheme == "fifo":
        return simulate.Ports(scheme, queues=1, queue_size=knobs.buffer_packets)
    among = "flows" if scheme.endswith("_flows") else "users"
    if scheme.startswith("afq"):
        size = knobs.buffer_packets // knobs.rounds
        return simulate.Ports(
            "afq", queues=knobs.rounds, queue_size=size, log_bytes_per_round=knobs.log_bytes, fair_among=among
        )
    return simulate.Ports("drr", queues=1, queue_size=knobs.buffer_packets, fair_among=among)
