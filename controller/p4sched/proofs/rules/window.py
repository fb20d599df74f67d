"""The window of AIFO and PACKS: the last |W| of the ranks of which every S-th is written (AIFO 4.2 and 4.4).

A window has |W| places, which are written in turn. A place that was never written counts as the largest rank, which is
smaller than no rank. In the register a place holds the distance of its rank from the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, negated
from p4sched.proofs.rules.arrival import LARGEST_RANK, Arrival
from p4sched.proofs.rules.scheme import Cell, Decision, other_rank

PLACES = 32
WINDOWS_OF_PORT = 8
"""Windows of a port, where users have one each."""


def window_invariants(cell: Cell, window: Int) -> dict[str, Truth]:
    """Fewer arrivals than S wait for the next sample, and S is below 2^32."""
    return {
        "fewer than 2^32 - 1 arrivals since the last written rank": cell(".window.unwritten", window) < (1 << 32) - 1
    }


def window_of_user(packet: Arrival) -> Int:
    """Number of the window of the packet's user, where each port has eight. Users 0, 8, 16, ... share one."""
    return packet.port * WINDOWS_OF_PORT + packet.user.lowest(3)


def smaller_ranks(packet: Arrival, window: Int) -> tuple[Int, dict[str, tuple[Int, Int]]]:
    """q: how many ranks of a window are smaller than the packet's; and the window after the packet. `window`: its
    number."""
    smaller = exact(0)
    counted, after = are_smaller(packet, packet.rank, window)
    for one in counted:
        smaller = choose(one, smaller + 1, smaller)
    return smaller, after


def are_smaller(packet: Arrival, rank: Int, window: Int) -> tuple[list[Truth], dict[str, tuple[Int, Int]]]:
    """For each place of the window: is its rank smaller than this one? And the window after a packet of this rank."""
    size = packet.parameters["window_ranks"]
    arrivals = packet.old(".window.unwritten", window) + 1
    is_sampled = arrivals >= packet.parameters["sampling"]
    oldest = packet.old(".window.oldest", window)
    oldest = choose(oldest < size, oldest, 0)
    following = choose(oldest + 1 < size, oldest + 1, 0)
    after = {
        ".window.unwritten": (window, choose(is_sampled, 0, arrivals)),
        ".window.oldest": (window, choose(is_sampled, following, packet.old(".window.oldest", window))),
    }
    counted = []
    for place in range(PLACES):
        name = f".window.cell_{place}.entry"
        held = LARGEST_RANK - packet.old(name, window)
        held = choose(every(is_sampled, oldest.equals(place)), rank, held)
        counted.append(every(place < size, held < rank))
        after[name] = window, LARGEST_RANK - held
    return counted, after


def counts(packet: Arrival) -> tuple[Int, Int]:
    """Any two numbers of smaller ranks: q of a smaller rank, and q."""
    names = ("q of a smaller rank", "q")
    fewer, smaller = (packet.world.variable(name, PLACES.bit_length(), PLACES) for name in names)
    return fewer, smaller


def window_theorems(packet: Arrival, decision: Decision) -> dict[str, Truth]:
    """The window holds the last |W| written ranks: a new one takes the place of the oldest, and no other one moves."""
    window, size = decision.written[".window.oldest"][0], packet.parameters["window_ranks"]
    names = [f".window.cell_{place}.entry" for place in range(PLACES)]
    before, after = [packet.old(name, window) for name in names], [decision.written[name][1] for name in names]
    oldest, following = packet.old(".window.oldest", window), decision.written[".window.oldest"][1]
    is_sampled = packet.old(".window.unwritten", window) + 1 >= packet.parameters["sampling"]
    writes = every(oldest < size, is_sampled)
    kept = [
        implies(negated(every(writes, oldest.equals(place))), after[place].equals(before[place]))
        for place in range(PLACES)
    ]
    other = other_rank(packet)
    counted, of_other = (are_smaller(packet, rank, window)[0] for rank in (packet.rank, other))
    no_more = [
        implies(every(other <= packet.rank, small), large) for small, large in zip(of_other, counted, strict=True)
    ]
    ring = choose((oldest + 1).equals(size), 0, oldest + 1)
    return {
        "q of a smaller rank is not larger": every(*no_more),
        "q is at most |W|": every(*(implies(one, place < size) for place, one in enumerate(counted))),
        "a written rank takes the place of the oldest one": implies(
            writes, _place(after, oldest).equals(LARGEST_RANK - packet.rank)
        ),
        "no other rank of the window changes": implies(oldest < size, every(*kept)),
        "then the next place of the ring is the oldest one": implies(
            oldest < size, following.equals(choose(is_sampled, ring, oldest))
        ),
        "the oldest place stays one of |W|": implies(oldest < size, following < size),
    }


def _place(values: Sequence[Int], place: Int) -> Int:
    found = exact(-1)
    for number, value in enumerate(values):
        found = choose(place.equals(number), value, found)
    return found
