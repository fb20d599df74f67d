"""Many senders, one switch, one receiver: the link to the receiver is where all of them meet.

    h1 ─┐
    h2 ─┤  1..N
    .. ─┼─ s1 ── N+1 ── receiver
    hN ─┘

Each sender is one user, at 10.1.SENDER.1; the receiver is 10.2.0.1. By itself:

    mn --custom mininet-topos/incast.py --topo incast[,N[,SWITCH]][,program=PROGRAM]

starts the switch (embedded or bmv2) with p4/PROGRAM.p4 loaded, which is fifo.p4 unless given, and its routes installed;
`pingall` then answers.
"""
# Mininet has no type annotations.
# mypy: disable-error-code="no-untyped-call,misc"

import sys
from pathlib import Path
from typing import Any

from mininet.topo import Topo

if __name__ != "mininet_topos.incast":
    # `mn --custom` executes this file by itself, with Debian's Python, and without defining __file__.
    sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parent.parent / "controller"))

from mininet_topos.stations import FIRST_GRPC_PORT, Station, alone, attach, program_loader, routes, switch_node, whole

# Names at this level end up among the globals of `mn`, which has a SWITCHES, HOSTS, TOPOS, ... of its own.
MOST_SENDERS = 200


def sender_stations(senders: int) -> list[Station]:
    """The senders, one user each. Raises NodeError when there are none or too many."""
    whole("senders", senders, 1, MOST_SENDERS)
    return [
        Station(
            name=f"h{sender}",
            port=sender,
            address=f"10.1.{sender}.250",
            prefix=f"10.1.{sender}.0/24",
            mac=f"02:00:00:00:01:{sender:02x}",
            users=(f"10.1.{sender}.1",),
        )
        for sender in range(1, senders + 1)
    ]


def receiver_station(senders: int) -> Station:
    """The receiver, on the port after those of the senders."""
    return Station("receiver", senders + 1, "10.2.0.1", "10.2.0.0/24", "02:00:00:00:02:01")


class IncastTopo(Topo):
    """See the head of this file. `switch` is "embedded" or "bmv2"; `switch_params` go to the switch node."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Arguments are those of `build`."""
        super().__init__(*args, **params)

    def build(
        self,
        senders: int = 8,
        switch: str = "embedded",
        switch_params: dict[str, Any] | None = None,
        congestion_control: str | None = None,
    ) -> None:
        """Called by Topo's constructor with its arguments."""
        node = switch_node(switch)
        self.users_side = sender_stations(senders)
        self.server_side = receiver_station(senders)
        name = self.addSwitch("s1", cls=node, **(switch_params or {}))
        attach(self, name, self.stations(), congestion_control)

    def stations(self) -> list[Station]:
        """All hosts, the receiver last."""
        return [*self.users_side, self.server_side]


def standalone(senders: int = 8, switch: str = "embedded", program: str = "fifo") -> Topo:
    """The topology for `mn`: with the program loaded, and the P4Runtime port that P4Runtime clients try first."""
    stations = [*sender_stations(senders), receiver_station(senders)]
    params = {"after_start": program_loader(program, routes(stations)), "grpc_port": FIRST_GRPC_PORT}
    return alone(IncastTopo(senders=senders, switch=switch, switch_params=params))


topos = {"incast": standalone}

__all__ = ["IncastTopo", "topos"]
