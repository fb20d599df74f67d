package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.Map;
import org.p4sched.laws.record.Numbers;

/** What the counters of a port tell of its traffic. */
public final class Traffic {
    public final double arrivalPps;
    /** Mean Ethernet frame among the admitted packets. */
    public final double packetBytes;

    public final double drainBps;
    /** Arrivals over drain, in bytes. */
    public final double load;
    /** Index of dispersion of arrivals, as held by the hysteresis. */
    public final double dispersion;
    /** Arrivals in the rate window by bucket of their rank. */
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

    /** Estimates to six digits. */
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
