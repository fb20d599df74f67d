package org.p4sched.laws;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.DoubleStream;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Numbers;

/**
 * RIFO's control law: buffer B, tracking range T and headroom k from the counters of one port.
 *
 * <pre>
 * B, k: the pair with the highest predicted {@link Agreement};  B at most drain rate * delay target / packet size
 * T = arrival rate * span
 * </pre>
 *
 * The derivation is the docstring of {@code controller/p4sched/control/laws/rifo.py}.
 */
public final class Rifo extends RankedLaw {
    public static final Rifo LAW = new Rifo();

    /** B and k stay while their predicted agreement is within this share of the best. */
    private static final double TOLERANCE = 0.03;
    /**
     * Predictions that differ by less than this share count as equal: mathematical libraries differ as much in their
     * logarithms.
     */
    private static final double ALIKE = 1e-12;
    /** Factor between two queue sizes that are tried. */
    private static final double SIZE_STEP = 1.4;
    /** Number of headrooms that are tried for each queue size. */
    private static final int HEADROOM_STEPS = 4;

    private Rifo() {}

    @Override
    public String name() {
        return "rifo";
    }

    @Override
    public Config config(Fields record) {
        return new Config(record);
    }

    @Override
    Parameters defaults() {
        return new Parameters(20, 26, 50);
    }

    @Override
    Parameters parameters(Map<String, Long> actionData) {
        return new Parameters(
                Parameters.value(actionData, "capacity_packets"),
                Parameters.value(actionData, "headroom_256"),
                Parameters.value(actionData, "tracking_packets"));
    }

    /** A queue size and a headroom in packets. */
    private static final class Setting {
        final long buffer;
        final long headroom;

        Setting(long buffer, long headroom) {
            this.buffer = buffer;
            this.headroom = headroom;
        }
    }

    /** Action data of {@code set_rifo}. */
    public static final class Parameters extends RankedParameters {
        /** Queue size B. */
        public final long capacityPackets;
        /** Headroom K = 256 k. */
        public final long headroom256;
        /** Tracking range T. */
        public final long trackingPackets;

        public Parameters(long capacityPackets, long headroom256, long trackingPackets) {
            Require.inRange("queue size B", capacityPackets, 1, MAX_PACKETS, "packets");
            requireHeadroom(headroom256);
            Require.inRange("tracking range T", trackingPackets, 1, MAX_COUNT, "packets");
            this.capacityPackets = capacityPackets;
            this.headroom256 = headroom256;
            this.trackingPackets = trackingPackets;
        }

        /** The longest queue that admits every rank. */
        public long headroomPackets() {
            return headroom256 * capacityPackets / HEADROOM_UNIT;
        }

        @Override
        public String table() {
            return "rifo_params";
        }

        @Override
        public String action() {
            return "set_rifo";
        }

        @Override
        public Map<String, Long> actionData() {
            Map<String, Long> data = new LinkedHashMap<>();
            data.put("capacity_packets", capacityPackets);
            data.put("headroom_256", headroom256);
            data.put("tracking_packets", trackingPackets);
            return data;
        }

        /** Whether T is within 25 %, and B and k are equal; {@link Config#keeps} compares the effect of B and k. */
        @Override
        boolean near(RankedParameters other) {
            Parameters wanted = (Parameters) other;
            return nearInTracking(wanted)
                    && capacityPackets == wanted.capacityPackets
                    && headroomPackets() == wanted.headroomPackets();
        }

        private boolean nearInTracking(Parameters wanted) {
            return close(trackingPackets, wanted.trackingPackets, 0.25);
        }
    }

    /** Configuration of the law. */
    public static final class Config extends RankedConfig {
        private static final Map<String, List<String>> SYMBOLS = new LinkedHashMap<>();

        static {
            SYMBOLS.put("B", List.of("capacity_packets"));
            SYMBOLS.put("T", List.of("tracking_packets"));
            SYMBOLS.put("k", List.of("headroom_256"));
        }

        private Config(Fields record) {
            super(record);
            record.noOthers();
            validate();
        }

        @Override
        public Rifo law() {
            return LAW;
        }

        @Override
        Map<String, List<String>> symbols() {
            return SYMBOLS;
        }

        @Override
        Parameters parametersFor(Traffic traffic) {
            Setting best = best(settings(traffic), new Agreement(traffic));
            long tracking = fixedPackets("T")
                    .orElseGet(() -> Numbers.rounded(arrivalsInSpan(traffic), 2, Parameters.MAX_COUNT));
            return new Parameters(best.buffer, headroom256((double) best.headroom / best.buffer), tracking);
        }

        /** Whether the current parameters meet the delay target and their predicted agreement is about as high. */
        @Override
        boolean keeps(RankedParameters currentOnes, RankedParameters wantedOnes, Traffic traffic) {
            Parameters current = (Parameters) currentOnes;
            Parameters wanted = (Parameters) wantedOnes;
            if (current.near(wanted)) {
                return true;
            }
            if (current.capacityPackets > 1.1 * longest(traffic) || !current.nearInTracking(wanted)) {
                return false;
            }
            if (current.capacityPackets == wanted.capacityPackets && current.headroom256 == wanted.headroom256) {
                return true;
            }
            Agreement agreement = new Agreement(traffic);
            double asItIs = agreement.of(current.capacityPackets, current.headroomPackets());
            return asItIs >= (1 - TOLERANCE) * agreement.of(wanted.capacityPackets, wanted.headroomPackets());
        }

        private long longest(Traffic traffic) {
            return Numbers.rounded(traffic.packetsIn(delayNs), 1, queuePackets);
        }

        /** The settings to choose from. */
        private List<Setting> settings(Traffic traffic) {
            OptionalLong pinned = fixedPackets("B");
            pinned.ifPresent(size -> Require.inRange("queue size B", size, 1, queuePackets, "packets"));
            List<Long> sizes = pinned.isPresent() ? List.of(pinned.getAsLong()) : sizes(longest(traffic));
            List<Setting> settings = new ArrayList<>();
            for (long buffer : sizes) {
                Set<Long> headrooms = new LinkedHashSet<>();
                if (fixed.containsKey("k")) {
                    headrooms.add(headroom256(0) * buffer / Parameters.HEADROOM_UNIT);
                } else {
                    long most = (long) (maxHeadroom * buffer);
                    for (int step = 0; step <= HEADROOM_STEPS; step++) {
                        headrooms.add(most * step / HEADROOM_STEPS);
                    }
                }
                headrooms.forEach(headroom -> settings.add(new Setting(buffer, headroom)));
            }
            return settings;
        }

        /** The queue sizes 1, 2, 3, 4, 6, ... and {@code longest}. */
        private static List<Long> sizes(long longest) {
            List<Long> sizes = new ArrayList<>(List.of(1L));
            for (long size = 1; size < longest; sizes.add(size)) {
                size = Math.min(longest, Math.max(size + 1, (long) Math.rint(size * SIZE_STEP)));
            }
            return sizes;
        }

        /** The first of the settings with the highest agreement. */
        private static Setting best(List<Setting> settings, Agreement agreement) {
            double[] agreements = settings.stream()
                    .mapToDouble(setting -> agreement.of(setting.buffer, setting.headroom))
                    .toArray();
            double enough = (1 - ALIKE) * DoubleStream.of(agreements).max().getAsDouble();
            int first = 0;
            while (agreements[first] < enough) {
                first++;
            }
            return settings.get(first);
        }
    }
}
