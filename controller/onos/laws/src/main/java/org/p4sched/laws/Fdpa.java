package org.p4sched.laws;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Numbers;

/**
 * FDPA's control law: from the users' byte counters to the edges of the rate bands (Cascone et al., section V).
 *
 * <pre>
 * fair share of one unit of weight = capacity / sum of the weights of the active users
 * edge_q = (q-th edge of the notation, in fair shares) * fair share * interval      weighted bytes per interval
 * </pre>
 *
 * A user that sent at least {@code activeBytes} in the last {@code activityWindowNs} is active. Without active users
 * the last bands stay. After a takeover a controller may lower the edges, but it raises them only after a whole window.
 * So it does not forget a user that waits for a retransmission timeout.
 */
public final class Fdpa implements Law<Fdpa.Config, Fdpa.State, Fdpa.Sample, Fdpa.Decision> {
    public static final Fdpa LAW = new Fdpa();

    /** The edge that no rate exceeds. */
    public static final long UNUSED_EDGE = 0xFFFF_FFFFL;

    private static final int EDGES = 7;
    /** The unit of queue sizes and of bursts. */
    private static final int MTU_BYTES = 1500;
    /** Unit of token rates: bytes in this time. */
    private static final int TOKEN_PERIOD_US = 65536;
    /** The shortest interval on a Tofino is 2^16 ns. */
    private static final int SHORTEST_STEPS = 16;
    /** A bucket counts sixteenths of a byte in 32 bits. */
    private static final long MAX_BURST_BYTES = 0x0FFF_FFFF;

    private Fdpa() {}

    @Override
    public String name() {
        return "fdpa";
    }

    @Override
    public Config config(Fields record) {
        return new Config(record);
    }

    @Override
    public Sample sample(Fields line) {
        long timeNs = line.whole("time_ns");
        Map<Long, UserCounter> users = new LinkedHashMap<>();
        line.numbered("users", 2)
                .forEach((user, values) -> users.put(user, new UserCounter(values.get(0), values.get(1))));
        return new Sample(timeNs, users);
    }

    /** Does not take over the program's initial bands. */
    @Override
    public State takeOver(Optional<Map<String, Long>> current) {
        Parameters parameters = current.map(Parameters::new).orElse(null);
        if (parameters == null || parameters.edges.get(0) == UNUSED_EDGE) {
            return new State(null, false, null, List.of());
        }
        return new State(parameters, true, null, List.of());
    }

    @Override
    public Decision decide(Config config, State state, Sample sample) {
        List<Step> steps = stepsInWindow(config, state, sample);
        List<Long> active = activeUsers(config, steps, sample);
        double weight = 0;
        for (long user : active) {
            weight += (double) UserCounter.UNIT_SCALE / sample.users.get(user).scale;
        }
        long largestScale = sample.users.values().stream()
                .mapToLong(counter -> counter.scale)
                .max()
                .orElse(UserCounter.UNIT_SCALE);
        boolean watched = !steps.isEmpty() && sample.timeNs - steps.get(0).startNs >= config.activityWindowNs;
        boolean takenOver = state.takenOver && !watched;

        Parameters wanted = state.parameters;
        if (!active.isEmpty()) {
            wanted = parametersFor(config, weight, largestScale);
        } else if (wanted == null) {
            wanted = parametersFor(config, 1, largestScale);
        }
        if (takenOver) {
            Parameters held = inConfiguration(config, state.parameters, largestScale);
            boolean lower = !active.isEmpty() && wanted.edges.get(0) < held.edges.get(0);
            wanted = lower ? wanted : held;
        }
        return new Decision(
                new State(wanted, takenOver, sample, steps),
                !wanted.equals(state.parameters),
                active,
                active.isEmpty() ? 0 : config.capacityBps / weight);
    }

