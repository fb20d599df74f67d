package org.p4sched.onos.config;

import java.util.Optional;
import org.onlab.packet.Ip4Prefix;

/** The way to a prefix: one hop, or a group of them. */
public final class Route {
    /** Larger numbers are those of next objectives (LabPipeliner). */
    public static final int LARGEST_GROUP = 0x7fff;

    private final Ip4Prefix prefix;
    private final Hop hop;
    private final int group;

    private Route(Ip4Prefix prefix, Hop hop, int group) {
        this.prefix = prefix;
        this.hop = hop;
        this.group = group;
    }

    /** To a prefix by one hop. */
    public static Route by(Ip4Prefix prefix, Hop hop) {
        return new Route(prefix, hop, 0);
    }

    /** To a prefix by the paths of a group. */
    public static Route byGroup(Ip4Prefix prefix, int group) {
        return new Route(prefix, null, group);
    }

    static Route parse(Members members) {
        Ip4Prefix prefix = members.parsed("prefix", Ip4Prefix::valueOf)
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

    /** Where it leads. */
    public Ip4Prefix prefix() {
        return prefix;
    }

    /** The one hop; none if a group has the paths. */
    public Optional<Hop> hop() {
        return Optional.ofNullable(hop);
    }

    /** The group, if there is no hop. */
    public int group() {
        return group;
    }
}
