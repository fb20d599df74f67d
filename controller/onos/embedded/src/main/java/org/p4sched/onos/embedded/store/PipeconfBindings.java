package org.p4sched.onos.embedded.store;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.onosproject.net.DeviceId;
import org.onosproject.net.pi.model.PiPipeconfId;
import org.onosproject.net.pi.service.PiPipeconfDeviceMappingEvent;
import org.onosproject.net.pi.service.PiPipeconfMappingStore;
import org.onosproject.net.pi.service.PiPipeconfMappingStoreDelegate;
import org.onosproject.store.AbstractStore;

/** Store of the pipeconf of each device, which ONOS has only distributed. */
public final class PipeconfBindings extends AbstractStore<PiPipeconfDeviceMappingEvent, PiPipeconfMappingStoreDelegate>
        implements PiPipeconfMappingStore {
    private final Map<DeviceId, PiPipeconfId> bindings = new ConcurrentHashMap<>();

    @Override
    public PiPipeconfId getPipeconfId(DeviceId device) {
        return bindings.get(device);
    }

    @Override
    public Set<DeviceId> getDevices(PiPipeconfId pipeconf) {
        return bindings.entrySet().stream()
                .filter(binding -> binding.getValue().equals(pipeconf))
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public void createOrUpdateBinding(DeviceId device, PiPipeconfId pipeconf) {
        bindings.put(device, pipeconf);
        notifyDelegate(new PiPipeconfDeviceMappingEvent(PiPipeconfDeviceMappingEvent.Type.CREATED, device));
    }

    @Override
    public void removeBinding(DeviceId device) {
        if (bindings.remove(device) != null) {
            notifyDelegate(new PiPipeconfDeviceMappingEvent(PiPipeconfDeviceMappingEvent.Type.REMOVED, device));
        }
    }
}
