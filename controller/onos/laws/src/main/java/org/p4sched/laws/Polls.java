package org.p4sched.laws;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Estimates of a port's traffic from its counters: rates, load, burstiness. The docstring of {@code
 * controller/p4sched/control/laws/traffic_estimate.py} derives them.
 *
 * <p>Every logged number comes from operations that IEEE 754 defines to the last bit, and sums have the order of the
 * Python controller, so both controllers compute the same numbers. The last bit of the power in {@link #heldDispersion}
 * may differ; it is only compared with an estimate.
 */
final class Polls {
    static final int MIN_PACKETS = 20;
    static final int MIN_POLLS = 3;
    private static final int MIN_DISPERSION_POLLS = 4;
    /** With this many polls, {@link #DISPERSION_FACTOR} is enough to replace the held index of dispersion. */
    private static final int DISPERSION_POLLS = 32;

    private static final double KEPT_SHARE = 0.75;
    /** Mean of the smaller three quarters of the squares of normal numbers of variance 1. */
    private static final double KEPT_MEAN = 0.368;

    private static final double MIN_DISPERSION = 1 / 16.0;
    private static final double DISPERSION_FACTOR = 2;
    /** Traffic that differs by more than this share, and by more than chance explains, has changed. */
    private static final double CHANGE = 0.25;
    /** Standard deviations that chance explains. */
    private static final double CHANCE = 4;

    private static final int CHANGE_POLLS = 2;

    private Polls() {}

    /**
     * Time of the last change of the traffic: the start of the newest poll if it differs from the older ones in the
     * rate window, otherwise {@code sinceNs}.
     */
    static long lastChange(List<Step> steps, long sinceNs, double dispersion, long rateWindowNs) {
        if (steps.isEmpty()) {
            return sinceNs;
        }
        Step newest = steps.get(steps.size() - 1);
        long firstNs = Math.max(sinceNs, newest.endNs - rateWindowNs);
        List<Step> polls = new ArrayList<>(steps);
        polls.removeIf(step -> step.startNs < firstNs);
        int split = Math.max(0, polls.size() - CHANGE_POLLS);
        List<Step> after = polls.subList(split, polls.size());
        List<Step> before = busy(polls.subList(0, split));
        if (before.size() < MIN_POLLS || !after.stream().allMatch(Step::busy)) {
            return sinceNs;
        }
        Count old = arrived(before);
        Count now = arrived(after);
        double share = (double) durationNs(after) / durationNs(before);
        double expected = old.packets * share;
        double chance = CHANCE * Math.sqrt(Math.max(1, dispersion) * expected * (1 + share));
        boolean rateDiffers = Math.abs(now.packets - expected) > Math.max(CHANGE * expected, chance);
        double size = (double) old.bytes / old.packets;
        // the standard deviation of a packet's size is about its mean at most
        double differs = Math.max(CHANGE, CHANCE / Math.sqrt((double) now.packets)) * size;
        boolean sizeDiffers = Math.abs((double) now.bytes / now.packets - size) > differs;
        return rateDiffers || sizeDiffers ? newest.startNs : sinceNs;
    }

    /** The drain rate, bit/s of Ethernet frames; {@code beforeBps} if the polls do not show another one. */
    static double drainRate(List<Step> recent, double beforeBps, long rateWindowNs) {
        double[] saturated = recent.stream()
                .filter(step -> step.dropped > 0 && step.foundEmpty == 0 && step.admitted.bytes > 0)
                .mapToDouble(step -> step.admitted.bytes * 8e9 / step.durationNs())
                .sorted()
                .toArray();
        if (saturated.length >= MIN_POLLS) {
            return saturated[3 * (saturated.length - 1) / 4];
        }
        long durationNs = durationNs(recent);
        if (durationNs == 0 || durationNs < rateWindowNs / 2) {
            return beforeBps;
        }
        return Math.max(beforeBps, admitted(recent).bytes * 8e9 / durationNs);
    }

    /** The traffic in the recent polls; empty if there are too few polls or packets. */
    static Optional<Traffic> traffic(List<Step> recent, double drainBps, double dispersion) {
        List<Step> busy = busy(recent);
        Count arrived = arrived(busy);
        Count admitted = admitted(busy);
        Count waiting = admitted.packets > 0 ? admitted : arrived;
        // packets without bytes: a counter was reset and has come back to its value
        if (busy.size() < MIN_POLLS || arrived.packets < MIN_PACKETS || waiting.bytes == 0) {
            return Optional.empty();
        }
        double durationS = durationNs(busy) / 1e9;
        long[] ranks = new long[PortSample.BUCKETS];
        for (Step step : busy) {
            for (int bucket = 0; bucket < ranks.length; bucket++) {
                ranks[bucket] = Math.addExact(ranks[bucket], step.ranks[bucket]);
            }
        }
        return Optional.of(new Traffic(
                arrived.packets / durationS,
                (double) waiting.bytes / waiting.packets,
                drainBps,
                arrived.bytes * 8.0 / durationS / drainBps,
                dispersion,
                ranks));
    }

    /** The held index of dispersion, or that of these polls if it differs by more than chance explains. */
    static double heldDispersion(double held, List<Step> steps) {
        OptionalDouble measured = indexOfDispersion(steps);
        if (measured.isEmpty()) {
            return held;
        }
        // the standard error falls with the root of the number of polls, so few polls must differ by more
        double roots = Math.max(1, Math.sqrt((double) DISPERSION_POLLS / steps.size()));
        double factor = StrictMath.pow(DISPERSION_FACTOR, roots);
        boolean near = held / factor <= measured.getAsDouble() && measured.getAsDouble() <= held * factor;
        return near ? held : measured.getAsDouble();
    }

    /** Variance over mean of the arrivals in a poll; empty if there are too few polls or packets. */
    static OptionalDouble indexOfDispersion(List<Step> steps) {
        List<Step> busy = busy(steps);
        long packets = arrived(busy).packets;
        double[] squares = squaresOfDifferences(steps);
        if (squares.length < MIN_DISPERSION_POLLS || packets < MIN_PACKETS) {
            return OptionalDouble.empty();
        }
        long durationNs = durationNs(busy);
        double rate = (double) packets / durationNs;
        double pollNs = (double) durationNs / busy.size();
        int kept = (int) Math.rint(KEPT_SHARE * squares.length);
        double sum = 0;
        for (int place = 0; place < kept; place++) {
            sum += squares[place];
        }
        double variance = sum / (2 * kept) / KEPT_MEAN * (pollNs * pollNs);
        double fromReading = rate * rate * medianUncertainty(busy) / 4;
        return OptionalDouble.of(Math.max(MIN_DISPERSION, (variance - fromReading) / (rate * pollNs)));
    }

    /** The squared differences of the rates of neighbouring polls with arrivals, ascending. */
    private static double[] squaresOfDifferences(List<Step> steps) {
        List<Double> squares = new ArrayList<>();
        for (int place = 1; place < steps.size(); place++) {
            Step before = steps.get(place - 1);
            Step after = steps.get(place);
            if (before.busy() && after.busy()) {
                double difference = after.rate() - before.rate();
                squares.add(difference * difference);
            }
        }
        return squares.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    }

    private static double medianUncertainty(List<Step> steps) {
        double[] sorted =
                steps.stream().mapToDouble(step -> step.uncertainNs2).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static List<Step> busy(List<Step> steps) {
        List<Step> busy = new ArrayList<>(steps);
        busy.removeIf(step -> !step.busy());
        return busy;
    }

    private static Count arrived(List<Step> steps) {
        return steps.stream().map(step -> step.arrived).reduce(Count.NONE, Count::plus);
    }

    private static Count admitted(List<Step> steps) {
        return steps.stream().map(step -> step.admitted).reduce(Count.NONE, Count::plus);
    }

    private static long durationNs(List<Step> steps) {
        return steps.stream().mapToLong(Step::durationNs).sum();
    }
}
