package org.p4sched.onos.config;

import java.util.Optional;
import org.onlab.packet.Ip4Prefix;

/** Route to a prefix, by one hop or by a group. */
public final class Route {
    /** Largest number of a group. The larger ones are for next objectives (LabPipeliner). */
    public static final int LARGEST_GROUP = 0x7fff;

    private final Ip4Prefix prefix;
    private final Hop hop;
    private final int group;

    private Route(Ip4Prefix prefix, Hop hop, int group) {
        this.prefix = prefix;
        this.hop = hop;
        this.group = group;
    }

    /** A route by one hop. */
    public static Route by(Ip4Prefix prefix, Hop hop) {
        return new Route(prefix, hop, 0);
    }

    /** A route by the paths of a group. */
    public static Route byGroup(Ip4Prefix prefix, int group) {
        return new Route(prefix, null, group);
    }

    static Route parse(Members members) {
        Ip4Prefix prefix = members.parse("prefix", Ip4Prefix::valueOf)
                .orElseThrow(() -> members.wrong("prefix", "is missing; for example 10.0.1.0/24"));
        boolean grouped = members.has("group");
        if (grouped == members.has("port")) {
            throw new SettingsException(members.path(), "a route has either a port and a mac, or a group");
        }
        Route route = grouped
                ? byGroup(prefix, (int) members.neededWhole("group", 1, LARGEST_GROUP))
                : by(prefix, Hop.parse(members));
        members.end();
        return route;
    }

    public Ip4Prefix prefix() {
        return prefix;
    }

    /** The hop; empty for a route by a group. */
    public Optional<Hop> hop() {
        return Optional.ofNullable(hop);
    }

    /** The number of the group; 0 for a route by one hop. */
    public int group() {
        return group;
    }
}
