package org.p4sched.laws;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Numbers;

/** Configuration of a law of a ranked scheme: the link and the goals. */
public abstract class RankedConfig implements Law.Config {
    /** Packet size before the first measurement: a full-sized Ethernet frame. */
    private static final int MTU_FRAME_BYTES = 1514;
    /** Default of {@link #spanNs}, in delay targets. */
    private static final int SPAN_DELAY_TARGETS = 15;

    /** Rate of the link, bit/s of Ethernet frames; the drain rate until the first measurement. */
    public final long rateBps;
    /** Delay target: the longest wait of a packet behind a queue of the target length. */
    public final long delayNs;
    /** Packets that each queue of the port can hold. */
    public final long queuePackets;
    /** Time that the window or the tracking range spans; 0 means the law's default. */
    public final long spanNs;
    /** Values that the law must not change, by the paper's names of the parameters. */
    public final Map<String, Double> fixed;
    /** Share of the time that the link may idle because packets were refused before. */
    public final double loss;
    /** Largest k that the law sets. */
    public final double maxHeadroom;

    public final long rateWindowNs;
    public final long dispersionWindowNs;
    public final long holdNs;

    RankedConfig(Fields record) {
        rateBps = record.whole("rate_bps");
        delayNs = record.whole("delay_ns");
        queuePackets = record.whole("queue_packets");
        spanNs = record.whole("span_ns", 0);
        fixed = Collections.unmodifiableMap(record.numbers("fixed"));
        loss = record.number("loss", 0.05);
        maxHeadroom = record.number("max_headroom", 0.5);
        rateWindowNs = record.whole("rate_window_ns", 1_000_000_000);
        dispersionWindowNs = record.whole("dispersion_window_ns", 12_800_000_000L);
        holdNs = record.whole("hold_ns", 500_000_000);
    }

    @Override
    public abstract RankedLaw law();

    /** The law's parameters for this traffic. */
    abstract RankedParameters parametersFor(Traffic traffic);

    /**
     * The parameters that the law sets and that {@link #fixed} can pin: the paper's name, and the names in the action.
     */
    abstract Map<String, List<String>> symbols();

    /** Whether {@code current} may stay, although {@code wanted} fits this traffic better. */
    boolean keeps(RankedParameters current, RankedParameters wanted, Traffic traffic) {
        return current.near(wanted);
    }

    /** Checks the values together. Constructors call it last, so an error is found before the first sample. */
    final void validate() {
        Require.that(rateBps > 0, "rate " + rateBps + " bit/s is not positive");
        Require.that(delayNs > 0, "delay target " + delayNs + " ns is not positive");
        Require.inRange("queue depth", queuePackets, 1, Parameters.MAX_PACKETS, "packets");
        Require.that(rateWindowNs > 0, "rate_window_ns " + rateWindowNs + " is not positive");
        Require.that(dispersionWindowNs > 0, "dispersion_window_ns " + dispersionWindowNs + " is not positive");
        Require.that(holdNs > 0, "hold_ns " + holdNs + " is not positive");
        double onePacketNs = MTU_FRAME_BYTES * 8e9 / rateBps;
        Require.that(
                delayNs >= onePacketNs,
                "delay target " + Numbers.general(delayNs / 1e6) + " ms is less than one packet of " + MTU_FRAME_BYTES
                        + " bytes takes on the link, " + String.format(Locale.ROOT, "%.3g", onePacketNs / 1e6) + " ms");
        Require.that(0 < loss && loss < 1, "loss " + Numbers.general(loss) + " is not in (0, 1)");
        Require.that(
                0 <= maxHeadroom && maxHeadroom < 1,
                "largest headroom " + Numbers.general(maxHeadroom) + " is not in [0, 1)");
        fixed.forEach((symbol, value) -> {
            Require.that(
                    symbols().containsKey(symbol),
                    "no parameter of " + law().title() + " '" + symbol + "'; use one of: "
                            + String.join(", ", symbols().keySet()));
            Require.that(
                    symbol.equals("k") || value == Math.rint(value),
                    symbol + " = " + Numbers.general(value) + " is not a whole number");
        });
        parametersFor(atFirst());
    }

    /** The traffic before the first measurement: Poisson arrivals of full-sized frames at the link's rate. */
    final Traffic atFirst() {
        return new Traffic(
                rateBps / 8.0 / MTU_FRAME_BYTES, MTU_FRAME_BYTES, rateBps, 1, 1, new long[PortSample.BUCKETS]);
    }

    /** {@code current} with the pinned values. */
    final RankedParameters pinned(RankedParameters current) {
        if (fixed.isEmpty()) {
            return current;
        }
        Map<String, Long> first = parametersFor(atFirst()).actionData();
        Map<String, Long> data = new LinkedHashMap<>(current.actionData());
        for (String symbol : fixed.keySet()) {
            symbols().get(symbol).forEach(name -> data.put(name, first.get(name)));
        }
        return law().parameters(data);
    }

    /** The pinned value of a parameter that is a whole number. */
    final OptionalLong fixedPackets(String symbol) {
        Double value = fixed.get(symbol);
        return value == null ? OptionalLong.empty() : OptionalLong.of(value.longValue());
    }

    /** The headroom K of the pinned k, or of {@code share}. */
    final long headroom256(double share) {
        double k = fixed.getOrDefault("k", share);
        Require.that(0 <= k && k < 1, "headroom k = " + Numbers.general(k) + " is not in [0, 1)");
        return RankedParameters.headroomNumerator(k);
    }

    /** Arrivals in the time that a window or tracking range spans, packets. */
    final double arrivalsInSpan(Traffic traffic) {
        return traffic.arrivalsIn(spanNs > 0 ? spanNs : SPAN_DELAY_TARGETS * (double) delayNs);
    }

    @Override
    public Map<String, Object> record() {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("rate_bps", rateBps);
        record.put("delay_ns", delayNs);
        record.put("queue_packets", queuePackets);
        record.put("span_ns", spanNs);
        record.put("fixed", fixed);
        record.put("loss", loss);
        record.put("max_headroom", maxHeadroom);
        record.put("rate_window_ns", rateWindowNs);
        record.put("dispersion_window_ns", dispersionWindowNs);
        record.put("hold_ns", holdNs);
        return record;
    }

    @Override
    public RankedConfig on(Target target) {
        return this;
    }

    /** This configuration with the largest window that the target's program has room for. */
    final RankedConfig withWindow(long windowRanks, Target target) {
        Map<String, Object> record = record();
        record.put("window_ranks", Math.min(windowRanks, target.largestWindow));
        return law().config(record);
    }
}
