package org.p4sched.onos.control;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.onosproject.net.flow.FlowRule;
import org.p4sched.laws.Fdpa;
import org.p4sched.laws.Law;
import org.p4sched.laws.Parameters;
import org.p4sched.laws.RankedConfig;
import org.p4sched.laws.RankedLaw;
import org.p4sched.laws.Target;
import org.p4sched.laws.log.DecisionLog;
import org.p4sched.onos.config.PortSettings;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.Settings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control loop of a switch: one Read of the counters, one decision for each port, one write if something changed.
 *
 * <p>If only one port has a law, the law sets the default action, which holds for all ports. Otherwise each port with a
 * law has its own entry.
 *
 * @param <C> the law's configuration
 * @param <S> the law's state
 * @param <M> the law's counters
 * @param <D> the law's decision
 */
final class Loop<C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>>
        implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
    /** Rounds between two checks of the parameters on the switch. */
    private static final int CHECK_ROUNDS = 10;

    private final Scheduler scheduler;
    private final SwitchReader reader;
    private final Rules rules;
    private final RuleStore store;
    private final Sampling<M> sampling;
    private final SortedMap<Integer, Tuning<C, S, M, D>> tunings = new TreeMap<>();
    private int rounds;

    private Loop(
            Law<C, S, M, D> law,
            Map<Integer, C> configs,
            Settings settings,
            Plant plant,
            Sampling<M> sampling,
            Optional<Path> logs) {
        this.scheduler = settings.scheduler();
        this.reader = plant.reader;
        this.rules = plant.rules;
        this.store = plant.store;
        this.sampling = sampling;
        configs.forEach((port, config) -> {
            String file = configs.size() == 1 ? "decisions.jsonl" : "port-" + port + ".jsonl";
            tunings.put(port, new Tuning<>(law, config, logs.map(folder -> new DecisionLog(folder.resolve(file)))));
        });
    }

    /** The switch under control: its counters and its rules. */
    static final class Plant {
        final SwitchReader reader;
        final Rules rules;
        final RuleStore store;

        Plant(SwitchReader reader, Rules rules, RuleStore store) {
            this.reader = reader;
            this.rules = rules;
            this.store = store;
        }
    }

    /**
     * The loop of the ports with a law. {@code logs} is the folder of the decision logs. Throws
     * IllegalArgumentException for a configuration that the program of this target cannot follow.
     */
    static Loop<?, ?, ?, ?> of(Settings settings, Plant plant, Optional<Path> logs, LongSupplier clock) {
        Target target = plant.reader.names().target();
        SortedMap<Integer, PortSettings> ports = settings.ports();
        if (!settings.scheduler().ranked()) {
            Map<Integer, Fdpa.Config> configs = new LinkedHashMap<>();
            ports.forEach((port, portSettings) -> configs.put(
                    port, Fdpa.LAW.config(portSettings.configuration()).on(target)));
            return new Loop<>(
                    Fdpa.LAW, configs, settings, plant, Sampling.ofUsers(plant.reader, ports.keySet(), clock), logs);
        }
        RankedLaw law = (RankedLaw) settings.scheduler().law().orElseThrow();
        Map<Integer, RankedConfig> configs = new LinkedHashMap<>();
        ports.forEach((port, portSettings) ->
                configs.put(port, law.config(portSettings.configuration()).on(target)));
        return new Loop<>(law, configs, settings, plant, Sampling.ofPorts(plant.reader, ports.keySet(), clock), logs);
    }

    /** Starts the laws with the parameters on the switch. */
    void takeOver() throws SwitchException {
        Map<Integer, Map<String, Long>> current = readParameters();
        tunings.forEach((port, tuning) -> tuning.takeOver(Optional.ofNullable(current.get(port))));
    }

    /** Reads the action data from the switch, by port. A port without such an action is missing. */
    private Map<Integer, Map<String, Long>> readParameters() throws SwitchException {
        Optional<Map<String, Long>> all = reader.defaultAction(scheduler.table(), scheduler.action());
        Map<Integer, Map<String, Long>> own =
                tunings.size() == 1 ? Map.of() : reader.portActions(scheduler.table(), scheduler.action());
        Map<Integer, Map<String, Long>> current = new LinkedHashMap<>();
        for (int port : tunings.keySet()) {
            Optional.ofNullable(own.get(port)).or(() -> all).ifPresent(data -> current.put(port, data));
        }
        return current;
    }

    /** Runs one round of every port. */
    void step() throws SwitchException {
        Map<Integer, M> samples = sampling.read();
        Map<Integer, D> decisions = new LinkedHashMap<>();
        List<FlowRule> changed = new ArrayList<>();
        tunings.forEach((port, tuning) -> {
            D decision = tuning.decide(samples.get(port));
            decisions.put(port, decision);
            if (decision.changed) {
                changed.add(rule(port, decision.parameters.actionData()));
            }
        });
        store.write(changed, List.of());
        tunings.forEach((port, tuning) -> tuning.accept(samples.get(port), decisions.get(port)));
        if (++rounds % CHECK_ROUNDS == 0) {
            restore();
        }
    }

    private FlowRule rule(int port, Map<String, Long> data) {
        return tunings.size() == 1 ? rules.parameters(scheduler, data) : rules.parameters(scheduler, port, data);
    }

    /**
     * Restores parameters that differ from the last decision. ONOS's own poll of rules may change them: if a law writes
     * during the poll, ONOS takes the old value for an error, and resets the rule to the program's own parameters.
     */
    private void restore() throws SwitchException {
        Map<Integer, Map<String, Long>> current = readParameters();
        List<FlowRule> lost = new ArrayList<>();
        tunings.forEach(
                (port, tuning) -> tuning.inForce().map(Parameters::actionData).ifPresent(data -> {
                    if (!data.equals(current.get(port))) {
                        LOG.warn(
                                "{}: port {} has lost the parameters of its law; they are written again",
                                store.device(),
                                port);
                        lost.add(rule(port, data));
                    }
                }));
        store.write(lost, List.of());
    }

    /** The laws by port. */
    SortedMap<Integer, Tuning<C, S, M, D>> tunings() {
        return tunings;
    }

    @Override
    public void close() {
        tunings.values().forEach(Tuning::close);
    }
}
