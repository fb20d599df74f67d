"""Rounds of synchronised blocks: the flows to send, and the results of each round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

from p4sched.errors import UsageError
from p4sched.lab.endpoints import UserSeat
from p4sched.results.metrics import median_interval

TCP_PORT = 5001
HEADERS = 66
"""Bytes of the Ethernet, IPv4 and TCP headers of a full-sized segment, with timestamps."""
FRAME = 1514
SPACING_S = 1.25
"""Time between rounds at time scale 1: a lost SYN (1 s) is repeated before the next round begins."""
SMALLEST_BLOCK = 10_000
MOST_SENDERS = 100


@dataclass(frozen=True)
class Plan:
    """Plan of the rounds. In each round, every sender sends a block at the same instant."""

    senders: int
    block_bytes: int
    rounds: int
    rate_bps: int
    spacing_s: float = SPACING_S
    """Time between rounds."""
    jitter_s: float = 0.0
    """Each block starts up to this time after its round."""
    seed: int = 1
    """Seed of these times."""

    def __post_init__(self) -> None:
        if not 1 <= self.senders <= MOST_SENDERS:
            raise UsageError(f"{self.senders} senders: must be 1 to {MOST_SENDERS}")
        if self.block_bytes < SMALLEST_BLOCK:
            raise UsageError(f"a block of {self.block_bytes} bytes: it must be at least {SMALLEST_BLOCK}")
        if self.ideal_s > self.spacing_s / 2:
            raise UsageError(
                f"{self.senders} blocks of {self.block_bytes} bytes take {self.ideal_s:.2f} s of the link, more than"
                f" half of the {self.spacing_s:g} s from round to round; lower --senders or --block, or raise --rate"
            )

    @property
    def ideal_s(self) -> float:
        """Time that the link needs for a round."""
        return self.senders * self.block_bytes * FRAME / (FRAME - HEADERS) * 8 / self.rate_bps

    def flow(self, round_: int, sender: int) -> int:
        """Id of the flow of sender 1, 2, ... in round 0, 1, ..."""
        return round_ * self.senders + sender

    def flows(self, seat: UserSeat, destination: str) -> list[dict[str, Any]]:
        """All flows of one sender, in the format of the traffic generator, ranked by remaining bytes."""
        random = Random(f"{self.seed} {seat.user}")
        return [
            {
                "flow": self.flow(round_, seat.user),
                "src": seat.address,
                "dst": destination,
                "port": TCP_PORT,
                "size_bytes": self.block_bytes,
                "start_s": round_ * self.spacing_s + self.jitter_s * random.random(),
                "tos": {"remaining": {"largest_bytes": self.block_bytes}},
            }
            for round_ in range(self.rounds)
        ]


def per_round(plan: Plan, completed: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each round, the completion times of the slowest and of the median flow, and the number of incomplete flows.
    An incomplete round has no completion time."""
    times = {flow["flow"]: flow["fct_ns"] / 1e9 for flow in completed}
    rounds = []
    for round_ in range(plan.rounds):
        ids = [plan.flow(round_, sender) for sender in range(1, plan.senders + 1)]
        done = [times[flow] for flow in ids if flow in times]
        whole = len(done) == len(ids)
        rounds.append(
            {
                "round": round_ + 1,
                "slowest_s": max(done) if whole else None,
                "median_s": median(done) if done else None,
                "not_completed": len(ids) - len(done),
                "goodput_bps": plan.senders * plan.block_bytes * 8 / max(done) if whole else 0.0,
            }
        )
    return rounds


def summarise(plan: Plan, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summary of the rounds. Goodput is payload divided by the time until the slowest block is complete, as a share of
    the link's capacity. An incomplete round counts as 0."""
    best = plan.senders * plan.block_bytes * 8 / plan.ideal_s
    goodput = median_interval([round_["goodput_bps"] / best for round_ in rounds])
    slowest = [round_["slowest_s"] for round_ in rounds if round_["slowest_s"] is not None]
    medians = [round_["median_s"] for round_ in rounds if round_["median_s"] is not None]
    return {
        "goodput": goodput.median,
        "goodput_interval_80": [goodput.low, goodput.high],
        "slowest_median_ms": median(slowest) * 1e3 if slowest else None,
        "slowest_worst_ms": max(slowest) * 1e3 if slowest else None,
        "median_flow_ms": median(medians) * 1e3 if medians else None,
        "not_completed": sum(round_["not_completed"] for round_ in rounds),
        "rounds": list(rounds),
    }
