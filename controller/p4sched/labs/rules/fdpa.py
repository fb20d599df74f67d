"""FDPA's rule with the average rate, as p4/include/fdpa_bands.p4 and rate_estimator.p4 state it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from p4sched.labs.decisions import Decision, Trial
from p4sched.labs.rules import MOST_URGENT, Rule
from p4sched.labs.trace import Packet

EDGES = 7
UNUSED = 0xFFFFFFFF
HALVINGS = 4
"""After a pause of 2^4 intervals the rate is 0."""


@dataclass
class User:
    """What the estimator knows of a user: times in us, bytes over the user's weight."""

    start: int = 0
    charged: int = 0
    rate: int = 0


Weighted = Callable[[int, int], int]
"""What a packet costs: of its bytes and 256 over the weight."""
Average = Callable[[User, int, int, int], int]
"""The rate: of the user, now, the interval, and the packet's charge. It changes what is known of the user."""
Band = Callable[[int, Sequence[int]], int]
"""Of the rate and the edges."""


def weighted(frame_bytes: int, scale: int) -> int:
    """The rule."""
    return frame_bytes * scale >> 8


def average(user: User, now: int, interval: int, charge: int) -> int:
    """The rule: what the last complete interval brought; after a pause, divided by a power of two."""
    elapsed = now - user.start
    if elapsed < interval:
        user.charged += charge
        return user.rate
    pause = next((halvings for halvings in range(HALVINGS) if elapsed >> (halvings + 1) < interval), None)
    user.rate = 0 if pause is None else user.charged >> pause
    user.start = user.start + interval if pause == 0 else now
    user.charged = charge
    return user.rate


def band(rate: int, edges: Sequence[int]) -> int:
    """The rule: the first band whose edge is not exceeded."""
    return next((number for number, edge in enumerate(edges, 1) if rate <= edge), EDGES + 1)


class Fdpa(Rule):
    """One port. Parameters: those of the action set_bands."""

    def __init__(
        self, trial: Trial, weighted: Weighted = weighted, average: Average = average, band: Band = band
    ) -> None:
        self._interval, *rest = trial.parameters
        self._edges, self._sizes = rest[:EDGES], rest[-EDGES - 1 :]
        self._scales = trial.scales
        self._weighted, self._average, self._band = weighted, average, band
        self._users: dict[int, User] = {}
        self._last: list[tuple[str, str]] = []

    def decide(self, packet: Packet, lengths: Sequence[int]) -> Decision:
        number = 1
        self._last = [("rule", "user 0 is all other traffic: band 1")]
        if packet.user:
            number = self._of_user(packet)
        priority = MOST_URGENT + 1 - number
        size = self._sizes[number - 1]
        return "full" if size and lengths[priority] >= size else priority

    def _of_user(self, packet: Packet) -> int:
        now = packet.at_ns // 1000
        user = self._users.setdefault(packet.user, User())
        scale = self._scales[packet.user - 1]
        charge = self._weighted(packet.frame_bytes, scale)
        before = f"its interval began at {user.start} us and has {user.charged} bytes; its rate is {user.rate}"
        elapsed = now - user.start
        rate = self._average(user, now, self._interval, charge)
        found = self._band(rate, self._edges)
        edges = " ".join(str(edge) for edge in self._edges if edge != UNUSED)
        self._last = [
            ("user", f"scale {scale} (256 over the weight), so this packet costs {charge} bytes"),
            ("before", before),
            (
                "now",
                f"{now} us: {elapsed} us have passed, {elapsed // self._interval} intervals of {self._interval} us",
            ),
            ("rule", f"rate = {rate} bytes in an interval, edges {edges}: band {found}"),
        ]
        return found

    def explain(self) -> list[tuple[str, str]]:
        return self._last

    def who(self, packet: Packet) -> str:
        return f"user {packet.user}"
