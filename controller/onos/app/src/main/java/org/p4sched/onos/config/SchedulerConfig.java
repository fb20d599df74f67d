package org.p4sched.onos.config;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.Config;
import org.onosproject.net.config.InvalidFieldException;

/** {@code p4schedScheduler} below a device in ONOS's network configuration. */
public class SchedulerConfig extends Config<DeviceId> {
    /** Throws InvalidFieldException, which names the JSON path, for settings that make no sense. */
    @Override
    public boolean isValid() {
        try {
            settings();
            return true;
        } catch (SettingsException e) {
            throw new InvalidFieldException(e.path(), e.reason());
        }
    }

    /** What is asked of the switch. Throws SettingsException. */
    public Settings settings() {
        return Settings.parse(node());
    }

    /** As it was given. */
    public ObjectNode json() {
        return object.deepCopy();
    }
}
