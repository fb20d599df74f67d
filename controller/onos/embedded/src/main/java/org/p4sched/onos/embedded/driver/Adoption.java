package org.p4sched.onos.embedded.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.net.DeviceId;

/**
 * The switches that already ran their pipeline when ONOS connected. Their entries stay until the application has
 * written its own, so traffic survives a restart of ONOS. Without this, ONOS sets the pipeline at each start, and
 * deletes unknown entries.
 */
public final class Adoption {
    private final Set<DeviceId> adopting = ConcurrentHashMap.newKeySet();

    void begin(DeviceId device) {
        adopting.add(device);
    }

    /** Ends the adoption: the application has written all its entries, so ONOS may delete unknown ones. */
    public void end(DeviceId device) {
        adopting.remove(device);
    }

    /** Whether entries unknown to ONOS must stay. */
    public boolean isAdopting(DeviceId device) {
        return adopting.contains(device);
    }
}
