package org.p4sched.onos.control;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.onosproject.net.flow.FlowRule;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.Settings;

/**
 * The difference between the rules of a switch and the configured ones. A rule that stays is not written again, so its
 * counter continues. Parameters stay, unless the settings contain parameters or the program of their table has changed.
 */
final class Difference {
    private final Map<List<Object>, FlowRule> everything = new LinkedHashMap<>();
    private final List<FlowRule> added = new ArrayList<>();
    private final List<FlowRule> removed = new ArrayList<>();

    private Difference() {}

    /** The difference between the present rules and those of the settings. */
    static Difference between(Collection<FlowRule> present, Settings settings, Rules rules) {
        Difference difference = new Difference();
        Map<List<Object>, FlowRule> others = new LinkedHashMap<>();
        present.forEach(rule -> others.put(match(rule), rule));
        for (FlowRule rule : rules.all(settings)) {
            FlowRule before = others.remove(match(rule));
            if (before == null || !before.treatment().equals(rule.treatment())) {
                difference.added.add(rule);
            }
            difference.everything.put(match(rule), rule);
        }
        Scheduler scheduler = settings.scheduler();
        for (FlowRule rule : others.values()) {
            boolean ofPort = !rule.selector().criteria().isEmpty();
            if (!rules.isParameters(scheduler, rule)
                    || (ofPort && settings.parameters().isPresent())) {
                difference.removed.add(rule);
            } else if (ofPort
                    && settings.ports().size() == 1
                    && rules.isOfPort(scheduler, settings.ports().firstKey(), rule)) {
                // the port's law now sets the parameters of all ports, and begins with those of the port
                FlowRule ofAll = rules.ofAllPorts(rule);
                difference.added.add(ofAll);
                difference.everything.put(match(ofAll), ofAll);
                difference.removed.add(rule);
            } else {
                difference.everything.putIfAbsent(match(rule), rule);
            }
        }
        return difference;
    }

    /** The removal of all present rules except the parameters. */
    static Difference toNothing(Collection<FlowRule> present, Scheduler scheduler, Rules rules) {
        Difference difference = new Difference();
        present.stream().filter(rule -> !rules.isParameters(scheduler, rule)).forEach(difference.removed::add);
        return difference;
    }

    private static List<Object> match(FlowRule rule) {
        return List.of(rule.table(), rule.selector(), rule.priority());
    }

    /** The rules to write: new or changed ones. */
    Collection<FlowRule> added() {
        return added;
    }

    /** The rules to remove. */
    Collection<FlowRule> removed() {
        return removed;
    }

    /** All rules that the switch should have. */
    Collection<FlowRule> everything() {
        return everything.values();
    }
}
