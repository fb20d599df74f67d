"""A control law for AIFO: from measured traffic to C, k and S."""

import math


def decide(memory, traffic):
    """Called ten times a second. `memory` is a dict that is yours; it is empty at first.

    traffic["drain_bps"]      what the link sends, bit/s
    traffic["packet_bytes"]   mean size of a packet
    traffic["arrival_pps"]    packets that arrive each second
    traffic["dispersion"]     I: variance over mean of the arrivals; 0 for a constant rate, 1 for Poisson
    traffic["delay_ms"]       how long a packet may wait
    traffic["span_ms"]        the time of arrivals that the window should span
    traffic["window"]         |W|
    traffic["queue_packets"]  what the queue can hold
    traffic["loss"]           share of the time that the link may idle; 0: never

    All of them may change from call to call.

    Returns {"C": target length, "K": headroom in 1/256, "S": sampling}, all of them whole numbers.
    """
    # Task 1: C.
    packets = traffic["drain_bps"] * traffic["delay_ms"] / 1000 / (8 * traffic["packet_bytes"])
    target = max(1, min(traffic["queue_packets"], round(packets)))

    # Task 2: S.
    arrivals = traffic["arrival_pps"] * traffic["span_ms"] / 1000
    sampling = max(1, round(arrivals / traffic["window"]))

    # Task 3: k.
    headroom = 128
    for numerator in range(128, -1, -1):
        if idle_share(numerator / 256, traffic["dispersion"], target) <= traffic["loss"]:
            headroom = numerator

    wanted = {"C": target, "K": headroom, "S": sampling}

    # Task 4: hysteresis.
    held = memory.get("held")
    if held and near(held["C"], target, 0.1) and near(held["S"], sampling, 0.25) and abs(held["K"] - headroom) <= 16:
        return held
    memory["held"] = wanted
    return wanted


def near(held, wanted, share):
    """True if a number may stay."""
    return abs(wanted - held) <= max(1, share * held)


def idle_share(k, dispersion, target):
    """The share of the time that the link idles with the headroom k."""
    if dispersion == 0:
        return 0
    h = k * target
    return (dispersion / 2) / (h + math.sqrt(math.pi * dispersion * (target - h)) / 2)
