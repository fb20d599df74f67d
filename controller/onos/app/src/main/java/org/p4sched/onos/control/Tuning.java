package org.p4sched.onos.control;

import java.io.Closeable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.p4sched.laws.Law;
import org.p4sched.laws.Parameters;
import org.p4sched.laws.log.DecisionLog;

/**
 * A law at work on one set of parameters: configuration, state and log. It does not touch the switch. Only one thread
 * decides; others may ask what was decided.
 *
 * @param <C> the law's configuration
 * @param <S> what the law remembers
 * @param <M> the counters that it needs
 * @param <D> its answer
 */
final class Tuning<C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>>
        implements Closeable {
    private static final int REMEMBERED = 100;

    private final Law<C, S, M, D> law;
    private final C config;
    private final Optional<DecisionLog> log;
    private final Deque<Map<String, Object>> last = new ArrayDeque<>();
    private S state;
    private long rounds;
    private long writes;
    private Parameters inForce;

    Tuning(Law<C, S, M, D> law, C config, Optional<DecisionLog> log) {
        this.law = law;
        this.config = config;
        this.log = log;
    }

    /** Begins with the action data found on the switch; none if the switch has no such action. */
    void takeOver(Optional<Map<String, Long>> found) {
        state = law.takeOver(found);
        log.ifPresent(file -> file.start(config, state));
    }

    /** What the law makes of the counters, after {@link #takeOver}. */
    D decide(M sample) {
        return law.decide(config, state, sample);
    }

    /** The decision is in force. To be called after the write: state and log would be wrong if the write failed. */
    synchronized void accept(M sample, D decision) {
        state = decision.state;
        log.ifPresent(file -> file.decision(sample, decision));
        rounds++;
        writes += decision.changed ? 1 : 0;
        inForce = decision.parameters;
        if (last.size() == REMEMBERED) {
            last.removeFirst();
        }
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time_ns", sample.timeNs);
        line.putAll(sample.record());
        line.putAll(decision.record());
        last.addLast(line);
    }

    /** Rounds since the beginning. */
    synchronized long rounds() {
        return rounds;
    }

    /** Rounds that changed the parameters. */
    synchronized long writes() {
        return writes;
    }

    /** The parameters of the last decision. */
    synchronized Optional<Parameters> inForce() {
        return Optional.ofNullable(inForce);
    }

    /** The last decisions, oldest first: at most so many, and at most 100. Throws IllegalArgumentException below 0. */
    synchronized List<Map<String, Object>> last(int count) {
        if (count < 0) {
            throw new IllegalArgumentException(count + " is no number of decisions");
        }
        List<Map<String, Object>> found = new ArrayList<>(last);
        return found.subList(Math.max(0, found.size() - count), found.size());
    }

    @Override
    public void close() {
        log.ifPresent(DecisionLog::close);
    }
}
