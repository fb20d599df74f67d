package org.p4sched.laws;

/** Parameters of a ranked scheme. */
public abstract class RankedParameters extends Parameters {
    /** Unit of the headroom: K = 256 k. */
    static final int HEADROOM_UNIT = 256;

    static final long MAX_COUNT = 0xFFFF_FFFFL;

    RankedParameters() {}

    /** Whether {@code wanted}, of the same law, differs by so little that these parameters may stay. */
    abstract boolean near(RankedParameters wanted);

    /** The nearest parameters that the target's program can hold. */
    RankedParameters on(Target target) {
        return this;
    }

    /** Whether two counts differ by at most this share, or by one. */
    static boolean close(long current, long wanted, double share) {
        return Math.abs(wanted - current) <= Math.max(1, share * current);
    }

    /**
     * The headroom K = 256 k, rounded up and below 256. Rounded down, a queue of exactly k C packets would be outside
     * its headroom.
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
