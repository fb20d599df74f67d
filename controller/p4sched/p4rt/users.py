"""Users in the programs: entries of `users_by_prefix` or `users_by_flow`, and their counters.

Only the tables hold the users and their weights. A controller that takes over reads them from the tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import finsy as fy

from p4sched.errors import UsageError, require
from p4sched.p4rt.reader import Count, Reader
from p4sched.p4rt.target import PROGRAMS, target_of

TABLES = ("users_by_prefix", "users_by_flow")
ACTIONS = ("set_user", "set_flow_user")
"""Actions for users. On a Tofino an action can use only one direct counter, so each table has its own action."""
PROTOCOL_TCP = 6
DEPARTURES = "user_departures"
"""Counter of delivered packets and bytes, by user."""
UNIT_SCALE = 256
"""Scale of weight 1: the estimator charges length * scale / 256 (p4/include/rate_estimator.p4)."""


@dataclass(frozen=True)
class UserCounter:
    """Counter of one user, from its table entries."""

    sent_bytes: int
    """Bytes that arrived from the user since the entries were written, with dropped bytes."""
    scale: int = UNIT_SCALE
    """256 / weight, rounded: the action data of the entries."""

    def __post_init__(self) -> None:
        require(0 < self.scale < 2**16, f"a user's scale {self.scale} is not in (0, 2^16)")


@dataclass(frozen=True)
class PrefixUser:
    """All packets from a prefix."""

    user: int
    """1 .. 4095."""
    prefix: str
    """Prefix, for example "10.0.0.5/32"."""
    weight: float = 1.0

    def entry(self, _reader: Reader) -> fy.P4TableEntry:
        """Table entry of the user."""
        return prefix_user(self.user, self.prefix, self.weight)


@dataclass(frozen=True)
class FlowUser:
    """All TCP segments to an address and a port."""

    user: int
    """1 .. 4095."""
    address: str
    tcp_port: int
    weight: float = 1.0

    def entry(self, reader: Reader) -> fy.P4TableEntry:
        """Table entry of the user in the switch's program."""
        return flow_user(reader, self.user, self.address, self.tcp_port, self.weight)


User: TypeAlias = PrefixUser | FlowUser


def scale_of_weight(weight: float) -> int:
    """The `scale` parameter of `set_user` for a user of this weight."""
    if not 1 / UNIT_SCALE < weight <= UNIT_SCALE:
        raise UsageError(f"weight {weight:g} is not in (1/{UNIT_SCALE}, {UNIT_SCALE}]")
    return max(1, min(0xFFFF, round(UNIT_SCALE / weight)))


def prefix_user(user: int, prefix: str, weight: float = 1.0) -> fy.P4TableEntry:
    """The user (1 .. 4095) that sends from `prefix`, for example "10.0.0.5/32"."""
    action = fy.P4TableAction("set_user", user=user, scale=scale_of_weight(weight))
    return fy.P4TableEntry("users_by_prefix", match=fy.P4TableMatch({"hdr.ipv4.src_addr": prefix}), action=action)


def flow_user(reader: Reader, user: int, address: str, tcp_port: int, weight: float = 1.0) -> fy.P4TableEntry:
    """The user that owns all TCP segments to this address and port, from any sender."""
    match = {"hdr.ipv4.dst_addr": address, "hdr.ipv4.protocol": PROTOCOL_TCP, "meta.l4_dst_port": tcp_port}
    name = next(name for name in reversed(ACTIONS) if reader.schema.actions.get(name) is not None)
    action = fy.P4TableAction(name, user=user, scale=scale_of_weight(weight))
    return fy.P4TableEntry("users_by_flow", match=fy.P4TableMatch(match), action=action, priority=1)


async def user_counters(reader: Reader) -> dict[int, UserCounter]:
    """Bytes and packets from every user so far: the sum of the direct counters of its entries, in one Read."""
    users: dict[int, UserCounter] = {}
    for entry in await reader.entries(*TABLES):
        user = entry.arguments.get("user", 0)
        if entry.action not in ACTIONS or user == 0 or entry.count is None:
            continue
        before = users.get(user)
        sent = entry.count.bytes + (0 if before is None else before.sent_bytes)
        users[user] = UserCounter(sent, entry.arguments["scale"])
    return users


async def departures(reader: Reader, users: Sequence[int]) -> Mapping[int, Count]:
    """Packets and bytes delivered for each of these users so far, in one Read."""
    counted = await reader.counts(DEPARTURES, users)
    more = PROGRAMS[target_of(reader.schema.arch)].bridge_bytes
    return {user: Count(count.packets, count.bytes - more * count.packets) for user, count in counted.items()}
