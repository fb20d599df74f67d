package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.Map;
import org.p4sched.laws.record.Numbers;

/** Estimated traffic of a port. */
public final class Traffic {
    public final double arrivalPps;
    /** Mean size of the Ethernet frames of admitted packets. */
    public final double packetBytes;

    public final double drainBps;
    /** Arrival rate over drain rate, in bytes. */
    public final double load;
    /** Index of dispersion of the arrivals, after the hysteresis. */
    public final double dispersion;
    /** Histogram of the ranks that arrived in the rate window. */
    final long[] ranks;

    Traffic(double arrivalPps, double packetBytes, double drainBps, double load, double dispersion, long[] ranks) {
        this.arrivalPps = arrivalPps;
        this.packetBytes = packetBytes;
        this.drainBps = drainBps;
        this.load = load;
        this.dispersion = dispersion;
        this.ranks = ranks;
    }

    /** Packets that the link sends in this time. */
    double packetsIn(long timeNs) {
        return drainBps * timeNs / 8e9 / packetBytes;
    }

    /** Packets that arrive in this time. */
    double arrivalsIn(double timeNs) {
        return arrivalPps * timeNs / 1e9;
    }

    /** The estimates to six digits, for the decision log. */
    Map<String, Object> record() {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("arrival_pps", Numbers.toSixDigits(arrivalPps));
        record.put("packet_bytes", Numbers.toSixDigits(packetBytes));
        record.put("drain_bps", Numbers.toSixDigits(drainBps));
        record.put("load", Numbers.toSixDigits(load));
        record.put("dispersion", Numbers.toSixDigits(dispersion));
        return record;
    }
}
