"""The schemes of the FDPA paper's comparison: which program, which discipline, which queues at the bottleneck."""

from dataclasses import dataclass

from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.errors import UsageError
from p4sched.p4rt.traffic_manager import Calendar

MTU_BYTES = fdpa.MTU_BYTES
URGENT = 7
"""Queue of band 1; band q has queue URGENT + 1 - q."""
MAX_RTT_NS = 10 * 10**9


@dataclass(frozen=True)
class Link:
    """The bottleneck and the path around it."""

    rate_bps: int
    """Bit/s of Ethernet frames."""
    rtt_ns: int
    """Round-trip time of an empty network: half of it ahead of the server, half ahead of the users."""

    def __post_init__(self) -> None:
        if self.rtt_ns > MAX_RTT_NS:
            raise UsageError(f"an RTT of {self.rtt_ns / 1e9:g} s is above {MAX_RTT_NS / 1e9:g} s")
        if self.bdp_packets < 2:
            raise UsageError(
                f"{int(self.rate_bps)} bit/s with an RTT of {self.rtt_ns / 1e6:g} ms hold {self.bdp_packets} packets:"
                " it takes 2 at least; raise the rate or, where there is an option for it, the RTT"
            )

    @property
    def bdp_packets(self) -> int:
        """Bandwidth-delay product in MTU packets."""
        return self.rate_bps * self.rtt_ns // (8 * MTU_BYTES * 10**9)


@dataclass(frozen=True)
class Scheme:
    """One column of the comparison."""

    name: str
    program: str
    """p4/PROGRAM.p4"""
    discipline: str
    """Of the bottleneck port."""
    label: str
    """A few words for the axis of a figure."""
    depths: tuple[int, ...]
    """Room in packets of queues 7, 6, ...; of the one buffer for a discipline with one."""
    user_field: str | None = None
    rank_field: str | None = None
    calendar: Calendar | None = None
    """Of the discipline `afq`."""
    bmv2: bool = True
    """Whether stock BMv2 has it."""
    macros: tuple[str, ...] = ()
    """Defined when the program is compiled."""


NAMES = ("fifo", "fdpa", "drr")


def scheme(name: str, link: Link, bands: Bands) -> Scheme:
    """The scheme of this name, its queues sized for the link as in the paper, section IV-C."""
    bdp = link.bdp_packets
    match name:
        case "fifo":
            return Scheme(name, "fifo", "fifo", f"{bdp} packets", (bdp,))
        case "fdpa":
            depths = fdpa.queue_depths(link.rate_bps, link.rtt_ns, bands.count)
            return Scheme(name, "fdpa", "strict", f"F({bands})", depths)
        case "drr":
            return Scheme(name, "fifo", "drr", "ideal", (bdp,), user_field="meta.user", bmv2=False)
        case _:
            raise UsageError(f"no scheme '{name}'; there is: {', '.join(NAMES)}")
