"""The interface of a control law in the folder of a scheduler.

`law.py` holds one function that says which parameters fit the traffic of a port:

    from p4sched.law import Link, Traffic

    def parameters(traffic: Traffic, link: Link) -> dict[str, int]:
        packets = link.delay_ns * traffic.drain_bps / (8e9 * traffic.packet_bytes)
        return {"size": max(1, min(link.queue_packets, round(packets)))}

Parameters that it leaves out keep their default. The control loop estimates the traffic from the program's counters ten
times a second. It writes the parameters when one of them differs by more than a tenth from the present value, at most
twice a second. The function reads no clock and does no input or output: the same traffic gives the same parameters, so
that `p4sched replay` can make every decision again.
"""

from dataclasses import dataclass

from p4sched.control.laws.traffic_estimate import Traffic

__all__ = ["Link", "Traffic"]


@dataclass(frozen=True)
class Link:
    """The port that a law controls, and its goals."""

    rate_bps: int
    """Rate of the link in bit/s of Ethernet frames."""
    delay_ns: int
    """Delay target: the time that a packet may wait."""
    queue_packets: int
    """Packets that each queue of the port can hold."""
    loss: float
    """Share of the time that the link may be idle because packets were refused."""
