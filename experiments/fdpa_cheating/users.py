"""Users of one link, of whom one or more cheat."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.sweep.tuned import Figures, binary_hash

RATE_BPS, RTT_NS = 500_000_000, 10_000_000
"""Rate of the link in bit/s of frames, and round-trip time."""
ACCESS = simulate.Link.of("1gbit", "1us")
USERS, CONNECTIONS, MANY, WEB = 20, 10, 5, 5
"""User 1 may cheat, and so may users with one connection. `MANY` of the others have `CONNECTIONS` TCP connections,
`WEB` send short flows, and the rest have one connection. Each has a host."""
WEB_BYTES, WEB_RATE = 100_000, 8.0
"""Bytes of a short flow, and how many each such user starts in a second."""
MSS, FRAME = 1448, 1514
WARM_UP_NS, SAMPLE_NS = 1_000_000_000, 500_000_000
"""Time before the measurement; long-lived connections start in its first tenth."""
FIRST_ADDRESS = 101
"""First user number of further addresses. Each cheater may have `FURTHER` of them."""
FURTHER = 3
BELOW = 0.97
"""A constant rate just below an edge, as a share of it."""
FLOOD_SHARES = 10
"""A constant rate far above all edges, in fair shares: half of the link."""
MOST_CHEATERS = USERS - WEB - MANY - 1
"""The users with one connection but for one."""
LONG_BYTES = 10**10
"""More than a connection can send."""
BEHIND_NS = 10_000
"""Time by which the packet in a pause comes after the end of an interval, so that it closes it."""

HONEST = "honest"
CONSTANT = ("cbr_1", "cbr_2", "cbr_3", "cbr_4")
BEHAVIOURS = (
    HONEST,
    "connections_10",
    "connections_50",
    "addresses_4",
    *CONSTANT,
    "flood",
    "on_off",
    "pulses",
)
"""What a cheater does: one TCP connection; 10 or 50 of them; one from each of four addresses; datagrams just below the
first to fourth edge of the bands; datagrams at half the rate of the link; datagrams at the rate of the link during
every other interval; the same with one small packet in each pause, so that the estimator sees a quiet interval."""
PLAIN_BANDS = Bands(1, 4, 0.5)
"""Bands whose edges give the constant rates for a scheme without bands."""
FIGURES = ("cheater", "others", "worst", "web_ms", "jain", "throughput", "loss")
"""Mean payload of the cheaters, and mean and smallest payload of the other long-lived users, in fair shares; mean
completion time of the short flows; Jain's index of the long-lived users; payload of all over that of a full link; 1 -
Jain's index times this throughput."""


@dataclass(frozen=True)
class Clock:
    """What a cheater knows of the estimator."""

    interval_ns: int
    held_intervals: int = 0
    """Intervals before a user returns to a more urgent band."""


@dataclass(frozen=True)
class Traffic:
    """The flows of a run, and the user of each; the further addresses of a cheater count as that one."""

    flows: Sequence[simulate.Flow]
    users: Sequence[int]
    transports: dict[str, Any]
    cheaters: Sequence[int] = (1,)


def cheating_users(count: int) -> list[int]:
    """The users who cheat: user 1, and the first ones of those with one connection."""
    return [1, *range(2 + MANY, 1 + MANY + count)]


def addresses(behaviour: str, cheaters: int = 1) -> int:
    """Users that the controller counts."""
    return USERS + (FURTHER * cheaters if behaviour == "addresses_4" else 0)


def parameters(
    behaviour: str, bands: Bands, interval_us: int, burst_bytes: int = 0, cheaters: int = 1
) -> dict[str, int]:
    """Action data of the law for the users of a behaviour. `burst_bytes`: size of token buckets; 0: the average
    rate."""
    config = fdpa.Config(RATE_BPS, bands, interval_us, RTT_NS, burst_bytes > 0, burst_bytes)
    found = fdpa.parameters_for(config, float(addresses(behaviour, cheaters)))
    return {name: value for name, value in found.action_data().items() if value}