    /**
     * Bands for active users whose weights sum up to {@code weight}.
     *
     * @param largestScale scale of the user that is charged most for a packet; a token bucket must hold ten of its
     *     packets
     */
    static Parameters parametersFor(Config config, double weight, long largestScale) {
        double bytesPerS = config.capacityBps / 8.0 / weight;
        List<Long> edges = new ArrayList<>();
        List<Long> rates = new ArrayList<>();
        for (double edge : config.bands.edges()) {
            edges.add(edge(edge * bytesPerS * config.intervalUs / 1e6));
            rates.add(edge(edge * bytesPerS * TOKEN_PERIOD_US / 1e6));
        }
        List<Long> unused = Collections.nCopies(EDGES - config.bands.further, UNUSED_EDGE);
        edges.addAll(unused);
        rates.addAll(unused);
        long tenPackets = 10L * MTU_BYTES * Math.max(largestScale, UserCounter.UNIT_SCALE) / UserCounter.UNIT_SCALE;
        long burst = config.burstBytes;
        if (burst == 0) {
            burst = Numbers.rounded(2 * bytesPerS * config.rttNs / 1e9, tenPackets, MAX_BURST_BYTES);
        }
        return new Parameters(config, edges, rates, burst);
    }

    /** L_q = max(20, BDP / q^q) MTU packets for q = 1 .. {@code bands} (paper, section IV-C; its "min" is a slip). */
    public static List<Long> queueSizes(long capacityBps, long rttNs, int bands) {
        BigInteger bdp = BigInteger.valueOf(capacityBps)
                .multiply(BigInteger.valueOf(rttNs))
                .divide(BigInteger.valueOf(8L * MTU_BYTES * 1_000_000_000));
        List<Long> sizes = new ArrayList<>();
        for (int q = 1; q <= bands; q++) {
            BigInteger size = bdp.divide(BigInteger.valueOf(q).pow(q));
            sizes.add(size.max(BigInteger.valueOf(20))
                    .min(BigInteger.valueOf(Parameters.MAX_PACKETS))
                    .longValue());
        }
        return sizes;
    }

    /** Parameters of this configuration with the same first edge as those of another controller. */
    private static Parameters inConfiguration(Config config, Parameters current, long largestScale) {
        double firstEdgeBytesPerS = Math.max(1, current.edges.get(0)) * 1e6 / Math.max(1, current.intervalUs);
        double weight = config.capacityBps / 8.0 * config.bands.edges().get(0) / firstEdgeBytesPerS;
        Parameters held = parametersFor(config, weight, largestScale);
        boolean same = current.intervalUs == held.intervalUs
                && current.tokenBucket == held.tokenBucket
                && current.flowletGapUs == held.flowletGapUs
                && current.sizes.equals(held.sizes)
                && Collections.frequency(current.edges, UNUSED_EDGE) == Collections.frequency(held.edges, UNUSED_EDGE);
        for (int q = 0; q < EDGES; q++) {
            long now = held.edges.get(q);
            same &= Math.abs(current.edges.get(q) - now) <= Math.max(2, now / 1000);
        }
        // a difference by rounding is no change
        return same ? current : held;
    }

    private static long edge(double value) {
        return Numbers.rounded(value, 1, UNUSED_EDGE - 1);
    }

    private static List<Step> stepsInWindow(Config config, State state, Sample sample) {
        if (state.sample == null) {
            return List.of();
        }
        sample.requireAfter(state.sample);
        Map<Long, Long> sent = new LinkedHashMap<>();
        sample.users.forEach((user, counter) -> {
            UserCounter before = state.sample.users.get(user);
            sent.put(user, before == null ? counter.sentBytes : Count.risen(before.sentBytes, counter.sentBytes));
        });
        List<Step> steps = new ArrayList<>(state.steps);
        steps.removeIf(old -> old.endNs < sample.timeNs - config.activityWindowNs);
        steps.add(new Step(state.sample.timeNs, sample.timeNs, sent));
        return Collections.unmodifiableList(steps);
    }

    private static List<Long> activeUsers(Config config, List<Step> steps, Sample sample) {
        List<Long> active = new ArrayList<>();
        for (long user : new TreeSet<>(sample.users.keySet())) {
            long sent = 0;
            for (Step step : steps) {
                sent = Math.addExact(sent, step.sent.getOrDefault(user, 0L));
            }
            if (sent >= config.activeBytes) {
                active.add(user);
            }
        }
        return Collections.unmodifiableList(active);
    }

    /** Configuration of the law. */
    public static final class Config implements Law.Config {
        /** Rate of the shaped link, bit/s of Ethernet frames. */
        public final long capacityBps;

