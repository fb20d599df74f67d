package org.p4sched.laws;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.p4sched.laws.record.Fields;

/**
 * A law of a ranked scheme. This class decides when parameters are written.
 *
 * <p>{@link Polls} estimates the traffic of a port from its counters. {@link RankedConfig#parametersFor} is the
 * scheme's own law: the parameters for this traffic. They are written unless {@link RankedConfig#keeps} the current
 * ones, and at most once every {@code holdNs}.
 *
 * <p>An idle port keeps its parameters. After a takeover a controller keeps the parameters on the switch for a whole
 * rate window. If the switch has the program's defaults, the controller writes the parameters for Poisson arrivals at
 * the configured rate.
 */
public abstract class RankedLaw implements Law<RankedConfig, RankedState, PortSample, RankedDecision> {
    RankedLaw() {}

    /** The program's own parameters. */
    abstract RankedParameters defaults();

    /** Parameters of this action data. */
    abstract RankedParameters parameters(Map<String, Long> actionData);

    /** The name as papers write it. */
    final String title() {
        return name().toUpperCase(Locale.ROOT);
    }

    @Override
    public final PortSample sample(Fields line) {
        return PortSample.of(line);
    }

    /** Does not take over the defaults of a program, whatever its target. */
    @Override
    public final RankedState takeOver(Optional<Map<String, Long>> current) {
        RankedParameters parameters = current.map(this::parameters).orElse(null);
        boolean untouched = Arrays.stream(Target.values())
                .anyMatch(target -> defaults().on(target).equals(parameters));
        return RankedState.begin(untouched ? null : parameters);
    }

    @Override
    public final RankedDecision decide(RankedConfig config, RankedState state, PortSample sample) {
        List<Step> steps = Step.with(state.steps, state.sample, sample, config.dispersionWindowNs);
        long sinceNs = Polls.lastChange(steps, state.sinceNs, state.dispersion, config.rateWindowNs);
        List<Step> ofNow = new ArrayList<>(steps);
        ofNow.removeIf(step -> step.startNs < sinceNs);
        List<Step> recent = new ArrayList<>(ofNow);
        recent.removeIf(step -> step.endNs <= sample.timeNs - config.rateWindowNs);
        double beforeBps = state.drainBps == 0 ? config.rateBps : state.drainBps;
        double drainBps = Polls.drainRate(recent, beforeBps, config.rateWindowNs);
        double held = sinceNs == state.sinceNs ? state.dispersion : Math.max(1, state.dispersion);
        double dispersion = Polls.heldDispersion(held, ofNow);
        Traffic traffic = null;
        if (!steps.isEmpty() && sample.timeNs - steps.get(0).startNs >= config.rateWindowNs) {
            traffic = Polls.traffic(recent, drainBps, dispersion).orElse(null);
        }
        RankedState now = state.seen(sample, steps, drainBps, dispersion, sinceNs);
        Optional<RankedParameters> written = toWrite(config, now, traffic);
        return new RankedDecision(written.map(now::written).orElse(now), written.isPresent(), traffic);
    }

    /** The parameters to write; empty if the current ones stay. */
    private static Optional<RankedParameters> toWrite(RankedConfig config, RankedState now, Traffic traffic) {
        if (now.parameters == null) {
            return Optional.of(config.parametersFor(config.atFirst()));
        }
        RankedParameters pinned = config.pinned(now.parameters);
        if (!pinned.equals(now.parameters)) {
            // after a takeover: pinned values have no tolerance, and do not depend on the traffic
            return Optional.of(pinned);
        }
        if (traffic == null || now.writtenWithin(config.holdNs, now.sample.timeNs)) {
            return Optional.empty();
        }
        RankedParameters wanted = config.parametersFor(traffic);
        return config.keeps(now.parameters, wanted, traffic) ? Optional.empty() : Optional.of(wanted);
    }
}
