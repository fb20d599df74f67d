package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.p4sched.laws.record.Fields;

/**
 * Counters of a ranked program for one egress port since the program was loaded, summed over all priorities. The time
 * is the middle of the Read.
 */
public final class PortSample extends Law.Sample {
    /** Buckets of a histogram: bucket 0 holds the value 0, bucket i the values 2^(i-1) .. 2^i - 1. */
    public static final int BUCKETS = 33;

    /** Duration of the Read; the switch read the counters at some instant within it. */
    public final long readNs;

    public final Count admitted;
    /** Dropped by the admission rule. */
    public final Count refused;
    /** Dropped because the queue was full. */
    public final Count full;
    /** Histogram of ranks, packets. */
    public final List<Long> ranks;
    /** Histogram of the queue lengths that arrivals found, packets. */
    public final List<Long> depths;

    /** Both histograms have {@link #BUCKETS} buckets. */
    public PortSample(
            long timeNs, long readNs, Count admitted, Count refused, Count full, List<Long> ranks, List<Long> depths) {
        super(timeNs);
        this.readNs = readNs;
        this.admitted = admitted;
        this.refused = refused;
        this.full = full;
        this.ranks = histogram("ranks", ranks);
        this.depths = histogram("depths", depths);
    }

    static PortSample of(Fields line) {
        return new PortSample(
                line.whole("time_ns"),
                line.whole("read_ns"),
                Count.of(line.wholes("admitted", 2)),
                Count.of(line.wholes("refused", 2)),
                Count.of(line.wholes("full", 2)),
                line.wholes("ranks"),
                line.wholes("depths"));
    }

    @Override
    public Map<String, Object> record() {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("read_ns", readNs);
        record.put("admitted", admitted.values());
        record.put("refused", refused.values());
        record.put("full", full.values());
        record.put("ranks", ranks);
        record.put("depths", depths);
        return record;
    }

    private static List<Long> histogram(String name, List<Long> buckets) {
        Require.that(buckets.size() == BUCKETS, name + " has " + buckets.size() + " buckets, not " + BUCKETS);
        return List.copyOf(buckets);
    }
}
