package org.p4sched.laws;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.p4sched.laws.record.Fields;

/**
 * What the laws of the ranked schemes share: when they write.
 *
 * <p>The counters of a port tell of its traffic ({@link Polls}). The law of a scheme says which parameters fit that traffic
 * ({@link RankedConfig#parametersFor}). Here it is decided whether they are written: not while the law keeps those in
 * force, and at most once every {@code holdNs}.
 *
 * <p>An idle port keeps its parameters. A controller that takes over keeps what it finds until it has watched for a whole
 * rate window. One that finds the program's own defaults writes what fits the configured rate and Poisson arrivals of that
 * rate.
 */
public abstract class RankedLaw implements Law<RankedConfig, RankedState, PortSample, RankedDecision> {
    RankedLaw() {}

    /** The program's own. */
    abstract RankedParameters defaults();

    /** Parameters of this action data. */
    abstract RankedParameters parameters(Map<String, Long> actionData);

    /** As papers write the scheme. */
    final String title() {
        return name().toUpperCase(Locale.ROOT);
    }

    @Override
    public final PortSample sample(Fields line) {
        return PortSample.of(line);
    }

    /** The defaults of the program of some target are not taken over. */
    @Override
    public final RankedState takeOver(Optional<Map<String, Long>> found) {
        RankedParameters parameters = found.map(this::parameters).orElse(null);
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

    /** The parameters to be written, if those in force do not stay. */
    private static Optional<RankedParameters> toWrite(RankedConfig config, RankedState now, Traffic traffic) {
        if (now.parameters == null) {
            return Optional.of(config.parametersFor(config.atFirst()));
        }
        RankedParameters pinned = config.pinned(now.parameters);
        if (!pinned.equals(now.parameters)) {
            // parameters that were taken over: what is pinned has no tolerance, and needs no traffic to be known
            return Optional.of(pinned);
        }
        if (traffic == null || now.writtenWithin(config.holdNs, now.sample.timeNs)) {
            return Optional.empty();
        }
        RankedParameters wanted = config.parametersFor(traffic);
        return config.keeps(now.parameters, wanted, traffic) ? Optional.empty() : Optional.of(wanted);
    }
}
