package org.p4sched.laws;

import java.util.Map;
import java.util.Optional;
import org.p4sched.laws.record.Fields;

/**
 * A control law: a pure function from counters, configuration and state to a decision. It reads no clock and does no
 * input or output.
 *
 * @param <C> the law's configuration
 * @param <S> the law's state between two samples
 * @param <M> the law's counters
 * @param <D> the law's decision
 */
public interface Law<C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>> {
    /** The name of the scheme. */
    String name();

    /**
     * A configuration from its record. A missing field has the law's default.
     *
     * @throws IllegalArgumentException for an invalid value; the message names the field
     */
    C config(Fields record);

    /** A sample from a line of the decision log. */
    M sample(Fields line);

    /** The first state of a controller, from the action data on the switch; empty if the switch has no such action. */
    S takeOver(Optional<Map<String, Long>> current);

    /** The decision on a sample. */
    D decide(C config, S state, M sample);

    /** A configuration from a map of its fields. */
    default C config(Map<String, ?> record) {
        return config(Fields.of("config.", record));
    }

    /** Configuration of a law: the link and the goals. */
    interface Config {
        /** The law that this configuration belongs to. */
        Law<?, ?, ?, ?> law();

        /** The fields, for the decision log. */
        Map<String, Object> record();

        /**
         * The nearest configuration that the program of a target can follow.
         *
         * @throws IllegalArgumentException if there is none
         */
        Config on(Target target);
    }

    /** The counters at one instant. */
    abstract class Sample {
        /** Time of the Read, by a monotonic clock. */
        public final long timeNs;

        Sample(long timeNs) {
            this.timeNs = timeNs;
        }

        /** The fields without the time, for the decision log. */
        public abstract Map<String, Object> record();

        /** Throws IllegalArgumentException if this sample is older than {@code before}. */
        final void requireAfter(Sample before) {
            Require.that(
                    timeNs >= before.timeNs,
                    "sample at " + timeNs + " ns is older than the one before, at " + before.timeNs + " ns");
        }
    }

    /** State of a law between two samples. */
    interface State {
        /** The parameters on the switch, if known. */
        Optional<Parameters> parameters();
    }

    /**
     * Decision of a law on one sample.
     *
     * @param <S> the law's state
     */
    abstract class Decision<S> {
        /** The state for the next sample. */
        public final S state;
        /** The parameters that the switch should have. */
        public final Parameters parameters;
        /** Whether they differ from those on the switch. */
        public final boolean changed;

        Decision(S state, Parameters parameters, boolean changed) {
            this.state = state;
            this.parameters = parameters;
            this.changed = changed;
        }

        /** The decision's fields, for the decision log. */
        public abstract Map<String, Object> record();
    }
}
