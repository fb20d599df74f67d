package org.p4sched.onos.embedded.store;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.onosproject.net.Device;
import org.onosproject.net.DeviceId;
import org.onosproject.net.device.DeviceDescription;
import org.onosproject.net.device.DeviceEvent;
import org.onosproject.net.provider.ProviderId;
import org.onosproject.store.trivial.SimpleDeviceStore;

/**
 * ONOS's trivial store of devices, with the availability of the distributed store: a registered device is unavailable
 * until its provider reports it as available. In the trivial store a device is available at once, before it has a
 * pipeline.
 */
public final class Devices extends SimpleDeviceStore {
    private final Set<DeviceId> available = ConcurrentHashMap.newKeySet();

    @Override
    public DeviceEvent createOrUpdateDevice(ProviderId provider, DeviceId device, DeviceDescription description) {
        boolean isNew = getDevice(device) == null;
        boolean changed = description.isDefaultAvailable() && available.add(device);
        DeviceEvent event = super.createOrUpdateDevice(provider, device, description);
        return isNew || !changed ? event : availabilityChanged(device);
    }

    @Override
    public DeviceEvent markOnline(DeviceId device) {
        return getDevice(device) != null && available.add(device) ? availabilityChanged(device) : null;
    }

    @Override
    public DeviceEvent markOffline(DeviceId device) {
        return available.remove(device) ? availabilityChanged(device) : null;
    }

    @Override
    public DeviceEvent removeDevice(DeviceId device) {
        available.remove(device);
        return super.removeDevice(device);
    }

    @Override
    public boolean isAvailable(DeviceId device) {
        return available.contains(device);
    }

    @Override
    public List<Device> getAvailableDevices() {
        return StreamSupport.stream(getDevices().spliterator(), false)
                .filter(device -> isAvailable(device.id()))
                .collect(Collectors.toUnmodifiableList());
    }

    @Override
    public int getAvailableDeviceCount() {
        return getAvailableDevices().size();
    }

    private DeviceEvent availabilityChanged(DeviceId device) {
        DeviceEvent event = new DeviceEvent(DeviceEvent.Type.DEVICE_AVAILABILITY_CHANGED, getDevice(device), null);
        notifyDelegate(event);
        return event;
    }
}
