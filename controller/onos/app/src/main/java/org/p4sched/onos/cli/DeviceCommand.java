package org.p4sched.onos.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.karaf.shell.api.action.Argument;
import org.apache.karaf.shell.api.action.Completion;
import org.onosproject.cli.AbstractShellCommand;
import org.onosproject.cli.net.DeviceIdCompleter;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.control.SwitchException;

/** A command for one switch. An error is one sentence. */
abstract class DeviceCommand extends AbstractShellCommand {
    private static final long TIMEOUT_S = 30;

    @Argument(name = "device", description = "The switch, as device:p4sched:s1", required = true)
    @Completion(DeviceIdCompleter.class)
    protected String device;

    /** Runs the command. */
    abstract void run(SchedulerService service, DeviceId id) throws SwitchException;

    @Override
    protected void doExecute() {
        SchedulerService service = get(SchedulerService.class);
        DeviceId id = DeviceId.deviceId(device);
        try {
            if (service.configuration(id).isEmpty()) {
                error("No scheduler is configured for %s", device);
            } else {
                run(service, id);
            }
        } catch (SwitchException | IllegalArgumentException e) {
            error("%s: %s", device, e.getMessage());
        }
    }

    /** Waits until the switch has confirmed a change. */
    void await(CompletableFuture<Void> change) throws SwitchException {
        try {
            change.get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new SwitchException(e.getCause().getMessage(), e);
        } catch (TimeoutException e) {
            throw new SwitchException("the switch has not confirmed the change within " + TIMEOUT_S + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SwitchException("the change was interrupted", e);
        }
    }
}
