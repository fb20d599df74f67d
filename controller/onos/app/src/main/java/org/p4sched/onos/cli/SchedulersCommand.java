package org.p4sched.onos.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.cli.AbstractShellCommand;
import org.p4sched.onos.DeviceStatus;
import org.p4sched.onos.PortStatus;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.rest.StatusJson;

/** Lists the switches with a scheduler. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-schedulers",
        description = "Lists the switches with a scheduler, and their laws")
public class SchedulersCommand extends AbstractShellCommand {
    @Override
    protected void doExecute() {
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        for (DeviceStatus status : get(SchedulerService.class).devices()) {
            if (outputJson()) {
                json.add(StatusJson.of(status));
                continue;
            }
            print(
                    "device=%s, scheduler=%s, leader=%s, available=%s, inForce=%s",
                    status.device(),
                    status.scheduler().map(Object::toString).orElse("-"),
                    status.leader().map(Object::toString).orElse("-"),
                    status.available(),
                    status.inForce());
            status.problem().ifPresent(problem -> print("  problem: %s", problem));
            for (PortStatus port : status.ports()) {
                print("  port=%d, rounds=%d, writes=%d", port.port, port.rounds, port.writes);
            }
        }
        if (outputJson()) {
            print("%s", json);
        }
    }
}
