package org.p4sched.laws;

import java.util.List;
import java.util.Optional;

/** State of a ranked scheme's law between two samples. */
public final class RankedState implements Law.State {
    private static final long NEVER = -1;

    /** The parameters on the switch; null if unknown. */
    final RankedParameters parameters;

    final PortSample sample;
    /** Steps that reach into the dispersion window, oldest first. */
    final List<Step> steps;
    /** The drain rate; 0 before the first measurement. */
    final double drainBps;

    final double dispersion;
    /** Time of the last change of the traffic, 0 if it never changed; older steps do not count. */
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

    /** The first state of a controller that takes over these parameters; null if it takes over none. */
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
