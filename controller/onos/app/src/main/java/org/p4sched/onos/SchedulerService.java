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
 * Sets the scheduler, rank source, users and weights of switches, and runs the control laws of their ports.
 *
 * <p>ONOS's network configuration holds the settings of a switch under the key {@code p4schedScheduler}. It stores
 * every change, so all instances know it and it survives a restart. A change is complete when the switch has confirmed
 * it. If another instance controls the switch, the change is complete when it is stored.
 *
 * <p>The future of a change fails with a SettingsException if the settings are invalid; then nothing changes. It fails
 * with a SwitchException if the switch is disconnected or refuses the change; then the change is stored, and written
 * later.
 */
public interface SchedulerService {
    /** The status of every configured switch. */
    List<DeviceStatus> devices();

    /** The status of a switch; empty if it is not configured. */
    Optional<DeviceStatus> status(DeviceId device);

    /** The stored settings of a switch. */
    Optional<ObjectNode> configuration(DeviceId device);

    /** Replaces the settings of a switch: the value of {@code p4schedScheduler}. */
    CompletableFuture<Void> configure(DeviceId device, JsonNode configuration);

    /** Removes the settings and the rules of a switch; its parameters stay. */
    CompletableFuture<Void> remove(DeviceId device);

    /** Adds a user, or changes its traffic or weight: an object of the list of users, without its number. */
    CompletableFuture<Void> putUser(DeviceId device, int user, JsonNode traffic);

    CompletableFuture<Void> removeUser(DeviceId device, int user);

    /** Runs a law on a port, with the settings of a port. */
    CompletableFuture<Void> putPort(DeviceId device, int port, JsonNode configuration);

    /** Ends the law of a port; its parameters stay. */
    CompletableFuture<Void> removePort(DeviceId device, int port);

    /** Sets the rank source of all ports without their own. */
    CompletableFuture<Void> setRankSource(DeviceId device, String source);

    /** Sets parameters that no law sets: all parameters of the P4 action, by their names. */
    CompletableFuture<Void> setParameters(DeviceId device, JsonNode parameters);

    /** Reads the parameters from the switch, by "default" and port number. */
    Map<String, Map<String, Long>> parameters(DeviceId device) throws SwitchException;

    /** Reads from the switch the bytes that arrived from each user since its entries were written. */
    Map<Long, Long> sentBytes(DeviceId device) throws SwitchException;

    /** The last decisions on a port as in the decision log, oldest first: at most {@code last}, and at most 100. */
    List<Map<String, Object>> decisions(DeviceId device, int port, int last);
}
