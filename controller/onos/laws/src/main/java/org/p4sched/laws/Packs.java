package org.p4sched.laws;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Numbers;

/**
 * PACKS's control law: queue sizes B_i, sampling S and headroom k from the counters of one port (Alcoz et al., NSDI
 * 2025).
 *
 * <pre>
 * B = drain rate * delay target / packet size,   B_i = B / n
 * S and k as AIFO's, for C = B
 * </pre>
 *
 * The derivation is the docstring of {@code controller/p4sched/control/laws/packs.py}.
 */
public final class Packs extends RankedLaw {
    public static final Packs LAW = new Packs();

    private Packs() {}

    @Override
    public String name() {
        return "packs";
    }

    @Override
    public Config config(Fields record) {
        return new Config(record);
    }

    @Override
    Parameters defaults() {
        return new Parameters(queueSizes(10 * Parameters.QUEUES, Parameters.QUEUES), 0, 16, 1);
    }

    @Override
    Parameters parameters(Map<String, Long> actionData) {
        List<Long> sizes = new ArrayList<>(Parameters.values(actionData, "size_", Parameters.QUEUES));
        sizes.removeIf(size -> size == 0);
        return new Parameters(
                sizes,
                Parameters.value(actionData, "headroom_256"),
                Parameters.value(actionData, "window_ranks"),
                Parameters.value(actionData, "sampling"));
    }

    /** Queue sizes B_1 .. B_n: equal shares of the buffer; the most urgent queues get the remainder. */
    public static List<Long> queueSizes(long bufferPackets, long queues) {
        requireQueues(queues);
        return IntStream.range(0, (int) queues)
                .mapToObj(place -> bufferPackets / queues + (place < bufferPackets % queues ? 1 : 0))
                .collect(Collectors.toUnmodifiableList());
    }

    private static void requireQueues(long queues) {
        Require.inRange("number of queues n", queues, 1, Parameters.QUEUES, "queues");
    }

    /** Action data of {@code set_packs}. */
    public static final class Parameters extends RankedParameters {
        /** Queue sizes B_1 .. B_n, packets; queue 1 is the most urgent. */
        public final List<Long> sizes;
        /** Headroom K = 256 k. */
        public final long headroom256;
        /** Window length |W|. */
        public final long windowRanks;
        /** Sampling period S: every S-th rank enters the window. */
        public final long sampling;

        public Parameters(List<Long> sizes, long headroom256, long windowRanks, long sampling) {
            requireQueues(sizes.size());
            for (int queue = 1; queue <= sizes.size(); queue++) {
                Require.inRange("queue size B_" + queue, sizes.get(queue - 1), 1, MAX_PACKETS, "packets");
            }
            requireHeadroom(headroom256);
            requireWindow(windowRanks);
            requireSampling(sampling);
            this.sizes = List.copyOf(sizes);
            this.headroom256 = headroom256;
            this.windowRanks = windowRanks;
            this.sampling = sampling;
        }

        /** Buffer B: the sum of the queue sizes. */
        public long bufferPackets() {
            return sizes.stream().mapToLong(Long::longValue).sum();
        }

        @Override
        public String table() {
            return "packs_params";
        }

        @Override
        public String action() {
            return "set_packs";
        }

        @Override
        public Map<String, Long> actionData() {
            Map<String, Long> data = numbered("size_", sizes, QUEUES);
            data.put("headroom_256", headroom256);
            data.put("window_ranks", windowRanks);
            data.put("sampling", sampling);
            return data;
        }

        @Override
        Parameters on(Target target) {
            return new Parameters(sizes, headroom256, Math.min(windowRanks, target.largestWindow), sampling);
        }

        /** Whether B is within 10 %, S within 25 % and k within 1/16. */
        @Override
        boolean near(RankedParameters other) {
            Parameters wanted = (Parameters) other;
            return sizes.size() == wanted.sizes.size()
                    && close(bufferPackets(), wanted.bufferPackets(), 0.1)
                    && close(sampling, wanted.sampling, 0.25)
                    && Math.abs(headroom256 - wanted.headroom256) <= HEADROOM_UNIT / 16
                    && windowRanks == wanted.windowRanks;
        }
    }

    /** Configuration of the law. */
    public static final class Config extends RankedConfig {
        private static final Map<String, List<String>> SYMBOLS = new LinkedHashMap<>();

        static {
            SYMBOLS.put(
                    "B",
                    List.copyOf(Parameters.numbered("size_", List.of(), Parameters.QUEUES)
                            .keySet()));
            SYMBOLS.put("S", List.of("sampling"));
            SYMBOLS.put("k", List.of("headroom_256"));
        }

        /** Number of queues n. */
        public final long queues;
        /** Window length |W|. */
        public final long windowRanks;

        private Config(Fields record) {
            super(record);
            queues = record.whole("queues", 8);
            windowRanks = record.whole("window_ranks", 16);
            record.noOthers();
            validate();
        }

        @Override
        public Packs law() {
            return LAW;
        }

        @Override
        Map<String, List<String>> symbols() {
            return SYMBOLS;
        }

        @Override
        Parameters parametersFor(Traffic traffic) {
            requireQueues(queues);
            long most = queues * queuePackets;
            long buffer = fixedPackets("B").orElseGet(() -> Numbers.rounded(traffic.packetsIn(delayNs), queues, most));
            Require.inRange("buffer B", buffer, queues, most, "packets in " + queues + " queues");
            return new Parameters(
                    queueSizes(buffer, queues),
                    headroom256(Aifo.headroom(traffic.dispersion, buffer, loss, maxHeadroom)),
                    windowRanks,
                    Aifo.sampling(this, traffic, windowRanks));
        }

        @Override
        public Map<String, Object> record() {
            Map<String, Object> record = super.record();
            record.put("queues", queues);
            record.put("window_ranks", windowRanks);
            return record;
        }

        @Override
        public RankedConfig on(Target target) {
            return withWindow(windowRanks, target);
        }
    }
}
