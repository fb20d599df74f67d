"""TCP flows of random sizes that make a load: their start times and their results."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.lab.bench import Bench
from p4sched.lab.experiment import once
from p4sched.lab.network import Dumbbell
from p4sched.lab.ranked_traffic import files_in
from p4sched.lab.tcp_counters import TcpCounters
from p4sched.paths import rust_binary
from p4sched.results import completion
from p4sched.results.completion import Flow

CONGESTION_CONTROL = "cubic"
DISTRIBUTIONS = ("web-search", "data-mining")
FIRST_TCP_PORT = 5001
LEAD_S = 0.5
"""Time from the start of the senders to the first flow."""
SENDERS_END_S = 5.0
FILES = files_in("load-*")
"""Files of the traffic in the folder of its scheme."""


class RankScale(StrEnum):
    """Scale from remaining bytes to the 64 ranks of the TOS byte."""

    LOGARITHMIC = "logarithmic"
    LINEAR = "linear"


@dataclass(frozen=True)
class SizedFlows:
    """Flows of random sizes with Poisson arrivals, at each of several loads."""

    distribution: str
    scale: float
    """Factor on the sizes."""
    loads: Sequence[float]
    """Shares of the link."""
    rate_bps: int
    """Rate of the link."""
    seconds: float
    """Time in which flows start, for each load."""
    seed: int
    rank_scale: RankScale = RankScale.LOGARITHMIC

    def __post_init__(self) -> None:
        if self.distribution not in DISTRIBUTIONS:
            raise unknown_name("distribution of sizes", self.distribution, DISTRIBUTIONS)

    def plans(self, network: Dumbbell) -> list["LoadPlan"]:
        """The flows of each load."""
        return [self._plan(network, load, FIRST_TCP_PORT + place) for place, load in enumerate(self.loads)]

    def _plan(self, network: Dumbbell, load: float, port: int) -> "LoadPlan":
        sources = ",".join(seat.address for seat in network.seats)
        words = [str(rust_binary("p4sched-traffic")), "plan", "--sizes", self.distribution, "--scale", str(self.scale)]
        words += ["--load", str(load), "--link-bps", str(self.rate_bps), "--duration", str(self.seconds)]
        words += ["--seed", str(self.seed), "--port", str(port), "--rank-scale", self.rank_scale.value]
        words += ["--sources", sources, "--destinations", network.server_address]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise P4schedError(done.stderr.strip())
        flows: list[dict[str, Any]] = json.loads(done.stdout)
        if not flows:
            raise UsageError(
                f"load {load:g} makes no flow in {self.seconds:g} s with seed {self.seed}: a higher load or a longer"
                " duration does"
            )
        return LoadPlan(load, port, [flow | {"start_s": flow["start_s"] + LEAD_S} for flow in flows])


@dataclass(frozen=True)
class LoadPlan:
    """The flows that make one load."""

    load: float
    port: int
    """Port of the server."""
    flows: Sequence[dict[str, Any]]
    """Flows in the format of the traffic generator."""

    async def exchange(
        self, running: Bench, deadline: float, scale: float, open_ahead_s: float | None = None
    ) -> tuple[list[Flow], dict[str, Any]]:
        """Sends the flows; gives up flows that are not complete at the deadline (seconds from the call).

        A connection is opened when its flow starts. With `open_ahead_s`, all connections are opened in these seconds
        before the first flow starts. Returns the result of each flow, and a summary.
        """
        network = running.network
        running.stage.tell(f"load {self.load:g}: {len(self.flows)} flows")
        network.check_alive()
        lead, deadline = open_ahead_s or 0.0, deadline + (open_ahead_s or 0.0)
        flows = [flow | {"start_s": flow["start_s"] + lead} for flow in self.flows]
        before = await network.tcp(network.senders)
        async with network.generated_traffic(running.stage.folder / f"load-{self.load:g}") as traffic:
            await traffic.serve_tcp(self.port, deadline + 0.5, len(flows))
            runs = []
            for host in dict.fromkeys(seat.host for seat in network.seats):
                sources = {seat.address for seat in network.seats if seat.host == host}
                own, ahead = [flow for flow in flows if flow["src"] in sources], open_ahead_s is not None
                runs.append(await traffic.send_tcp(host, own, CONGESTION_CONTROL, deadline, open_ahead=ahead))
            completed = await traffic.report("serve", deadline + 5)
            reported = [outcome for run in runs for outcome in await traffic.report(run, SENDERS_END_S)]
        sent = completion.combine_reports(flows, completed, reported)
        return sent, _summary(self.load, sent, await network.tcp(network.senders) - before, scale)


def _summary(load: float, sent: Sequence[Flow], tcp: TcpCounters, scale: float) -> dict[str, Any]:
    return {
        "load": load,
        **completion.summarise(sent, scale),
        "segments_sent": tcp.segments_sent,
        "segments_retransmitted": tcp.segments_retransmitted,
        "syn_retransmissions": tcp.syn_retransmissions,
        "timeouts": tcp.timeouts,
    }


def parse_loads(text: str) -> list[float]:
    """Parses loads such as "0.2,0.8": each above 0 and at most 1."""
    try:
        loads = [float(load) for load in text.split(",")]
    except ValueError:
        raise UsageError(f"loads '{text}' are not numbers separated by commas, for example 0.2,0.5,0.8") from None
    for load in loads:
        check_load(load)
    once("load", loads, text)
    return loads


def check_load(load: float) -> None:
    """Raises UsageError for a load that no link carries."""
    if not 0 < load <= 1:
        raise UsageError(f"load {load:g}: it must be above 0 and at most 1, or the queue grows without end")
