package org.p4sched.onos.embedded.driver;

import com.google.common.util.concurrent.Striped;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.onosproject.drivers.p4runtime.P4RuntimeFlowRuleProgrammable;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimeTableMirror;
import org.onosproject.drivers.p4runtime.mirror.TimedEntry;
import org.onosproject.net.DeviceId;
import org.onosproject.net.flow.DefaultFlowEntry;
import org.onosproject.net.flow.FlowEntry;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.net.pi.service.PiFlowRuleTranslator;
import org.onosproject.net.pi.service.PiTranslationService;

/**
 * ONOS's flow rules on P4Runtime, with two differences.
 *
 * <p>During the adoption of a switch, entries unknown to ONOS stay.
 *
 * <p>A law changes one rule ten times a second, while ONOS polls all rules. If ONOS reads the rule before its change,
 * it takes the old value for an error, and resets the rule. So here a poll and a change exclude each other, and repairs
 * after an outdated poll are dropped.
 */
public final class AdoptingFlowRules extends P4RuntimeFlowRuleProgrammable {
    private static final Striped<Lock> LOCKS = Striped.lock(64);

    @Override
    public Collection<FlowEntry> getFlowEntries() {
        boolean adopted = handler().get(Adoption.class).isAdopting(device());
        return exclusively(adopted ? this::knownEntries : super::getFlowEntries);
    }

    @Override
    public Collection<FlowRule> applyFlowRules(Collection<FlowRule> rules) {
        FlowRuleService stored = handler().get(FlowRuleService.class);
        Predicate<FlowRule> outdated = rule -> {
            FlowEntry wanted = stored.getFlowEntry(rule);
            return wanted != null && !wanted.exactMatch(rule);
        };
        return exclusively(() -> without(outdated, rules, super::applyFlowRules));
    }

    @Override
    public Collection<FlowRule> removeFlowRules(Collection<FlowRule> rules) {
        FlowRuleService stored = handler().get(FlowRuleService.class);
        Predicate<FlowRule> wantedAgain = rule -> {
            FlowEntry wanted = stored.getFlowEntry(rule);
            return wanted != null
                    && wanted.state() != FlowEntry.FlowEntryState.PENDING_REMOVE
                    && wanted.state() != FlowEntry.FlowEntryState.REMOVED;
        };
        return exclusively(() -> without(wantedAgain, rules, super::removeFlowRules));
    }

    private Collection<FlowEntry> knownEntries() {
        AdoptingPipeline pipeline = new AdoptingPipeline();
        pipeline.setData(data());
        pipeline.setHandler(handler());
        List<FlowEntry> known = new ArrayList<>();
        if (pipeline.takeStock()) {
            PiFlowRuleTranslator translator =
                    handler().get(PiTranslationService.class).flowRuleTranslator();
            for (TimedEntry<PiTableEntry> result :
                    handler().get(P4RuntimeTableMirror.class).getAll(device())) {
                PiTableEntry entry = result.entry();
                translator
                        .lookup(entry.handle(device()))
                        .filter(rule -> rule.translated().equals(entry))
                        .ifPresent(rule -> known.add(new DefaultFlowEntry(
                                rule.original(),
                                FlowEntry.FlowEntryState.ADDED,
                                result.lifeSec(),
                                entry.counter() == null ? 0 : entry.counter().packets(),
                                entry.counter() == null ? 0 : entry.counter().bytes())));
            }
        }
        return known;
    }

    /** Applies {@code action} to the rules that {@code left} does not match, and reports all as done. */
    private static Collection<FlowRule> without(
            Predicate<FlowRule> left, Collection<FlowRule> rules, UnaryOperator<Collection<FlowRule>> action) {
        List<FlowRule> done = new ArrayList<>();
        List<FlowRule> others = new ArrayList<>();
        rules.forEach(rule -> (left.test(rule) ? done : others).add(rule));
        if (!others.isEmpty()) {
            done.addAll(action.apply(others));
        }
        return done;
    }

    private <T> T exclusively(Supplier<T> action) {
        Lock lock = LOCKS.get(device());
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    private DeviceId device() {
        return data().deviceId();
    }
}
