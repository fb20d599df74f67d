package org.p4sched.onos.config;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.Config;
import org.onosproject.net.config.InvalidFieldException;

/** The value of {@code p4schedScheduler} of a device in ONOS's network configuration. */
public class SchedulerConfig extends Config<DeviceId> {
    /** Throws InvalidFieldException, which names the JSON path, if the settings are invalid. */
    @Override
    public boolean isValid() {
        try {
            settings();
            return true;
        } catch (SettingsException e) {
            throw new InvalidFieldException(e.path(), e.reason());
        }
    }

    /** The settings. Throws SettingsException if they are invalid. */
    public Settings settings() {
        return Settings.parse(node());
    }

    /** The settings as JSON. */
    public ObjectNode json() {
        return object.deepCopy();
    }
}
