"""The packets of a check. The same seed gives the same packets on every machine."""

import random
from collections.abc import Sequence
from typing import NamedTuple

LINK_BPS = 8_000_000_000
"""One byte per nanosecond, so that times are easy to read."""
GAPS_NS = (300, 700, 1000, 1600, 3000)
"""Mean gaps. A frame of 1000 bytes takes 1000 ns on the link, so the queue grows and shrinks."""
PHASE = 40
"""Packets between two changes of the mean gap."""


class Packet(NamedTuple):
    """A packet that arrives at the port."""

    at_ns: int
    rank: int
    user: int = 0
    """User; 0: none. Only FDPA knows users."""
    frame_bytes: int = 1000


def bursts(count: int, seed: int, ranks: Sequence[int], gaps_ns: Sequence[int] = GAPS_NS) -> list[Packet]:
    """Packets in bursts and pauses, with ranks from `ranks`, all equally likely."""
    source = random.Random(seed)
    packets, now, gap = [], 0, 0
    for number in range(count):
        if number % PHASE == 0:
            gap = gaps_ns[int(source.random() * len(gaps_ns))]
        now += int(2 * gap * source.random())
        packets.append(Packet(now, ranks[int(source.random() * len(ranks))]))
    return packets


def at_once(count: int, seed: int, ranks: Sequence[int]) -> list[Packet]:
    """Packets with ranks from `ranks`, all at the same instant. The queue grows with each admitted packet."""
    source = random.Random(seed)
    return [Packet(0, ranks[int(source.random() * len(ranks))]) for _ in range(count)]


def by_hand(*packets: tuple[int, int]) -> list[Packet]:
    """Packets of 1000 bytes: (nanoseconds after the previous packet, rank)."""
    now, made = 0, []
    for gap, rank in packets:
        now += gap
        made.append(Packet(now, rank))
    return made
