package org.p4sched.laws;

/** Parameters that the law of a ranked scheme sets. */
public abstract class RankedParameters extends Parameters {
    /** K is a headroom k in 1/256. */
    static final int HEADROOM_UNIT = 256;

    static final long MAX_COUNT = 0xFFFF_FFFFL;

    RankedParameters() {}

    /** Whether {@code wanted}, of the same law, differs by so little that these parameters may stay. */
    abstract boolean near(RankedParameters wanted);

    /** As near to them as the program of a target comes. */
    RankedParameters on(Target target) {
        return this;
    }

    /** Whether a count differs by no more than this share, or by one. */
    static boolean close(long current, long wanted, double share) {
        return Math.abs(wanted - current) <= Math.max(1, share * current);
    }

    /**
     * K of a headroom k = K / 256, below 1. Rounded up: rounded down, a queue of exactly k C packets would no longer be
     * within its headroom.
     */
    static long headroomNumerator(double share) {
        return Math.min((long) Math.ceil(share * HEADROOM_UNIT - 1e-9), HEADROOM_UNIT - 1);
    }

    static void requireHeadroom(long headroom256) {
        Require.inRange("headroom K", headroom256, 0, HEADROOM_UNIT - 1, "in 1/256");
    }

    static void requireWindow(long windowRanks) {
        Require.inRange("window |W|", windowRanks, 1, Target.V1MODEL.largestWindow, "ranks");
    }

    static void requireSampling(long sampling) {
        Require.inRange("sampling S", sampling, 1, MAX_COUNT, "packets");
    }
}
