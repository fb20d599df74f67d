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
 * A running law of one port: configuration, state and log. It does not access the switch. One thread makes decisions;
 * other threads may read the last ones.
 *
 * @param <C> the law's configuration
 * @param <S> the law's state
 * @param <M> the law's counters
 * @param <D> the law's decision
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

    /** Starts with the action data on the switch; empty if the switch has no such action. */
    void takeOver(Optional<Map<String, Long>> current) {
        state = law.takeOver(current);
        log.ifPresent(file -> file.start(config, state));
    }

    /** The law's decision on a sample. To be called after {@link #takeOver}. */
    D decide(M sample) {
        return law.decide(config, state, sample);
    }

    /** Accepts a decision. To be called after a successful write, so that state and log are right. */
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

    /**
     * The last {@code count} decisions, at most 100, oldest first. Throws IllegalArgumentException if it is negative.
     */
    synchronized List<Map<String, Object>> last(int count) {
        if (count < 0) {
            throw new IllegalArgumentException(count + " is not a number of decisions");
        }
        List<Map<String, Object>> current = new ArrayList<>(last);
        return current.subList(Math.max(0, current.size() - count), current.size());
    }

    @Override
    public void close() {
        log.ifPresent(DecisionLog::close);
    }
}
