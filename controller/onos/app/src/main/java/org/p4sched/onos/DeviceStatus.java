package org.p4sched.onos;

import java.util.List;
import java.util.Optional;
import org.onosproject.cluster.NodeId;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.config.Scheduler;

/** Status of one switch. */
public final class DeviceStatus {
    private final DeviceId device;
    private final Scheduler scheduler;
    private final NodeId leader;
    private final boolean available;
    private final boolean inForce;
    private final String problem;
    private final List<PortStatus> ports;

    /** {@code scheduler}, {@code leader} and {@code problem} may be null. */
    public DeviceStatus(
            DeviceId device,
            Scheduler scheduler,
            NodeId leader,
            boolean available,
            boolean inForce,
            String problem,
            List<PortStatus> ports) {
        this.device = device;
        this.scheduler = scheduler;
        this.leader = leader;
        this.available = available;
        this.inForce = inForce;
        this.problem = problem;
        this.ports = List.copyOf(ports);
    }

    public DeviceId device() {
        return device;
    }

    /** The configured scheduler; empty if the settings are invalid. */
    public Optional<Scheduler> scheduler() {
        return Optional.ofNullable(scheduler);
    }

    /** The instance of ONOS that controls the switch. */
    public Optional<NodeId> leader() {
        return Optional.ofNullable(leader);
    }

    /** Whether ONOS reaches the switch. */
    public boolean available() {
        return available;
    }

    /** Whether this instance has written all rules and every law has made a decision; false on other instances. */
    public boolean inForce() {
        return inForce;
    }

    /** The current problem, in one sentence. */
    public Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    /** The ports whose laws this instance runs. */
    public List<PortStatus> ports() {
        return ports;
    }
}
