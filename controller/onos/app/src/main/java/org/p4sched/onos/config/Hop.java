package org.p4sched.onos.config;

import org.onlab.packet.MacAddress;

/** Next hop: an egress port and a neighbour's MAC address. */
public final class Hop {
    /** Ports are 9 bits wide. */
    public static final int LARGEST_PORT = 511;

    private final int port;
    private final MacAddress mac;

    public Hop(int port, MacAddress mac) {
        this.port = port;
        this.mac = mac;
    }

    static Hop parse(Members members) {
        int port = (int) members.neededWhole("port", 0, LARGEST_PORT);
        MacAddress mac = members.parse("mac", MacAddress::valueOf)
                .orElseThrow(() -> members.wrong("mac", "is missing; for example 00:00:0a:00:00:01"));
        return new Hop(port, mac);
    }

    /** The egress port. */
    public int port() {
        return port;
    }

    /** The MAC address of the neighbour. */
    public MacAddress mac() {
        return mac;
    }
}
