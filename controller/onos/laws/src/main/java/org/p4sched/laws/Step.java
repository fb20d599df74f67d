package org.p4sched.laws;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The counts between two samples of a port. */
final class Step {
    final long startNs;
    final long endNs;
    /** Square of the duration of the Read at its end. */
    final double uncertainNs2;

    final Count arrived;
    final Count admitted;
    final long dropped;
    /** Arrivals that found the queue empty. */
    final long foundEmpty;

    final long[] ranks = new long[PortSample.BUCKETS];

    private Step(PortSample before, PortSample now) {
        startNs = before.timeNs;
        endNs = now.timeNs;
        uncertainNs2 = (double) now.readNs * now.readNs;
        admitted = now.admitted.since(before.admitted);
        Count lost = now.refused.since(before.refused).plus(now.full.since(before.full));
        arrived = admitted.plus(lost);
        dropped = lost.packets;
        foundEmpty = Count.risen(before.depths.get(0), now.depths.get(0));
        for (int bucket = 0; bucket < ranks.length; bucket++) {
            ranks[bucket] = Count.risen(before.ranks.get(bucket), now.ranks.get(bucket));
        }
    }

    long durationNs() {
        return endNs - startNs;
    }

    /** Arrival rate in packets/ns. */
    double rate() {
        return (double) arrived.packets / durationNs();
    }

    boolean busy() {
        return arrived.packets > 0;
    }

    /** The steps that still reach into the window, and the new one between the two samples. */
    static List<Step> with(List<Step> steps, PortSample before, PortSample now, long windowNs) {
        if (before == null) {
            return List.of();
        }
        now.requireAfter(before);
        if (now.timeNs == before.timeNs) {
            return steps;
        }
        List<Step> result = new ArrayList<>(steps);
        result.removeIf(old -> old.endNs <= now.timeNs - windowNs);
        result.add(new Step(before, now));
        return Collections.unmodifiableList(result);
    }
}
