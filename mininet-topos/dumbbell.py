"""One switch, users on one side, a server on the other; the link to the server is the bottleneck.

    u1 ─┐
    u2 ─┤  1..H
    u3 ─┼─ s1 ── H+1 ── server
    u4 ─┘

Users are IPv4 addresses on a few hosts, so that hundreds of them fit on one machine. Without the lab:

    mn --custom mininet-topos/dumbbell.py --topo dumbbell[,HOSTS[,USERS[,SWITCH]]][,program=PROGRAM]

starts the switch (embedded or bmv2), loads p4/PROGRAM.p4 (default: fifo.p4), and installs its routes; then `pingall`
works.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import sys
from pathlib import Path

from mininet.topo import Topo

if __name__ != "mininet_topos.dumbbell":
    # `mn --custom` executes this file with Debian's Python and without defining __file__.
    # The package is in controller/; of an installed wheel it is beside this file.
    above = Path(sys._getframe().f_code.co_filename).resolve().parents[1]
    sys.path += [str(above / "controller"), str(above)]

from mininet_topos.nodes import NodeError
from mininet_topos.shapes import structure
from mininet_topos.star import Sides, for_mn, sides
from mininet_topos.stations import exit_on_node_error, whole

# Names at this level become globals of `mn`, which has its own SWITCHES, HOSTS, TOPOS, ...
USERS_PER_HOST = 240


def dumbbell_sides(hosts: int, users: int) -> Sides:
    """User hosts u1, u2, ..., to which the users are assigned in turn, and the server. Raises NodeError if the users do
    not fit."""
    whole("user hosts", hosts, 1, 200)
    if whole("users", users, 0, 4095) > hosts * USERS_PER_HOST:
        raise NodeError(f"{users} users on {hosts} hosts: a host has room for {USERS_PER_HOST}")
    dealt = [len(range(host, users + 1, hosts)) for host in range(1, hosts + 1)]
    return sides(structure("dumbbell", hosts=hosts), dealt)


def standalone(hosts: int = 4, users: int = 0, switch: str = "embedded", program: str = "fifo") -> Topo:
    """The dumbbell for `mn`."""
    return for_mn(dumbbell_sides(hosts, users), switch, program)


topos = {"dumbbell": exit_on_node_error(standalone)}

__all__ = ["USERS_PER_HOST", "dumbbell_sides", "topos"]
