"""Control laws of ranked schemes in a run, and summaries of their logs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p4sched.control.decision_log import logged_decisions
from p4sched.control.laws import ranked
from p4sched.schemes import LAWS, schemes_of
from p4sched.traits import ComparisonKind

LAW_SCHEMES = tuple(name for name in schemes_of(ComparisonKind.RANKS) if name in LAWS)
"""Ranked schemes that have a control law."""


def law_config(scheme: str, rate_bps: int, delay_ns: int, buffer_packets: int) -> ranked.Config:
    """Configuration of a scheme's law for a port of this rate whose queues hold `buffer_packets` together."""
    found: ranked.Config = LAWS[scheme].config.for_port(rate_bps, delay_ns, buffer_packets)
    return found


def decision_summary(log: Path) -> dict[str, Any]:
    """Summary of the decisions for summary.json: the number of rounds and writes, the last load (arrivals over drain;
    None if there was too little traffic), and the last parameters."""
    decisions = list(logged_decisions(log))
    loads = [decision["traffic"]["load"] for decision in decisions if decision["traffic"] is not None]
    parameters: Mapping[str, int] = decisions[-1]["parameters"] if decisions else {}
    return {
        "rounds": len(decisions),
        "writes": sum(decision["changed"] for decision in decisions),
        "load": loads[-1] if loads else None,
        "parameters": dict(parameters),
    }
