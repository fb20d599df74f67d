package org.p4sched.laws;

/** Counter and weight of a user, from its table entries. */
public final class UserCounter {
    /** Scale of weight 1: the estimator charges length * scale / 256 (p4/include/rate_estimator.p4). */
    public static final int UNIT_SCALE = 256;

    /** Bytes that arrived from the user since the entries were written, including dropped ones. */
    public final long sentBytes;
    /** The entries' action data: 256 / weight, rounded. */
    public final long scale;

    public UserCounter(long sentBytes, long scale) {
        Require.that(0 < scale && scale < 1 << 16, "a user's scale " + scale + " is not in (0, 2^16)");
        this.sentBytes = sentBytes;
        this.scale = scale;
    }
}
