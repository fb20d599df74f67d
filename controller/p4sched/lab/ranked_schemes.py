"""The ranked schemes as the lab runs them: program, parameters, queues; and where packets get their ranks from."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from p4sched.control.laws.ranked import headroom_numerator
from p4sched.errors import UsageError, unknown_name
from p4sched.lab.network import Dumbbell
from p4sched.lab.programming import Testbed, programmed
from p4sched.lab.schemes import Link, Scheme
from p4sched.p4rt.rank_source import RankSource, set_rank_source
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.traffic_manager import Calendar

NAMES = ("fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo")
FAIR_IDEALS = ("stfq", "drr", "afq")
"""Fair without the program's ranks: they know each packet's flow, from `RankSource.STFQ`."""
QUEUES = 8
LARGEST_WINDOW = 32
"""Entries that the programs were compiled for (p4/include/window.p4)."""
LONGEST_QUEUE = 65535
LARGEST_CALENDAR = 4096
LARGEST_ROUND_BYTES = 2**30
LARGEST_FRAME_BYTES = 1514
BMV2_REASON = {
    "sp_pifo": "BMv2 limits every priority queue on its own, so its queues never compete for the link",
    "packs": "BMv2 limits every priority queue on its own, so its queues never compete for the link",
    "pifo": "BMv2 has no queue sorted by rank",
    "stfq": "BMv2 has no queue sorted by rank",
    "drr": "BMv2 has no deficit round robin",
    "afq": "BMv2 has no calendar of queues",
}


@dataclass(frozen=True)
class Sizes:
    """Queues and parameters. The defaults: FIFO, SP-PIFO, and queues and k of PACKS as in PACKS 6.1, but PACKS's window
    as in its section 5, for that of 6.1 has 1000 ranks; AIFO as in its section 5.1, RIFO as in its V-B; PIFO's buffer
    is FIFO's, and AFQ's are our own."""

    buffer: int = 80
    """FIFO's and PIFO's one queue, and what the queues of the other ideals share, packets."""
    queue: int = 10
    """Each of the queues of SP-PIFO and PACKS."""
    queues: int = QUEUES
    """How many they have."""
    aifo_target: int = 20
    """C."""
    aifo_headroom: float = 0.1
    """k."""
    aifo_window: int = 20
    """|W|."""
    aifo_sampling: int = 15
    """S."""
    rifo_buffer: int = 20
    """B."""
    rifo_tracking: int = 50
    """T."""
    rifo_headroom: float = 0.1
    """k."""
    packs_window: int = 16
    """|W|."""
    packs_headroom: float = 0.0
    packs_sampling: int = 1
    afq_queues: int = 32
    """n."""
    afq_bytes: int = LARGEST_FRAME_BYTES
    """BpR, a user's bytes in a round."""

    def __post_init__(self) -> None:
        for what, packets in (
            ("a buffer", self.buffer),
            ("a queue", self.queue),
            ("AIFO's target C", self.aifo_target),
            ("RIFO's buffer B", self.rifo_buffer),
        ):
            if not 1 <= packets <= LONGEST_QUEUE:
                raise UsageError(f"{what} of {packets} packets: it must be 1 to {LONGEST_QUEUE}")
        if not 1 <= self.queues <= QUEUES:
            raise UsageError(f"{self.queues} queues: the programs were compiled for 1 to {QUEUES}")
        if not 1 <= self.afq_queues <= LARGEST_CALENDAR:
            raise UsageError(f"a calendar of {self.afq_queues} queues: AFQ has 1 to {LARGEST_CALENDAR}")
        if self.afq_bytes > LARGEST_ROUND_BYTES:
            raise UsageError(f"AFQ rounds of {self.afq_bytes} bytes: they have at most {LARGEST_ROUND_BYTES}")
        if self.afq_bytes < 1 or self.afq_queues * self.afq_bytes <= LARGEST_FRAME_BYTES:
            raise UsageError(
                f"{self.afq_queues} AFQ rounds of {self.afq_bytes} bytes cannot hold a frame of {LARGEST_FRAME_BYTES}:"
                " more queues, or more bytes a round"
            )
        for window in (self.aifo_window, self.packs_window):
            if not 1 <= window <= LARGEST_WINDOW:
                raise UsageError(
                    f"a window of {window} ranks: the programs were compiled for 1 to {LARGEST_WINDOW} entries"
                )
        for what, count in (
            ("AIFO samples", self.aifo_sampling),
            ("PACKS samples", self.packs_sampling),
            ("RIFO's T", self.rifo_tracking),
        ):
            if count < 1:
                raise UsageError(f"{what} every {count} packets: it must be at least 1")
        for headroom in (self.aifo_headroom, self.rifo_headroom, self.packs_headroom):
            if not 0 <= headroom < 1:
                raise UsageError(f"headroom k = {headroom}: it must be at least 0 and below 1")


