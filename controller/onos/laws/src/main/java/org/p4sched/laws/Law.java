package org.p4sched.laws;

import java.util.Map;
import java.util.Optional;
import org.p4sched.laws.record.Fields;

/**
 * A control law: a pure function from counters, configuration and state to a decision. It reads no clock and does no
 * input or output.
 *
 * @param <C> its configuration
 * @param <S> what it remembers
 * @param <M> the counters that it needs
 * @param <D> its answer
 */
public interface Law<C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>> {
    /** The scheme's. */
    String name();

    /**
     * A configuration from its record. Fields that are missing have the law's defaults.
     *
     * @throws IllegalArgumentException for what makes no sense; the message names it
     */
    C config(Fields record);

    /** A sample from a line that holds its record and its time. */
    M sample(Fields line);

    /** The state of a controller that finds this action data on the switch; empty: the switch has no such action. */
    S takeOver(Optional<Map<String, Long>> found);

    /** What follows from the counters. */
    D decide(C config, S state, M sample);

    /** A configuration from a map of its fields. */
    default C config(Map<String, ?> record) {
        return config(Fields.of("config.", record));
    }

    /** What a law needs to know of the link, and what is asked of it. */
    interface Config {
        /** Whose configuration it is. */
        Law<?, ?, ?, ?> law();

        /** Its fields. */
        Map<String, Object> record();

        /**
         * As near to it as the program of a target comes.
         *
         * @throws IllegalArgumentException for what that program cannot do
         */
        Config on(Target target);
    }

    /** The counters at one instant. */
    abstract class Sample {
        /** When they were read, by any clock that never goes back. */
        public final long timeNs;

        Sample(long timeNs) {
            this.timeNs = timeNs;
        }

        /** Its fields but for the time. */
        public abstract Map<String, Object> record();

        /** Refuses a sample that is older than the one before. */
        final void requireAfter(Sample before) {
            Require.that(
                    timeNs >= before.timeNs,
                    "sample at " + timeNs + " ns is older than the one before, at " + before.timeNs + " ns");
        }
    }

    /** What a law remembers from one sample to the next. */
    interface State {
        /** In force on the switch, as far as known. */
        Optional<Parameters> parameters();
    }

    /**
     * A law's answer to one sample.
     *
     * @param <S> the law's state
     */
    abstract class Decision<S> {
        /** To be passed with the next sample. */
        public final S state;
        /** To be in force now. */
        public final Parameters parameters;
        /** Whether they differ from what the switch has. */
        public final boolean changed;

        Decision(S state, Parameters parameters, boolean changed) {
            this.state = state;
            this.parameters = parameters;
            this.changed = changed;
        }

        /** The outcome, for the decision log. */
        public abstract Map<String, Object> record();
    }
}
