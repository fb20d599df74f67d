package org.p4sched.onos.embedded.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.group.Group;
import org.onosproject.net.meter.Meter;
import org.onosproject.net.pi.runtime.PiActionProfileGroup;
import org.onosproject.net.pi.runtime.PiEntity;
import org.onosproject.net.pi.runtime.PiHandle;
import org.onosproject.net.pi.runtime.PiMeterCellConfig;
import org.onosproject.net.pi.runtime.PiPreEntry;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.net.pi.service.PiFlowRuleTranslationStore;
import org.onosproject.net.pi.service.PiGroupTranslationStore;
import org.onosproject.net.pi.service.PiMeterTranslationStore;
import org.onosproject.net.pi.service.PiReplicationGroupTranslationStore;
import org.onosproject.net.pi.service.PiTranslatable;
import org.onosproject.net.pi.service.PiTranslatedEntity;
import org.onosproject.net.pi.service.PiTranslationEvent;
import org.onosproject.net.pi.service.PiTranslationStore;
import org.onosproject.net.pi.service.PiTranslationStoreDelegate;
import org.onosproject.store.AbstractStore;

/**
 * Store of the ONOS object that each entity of the switch comes from. ONOS has this store only distributed.
 *
 * @param <T> objects of ONOS: flow rules, groups, meters
 * @param <E> entities of P4Runtime
 */
public abstract class Translations<T extends PiTranslatable, E extends PiEntity>
        extends AbstractStore<PiTranslationEvent<T, E>, PiTranslationStoreDelegate<T, E>>
        implements PiTranslationStore<T, E> {
    private final Map<PiHandle, PiTranslatedEntity<T, E>> entities = new ConcurrentHashMap<>();

    @Override
    public void addOrUpdate(PiHandle handle, PiTranslatedEntity<T, E> entity) {
        entities.put(handle, entity);
        notifyDelegate(new PiTranslationEvent<>(PiTranslationEvent.Type.LEARNED, entity));
    }

    @Override
    public PiTranslatedEntity<T, E> get(PiHandle handle) {
        return entities.get(handle);
    }

    @Override
    public void remove(PiHandle handle) {
        PiTranslatedEntity<T, E> removed = entities.remove(handle);
        if (removed != null) {
            notifyDelegate(new PiTranslationEvent<>(PiTranslationEvent.Type.FORGOT, removed));
        }
    }

    /** Flow rules and table entries. */
    public static final class OfFlowRules extends Translations<FlowRule, PiTableEntry>
            implements PiFlowRuleTranslationStore {}

    /** Groups and groups of action profiles. */
    public static final class OfGroups extends Translations<Group, PiActionProfileGroup>
            implements PiGroupTranslationStore {}

    /** Groups and entries of the packet replication engine. */
    public static final class OfReplicationGroups extends Translations<Group, PiPreEntry>
            implements PiReplicationGroupTranslationStore {}

    /** Meters and their cells. */
    public static final class OfMeters extends Translations<Meter, PiMeterCellConfig>
            implements PiMeterTranslationStore {}
}