def traffic(behaviour: str, bands: Bands, clock: Clock, end_ns: int, seed: int, cheaters: int = 1) -> Traffic:
    """All flows until `end_ns`. The honest users send the same with each behaviour."""
    random = np.random.default_rng(seed)
    sent: list[tuple[simulate.Flow, int]] = []
    cheating = cheating_users(cheaters)
    for user in range(2, USERS + 1):
        if user > USERS - WEB:
            sent += [(_flow(user, user, start, WEB_BYTES), user) for start in _web_starts(random, end_ns)]
            continue
        count = CONNECTIONS if user < 2 + MANY else 1
        starts = [_start(random) for _ in range(count)]
        sent += [(_flow(user, user, start), user) for start in starts if user not in cheating]
    datagrams = None
    for place, user in enumerate(cheating):
        own, datagrams = _own(behaviour, bands, Cheater(user, place), clock, end_ns, random)
        sent += [(flow, user) for flow in own]
    sent.sort(key=lambda pair: pair[0].start_ns)
    transports = {"tcp": {"control": "cubic"}, **({"datagrams": datagrams} if datagrams else {})}
    return Traffic([flow for flow, _ in sent], [user for _, user in sent], transports, cheating)


def _flow(host: int, user: int, start_ns: int, size: int = LONG_BYTES, transport: str = "tcp") -> simulate.Flow:
    return simulate.Flow(f"u{host}", "server", size, start_ns, user=user, transport=transport)


