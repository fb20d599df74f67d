package org.p4sched.onos.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.onlab.packet.Ip4Prefix;

/** Checks the users of a switch together: a packet belongs to one user, and a user has one weight. */
final class Users {
    private final List<User> all = new ArrayList<>();
    /**
     * Indices of users by the first address of their prefix. Prefixes do not overlap, so only the nearest lower one
     * matters.
     */
    private final NavigableMap<Long, Integer> prefixes = new TreeMap<>();

    private final Map<String, Integer> flows = new HashMap<>();
    private final Map<Integer, Integer> numbers = new HashMap<>();

    private Users() {}

    static List<User> parse(List<Members> members) {
        Users users = new Users();
        members.forEach(users::add);
        return List.copyOf(users.all);
    }

    private void add(Members member) {
        User user = User.parse(member);
        int place = all.size();
        Integer other = user.prefix().map(this::overlapping).orElseGet(() -> flows.get(user.traffic()));
        if (other != null) {
            User before = all.get(other);
            throw new SettingsException(
                    member.path(),
                    String.format(
                            "user %d (%s) and users[%d], user %d (%s), overlap: a packet belongs to one user",
                            user.number(), user.traffic(), other, before.number(), before.traffic()));
        }
        Integer same = numbers.putIfAbsent(user.number(), place);
        if (same != null && all.get(same).weight() != user.weight()) {
            throw member.wrong("weight", String.format("user %d has another weight in users[%d]", user.number(), same));
        }
        user.prefix()
                .ifPresentOrElse(prefix -> prefixes.put(first(prefix), place), () -> flows.put(user.traffic(), place));
        all.add(user);
    }

    private Integer overlapping(Ip4Prefix prefix) {
        Map.Entry<Long, Integer> below = prefixes.floorEntry(last(prefix));
        if (below == null) {
            return null;
        }
        Ip4Prefix other = all.get(below.getValue()).prefix().orElseThrow();
        return last(other) >= first(prefix) ? below.getValue() : null;
    }

    private static long first(Ip4Prefix prefix) {
        return Integer.toUnsignedLong(prefix.address().toInt());
    }

    private static long last(Ip4Prefix prefix) {
        return first(prefix) + (1L << (Ip4Prefix.MAX_MASK_LENGTH - prefix.prefixLength())) - 1;
    }
}