def equal_buffers(buffer: int, window: int, headroom: float = 0.0, queues: int = QUEUES) -> Sizes:
    """The comparisons of PACKS 6: all schemes hold the same number of packets and look back equally far."""
    if buffer % queues:
        raise UsageError(f"a buffer of {buffer} packets cannot be split into {queues} queues of one size")
    return Sizes(
        buffer=buffer,
        queue=buffer // queues,
        queues=queues,
        aifo_target=buffer,
        aifo_headroom=headroom,
        aifo_window=window,
        aifo_sampling=1,
        rifo_buffer=buffer,
        rifo_tracking=window,
        rifo_headroom=headroom,
        packs_window=window,
        packs_headroom=headroom,
    )


@dataclass(frozen=True)
class RankedScheme:
    """One column of a comparison."""

    scheme: Scheme
    table: str | None = None
    """The table whose default action holds the parameters; None for a program without any."""
    action: str = ""
    arguments: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As on the command line."""
        return self.scheme.name

    @property
    def why_not_on_bmv2(self) -> str | None:
        """Why BMv2 cannot show it; None when it can."""
        return BMV2_REASON.get(self.name)


def ranked_scheme(name: str, sizes: Sizes) -> RankedScheme:
    """The scheme of this name."""
    queues = (sizes.queue,) * sizes.queues
    # a size of 0: there is no such queue
    rooms = {f"size_{place + 1}": sizes.queue if place < sizes.queues else 0 for place in range(QUEUES)}
    many = f"{sizes.queues}x{sizes.queue} packets"
    match name:
        case "fifo":
            return RankedScheme(Scheme(name, "fifo", "fifo", f"{sizes.buffer} packets", (sizes.buffer,)))
        case "pifo" | "stfq" | "drr" | "afq":
            return RankedScheme(_ideal(name, sizes))
        case "sp_pifo":
            strict = Scheme(name, "sp_pifo", "strict", many, queues, bmv2=False)
            return RankedScheme(strict, "sp_pifo_params", "set_sp_pifo", rooms)
        case "packs":
            window = {"headroom_256": headroom_numerator(sizes.packs_headroom), "window_ranks": sizes.packs_window}
            strict = Scheme(name, "packs", "strict", f"{many}, |W| = {sizes.packs_window}", queues, bmv2=False)
            return RankedScheme(
                strict, "packs_params", "set_packs", rooms | window | {"sampling": sizes.packs_sampling}
            )
        case "aifo":
            target = sizes.aifo_target
            return RankedScheme(
                Scheme(name, "aifo", "fifo", f"C = {target}, |W| = {sizes.aifo_window}", (target,)),
                "aifo_params",
                "set_aifo",
                {
                    "target_packets": target,
                    "capacity_packets": target,
                    "headroom_256": headroom_numerator(sizes.aifo_headroom),
                    "window_ranks": sizes.aifo_window,
                    "sampling": sizes.aifo_sampling,
                },
            )
        case "rifo":
            room, tracking = sizes.rifo_buffer, sizes.rifo_tracking
            return RankedScheme(
                Scheme(name, "rifo", "fifo", f"B = {room}, T = {tracking}", (room,)),
                "rifo_params",
                "set_rifo",
                {
                    "capacity_packets": room,
                    "headroom_256": headroom_numerator(sizes.rifo_headroom),
                    "tracking_packets": tracking,
                },
            )
        case _:
            raise unknown_name("scheme", name, (*NAMES, *FAIR_IDEALS))


def _ideal(name: str, sizes: Sizes) -> Scheme:
    """A discipline of the embedded switch's own; the program only names each packet's rank or flow."""
    ideal = Scheme(name, "fifo", name, "ideal", (sizes.buffer,), bmv2=False)
    if name == "pifo":
        return replace(ideal, rank_field="meta.rank")
    if name in ("stfq", "drr"):
        return replace(ideal, user_field="meta.flow")
    label = f"{sizes.afq_queues} rounds of {sizes.afq_bytes} B"
    return replace(ideal, label=label, user_field="meta.flow", calendar=Calendar(sizes.afq_queues, sizes.afq_bytes))


@asynccontextmanager
async def ranked_testbed(
    network: Dumbbell, ranked: RankedScheme, link: Link, source: RankSource, users: Sequence[int]
) -> AsyncIterator[Testbed]:
    """The switch runs the scheme with its parameters and takes ranks from `source`, on every port."""
    async with programmed(network, ranked.scheme, link, dict.fromkeys(users, 1.0)) as testbed:
        session = testbed.session
        await set_rank_source(session, source)
        if ranked.table is not None:
            await session.set_default_action(ranked.table, ranked.action, ranked.arguments)
        yield testbed


async def decisions(reader: Reader, ranked: RankedScheme, port: int) -> dict[str, int]:
    """Packets for a port that the program admitted and dropped so far; empty for FIFO and the ideals."""
    if ranked.table is None:
        return {}
    cells = [(port << 3) | priority for priority in range(QUEUES)]
    counted = {}
    for counter in ("admitted", "dropped_by_admission", "dropped_full"):
        counts = await reader.counts(counter, cells)
        counted[counter] = sum(count.packets for count in counts.values())
    return counted
