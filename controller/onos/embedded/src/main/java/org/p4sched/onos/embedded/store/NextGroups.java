package org.p4sched.onos.embedded.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.onosproject.net.behaviour.NextGroup;
import org.onosproject.net.flowobjective.FlowObjectiveStore;
import org.onosproject.net.flowobjective.FlowObjectiveStoreDelegate;
import org.onosproject.net.flowobjective.ObjectiveEvent;
import org.onosproject.store.AbstractStore;

/** Store of the next objectives of pipeliners, which ONOS has only distributed. */
public final class NextGroups extends AbstractStore<ObjectiveEvent, FlowObjectiveStoreDelegate>
        implements FlowObjectiveStore {
    private final Map<Integer, NextGroup> groups = new ConcurrentHashMap<>();
    private final AtomicInteger lastId = new AtomicInteger();

    @Override
    public void putNextGroup(Integer nextId, NextGroup group) {
        groups.put(nextId, group);
        notifyDelegate(new ObjectiveEvent(ObjectiveEvent.Type.ADD, nextId));
    }

    @Override
    public NextGroup getNextGroup(Integer nextId) {
        return groups.get(nextId);
    }

    @Override
    public NextGroup removeNextGroup(Integer nextId) {
        NextGroup removed = groups.remove(nextId);
        if (removed != null) {
            notifyDelegate(new ObjectiveEvent(ObjectiveEvent.Type.REMOVE, nextId));
        }
        return removed;
    }

    @Override
    public Map<Integer, NextGroup> getAllGroups() {
        return Map.copyOf(groups);
    }

    @Override
    public int allocateNextId() {
        return lastId.incrementAndGet();
    }
}
