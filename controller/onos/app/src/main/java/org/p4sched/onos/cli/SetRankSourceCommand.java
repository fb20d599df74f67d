package org.p4sched.onos.cli;

import org.apache.karaf.shell.api.action.Argument;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.control.SwitchException;

/** Sets the rank source. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-set-rank-source",
        description = "Sets the rank source of a switch: static, header, tos or stfq")
public class SetRankSourceCommand extends DeviceCommand {
    @Argument(index = 1, name = "source", description = "static, header, tos or stfq", required = true)
    private String source;

    @Override
    void run(SchedulerService service, DeviceId id) throws SwitchException {
        await(service.setRankSource(id, source));
    }
}
