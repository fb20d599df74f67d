package org.p4sched.onos.cli;

import org.apache.karaf.shell.api.action.Argument;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.control.SwitchException;

/** Removes a user. */
@Service
@Command(scope = "onos", name = "p4sched-remove-user", description = "Removes a user of a switch")
public class RemoveUserCommand extends DeviceCommand {
    @Argument(index = 1, name = "user", description = "Its number", required = true)
    private int user;

    @Override
    void run(SchedulerService service, DeviceId id) throws SwitchException {
        await(service.removeUser(id, user));
    }
}
