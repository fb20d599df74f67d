package org.p4sched.onos;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Work of a port's law since its control loop began. */
public final class PortStatus {
    public final int port;
    public final long rounds;
    /** Rounds that changed the parameters. */
    public final long writes;
    /** The parameters in force; empty before the first decision. */
    public final Map<String, Long> parameters;

    public PortStatus(int port, long rounds, long writes, Map<String, Long> parameters) {
        this.port = port;
        this.rounds = rounds;
        this.writes = writes;
        this.parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    }
}
