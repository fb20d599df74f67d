"""Counts inversions from outside the switch, from the logs of sender and receiver.

An inversion is a packet whose transmission starts while a packet of a lower rank waits (PACKS 6.1); it counts once. The
lab knows when the sender's kernel got a packet, and when the packet reached the receiver. From these times:

- The order of departure is the order of arrival at the receiver, because one link keeps the order.
- Start of transmission: all packets have one length and take T to send, so packet k started at least (j-k) T before
  any later packet j. The receiver may wake late, but not early. So the earliest bound, min over j >= k of
  r_j - (j-k) T, is the instant at which an exact receiver would have received packet k.
- The packet with the shortest delay found the link idle. Its delay is T, propagation and all fixed latencies. So a
  transmission started at the instant above minus the shortest delay, on the sender's clock.
- A packet waits at this moment if it was sent before and departs later. Dropped packets do not count, whether they were
  refused on arrival or pushed out (PIFO pushes out the least urgent packet, which causes no inversion).

The remaining error is the jitter between sender and switch, some 10 us: at 50 Mbit/s, of the packets that arrive near
the moment of a departure, about one in 20 is put on the wrong side.
"""

import csv
import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NS = 1_000_000_000


@dataclass(frozen=True)
class ReceivedPacket:
    """A packet at the receiver."""

    sequence: int
    rank: int
    sent_ns: int
    received_ns: int


@dataclass(frozen=True)
class Outcome:
    """Counts of a stream, by rank 0, 1, ..."""

    inversions: list[int]
    drops: list[int]
    departures: list[int]

    @property
    def lowest_rank_dropped(self) -> int | None:
        """The most urgent rank with a lost packet."""
        return next((rank for rank, count in enumerate(self.drops) if count), None)


def starts(received: Sequence[ReceivedPacket], packet_ns: float) -> list[float]:
    """Start of the transmission of each packet, on the sender's clock. `received` is in order of arrival."""
    if not received:
        return []
    if len(received) > 1:
        # T is not longer than measured on the link: otherwise the starts would drift back
        measured = (received[-1].received_ns - received[0].received_ns) / (len(received) - 1)
        packet_ns = min(packet_ns, measured)
    shortest = min(packet.received_ns - packet.sent_ns for packet in received)
    found: list[float] = []
    earliest = float("inf")
    for packet in reversed(received):
        earliest = min(earliest - packet_ns, packet.received_ns)
        found.append(earliest - shortest)
    found.reverse()
    return found


def inversions(received: Sequence[ReceivedPacket], packet_ns: float) -> Counter[int]:
    """Inversions by the rank of the packet that left too early. `received` is in order of arrival."""
    arriving = sorted(received, key=lambda packet: (packet.sent_ns, packet.sequence))
    waiting: list[tuple[int, int]] = []
    gone: set[int] = set()
    found: Counter[int] = Counter()
    next_arrival = 0
    for packet, start in zip(received, starts(received, packet_ns), strict=True):
        while next_arrival < len(arriving) and arriving[next_arrival].sent_ns < start:
            heapq.heappush(waiting, (arriving[next_arrival].rank, arriving[next_arrival].sequence))
            next_arrival += 1
        gone.add(packet.sequence)
        while waiting and waiting[0][1] in gone:
            heapq.heappop(waiting)
        if waiting and waiting[0][0] < packet.rank:
            found[packet.rank] += 1
    return found


def outcome(sent: Counter[int], received: Sequence[ReceivedPacket], packet_ns: float, ranks: int) -> Outcome:
    """Counts from the `sent` packets by rank, and the `received` packets in order of arrival."""
    departed = Counter(packet.rank for packet in received)
    inverted = inversions(received, packet_ns)
    every = range(ranks)
    return Outcome(
        inversions=[inverted[rank] for rank in every],
        drops=[sent[rank] - departed[rank] for rank in every],
        departures=[departed[rank] for rank in every],
    )


def read_sent(path: Path) -> Counter[int]:
    """Packets by rank in a sender's log."""
    with path.open(newline="") as file:
        return Counter(int(row["rank"]) for row in csv.DictReader(file))


def read_received(path: Path) -> list[ReceivedPacket]:
    """The packets of a receiver's log, in order of arrival."""
    with path.open(newline="") as file:
        return [
            ReceivedPacket(int(row["sequence"]), int(row["rank"]), int(row["sent_ns"]), int(row["received_ns"]))
            for row in csv.DictReader(file)
        ]
