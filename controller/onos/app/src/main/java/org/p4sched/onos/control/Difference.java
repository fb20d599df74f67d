package org.p4sched.onos.control;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.onosproject.net.flow.FlowRule;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.pipeconf.Names;

/**
 * What has to be written so that a switch has the rules that it should have. Rules that stay are not touched, so their
 * counters go on. The parameters are the laws': they stay as they are, unless their table is of another program or they
 * are given.
 */
final class Difference {
    private final List<FlowRule> added = new ArrayList<>();
    private final List<FlowRule> removed = new ArrayList<>();
    private final List<FlowRule> everything;

    private Difference(List<FlowRule> wanted) {
        everything = new ArrayList<>(wanted);
    }

    static Difference between(List<FlowRule> wanted, List<FlowRule> present, Settings settings, Names names) {
        Difference difference = new Difference(wanted);
        Map<List<Object>, FlowRule> found = new LinkedHashMap<>();
        present.forEach(rule -> found.put(match(rule), rule));
        for (FlowRule rule : wanted) {
            FlowRule before = found.remove(match(rule));
            if (before == null || !before.treatment().equals(rule.treatment())) {
                difference.added.add(rule);
            }
        }
        for (FlowRule rule : found.values()) {
            boolean parameters = names.hasTable(settings.scheduler().table())
                    && rule.table().equals(names.tableId(settings.scheduler().table()));
            if (parameters) {
                difference.everything.add(rule);
            } else {
                difference.removed.add(rule);
            }
        }
        return difference;
    }

    private static List<Object> match(FlowRule rule) {
        return List.of(rule.table(), rule.selector(), rule.priority());
    }

    /** Those that are missing or do something else. */
    List<FlowRule> added() {
        return added;
    }

    /** Those that nobody wants. */
    List<FlowRule> removed() {
        return removed;
    }

    /** All that the switch should have. */
    List<FlowRule> everything() {
        return everything;
    }
}
