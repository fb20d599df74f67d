package org.p4sched.onos.config;

import java.util.ArrayList;
import java.util.List;

/** Equal-cost paths. A flow's hash says which of the 64 buckets it is in; the buckets are dealt in turn to the paths. */
public final class Group {
    /** Buckets of each group. */
    public static final int BUCKETS = Constants.ECMP_BUCKETS;

    private final int number;
    private final List<Hop> paths;

    /** Throws IllegalArgumentException unless there are 1 to 64 paths. */
    public Group(int number, List<Hop> paths) {
        if (paths.isEmpty() || paths.size() > BUCKETS) {
            throw new IllegalArgumentException(
                    String.format("group %d has %d paths: there can be 1 to %d", number, paths.size(), BUCKETS));
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

    /** 1 .. 32767. */
    public int number() {
        return number;
    }

    /** 1 to 64. */
    public List<Hop> paths() {
        return paths;
    }

    /** The path of a bucket. */
    public Hop path(int bucket) {
        return paths.get(bucket % paths.size());
    }
}
