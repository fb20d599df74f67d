package org.p4sched.onos.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.karaf.shell.api.action.Argument;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.control.SwitchException;

/** Adds a user, or changes it. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-set-user",
        description = "Adds a user by its source prefix, or changes its weight")
public class SetUserCommand extends DeviceCommand {
    @Argument(index = 1, name = "user", description = "Its number, 1 to 4095", required = true)
    private int user;

    @Argument(index = 2, name = "prefix", description = "Its source prefix, for example 10.1.0.1/32", required = true)
    private String prefix;

    @Argument(index = 3, name = "weight", description = "Its share, relative to the others")
    private double weight = 1;

    @Override
    void run(SchedulerService service, DeviceId id) throws SwitchException {
        ObjectNode traffic = JsonNodeFactory.instance.objectNode();
        await(service.putUser(id, user, traffic.put("prefix", prefix).put("weight", weight)));
    }
}
