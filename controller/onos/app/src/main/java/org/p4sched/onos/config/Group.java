package org.p4sched.onos.config;

import java.util.ArrayList;
import java.util.List;

/** Group of equal-cost paths. A flow's hash selects one of 64 buckets; the buckets go to the paths in turn. */
public final class Group {
    /** Buckets of each group. */
    public static final int BUCKETS = Constants.ECMP_BUCKETS;

    private final int number;
    private final List<Hop> paths;

    /** Throws IllegalArgumentException unless there are 1 to 64 paths. */
    public Group(int number, List<Hop> paths) {
        if (paths.isEmpty() || paths.size() > BUCKETS) {
            throw new IllegalArgumentException(
                    String.format("group %d has %d paths; a group has 1 to %d", number, paths.size(), BUCKETS));
        }
        this.number = number;
        this.paths = List.copyOf(paths);
    }

    static Group parse(Members members) {
        int number = (int) members.neededWhole("group", 1, Route.LARGEST_GROUP);
        List<Hop> paths = new ArrayList<>();
        for (Members path : members.objects("paths")) {
            paths.add(Hop.parse(path));
            path.end();
        }
        members.end();
        try {
            return new Group(number, paths);
        } catch (IllegalArgumentException e) {
            throw members.wrong("paths", e.getMessage());
        }
    }

    /** The number of the group, 1 to 32767. */
    public int number() {
        return number;
    }

    /** The 1 to 64 paths. */
    public List<Hop> paths() {
        return paths;
    }

    /** The path of a bucket. */
    public Hop path(int bucket) {
        return paths.get(bucket % paths.size());
    }
}