        public final Bands bands;
        /** Estimator interval; the paper's is 30 ms at an RTT of 5 ms: 6 RTTs. */
        public final long intervalUs;
        /** Round-trip time; it determines the sizes of queues and bursts. */
        public final long rttNs;
        /** Token buckets instead of the average rate (paper, section V). */
        public final boolean tokenBucket;
        /** Size of a token bucket; 0 means two RTTs of one fair share, and at least 10 packets. */
        public final long burstBytes;
        /** A flow keeps its band until it pauses this long (paper, section V); 0 means that it never keeps it. */
        public final long flowletGapUs;

        public final long activityWindowNs;
        public final long activeBytes;

        private Config(Fields record) {
            capacityBps = record.whole("capacity_bps");
            String notation = record.text("bands");
            intervalUs = record.whole("interval_us");
            rttNs = record.whole("rtt_ns");
            tokenBucket = record.flag("token_bucket", false);
            burstBytes = record.whole("burst_bytes", 0);
            flowletGapUs = record.whole("flowlet_gap_us", 0);
            activityWindowNs = record.whole("activity_window_ns", 600_000_000);
            activeBytes = record.whole("active_bytes", 1000);
            record.noOthers();
            bands = Bands.parse(notation);
            Require.that(capacityBps > 0, "capacity " + capacityBps + " bit/s is not positive");
            Require.that(
                    0 < intervalUs && intervalUs < 1L << 32,
                    "estimator interval " + intervalUs + " us is not in (0, 2^32)");
            Require.that(rttNs > 0, "RTT " + rttNs + " ns is not positive");
            Require.that(burstBytes <= MAX_BURST_BYTES, "burst " + burstBytes + " bytes is not in [0, 2^28)");
            Require.that(flowletGapUs < 1L << 32, "flowlet gap " + flowletGapUs + " us is not in [0, 2^32)");
            Require.that(activityWindowNs > 0, "activity window " + activityWindowNs + " ns is not positive");
            Require.that(activeBytes > 0, "activity threshold " + activeBytes + " bytes is not positive");
        }

        @Override
        public Fdpa law() {
            return LAW;
        }

        @Override
        public Map<String, Object> record() {
            Map<String, Object> record = new LinkedHashMap<>();
            record.put("capacity_bps", capacityBps);
            record.put("bands", bands.toString());
            record.put("interval_us", intervalUs);
            record.put("rtt_ns", rttNs);
            record.put("token_bucket", tokenBucket);
            record.put("burst_bytes", burstBytes);
            record.put("flowlet_gap_us", flowletGapUs);
            record.put("activity_window_ns", activityWindowNs);
            record.put("active_bytes", activeBytes);
            return record;
        }

        /**
         * This configuration as far as the target can follow it. A Tofino measures time in powers of two, so it gets
         * the nearest such interval, with the edges of that interval. It cannot multiply, so it has no token buckets.
         */
        @Override
        public Config on(Target target) {
            if (target == Target.V1MODEL) {
                return this;
            }
            Require.that(
                    !tokenBucket,
                    "token buckets multiply, which a Tofino cannot do: there are none for "
                            + target.name().toLowerCase(Locale.ROOT));
            Map<String, Object> record = record();
            record.put("interval_us", (long) Math.rint(Math.scalb(1.0, steps(intervalUs * 1000)) / 1000));
            return LAW.config(record);
        }

        /** The nearest whole number to log2 of the interval. */
        private static int steps(long intervalNs) {
            int floor = Long.SIZE - 1 - Long.numberOfLeadingZeros(intervalNs);
            BigInteger square = BigInteger.valueOf(intervalNs).pow(2);
            boolean up = square.compareTo(BigInteger.ONE.shiftLeft(2 * floor + 1)) > 0;
            return Math.max(SHORTEST_STEPS, up ? floor + 1 : floor);
        }
    }

    /** Counters of all users at one instant. */
    public static final class Sample extends Law.Sample {
        public final Map<Long, UserCounter> users;

        /** {@code users} maps the number of each user to its counter. */
        public Sample(long timeNs, Map<Long, UserCounter> users) {
            super(timeNs);
            this.users = Collections.unmodifiableMap(new LinkedHashMap<>(users));
        }

