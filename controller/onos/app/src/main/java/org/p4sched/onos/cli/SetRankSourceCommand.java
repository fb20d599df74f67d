package org.p4sched.onos.cli;

import org.apache.karaf.shell.api.action.Argument;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.control.SwitchException;

/** Chooses where ranks come from. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-set-rank-source",
        description = "Chooses where a switch takes ranks from: static, header, tos or stfq")
public class SetRankSourceCommand extends DeviceCommand {
    @Argument(index = 1, name = "source", description = "static, header, tos or stfq", required = true)
    private String source;

    @Override
    void run(SchedulerService service, DeviceId id) throws SwitchException {
        confirmed(service.setRankSource(id, source));
    }
}
