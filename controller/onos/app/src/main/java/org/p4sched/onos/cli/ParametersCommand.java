package org.p4sched.onos.cli;

import java.util.Map;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.laws.record.Json;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.control.SwitchException;

/** Shows the parameters in force. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-parameters",
        description = "Shows the parameters of a switch: the default ones, and those of ports")
public class ParametersCommand extends DeviceCommand {
    @Override
    void run(SchedulerService service, DeviceId id) throws SwitchException {
        Map<String, Map<String, Long>> parameters = service.parameters(id);
        if (outputJson()) {
            print("%s", Json.text(parameters));
        } else {
            parameters.forEach((port, values) -> print("port=%s: %s", port, values));
        }
    }
}
