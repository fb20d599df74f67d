package org.p4sched.onos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.control.SwitchException;

/**
 * Sets scheduler, rank source, users and weights of switches, and runs the control laws of their ports.
 *
 * <p>ONOS's network configuration holds what is asked of a switch, below {@code p4schedScheduler}. Every change goes
 * there, so all instances know it and a restart keeps it. A change is complete when the switch has confirmed it; while
 * another instance decides, it is complete when it is stored. The future fails with a SettingsException for what makes no
 * sense (then nothing is changed), and with a SwitchException when the switch refuses it or is away (then it is written as
 * soon as that is possible).
 */
public interface SchedulerService {
    /** How it stands with every switch that is configured. */
    List<DeviceStatus> devices();

    /** How it stands with one switch; none if nothing is asked of it. */
    Optional<DeviceStatus> status(DeviceId device);

    /** What is asked of a switch, as it was given. */
    Optional<ObjectNode> configuration(DeviceId device);

    /** Asks something else of a switch: the value of {@code p4schedScheduler}. */
    CompletableFuture<Void> configure(DeviceId device, JsonNode configuration);

    /** Asks nothing of a switch any more. Its rules go; the parameters in force stay. */
    CompletableFuture<Void> remove(DeviceId device);

    /** Adds a user, or gives it other traffic or another weight: an object of the list of users, without its number. */
    CompletableFuture<Void> putUser(DeviceId device, int user, JsonNode traffic);

    /** Removes a user. */
    CompletableFuture<Void> removeUser(DeviceId device, int user);

    /** Runs a law on a port: its configuration, as below the number of a port. */
    CompletableFuture<Void> putPort(DeviceId device, int port, JsonNode configuration);

    /** Ends the law of a port; the parameters in force stay. */
    CompletableFuture<Void> removePort(DeviceId device, int port);

    /** Where ranks come from on all ports without a source of their own. */
    CompletableFuture<Void> setRankSource(DeviceId device, String source);

    /** Sets parameters that no law sets: all of the P4 action, by their names. */
    CompletableFuture<Void> setParameters(DeviceId device, JsonNode parameters);

    /** The parameters in force, read from the switch: "default" and port numbers; all those that it has. */
    Map<String, Map<String, Long>> parameters(DeviceId device) throws SwitchException;

    /** Bytes that arrived from each user since its entries were written, read from the switch. */
    Map<Long, Long> sentBytes(DeviceId device) throws SwitchException;

    /** The last decisions on a port, oldest first, as the decision log holds them: at most so many, and at most 100. */
    List<Map<String, Object>> decisions(DeviceId device, int port, int last);
}
