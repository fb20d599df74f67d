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
    # TODO: the packets that the link sends within the delay; at least 1, at most what the queue can hold.
    target = 20

    # Task 2: S.
    # TODO: |W| ranks, one of each S arrivals, span the time that is asked for; at least 1.
    sampling = 15

    # Task 3: k.
    # TODO: the smallest K from 0 to 128 with which idle_share(K / 256, ...) is at most the loss; 128 if there is none.
    headroom = 26

    # Task 4: hysteresis.
    # TODO: keep the values of the call before while C is within 10 %, S within 25 %, and K within 16 of the new ones.

    return {"C": target, "K": headroom, "S": sampling}


def near(held, wanted, share):
    """True if a number may stay."""
    return abs(wanted - held) <= max(1, share * held)


def idle_share(k, dispersion, target):
    """The share of the time that the link idles with the headroom k."""
    if dispersion == 0:
        return 0
    h = k * target
    return (dispersion / 2) / (h + math.sqrt(math.pi * dispersion * (target - h)) / 2)
