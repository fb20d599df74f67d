"""Control loops in a run: which law a ranked scheme has, and what the loops decided on each port."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p4sched.control.laws import ranked
from p4sched.control.ranked_loop import RankedPortsLoop, Update
from p4sched.p4rt.session import Session
from p4sched.schemes import LAWS, Compared, compared

TUNED = tuple(name for name in compared(Compared.RANKS) if name in LAWS)
"""Ranked schemes that have a control law."""


def law_config(scheme: str, rate_bps: int, delay_ns: int, buffer_packets: int) -> ranked.Config:
    """The law of a scheme for a port of this rate whose queues hold so many packets in all."""
    found: ranked.Config = LAWS[scheme].config.for_port(rate_bps, delay_ns, buffer_packets)
    return found


@dataclass
class PortDecisions:
    """What a loop decided on one port."""

    rounds: int = 0
    writes: int = 0
    parameters: Mapping[str, int] = field(default_factory=dict)
    """In force at the end."""
    load: float | None = None
    """Arrivals over drain, as the law saw them last; None until it saw enough."""

    def follow(self, update: Update) -> None:
        """Notes a round."""
        self.rounds += 1
        self.writes += update.written
        self.parameters = update.decision.parameters.action_data()
        if update.decision.traffic is not None:
            self.load = update.decision.traffic.load

    def record(self) -> dict[str, Any]:
        """For summary.json."""
        return {
            "rounds": self.rounds,
            "writes": self.writes,
            "load": self.load,
            "parameters": dict(self.parameters),
        }


def ports_loop(
    session: Session, configs: Mapping[int, ranked.Config], logs: Path
) -> tuple[RankedPortsLoop, dict[int, PortDecisions]]:
    """A switch's loop over these ports, logged below `logs`; and what it has decided on each, as it goes on."""
    decided = {port: PortDecisions() for port in configs}
    loop = RankedPortsLoop(session, configs, logs=logs, on_update=lambda port, update: decided[port].follow(update))
    return loop, decided
