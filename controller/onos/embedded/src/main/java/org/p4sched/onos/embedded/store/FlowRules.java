package org.p4sched.onos.embedded.store;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.onosproject.net.flow.CompletedBatchOperation;
import org.onosproject.net.flow.FlowEntry;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.oldbatch.FlowRuleBatchEntry;
import org.onosproject.net.flow.oldbatch.FlowRuleBatchEvent;
import org.onosproject.net.flow.oldbatch.FlowRuleBatchOperation;
import org.onosproject.net.flow.oldbatch.FlowRuleBatchRequest;
import org.onosproject.store.trivial.SimpleFlowRuleStore;

/**
 * ONOS's trivial store of flow rules, with one behaviour of the distributed store: a rule with the match of a stored
 * one replaces it. The trivial store ignores such a rule, so parameters would never change.
 */
@SuppressWarnings("deprecation") // ONOS has no other batches than the deprecated ones
public final class FlowRules extends SimpleFlowRuleStore {

    @Override
    public void storeBatch(FlowRuleBatchOperation batch) {
        Set<FlowRuleBatchEntry> forDevice = new HashSet<>();
        for (FlowRuleBatchEntry entry : batch.getOperations()) {
            FlowRule rule = entry.target();
            FlowEntry stored = getFlowEntry(rule);
            switch (entry.operator()) {
                case ADD:
                case MODIFY:
                    if (stored != null) {
                        removeFlowRule(stored);
                    }
                    storeFlowRule(rule);
                    forDevice.add(entry);
                    break;
                case REMOVE:
                    if (stored != null) {
                        deleteFlowRule(rule);
                        forDevice.add(entry);
                    }
                    break;
                default:
                    throw new IllegalArgumentException("unknown operation " + entry.operator());
            }
        }
        if (forDevice.isEmpty()) {
            notifyDelegate(FlowRuleBatchEvent.completed(
                    new FlowRuleBatchRequest(batch.id(), Collections.emptySet()),
                    new CompletedBatchOperation(true, Collections.emptySet(), batch.deviceId())));
        } else {
            notifyDelegate(
                    FlowRuleBatchEvent.requested(new FlowRuleBatchRequest(batch.id(), forDevice), batch.deviceId()));
        }
    }
}
