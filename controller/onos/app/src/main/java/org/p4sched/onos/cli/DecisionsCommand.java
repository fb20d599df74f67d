package org.p4sched.onos.cli;

import java.util.Map;
import org.apache.karaf.shell.api.action.Argument;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.Option;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.laws.record.Json;
import org.p4sched.onos.SchedulerService;

/** Shows the last decisions on a port. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-decisions",
        description = "Shows the last decisions on a port, as in the decision log")
public class DecisionsCommand extends DeviceCommand {
    @Argument(index = 1, name = "port", description = "The egress port", required = true)
    private int port;

    @Option(name = "-n", aliases = "--last", description = "How many, at most 100")
    private int last = 10;

    @Override
    void run(SchedulerService service, DeviceId id) {
        for (Map<String, Object> decision : service.decisions(id, port, last)) {
            print("%s", Json.text(decision));
        }
    }
}
