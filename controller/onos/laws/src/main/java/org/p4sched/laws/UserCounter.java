package org.p4sched.laws;

/** One user as its table entries show it. */
public final class UserCounter {
    /** Scale of weight 1: the estimator charges length * scale / 256 (p4/include/rate_estimator.p4). */
    public static final int UNIT_SCALE = 256;

    /** Bytes that arrived from the user since the entries were written, whether or not they were forwarded. */
    public final long sentBytes;
    /** 256 / weight, rounded: the action data of the entries. */
    public final long scale;

    /** A user of this scale. */
    public UserCounter(long sentBytes, long scale) {
        Require.that(0 < scale && scale < 1 << 16, "a user's scale " + scale + " is not in (0, 2^16)");
        this.sentBytes = sentBytes;
        this.scale = scale;
    }
}