def _start(random: np.random.Generator) -> int:
    return int(random.integers(0, WARM_UP_NS // 10))


def _web_starts(random: np.random.Generator, end_ns: int) -> list[int]:
    """Starts of a Poisson process."""
    gaps = random.exponential(1e9 / WEB_RATE, int(3 * WEB_RATE * end_ns / 1e9) + 20)
    starts = np.cumsum(gaps)
    return [int(start) for start in starts[starts < end_ns]]


@dataclass(frozen=True)
class Cheater:
    """A user who cheats."""

    user: int
    place: int
    """Its place among the cheaters, from 0."""


def _own(
    behaviour: str, bands: Bands, cheater: Cheater, clock: Clock, end_ns: int, random: np.random.Generator
) -> tuple[list[simulate.Flow], dict[str, Any] | None]:
    """Flows of a cheater, and the transport of its datagrams."""
    user = cheater.user
    match behaviour:
        case "honest" | "connections_10" | "connections_50":
            count = 1 if behaviour == HONEST else int(behaviour.removeprefix("connections_"))
            return [_flow(user, user, _start(random)) for _ in range(count)], None
        case "addresses_4":
            further = FIRST_ADDRESS + FURTHER * cheater.place
            return [_flow(user, one, _start(random)) for one in (user, *range(further, further + FURTHER))], None
        case "on_off" | "pulses":
            bursts = _bursts(cheater, clock, end_ns, with_packet=behaviour == "pulses")
            return bursts, _datagrams(RATE_BPS, jitter=False)
    edges = bands.edges[int(behaviour[-1]) - 1] * BELOW if behaviour in CONSTANT else FLOOD_SHARES
    rate = round(edges * RATE_BPS / USERS)
    return [_flow(user, user, 0, rate // 8 * end_ns // 10**9, "datagrams")], _datagrams(rate)


def _datagrams(rate_bps: int, jitter: bool = True) -> dict[str, Any]:
    """Datagrams at this rate, each up to the time of one later than at equal intervals."""
    jitter_ns = FRAME * 8 * 10**9 // rate_bps if jitter else 0
    return {"control": {"udp": {"rate_bps": rate_bps, "jitter_ns": jitter_ns}}}


def _bursts(cheater: Cheater, clock: Clock, end_ns: int, with_packet: bool) -> list[simulate.Flow]:
    """A burst in the first of each `period` intervals, and a packet in each of the others if asked. The first burst
    comes after a pause of three intervals, which makes an interval of the estimator begin with it. Of several cheaters,
    each begins an interval after the one before it, so they take turns."""
    user = cheater.user
    period = 1 + max(1, clock.held_intervals)
    size = int(0.95 * RATE_BPS / 8 * clock.interval_ns / 1e9 * MSS / FRAME)
    begin, found = (3 + cheater.place % period) * clock.interval_ns, []
    for number in range((end_ns - begin) // clock.interval_ns + 1):
        late = min(number, 1) * BEHIND_NS
        at = begin + number * clock.interval_ns
        if number % period == 0:
            found.append(_flow(user, user, at + 2 * late, size, "datagrams"))
        elif with_packet:
            found.append(_flow(user, user, at + late, 100, "datagrams"))
    return [flow for flow in found if flow.start_ns < end_ns]


def scenario(ports: simulate.Ports, sent: Traffic, end_ns: int, seed: int) -> simulate.Scenario:
    """The users behind one link."""
    bottleneck = simulate.Link(RATE_BPS, RTT_NS // 2 - ACCESS.delay_ns)
    return simulate.Scenario(
        topology=simulate.Dumbbell(USERS, ACCESS, bottleneck),
        ports=ports,
        flows=sent.flows,
        end_ns=end_ns,
        transports=sent.transports,
        seed=seed,
        sample_ns=SAMPLE_NS,
    )


def measure(sent: Traffic, result: simulate.Result) -> dict[str, float]:
    """`FIGURES` of a run, from the end of the warm-up on."""
    samples = np.array(result.summary["received_bytes"], float)
    first = WARM_UP_NS // SAMPLE_NS - 1
    seconds = (len(samples) - 1 - first) * SAMPLE_NS / 1e9
    users = np.array(sent.users)
    received = samples[-1] - samples[first]
    full = RATE_BPS / 8 * MSS / FRAME * seconds
    shares = np.array([received[users == user].sum() for user in range(1, USERS + 1)]) / (full / USERS)
    long_lived = shares[: USERS - WEB]
    short = (users > USERS - WEB) & (result.flows["start_ns"] >= WARM_UP_NS)
    cheats = np.isin(np.arange(1, len(long_lived) + 1), sent.cheaters)
    jain = float(long_lived.sum() ** 2 / (len(long_lived) * (long_lived**2).sum()))
    throughput = float(shares.sum() / USERS)
    return {
        "cheater": float(long_lived[cheats].mean()),
        "others": float(long_lived[~cheats].mean()),
        "worst": float(long_lived[~cheats].min()),
        "web_ms": float(result.flows["restricted_s"][short].mean() * 1e3),
        "jain": jain,
        "throughput": throughput,
        "loss": 1 - jain * throughput,
    }


@dataclass(frozen=True)
class UserRun:
    """A run of the users."""

    ports: simulate.Ports
    bands: Bands
    clock: Clock
    behaviour: str
    duration_ns: int
    seed: int
    cheaters: int = 1

    def inputs(self) -> Any:
        """The settings, and the simulator."""
        ports = {name: value for name, value in vars(self.ports).items() if value is not None}
        clock = [self.clock.interval_ns, self.clock.held_intervals]
        population = [USERS, CONNECTIONS, MANY, WEB, WEB_BYTES, WEB_RATE, RATE_BPS, RTT_NS, BELOW, FLOOD_SHARES]
        settings = [str(self.bands), clock, self.behaviour, self.duration_ns, self.seed, WARM_UP_NS]
        several = [self.cheaters] if self.cheaters > 1 else []
        return ["users", binary_hash(simulate.BINARY), ports, population, settings, *several]

    async def figures(self, folder: Path) -> Figures:
        """Runs the simulator."""
        end_ns = WARM_UP_NS + self.duration_ns
        sent = traffic(self.behaviour, self.bands, self.clock, end_ns, self.seed, self.cheaters)
        result = await simulate.run_async(scenario(self.ports, sent, end_ns, self.seed), folder)
        return measure(sent, result)
