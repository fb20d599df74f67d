"""FDPA's control law: from the users' byte counters to the edges of the rate bands.

The paper (Cascone et al., section V) leaves the fair share to "an external controller (or switch-internal control
plane) that periodically adjusts band sizes by counting the number of active users". This is that controller.

    fair share of one unit of weight = capacity / sum of the weights of the active users
    edge_q = (q-th edge of the notation, in fair shares) * fair share * interval        weighted bytes per interval

The switch charges a user length / weight for a packet, so one set of edges serves users of every weight.

**Active** is a user that sent at least `active_bytes` in the last `activity_window_ns`. Three demands set both values:

- The edges must follow a user who leaves within 1 s. The controller sees the user's last packet up to one poll late,
  and the end of the window up to one poll late: window + 2 polls < 1 s.
- A user whose TCP waits for its retransmission timeout has not left. Linux waits RTO >= 200 ms + RTT, sends one
  segment, and waits twice as long after each further loss: at 10 ms that is 210 ms, then 420 ms. A window of 600 ms
  spans both (and those at 100 ms: 300 and 600 ms), and with two polls of 100 ms it leaves 200 ms of the second.
- In that state the user sends one segment per gap, so the threshold may not exceed one full-sized segment. The last
  packets of a connection, a FIN and an ACK of 66 bytes each, should not count. With 1000 bytes, seven connections
  (924 bytes) may close within a window. Eight or more (1056 bytes) keep a user active for one more window.

After a third timeout in a row (840 ms) the law forgets the user. Its next segment brings it back at the next poll.

**User 0** stands for traffic that no entry classifies. The switch puts it into band 1, and it has no share here.

**Joining** takes effect at the first poll that sees `active_bytes`: at most one poll period.

**N = 0**: an idle link keeps the last bands, which are right when its users come back. A controller that never saw a
user sets the bands for a single user, who may take the whole capacity.

**Restarts.** A counter that went down was reset (the switch restarted, the entry was written again): its value counts
from the reset. A controller that takes over a running switch has no history. Until it has watched for a whole window,
it may lower the edges but not raise them, so that a user in a timeout is not forgotten.

**Pauses.** The switch's average rate is the bytes of an interval. After a pause the switch averages over the pause too,
and rounds up by less than a factor of 2. So a user above its share does not look as if it were below when it pauses.
Two gaps remain, which token buckets do not have. First, the mean over 16 intervals or more counts as 0: a user that
takes the whole link for one interval in 16 stays in band 1, with N / 16 fair shares if N users are active. Second, a
user that knows the interval can send for just over one and pause for just under one. The last few packets of this burst
then set the rate for all of its next burst. The paper's estimator has this second gap as well (section V: it "might
leave enough time to an aggressive user to congest the highest priority queue").

**Rest.** At constant rates the bands stay (proved, docs/PROOFS.md), unless a user sends about `active_bytes` in a
window. It is then active in some windows and not in others: a frame every 800 ms changes the bands 22 times in 10 s.

**Limits.** A user that sends little but steadily counts as much as a greedy one. What it does not use goes to the
further bands, where the others share it equally. 256 / weight is rounded to an integer, so weights up to 16 are exact
within 3 %; the largest weight is 256. Edges have a meaning only if a fair share is several packets per interval:
capacity * interval / users >> 1500 bytes.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self

from p4sched.control.bands import Bands
from p4sched.control.law import Law
from p4sched.control.laws.arithmetic import in_order
from p4sched.control.parameters import Comparison, Layout
from p4sched.control.parameters import Parameters as ActionData
from p4sched.errors import UsageError, require
from p4sched.p4rt.target import Target
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.p4rt.users import UNIT_SCALE, UserCounter

UNUSED_EDGE = 0xFFFF_FFFF
"""The edge that no rate exceeds."""
EDGES = 7
MTU_BYTES = 1500
"""Unit of the sizes of queues and bursts (paper: "MTU-size packets")."""
TOKEN_PERIOD_US = 65536
"""Token rates are bytes in this many microseconds."""
SHORTEST_STEPS = 16
"""The shortest interval on a Tofino is 2^16 ns."""
MAX_BURST_BYTES = 0x0FFF_FFFF
"""The buckets count sixteenths of a byte in 32 bits."""


def queue_sizes(capacity_bps: int, rtt_ns: int, bands: int) -> tuple[int, ...]:
    """L_q = max(20, BDP / q^q) MTU packets for q = 1 .. `bands` (paper, section IV-C; its "min" is a slip)."""
    bdp_packets = capacity_bps * rtt_ns // (8 * MTU_BYTES * 10**9)
    return tuple(min(0xFFFF, max(20, bdp_packets // q**q)) for q in range(1, bands + 1))


DEFAULT_BANDS = Bands(1, 4, 0.5)
"""The paper's example (section IV-C)."""


