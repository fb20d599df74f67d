package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Numbers;

/**
 * AIFO's control law: target length C, sampling S and headroom k from the counters of one port (Yu et al., SIGCOMM
 * 2021).
 *
 * <pre>
 * C = drain rate * delay target / packet size
 * S = arrival rate * span / |W|
 * k: the smallest headroom h / C with   loss >= (I / 2) / (h + sqrt(pi I (C - h)) / 2)
 * </pre>
 *
 * The derivation is the docstring of {@code controller/p4sched/control/laws/aifo.py}.
 */
public final class Aifo extends RankedLaw {
    public static final Aifo LAW = new Aifo();

    private Aifo() {}

    @Override
    public String name() {
        return "aifo";
    }

    @Override
    public Config config(Fields record) {
        return new Config(record);
    }

    @Override
    Parameters defaults() {
        return new Parameters(20, 20, 26, 20, 15);
    }

    @Override
    Parameters parameters(Map<String, Long> actionData) {
        return new Parameters(
                Parameters.value(actionData, "target_packets"),
                Parameters.value(actionData, "capacity_packets"),
                Parameters.value(actionData, "headroom_256"),
                Parameters.value(actionData, "window_ranks"),
                Parameters.value(actionData, "sampling"));
    }

    /**
     * The smallest headroom k, at most {@code most}, with which a critically loaded link idles for at most the share
     * {@code loss} of the time because packets were refused.
     *
     * @param dispersion the arrivals' index of dispersion
     * @param target the target length, packets
     */
    static double headroom(double dispersion, long target, double loss, double most) {
        double needed = dispersion / (2 * loss);
        double slope = Math.sqrt(Math.PI * dispersion) / 2;
        double inside = slope * slope + 4 * (target - needed);
        if (inside <= 0) {
            return most;
        }
        double root = (slope + Math.sqrt(inside)) / 2;
        return Math.min(most, Math.max(0, 1 - root * root / target));
    }

    /** The sampling period S with which the window spans the configured time. */
    static long sampling(RankedConfig config, Traffic traffic, long windowRanks) {
        return config.fixedPackets("S")
                .orElseGet(() -> Numbers.rounded(
                        config.arrivalsInSpan(traffic) / Math.max(1, windowRanks), 1, RankedParameters.MAX_COUNT));
    }

    /** Action data of {@code set_aifo}. */
    public static final class Parameters extends RankedParameters {
        /** Target length C. */
        public final long targetPackets;

        public final long capacityPackets;
        /** Headroom K = 256 k. */
        public final long headroom256;
        /** Window length |W|. */
        public final long windowRanks;
        /** Sampling period S: every S-th rank enters the window. */
        public final long sampling;

        public Parameters(long targetPackets, long capacityPackets, long headroom256, long windowRanks, long sampling) {
            Require.inRange("target length C", targetPackets, 1, MAX_PACKETS, "packets");
            Require.inRange("queue size", capacityPackets, 1, MAX_PACKETS, "packets");
            requireHeadroom(headroom256);
            requireWindow(windowRanks);
            requireSampling(sampling);
            this.targetPackets = targetPackets;
            this.capacityPackets = capacityPackets;
            this.headroom256 = headroom256;
            this.windowRanks = windowRanks;
            this.sampling = sampling;
        }

        @Override
        public String table() {
            return "aifo_params";
        }

        @Override
        public String action() {
            return "set_aifo";
        }

        @Override
        public Map<String, Long> actionData() {
            Map<String, Long> data = new LinkedHashMap<>();
            data.put("target_packets", targetPackets);
            data.put("capacity_packets", capacityPackets);
            data.put("headroom_256", headroom256);
            data.put("window_ranks", windowRanks);
            data.put("sampling", sampling);
            return data;
        }

        /**
         * If departures report the queue length, the queue also has room for the packets admitted between two reports.
         */
        @Override
        Parameters on(Target target) {
            long window = Math.min(windowRanks, target.largestWindow);
            long room = target.lengthReports ? Math.min(2 * targetPackets, MAX_PACKETS) : 0;
            return new Parameters(targetPackets, Math.max(capacityPackets, room), headroom256, window, sampling);
        }

        /** Whether C is within 10 %, S within 25 % and k within 1/16. */
        @Override
        boolean near(RankedParameters other) {
            Parameters wanted = (Parameters) other;
            return close(targetPackets, wanted.targetPackets, 0.1)
                    && close(sampling, wanted.sampling, 0.25)
                    && Math.abs(headroom256 - wanted.headroom256) <= HEADROOM_UNIT / 16
                    && capacityPackets == wanted.capacityPackets
                    && windowRanks == wanted.windowRanks;
        }
    }

    /** Configuration of the law. */
    public static final class Config extends RankedConfig {
        private static final Map<String, List<String>> SYMBOLS = new LinkedHashMap<>();

        static {
            SYMBOLS.put("C", List.of("target_packets"));
            SYMBOLS.put("S", List.of("sampling"));
            SYMBOLS.put("k", List.of("headroom_256"));
        }

        /** Window length |W|. */
        public final long windowRanks;

        private Config(Fields record) {
            super(record);
            windowRanks = record.whole("window_ranks", 20);
            record.noOthers();
            validate();
        }

        @Override
        public Aifo law() {
            return LAW;
        }

        @Override
        Map<String, List<String>> symbols() {
            return SYMBOLS;
        }

        @Override
        Parameters parametersFor(Traffic traffic) {
            long target =
                    fixedPackets("C").orElseGet(() -> Numbers.rounded(traffic.packetsIn(delayNs), 1, queuePackets));
            Require.inRange("target length C", target, 1, queuePackets, "packets");
            return new Parameters(
                    target,
                    queuePackets,
                    headroom256(headroom(traffic.dispersion, target, loss, maxHeadroom)),
                    windowRanks,
                    sampling(this, traffic, windowRanks));
        }

        @Override
        public Map<String, Object> record() {
            Map<String, Object> record = super.record();
            record.put("window_ranks", windowRanks);
            return record;
        }

        @Override
        public RankedConfig on(Target target) {
            return withWindow(windowRanks, target);
        }
    }
}