        @Override
        public Map<String, Object> record() {
            Map<Long, Object> counts = new LinkedHashMap<>();
            users.forEach((user, count) -> counts.put(user, List.of(count.sentBytes, count.scale)));
            return Map.of("users", counts);
        }
    }

    /** Action data of {@code set_bands}. */
    public static final class Parameters extends org.p4sched.laws.Parameters {
        public final long intervalUs;
        public final List<Long> edges;
        public final boolean tokenBucket;
        public final List<Long> rates;
        public final long burstBytes;
        public final long flowletGapUs;
        public final List<Long> sizes;

        private Parameters(Config config, List<Long> edges, List<Long> rates, long burstBytes) {
            this.intervalUs = config.intervalUs;
            this.edges = Collections.unmodifiableList(edges);
            this.tokenBucket = config.tokenBucket;
            this.rates = Collections.unmodifiableList(rates);
            this.burstBytes = burstBytes;
            this.flowletGapUs = config.flowletGapUs;
            List<Long> sizes = queueSizes(config.capacityBps, config.rttNs, config.bands.count());
            sizes.addAll(Collections.nCopies(QUEUES - sizes.size(), 0L));
            this.sizes = Collections.unmodifiableList(sizes);
        }

        private Parameters(Map<String, Long> actionData) {
            intervalUs = value(actionData, "interval_us");
            edges = values(actionData, "edge_", EDGES);
            tokenBucket = value(actionData, "token_bucket") != 0;
            rates = values(actionData, "rate_", EDGES);
            burstBytes = value(actionData, "burst_bytes");
            flowletGapUs = value(actionData, "flowlet_gap_us");
            sizes = values(actionData, "depth_", QUEUES);
        }

        @Override
        public String table() {
            return "fdpa_params";
        }

        @Override
        public String action() {
            return "set_bands";
        }

        @Override
        public Map<String, Long> actionData() {
            Map<String, Long> data = new LinkedHashMap<>();
            data.put("interval_us", intervalUs);
            data.putAll(numbered("edge_", edges, EDGES));
            data.put("token_bucket", tokenBucket ? 1L : 0L);
            data.putAll(numbered("rate_", rates, EDGES));
            data.put("burst_bytes", burstBytes);
            data.put("flowlet_gap_us", flowletGapUs);
            data.putAll(numbered("depth_", sizes, QUEUES));
            return data;
        }
    }

    /** Bytes that each user sent between two samples. */
    private static final class Step {
        final long startNs;
        final long endNs;
        final Map<Long, Long> sent;

        Step(long startNs, long endNs, Map<Long, Long> sent) {
            this.startNs = startNs;
            this.endNs = endNs;
            this.sent = sent;
        }
    }

    /** State of the law between two samples. */
    public static final class State implements Law.State {
        private final Parameters parameters;
        /** The parameters are those of another controller, and this one does not know the past window yet. */
        private final boolean takenOver;

        private final Sample sample;
        /** Steps that reach into the activity window, oldest first. */
        private final List<Step> steps;

        private State(Parameters parameters, boolean takenOver, Sample sample, List<Step> steps) {
            this.parameters = parameters;
            this.takenOver = takenOver;
            this.sample = sample;
            this.steps = steps;
        }

        @Override
        public Optional<org.p4sched.laws.Parameters> parameters() {
            return Optional.ofNullable(parameters);
        }
    }

    /** The law's answer to one sample. */
    public static final class Decision extends Law.Decision<State> {
        /** Active users, ascending. */
        public final List<Long> active;
        /** Fair share of weight 1; 0 without active users. */
        public final double fairShareBps;

        private Decision(State state, boolean changed, List<Long> active, double fairShareBps) {
            super(state, state.parameters, changed);
            this.active = active;
            this.fairShareBps = fairShareBps;
        }

        @Override
        public Map<String, Object> record() {
            Map<String, Object> record = new LinkedHashMap<>();
            record.put("active", active);
            record.put("fair_share_bps", fairShareBps);
            record.put("changed", changed);
            record.put("parameters", parameters.actionData());
            return record;
        }
    }
}
