"""The bottleneck, and the schemes that share it among users: the comparison of the FDPA paper."""

from dataclasses import dataclass, replace

from p4sched.control.bands import Bands
from p4sched.control.parameters import Comparison
from p4sched.errors import UsageError, unknown_name
from p4sched.scheme import Setup
from p4sched.schemes import SCHEMES, schemes_of
from p4sched.traits import ComparisonKind

MTU_BYTES = 1500
"""Unit of the queue sizes in the paper."""
URGENT = 7
"""Queue of band 1. Band q has queue URGENT + 1 - q."""
MAX_RTT_NS = 10 * 10**9


@dataclass(frozen=True)
class Link:
    """The bottleneck and the path around it."""

    rate_bps: int
    """Bit/s of Ethernet frames."""
    rtt_ns: int
    """Round-trip time of an empty network: half of it in front of the server, half in front of the users."""

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


NAMES = schemes_of(ComparisonKind.USERS)
"""The schemes of the laboratory. A command may name folders besides them."""


def scheme(name: str, link: Link, bands: Bands) -> Setup:
    """The scheme with this name. Its queues are sized for the link as in the paper, section IV-C."""
    known = schemes_of(ComparisonKind.USERS)
    if name not in known:
        raise unknown_name("scheme", name, known)
    comparison = Comparison(link.bdp_packets, capacity_bps=link.rate_bps, rtt_ns=link.rtt_ns, bands=bands)
    return replace(SCHEMES[name].for_comparison(comparison), share_among="meta.user")
