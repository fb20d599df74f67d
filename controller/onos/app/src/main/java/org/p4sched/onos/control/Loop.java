package org.p4sched.onos.control;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
import org.p4sched.laws.RankedConfig;
import org.p4sched.laws.RankedLaw;
import org.p4sched.laws.Target;
import org.p4sched.laws.log.DecisionLog;
import org.p4sched.onos.config.PortSettings;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.Settings;

/**
 * The control loop of a switch: one Read of the counters, one decision for each port, one write if something changed.
 *
 * <p>The law of a single port sets the default action, so its parameters are those of all ports. Several ports have
 * entries of their own.
 *
 * @param <C> the law's configuration
 * @param <S> what the law remembers
 * @param <M> the counters that it needs
 * @param <D> its answer
 */
final class Loop<C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>>
        implements Closeable {
    private final Scheduler scheduler;
    private final SwitchReader reader;
    private final Rules rules;
    private final RuleStore store;
    private final Sampling<M> sampling;
    private final SortedMap<Integer, Tuning<C, S, M, D>> tunings = new TreeMap<>();

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

    /** A switch as a loop sees it. */
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
     * The loop of the ports that have a law. Decisions are logged in the folder. Throws IllegalArgumentException for a
     * configuration that the program of this target cannot carry out.
     */
    static Loop<?, ?, ?, ?> of(Settings settings, Plant plant, Optional<Path> logs, LongSupplier clock) {
        Target target =
                target(plant.reader.pipeconf().pipelineModel().architecture().orElse(""));
        SortedMap<Integer, PortSettings> ports = settings.ports();
        if (settings.scheduler() == Scheduler.FDPA) {
            Map<Integer, Fdpa.Config> configs = new LinkedHashMap<>();
            ports.forEach((port, asked) ->
                    configs.put(port, Fdpa.LAW.config(asked.configuration()).on(target)));
            return new Loop<>(
                    Fdpa.LAW, configs, settings, plant, Sampling.ofUsers(plant.reader, ports.keySet(), clock), logs);
        }
        RankedLaw law = (RankedLaw) settings.scheduler().law().orElseThrow();
        Map<Integer, RankedConfig> configs = new LinkedHashMap<>();
        ports.forEach((port, asked) ->
                configs.put(port, law.config(asked.configuration()).on(target)));
        return new Loop<>(law, configs, settings, plant, Sampling.ofPorts(plant.reader, ports.keySet(), clock), logs);
    }

    private static Target target(String architecture) {
        return Arrays.stream(Target.values())
                .filter(each -> each.name().equalsIgnoreCase(architecture))
                .findFirst()
                .orElse(Target.V1MODEL);
    }

    /** Learns the parameters that are in force. */
    void takeOver() throws SwitchException {
        Optional<Map<String, Long>> all = reader.defaultAction(scheduler.table(), scheduler.action());
        Map<Integer, Map<String, Long>> own =
                tunings.size() == 1 ? Map.of() : reader.portActions(scheduler.table(), scheduler.action());
        tunings.forEach((port, tuning) ->
                tuning.takeOver(Optional.ofNullable(own.get(port)).or(() -> all)));
    }

    /** One round of every port. */
    void step() throws SwitchException {
        Map<Integer, M> samples = sampling.read();
        Map<Integer, D> decisions = new LinkedHashMap<>();
        List<FlowRule> changed = new ArrayList<>();
        tunings.forEach((port, tuning) -> {
            D decision = tuning.decide(samples.get(port));
            decisions.put(port, decision);
            if (decision.changed) {
                Map<String, Long> data = decision.parameters.actionData();
                changed.add(
                        tunings.size() == 1
                                ? rules.parameters(scheduler, data)
                                : rules.parameters(scheduler, port, data));
            }
        });
        store.write(changed, List.of());
        tunings.forEach((port, tuning) -> tuning.accept(samples.get(port), decisions.get(port)));
    }

    /** The ports' laws at work. */
    SortedMap<Integer, Tuning<C, S, M, D>> tunings() {
        return tunings;
    }

    @Override
    public void close() {
        tunings.values().forEach(Tuning::close);
    }
}
