package org.p4sched.onos.embedded.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.net.DeviceId;

/**
 * The switches that already ran their pipeline when ONOS came. Their entries stay until the application has said which it
 * wants, so that traffic goes on when ONOS is started again. ONOS as it is sets the pipeline again at each start, and deletes
 * entries that it does not know.
 */
public final class Adoption {
    private final Set<DeviceId> unsettled = ConcurrentHashMap.newKeySet();

    void begin(DeviceId device) {
        unsettled.add(device);
    }

    /** The application has handed over all entries that it wants; from now on unknown ones are deleted. */
    public void settled(DeviceId device) {
        unsettled.remove(device);
    }

    /** Whether entries that ONOS does not know must stay. */
    public boolean isUnsettled(DeviceId device) {
        return unsettled.contains(device);
    }
}
