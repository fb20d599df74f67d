package org.p4sched.onos.control;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.onosproject.net.pi.runtime.PiCounterCellId;
import org.p4sched.laws.Fdpa;
import org.p4sched.laws.Law;
import org.p4sched.laws.PortSample;

/**
 * Reads the counters that a law needs, for all ports with one Read.
 *
 * @param <M> the law's sample
 */
@FunctionalInterface
interface Sampling<M extends Law.Sample> {
    /** Reads the counters, by port. */
    Map<Integer, M> read() throws SwitchException;

    /** Counters of the users, the same for every port. */
    static Sampling<Fdpa.Sample> ofUsers(SwitchReader reader, Collection<Integer> ports, LongSupplier clock) {
        return () -> {
            // a sample has the time before the Read, as in the Python controller
            long now = clock.getAsLong();
            Fdpa.Sample sample = new Fdpa.Sample(now, reader.users());
            Map<Integer, Fdpa.Sample> samples = new TreeMap<>();
            ports.forEach(port -> samples.put(port, sample));
            return samples;
        };
    }

    /** Counters of the packets to each port. */
    static Sampling<PortSample> ofPorts(SwitchReader reader, Collection<Integer> ports, LongSupplier clock) {
        List<PiCounterCellId> cells = new ArrayList<>();
        for (int port : ports) {
            cells.addAll(PortCounts.cells(
                    reader.names(), PortCounts.VERDICTS, (long) port * PortCounts.QUEUES, PortCounts.QUEUES));
            cells.addAll(PortCounts.cells(
                    reader.names(),
                    List.of("rank_histogram", "depth_histogram"),
                    firstBucket(port),
                    PortSample.BUCKETS));
        }
        return () -> {
            long before = clock.getAsLong();
            SwitchReader.Cells read = reader.cells(cells);
            long after = clock.getAsLong();
            Map<Integer, PortSample> samples = new TreeMap<>();
            for (int port : ports) {
                long queue = (long) port * PortCounts.QUEUES;
                samples.put(
                        port,
                        new PortSample(
                                before + (after - before) / 2,
                                after - before,
                                PortCounts.sum(read, PortCounts.VERDICTS.get(0), queue, PortCounts.QUEUES),
                                PortCounts.sum(read, PortCounts.VERDICTS.get(1), queue, PortCounts.QUEUES),
                                PortCounts.sum(read, PortCounts.VERDICTS.get(2), queue, PortCounts.QUEUES),
                                histogram(read, "rank_histogram", port),
                                histogram(read, "depth_histogram", port)));
            }
            return samples;
        };
    }

    /** A histogram has 64 cells for each port. */
    private static long firstBucket(int port) {
        return (long) port << 6;
    }

    private static List<Long> histogram(SwitchReader.Cells read, String counter, int port) {
        List<Long> buckets = new ArrayList<>();
        for (int bucket = 0; bucket < PortSample.BUCKETS; bucket++) {
            buckets.add(read.get(counter, firstBucket(port) + bucket).packets);
        }
        return buckets;
    }
}
