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

/** The rules of this application for one switch in ONOS's store. ONOS restores rules that a switch has lost. */
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

    DeviceId device() {
        return device;
    }

    /** The rules that are in force or pending. */
    List<FlowRule> present() {
        List<FlowRule> result = new ArrayList<>();
        for (FlowEntry entry : service.getFlowEntries(device)) {
            boolean goes = entry.state() == FlowEntryState.PENDING_REMOVE || entry.state() == FlowEntryState.REMOVED;
            if (entry.appId() == app.id() && !goes) {
                result.add(entry);
            }
        }
        return result;
    }

    /** Adds rules in this order, then removes others, and waits until the switch has confirmed. */
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
                    done.completeExceptionally(new SwitchException("refuses " + text(refused)));
                }
            }
        }));
        try {
            done.get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new SwitchException("has not confirmed its rules within " + TIMEOUT_S + " s", e);
        } catch (ExecutionException e) {
            throw new SwitchException(e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SwitchException("the write of its rules was interrupted", e);
        }
    }

    private static List<FlowRule> rules(FlowRuleOperations operations) {
        List<FlowRule> result = new ArrayList<>();
        operations.stages().forEach(stage -> stage.forEach(operation -> result.add(operation.rule())));
        return result;
    }

    /**
     * Whether a rule is the default action of its table. ONOS removes such a rule by a MODIFY to the program's own
     * action, and then reports a failure, because it expects a DELETE.
     */
    private static boolean isDefaultAction(FlowRule rule) {
        return rule.selector().criteria().isEmpty();
    }

    private static String text(List<FlowRule> rules) {
        if (rules.isEmpty()) {
            return "a rule; ONOS's log says which";
        }
        FlowRule first = rules.get(0);
        String more = rules.size() > 1 ? " and " + (rules.size() - 1) + " more" : "";
        return "a rule of table " + first.table() + more + ": "
                + first.selector().criteria() + " -> " + first.treatment().allInstructions();
    }
}
