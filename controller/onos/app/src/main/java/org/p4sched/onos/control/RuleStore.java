package org.p4sched.onos.control;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.onosproject.core.ApplicationId;
import org.onosproject.net.DeviceId;
import org.onosproject.net.flow.FlowEntry;
import org.onosproject.net.flow.FlowEntry.FlowEntryState;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleOperations;
import org.onosproject.net.flow.FlowRuleOperationsContext;
import org.onosproject.net.flow.FlowRuleService;

/** The rules of this application on one switch, as ONOS keeps them. ONOS writes them again when a switch has lost them. */
final class RuleStore {
    private static final long TIMEOUT_S = 15;

    private final FlowRuleService service;
    private final ApplicationId app;
    private final DeviceId device;

    RuleStore(FlowRuleService service, ApplicationId app, DeviceId device) {
        this.service = service;
        this.app = app;
        this.device = device;
    }

    /** The switch. */
    DeviceId device() {
        return device;
    }

    /** Those that are in force or will be. */
    List<FlowRule> present() {
        List<FlowRule> found = new ArrayList<>();
        for (FlowEntry entry : service.getFlowEntries(device)) {
            boolean goes = entry.state() == FlowEntryState.PENDING_REMOVE || entry.state() == FlowEntryState.REMOVED;
            if (entry.appId() == app.id() && !goes) {
                found.add(entry);
            }
        }
        return found;
    }

    /** Adds rules, in this order, then removes others; waits until the switch has them. */
    void write(Collection<FlowRule> added, Collection<FlowRule> removed) throws SwitchException {
        if (added.isEmpty() && removed.isEmpty()) {
            return;
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        FlowRuleOperations.Builder operations = FlowRuleOperations.builder();
        added.forEach(operations::add);
        if (!added.isEmpty() && !removed.isEmpty()) {
            operations.newStage();
        }
        removed.forEach(operations::remove);
        service.apply(operations.build(new FlowRuleOperationsContext() {
            @Override
            public void onSuccess(FlowRuleOperations written) {
                done.complete(null);
            }

            @Override
            public void onError(FlowRuleOperations failed) {
                List<FlowRule> refused = rules(failed);
                if (removed.containsAll(refused) && refused.stream().allMatch(RuleStore::isDefaultAction)) {
                    done.complete(null);
                } else {
                    done.completeExceptionally(new SwitchException("refuses " + shown(refused)));
                }
            }
        }));
        try {
            done.get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new SwitchException("does not confirm its rules within " + TIMEOUT_S + " s", e);
        } catch (ExecutionException e) {
            throw new SwitchException(e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SwitchException("the write of its rules was interrupted", e);
        }
    }

    private static List<FlowRule> rules(FlowRuleOperations operations) {
        List<FlowRule> found = new ArrayList<>();
        operations.stages().forEach(stage -> stage.forEach(operation -> found.add(operation.rule())));
        return found;
    }

    /**
     * Whether a rule is the default action of its table. ONOS removes it by a MODIFY that brings back the program's own action,
     * but only a DELETE counts for it as a removal: it tells this one as failed.
     */
    private static boolean isDefaultAction(FlowRule rule) {
        return rule.selector().criteria().isEmpty();
    }

    private static String shown(List<FlowRule> rules) {
        if (rules.isEmpty()) {
            return "a rule; ONOS's log says which";
        }
        FlowRule first = rules.get(0);
        String more = rules.size() > 1 ? " and " + (rules.size() - 1) + " more" : "";
        return "a rule of table " + first.table() + more + ": "
                + first.selector().criteria() + " -> " + first.treatment().allInstructions();
    }
}
