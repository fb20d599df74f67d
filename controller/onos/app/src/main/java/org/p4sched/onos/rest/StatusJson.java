package org.p4sched.onos.rest;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.p4sched.onos.DeviceStatus;

/** The status of a switch as JSON, for REST and the command line. */
public final class StatusJson {
    private StatusJson() {}

    public static ObjectNode of(DeviceStatus status) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("device", status.device().toString());
        json.put("scheduler", status.scheduler().map(Object::toString).orElse(null));
        json.put("leader", status.leader().map(Object::toString).orElse(null));
        json.put("available", status.available());
        json.put("inForce", status.inForce());
        json.put("problem", status.problem().orElse(null));
        ObjectNode ports = json.putObject("ports");
        status.ports().forEach(port -> {
            ObjectNode each = ports.putObject(Integer.toString(port.port));
            each.put("rounds", port.rounds);
            each.put("writes", port.writes);
            ObjectNode parameters = each.putObject("parameters");
            port.parameters.forEach(parameters::put);
        });
        return json;
    }
}
