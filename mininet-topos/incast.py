"""Many senders, one switch, one receiver; the link to the receiver is the bottleneck.

    h1 ─┐
    h2 ─┤  1..N
    .. ─┼─ s1 ── N+1 ── receiver
    hN ─┘

Each sender is one user, at 10.1.SENDER.1; the receiver is 10.2.0.1. Without the lab:

    mn --custom mininet-topos/incast.py --topo incast[,N[,SWITCH]][,program=PROGRAM]

starts the switch (embedded or bmv2), loads p4/PROGRAM.p4 (default: fifo.p4), and installs its routes; then `pingall`
works.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import sys
from pathlib import Path

from mininet.topo import Topo

if __name__ != "mininet_topos.incast":
    # `mn --custom` executes this file with Debian's Python and without defining __file__.
    # The package is in controller/; of an installed wheel it is beside this file.
    above = Path(sys._getframe().f_code.co_filename).resolve().parents[1]
    sys.path += [str(above / "controller"), str(above)]

from mininet_topos.shapes import structure
from mininet_topos.star import Sides, for_mn, sides
from mininet_topos.stations import exit_on_node_error, whole

# Names at this level become globals of `mn`, which has its own SWITCHES, HOSTS, TOPOS, ...
MOST_SENDERS = 200


def incast_sides(senders: int) -> Sides:
    """Senders h1, h2, ... with one user each, and the receiver. Raises NodeError for too few or too many senders."""
    whole("senders", senders, 1, MOST_SENDERS)
    return sides(structure("incast", senders=senders), [1] * senders)


def standalone(senders: int = 8, switch: str = "embedded", program: str = "fifo") -> Topo:
    """The incast for `mn`."""
    return for_mn(incast_sides(senders), switch, program)


topos = {"incast": exit_on_node_error(standalone)}

__all__ = ["incast_sides", "topos"]
