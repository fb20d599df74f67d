package org.p4sched.onos.embedded.store;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.cluster.ClusterService;
import org.onosproject.cluster.Leader;
import org.onosproject.cluster.Leadership;
import org.onosproject.cluster.LeadershipEvent;
import org.onosproject.cluster.LeadershipStore;
import org.onosproject.cluster.LeadershipStoreDelegate;
import org.onosproject.cluster.NodeId;
import org.onosproject.store.AbstractStore;

/** Store of leaderships, which ONOS has only distributed. The only node leads every topic that it runs for. */
public final class Leaderships extends AbstractStore<LeadershipEvent, LeadershipStoreDelegate>
        implements LeadershipStore {
    private final Map<String, Leadership> leaderships = new ConcurrentHashMap<>();
    private ClusterService cluster;

    @Override
    public Leadership addRegistration(String topic) {
        NodeId local = cluster.getLocalNode().id();
        Leadership leadership = leaderships.computeIfAbsent(
                topic, name -> new Leadership(name, new Leader(local, 1, System.currentTimeMillis()), List.of(local)));
        changed(leadership);
        return leadership;
    }

    @Override
    public void removeRegistration(String topic) {
        if (leaderships.remove(topic) != null) {
            changed(new Leadership(topic, null, List.of()));
        }
    }

    @Override
    public void removeRegistration(NodeId node) {
        List.copyOf(leaderships.keySet()).forEach(this::removeRegistration);
    }

    @Override
    public boolean moveLeadership(String topic, NodeId node) {
        return makeTopCandidate(topic, node);
    }

    @Override
    public boolean makeTopCandidate(String topic, NodeId node) {
        return leaderships.containsKey(topic) && cluster.getLocalNode().id().equals(node);
    }

    @Override
    public Leadership getLeadership(String topic) {
        return leaderships.get(topic);
    }

    @Override
    public Map<String, Leadership> getLeaderships() {
        return Map.copyOf(leaderships);
    }

    private void changed(Leadership leadership) {
        notifyDelegate(new LeadershipEvent(LeadershipEvent.Type.LEADER_AND_CANDIDATES_CHANGED, leadership));
    }
}
