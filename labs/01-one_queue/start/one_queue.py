"""A long TCP flow and short ones share one queue: a link of 20 Mbit/s, a round trip of 40 ms.

python one_queue.py SIZE...     a line of results for each size of the queue, in packets
"""

import sys

from p4sched import simulate

SECOND_NS = 1_000_000_000
END_S = 25
PACKET_BITS = 1514 * 8
SIMULATED = simulate.Scenario(
    topology=simulate.Dumbbell(
        hosts=2, access=simulate.Link.of("1gbit"), bottleneck=simulate.Link.of("20mbit", "20ms")
    ),
    ports=simulate.Ports("fifo", queues=1, queue_size=1),
    # u1 sends all the time, u2 sends 30 kB each second.
    flows=[
        simulate.Flow("u1", "server", 100_000_000),
        *(simulate.Flow("u2", "server", 30_000, second * SECOND_NS) for second in range(5, END_S - 1)),
    ],
    transports={"tcp": {"control": "cubic"}},
    end_ns=END_S * SECOND_NS,
)


def measured(size: int) -> tuple[float, float, float, int]:
    """Share of the link that is used, longest wait in ms, median time of a short flow in ms, and dropped packets."""
    result = simulate.run(SIMULATED.with_(ports=simulate.Ports("fifo", queues=1, queue_size=size)))
    bottleneck = next(port for port in result.ports if port["to"] == "server")
    rate_bps = SIMULATED.topology.bottleneck.rate_bps
    busy = bottleneck["sent_bytes"] * 8 / (rate_bps * END_S)
    wait_ms = bottleneck["queue_longest"] * PACKET_BITS / rate_bps * 1000
    short_ms = sorted(flow["completion_s"] for flow in result.completed() if flow["bytes"] == 30_000)
    return busy, wait_ms, short_ms[len(short_ms) // 2] * 1000, int(bottleneck["dropped_full"])


def main() -> None:
    if not sys.argv[1:] or not all(size.isdecimal() and int(size) for size in sys.argv[1:]):
        sys.exit("usage: python one_queue.py SIZE...   (whole numbers from 1 on, in packets)")
    print("size   link used   longest wait   a short flow takes   dropped")
    for size in map(int, sys.argv[1:]):
        busy, wait_ms, short_ms, dropped = measured(size)
        print(f"{size:4} {busy:10.1%} {wait_ms:11.1f} ms {short_ms:16.1f} ms {dropped:10}")


if __name__ == "__main__":
    main()