@dataclass(frozen=True)
class Bandwise(Layout):
    """The queues of a port, one for each band. The law writes the parameters when it knows the active users."""

    bands: Bands = DEFAULT_BANDS
    sizes: tuple[int, ...] = (20,) * 5
    """Packets; the default is the smallest queue of the paper."""

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def label(self) -> str:
        """The paper's notation."""
        return f"F({self.bands})"

    @classmethod
    def for_comparison(cls, comparison: Comparison) -> Self:
        """The paper's sizes for the link of the comparison."""
        bands = comparison.bands
        if bands is None:
            raise UsageError("a comparison with FDPA needs bands, for example 1+4*0.5")
        return cls(bands, queue_sizes(comparison.capacity_bps, comparison.rtt_ns, bands.count))


@dataclass(frozen=True)
class Config:
    """Description of the link and of the scheme."""

    law: ClassVar[Law["Config", "State", "Sample", "Decision"]]

    capacity_bps: int
    """Rate of the shaped link, bit/s of Ethernet frames."""
    bands: Bands
    interval_us: int
    """Estimator interval; the paper's is 6 RTTs."""
    rtt_ns: int
    """Round-trip time that queues and bursts are sized for."""
    token_bucket: bool = False
    """True for token buckets instead of the average rate (paper, section V)."""
    burst_bytes: int = 0
    """Size of a token bucket; 0: two RTTs of one fair share, at least 10 packets."""
    flowlet_gap_us: int = 0
    """A flow keeps its band until it pauses this long (paper, section V); 0: a flow does not keep its band."""
    activity_window_ns: int = 600_000_000
    active_bytes: int = 1000

    def __post_init__(self) -> None:
        require(self.capacity_bps > 0, f"capacity {self.capacity_bps} bit/s is not positive")
        require(0 < self.interval_us < 2**32, f"estimator interval {self.interval_us} us is not in (0, 2^32)")
        require(self.rtt_ns > 0, f"RTT {self.rtt_ns} ns is not positive")
        require(0 <= self.burst_bytes <= MAX_BURST_BYTES, f"burst {self.burst_bytes} bytes is not in [0, 2^28)")
        require(0 <= self.flowlet_gap_us < 2**32, f"flowlet gap {self.flowlet_gap_us} us is not in [0, 2^32)")
        require(self.activity_window_ns > 0, f"activity window {self.activity_window_ns} ns is not positive")
        require(self.active_bytes > 0, f"activity threshold {self.active_bytes} bytes is not positive")

    @classmethod
    def from_options(
        cls,
        *,
        rate_bps: int,
        bands: Bands,
        rtt_ns: int,
        interval_ns: int | None,
        token_bucket: bool,
        flowlet_gap_ns: int | None,
        **_: Any,
    ) -> Self:
        """The configuration for these options of `p4sched control`. The default interval is the paper's, 6 RTTs."""
        interval_us = (interval_ns or 6 * rtt_ns) // 1000
        flowlet_gap_us = 0 if flowlet_gap_ns is None else max(1, flowlet_gap_ns // 1000)
        return cls(rate_bps, bands, interval_us, rtt_ns, token_bucket, flowlet_gap_us=flowlet_gap_us)

    def on(self, target: Target) -> Self:
        """Adapts to the target. A Tofino measures time in steps of a power of two, so the interval becomes the nearest
        multiple. It has no token buckets, because it cannot multiply."""
        if target is Target.V1MODEL:
            return self
        require(not self.token_bucket, f"token buckets multiply, which a Tofino cannot do: there are none for {target}")
        steps = max(SHORTEST_STEPS, round(math.log2(self.interval_us * 1000)))
        return replace(self, interval_us=round(2**steps / 1000))

    def for_program(self, parameters: "Parameters") -> "Parameters":
        """The parameters as the program has them."""
        return parameters

    def record(self) -> dict[str, Any]:
        return {**asdict(self), "bands": str(self.bands)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        return cls(**{**record, "bands": Bands.parse(record["bands"])})


@dataclass(frozen=True)
class Sample:
    """All users' counters at one instant."""

    time_ns: int
    """Any clock that never goes back."""
    users: Mapping[int, UserCounter]

    def record(self) -> dict[str, Any]:
        return {"users": {user: [count.sent_bytes, count.scale] for user, count in self.users.items()}}

    @classmethod
    def from_record(cls, line: Mapping[str, Any]) -> Self:
        return cls(line["time_ns"], {int(user): UserCounter(*counts) for user, counts in line["users"].items()})


@dataclass(frozen=True)
class Parameters(ActionData):
    """Action data of `set_bands`, field by field."""

    table: ClassVar[str] = "fdpa_params"
    action: ClassVar[str] = "set_bands"

    interval_us: int
    edges: tuple[int, ...]
    token_bucket: bool
    rates: tuple[int, ...]
    burst_bytes: int
    flowlet_gap_us: int
    sizes: tuple[int, ...]

    def action_data(self) -> dict[str, int]:
        return {
            "interval_us": self.interval_us,
            **{f"edge_{q}": edge for q, edge in enumerate(self.edges, 1)},
            "token_bucket": int(self.token_bucket),
            **{f"rate_{q}": rate for q, rate in enumerate(self.rates, 1)},
            "burst_bytes": self.burst_bytes,
            "flowlet_gap_us": self.flowlet_gap_us,
            **{f"depth_{q}": size for q, size in enumerate(self.sizes, 1)},
        }

    @classmethod
    def from_action_data(cls, data: Mapping[str, int]) -> "Parameters":
        return cls(
            interval_us=data["interval_us"],
            edges=tuple(data[f"edge_{q}"] for q in range(1, EDGES + 1)),
            token_bucket=bool(data["token_bucket"]),
            rates=tuple(data[f"rate_{q}"] for q in range(1, EDGES + 1)),
            burst_bytes=data["burst_bytes"],
            flowlet_gap_us=data["flowlet_gap_us"],
            sizes=tuple(data[f"depth_{q}"] for q in range(1, QUEUES + 1)),
        )


@dataclass(frozen=True)
class _Step:
    """Bytes that each user sent between two samples."""

    start_ns: int
    end_ns: int
    sent: Mapping[int, int]


@dataclass(frozen=True)
class State:
    """State of the law between samples."""

    parameters: Parameters | None = None
    """Parameters in force on the switch, if known."""
    taken_over: bool = False
    """True if `parameters` come from another controller, whose history is not known."""
    sample: Sample | None = None
    steps: tuple[_Step, ...] = field(default=())
    """Steps that reach into the activity window, oldest first."""
    weight: float | None = None
    """Sum of the weights of the users that `parameters` are for; None: they come from another controller."""
    is_reconfigured: bool = False
    """True if another configuration of this controller decided `parameters`."""

    def reconfigured(self) -> "State":
        """This state, before the first decision with another configuration."""
        return replace(self, is_reconfigured=True)

    @classmethod
    def take_over(cls, parameters: Parameters | None) -> "State":
        """State of a controller that finds `parameters` on the switch; None or unset bands: it is the first one."""
        if parameters is None or parameters.edges[0] == UNUSED_EDGE:
            return cls()
        return cls(parameters=parameters, taken_over=True)


@dataclass(frozen=True)
class Decision:
    """The law's answer to one sample."""

    state: State
    """State for the next sample."""
    parameters: Parameters | None
    """Parameters for the switch; None while nothing is known."""
    changed: bool
    """True if `parameters` differ from those of the switch."""
    active: tuple[int, ...]
    """Active users, ascending."""
    fair_share_bps: float
    """Fair share of a user of weight 1 among the active users; 0 if there are none."""

    def record(self) -> dict[str, Any]:
        """The outcome, for the decision log."""
        return {
            "active": list(self.active),
            "fair_share_bps": self.fair_share_bps,
            "changed": self.changed,
            "parameters": None if self.parameters is None else self.parameters.action_data(),
        }

    def news(self) -> str:
        """Users that share the link, and the share of each."""
        return f"{len(self.active)} active users, fair share {self.fair_share_bps / 1e6:.3f} Mbit/s"


def decide(config: Config, state: State, sample: Sample) -> Decision:
    """One step of the law."""
    steps = _steps_in_window(config, state, sample)
    active = _active_users(config, steps, sample)
    weight = in_order(UNIT_SCALE / sample.users[user].scale for user in active)
    largest_scale = max((counter.scale for counter in sample.users.values()), default=UNIT_SCALE)
    watched = bool(steps) and sample.time_ns - steps[0].start_ns >= config.activity_window_ns
    taken_over = state.taken_over and not watched

    wanted_for: float | None = weight
    if active:
        wanted: Parameters | None = parameters_for(config, weight, largest_scale)
    elif state.parameters is None:
        wanted_for, wanted = 1.0, parameters_for(config, 1.0, largest_scale)
    else:
        wanted_for, wanted = state.weight, _for_previous_users(config, state, state.parameters, largest_scale)
    if taken_over and wanted is not None and state.parameters is not None:
        held = _in_configuration(config, state.parameters, largest_scale)
        if not active or wanted.edges[0] >= held.edges[0]:
            wanted_for, wanted = None, held
    return Decision(
        state=State(wanted, taken_over, sample, steps, wanted_for),
        parameters=wanted,
        changed=wanted != state.parameters,
        active=active,
        fair_share_bps=config.capacity_bps / weight if active else 0.0,
    )


def parameters_for(config: Config, weight: float, largest_scale: int = UNIT_SCALE) -> Parameters:
    """Bands for active users whose weights sum up to `weight`.

    `largest_scale` belongs to the user that is charged most for a packet. Its bucket must hold ten of its packets.
    """
    bytes_per_s = config.capacity_bps / 8 / weight
    unused = (UNUSED_EDGE,) * (EDGES - config.bands.further)
    ten_packets = 10 * MTU_BYTES * max(largest_scale, UNIT_SCALE) // UNIT_SCALE
    burst = config.burst_bytes or max(ten_packets, round(2 * bytes_per_s * config.rtt_ns / 1e9))
    sizes = queue_sizes(config.capacity_bps, config.rtt_ns, config.bands.count)
    found = Parameters(
        interval_us=config.interval_us,
        edges=tuple(_edge(e * bytes_per_s * config.interval_us / 1e6) for e in config.bands.edges) + unused,
        token_bucket=config.token_bucket,
        rates=tuple(_edge(e * bytes_per_s * TOKEN_PERIOD_US / 1e6) for e in config.bands.edges) + unused,
        burst_bytes=min(burst, MAX_BURST_BYTES),
        flowlet_gap_us=config.flowlet_gap_us,
        sizes=sizes + (0,) * (QUEUES - len(sizes)),
    )
    return config.for_program(found)


def _for_previous_users(config: Config, state: State, parameters: Parameters, largest_scale: int) -> Parameters:
    """Bands for the previous users while no user is active: `parameters`, unless the configuration was changed."""
    if not state.is_reconfigured:
        return parameters
    if state.weight is None:
        return _in_configuration(config, parameters, largest_scale)
    return parameters_for(config, state.weight, largest_scale)


def _in_configuration(config: Config, parameters: Parameters, largest_scale: int) -> Parameters:
    """Parameters of another controller, with this one's bands, interval and sizes around the same first edge."""
    first_edge_bytes_per_s = max(1, parameters.edges[0]) * 1e6 / max(1, parameters.interval_us)
    weight = config.capacity_bps / 8 * config.bands.edges[0] / first_edge_bytes_per_s
    held = parameters_for(config, weight, largest_scale)
    same = (
        (parameters.interval_us, parameters.token_bucket, parameters.flowlet_gap_us, parameters.sizes)
        == (held.interval_us, held.token_bucket, held.flowlet_gap_us, held.sizes)
        and parameters.edges.count(UNUSED_EDGE) == held.edges.count(UNUSED_EDGE)
        and all(abs(old - new) <= max(2, new // 1000) for old, new in zip(parameters.edges, held.edges, strict=True))
    )
    # rounding must not look like a change
    return parameters if same else held


def _edge(value: float) -> int:
    return max(1, min(round(value), UNUSED_EDGE - 1))


def _steps_in_window(config: Config, state: State, sample: Sample) -> tuple[_Step, ...]:
    if state.sample is None:
        return ()
    before = state.sample
    if sample.time_ns < before.time_ns:
        raise ValueError(f"sample at {sample.time_ns} ns is older than the one before, at {before.time_ns} ns")
    sent = {user: _increment(before.users.get(user), counter) for user, counter in sample.users.items()}
    step = _Step(before.time_ns, sample.time_ns, sent)
    horizon = sample.time_ns - config.activity_window_ns
    return (*(old for old in state.steps if old.end_ns >= horizon), step)


def _increment(before: UserCounter | None, now: UserCounter) -> int:
    if before is None or now.sent_bytes < before.sent_bytes:
        return now.sent_bytes
    return now.sent_bytes - before.sent_bytes


def _active_users(config: Config, steps: tuple[_Step, ...], sample: Sample) -> tuple[int, ...]:
    return tuple(
        user for user in sorted(sample.users) if sum(step.sent.get(user, 0) for step in steps) >= config.active_bytes
    )


LAW = Config.law = Law(
    name="fdpa", parameters=Parameters, config=Config, sample=Sample, begin=State.take_over, decide=decide, sets="bands"
)
