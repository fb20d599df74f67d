package org.p4sched.laws;

import java.util.List;
import java.util.Optional;

/** What the law of a ranked scheme remembers from one sample to the next. */
public final class RankedState implements Law.State {
    private static final long NEVER = -1;

    /** In force on the switch, as far as known; null: not known. */
    final RankedParameters parameters;

    final PortSample sample;
    /** Oldest first; those that reach into the dispersion window. */
    final List<Step> steps;
    /** 0: none was measured yet. */
    final double drainBps;

    final double dispersion;
    /** When the traffic last changed, 0 if it never did; what was before tells nothing of it. */
    final long sinceNs;

    private final long writtenNs;

    private RankedState(
            RankedParameters parameters,
            PortSample sample,
            List<Step> steps,
            double drainBps,
            double dispersion,
            long sinceNs,
            long writtenNs) {
        this.parameters = parameters;
        this.sample = sample;
        this.steps = steps;
        this.drainBps = drainBps;
        this.dispersion = dispersion;
        this.sinceNs = sinceNs;
        this.writtenNs = writtenNs;
    }

    /** Of a controller that finds these parameters; null: it is the first one. */
    static RankedState begin(RankedParameters parameters) {
        return new RankedState(parameters, null, List.of(), 0, 1, 0, NEVER);
    }

    RankedState seen(PortSample now, List<Step> steps, double drainBps, double dispersion, long sinceNs) {
        return new RankedState(parameters, now, steps, drainBps, dispersion, sinceNs, writtenNs);
    }

    RankedState written(RankedParameters parameters) {
        return new RankedState(parameters, sample, steps, drainBps, dispersion, sinceNs, sample.timeNs);
    }

    boolean writtenWithin(long holdNs, long nowNs) {
        return writtenNs != NEVER && nowNs - writtenNs < holdNs;
    }

    @Override
    public Optional<Parameters> parameters() {
        return Optional.ofNullable(parameters);
    }
}
