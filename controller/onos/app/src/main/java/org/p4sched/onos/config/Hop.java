package org.p4sched.onos.config;

import org.onlab.packet.MacAddress;

/** Out of a port, to a neighbour. */
public final class Hop {
    /** Ports are 9 bits wide. */
    public static final int LARGEST_PORT = 511;

    private final int port;
    private final MacAddress mac;

    /** The port of the switch, and the MAC address of the next hop. */
    public Hop(int port, MacAddress mac) {
        this.port = port;
        this.mac = mac;
    }

    static Hop parse(Members members) {
        int port = (int) members.neededWhole("port", 0, LARGEST_PORT);
        MacAddress mac = members.parsed("mac", MacAddress::valueOf)
                .orElseThrow(() -> members.wrong("mac", "is missing; it is the next hop's, as 00:00:0a:00:00:01"));
        return new Hop(port, mac);
    }

    /** Of the switch. */
    public int port() {
        return port;
    }

    /** Of the next hop. */
    public MacAddress mac() {
        return mac;
    }
}
