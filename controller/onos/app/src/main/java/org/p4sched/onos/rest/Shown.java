package org.p4sched.onos.rest;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.p4sched.onos.DeviceStatus;

/** How things look in JSON, for REST and for the command line. */
public final class Shown {
    private Shown() {}

    /** How it stands with a switch. */
    public static ObjectNode status(DeviceStatus status) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        shown.put("device", status.device().toString());
        shown.put("scheduler", status.scheduler().map(Object::toString).orElse(null));
        shown.put("leader", status.leader().map(Object::toString).orElse(null));
        shown.put("available", status.available());
        shown.put("inForce", status.inForce());
        shown.put("problem", status.problem().orElse(null));
        ObjectNode ports = shown.putObject("ports");
        status.ports().forEach(port -> {
            ObjectNode each = ports.putObject(Integer.toString(port.port));
            each.put("rounds", port.rounds);
            each.put("writes", port.writes);
            ObjectNode parameters = each.putObject("parameters");
            port.parameters.forEach(parameters::put);
        });
        return shown;
    }
}
